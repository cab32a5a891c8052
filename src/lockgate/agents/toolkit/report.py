"""The node's gate 2 as the toolkit sees it, for GPUNodeState: what is loaded, what decides it, what CDI offers."""

import datetime as dt
import hashlib
import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Final

import msgspec
from msgspec.structs import replace

from lockgate.agents.toolkit.change import CONFIGURED, UNREACHABLE, Node, Outcome
from lockgate.agents.toolkit.engines.containerd import CONTAINERD, read_node_files, running_release
from lockgate.agents.toolkit.loaded import differences
from lockgate.cdi.registry import DEFAULT_DIRECTORIES, Registry
from lockgate.containerd import ConfigError, Effective, Files, Plan, Refusal, lost_handlers, plan_dropin, resolve
from lockgate.containerd.traps import LostHandler
from lockgate.host.cdi_directories import SIZE_LIMIT, read_directories
from lockgate.host.cri import Loaded, UnreachableError, ask_loaded
from lockgate.host.rooted import Root
from lockgate.model.node_state import CDISpec, CDIState, ConfigFile, RuntimeState

DRIFTED: Final = "Drifted"
TEXT_LIMIT: Final = 16 << 10
SPEC_LIMIT: Final = 32 << 10  # of one CDI specification
SPECS_LIMIT: Final = 96 << 10  # of all of a node
_FILES: Final = 40  # configuration files that are published at most
_SECRET: Final = re.compile(
    r"^(\s*[\"']?(?:password|auth|identitytoken|registrytoken|username|token|secret)[\"']?\s*=\s*).+$",
    re.IGNORECASE | re.MULTILINE,
)
# An inline table, as in `auth = { username = "x", password = "y" }`, is covered by the line rule; this one by pairs.
_SECRET_PAIR: Final = re.compile(
    r"((?:password|auth|identitytoken|registrytoken|username|token|secret)[\"']?\s*=\s*)(\"[^\"\n]*\"|'[^'\n]*')",
    re.IGNORECASE,
)


class Drift(msgspec.Struct, frozen=True):
    """What has become of our work since: a reason of `RuntimeState.drift`, and the words."""

    reason: str = ""
    message: str = ""


async def runtime_state(node: Node, outcome: Outcome, started: str = "") -> RuntimeState:
    """What the running runtime is and has loaded, with the outcome of our last change and any drift since.

    `started` says since when it runs, "" where that is not known.
    """
    try:
        state = await node.engine.state(node.service.socket)
        files, drift = await (_containerd if node.engine is CONTAINERD else _other)(node, outcome)
    except UnreachableError as error:
        state = RuntimeState(name=node.service.name, phase=UNREACHABLE, message=outcome.message or str(error))
        return replace(state, socket=node.socket, config_path=node.config)
    return replace(
        state,
        socket=node.socket,
        started=started,
        config_path=node.config,
        files=files,
        phase=DRIFTED if drift.reason else outcome.phase,
        drift=drift.reason,
        message=drift.message or outcome.message,
    )


async def _containerd(node: Node, outcome: Outcome) -> tuple[tuple[ConfigFile, ...], Drift]:
    """containerd's files, and what its model and what it has loaded say has become of our handlers."""
    release = await running_release(node.service.socket)
    files = read_node_files(node.place, release)
    effective = resolve(files, node.config, release)
    loaded = effective.loaded if isinstance(effective, Effective) else (node.config,)
    found = tuple(_config_files(node, files, loaded))
    if outcome.phase != CONFIGURED:
        return found, Drift()
    return found, _drift(node, files, effective, await ask_loaded(node.service.socket))


async def _other(node: Node, outcome: Outcome) -> tuple[tuple[ConfigFile, ...], Drift]:
    """The files of a runtime without such a model: what would be written now, and what is loaded, say the rest."""
    seen = await node.engine.look(node.place, node.service.socket)
    found = tuple(_config_files(node, seen.files, (node.config,)))
    plan = seen.plan(node.wanted) if outcome.phase == CONFIGURED else None
    if plan is None:
        return found, Drift()
    if isinstance(plan, Refusal):
        return found, Drift("ConfigRefusedAtRestart", plan.message)
    if wrong := await plan.wrong(node.service.socket):
        return found, Drift("HandlerNotLoaded", "; ".join(wrong))
    return found, _outdated(plan.files) if plan.files else Drift("", await plan.later(node.service.socket))


def _drift(node: Node, files: Files, effective: Effective | ConfigError, loaded: Loaded) -> Drift:
    """What others have done to our handlers, loaded already or to come with the next restart; the gravest first."""
    if isinstance(effective, ConfigError):
        return Drift("ConfigRefusedAtRestart", f"containerd will not start again with its files: {effective}")
    lost = [one for one in lost_handlers(effective, files) if one.name in node.wanted.handlers]
    absent = [name for name in node.wanted.handlers if name not in effective.handlers]
    reason = _say_lost(lost[0]) if lost else f"no loaded file defines handler {absent[0]}" if absent else ""
    now = "; ".join(differences(loaded, effective, node.wanted))
    missing = [name for name in node.wanted.handlers if name not in loaded.containerd.runtimes]
    if missing:
        said = f'containerd has not loaded handler "{missing[0]}"{": " + reason if reason else ""}'
        return Drift("HandlerNotLoaded", said)
    if reason:
        return Drift("HandlersLostAtRestart", f"the next restart of containerd will lose handlers: {reason}")
    plan = plan_dropin(files, node.config, effective.release, node.wanted, node.drop_in)
    if isinstance(plan, Plan) and plan.files:
        return _outdated(plan.files)
    text = f"containerd runs with other settings than its files have: {now}"
    return Drift("OtherSettingsLoaded", text) if now else Drift()


def _outdated(files: Iterable[str]) -> Drift:
    return Drift(
        "DropInOutdated",
        f"{', '.join(sorted(files))} would be written otherwise now, since the node's own files have changed: "
        "restart the toolkit's pod to renew it",
    )


def _say_lost(lost: LostHandler) -> str:
    by = f" ({lost.winner})" if lost.winner else ""
    return f"{lost.defined} defines {lost.name}, but {lost.loss.value}{by}"


def _config_files(node: Node, files: Files, loaded: Iterable[str]) -> Iterator[ConfigFile]:
    """The loaded files in the order of loading, then those beside them that are not loaded."""
    rest = sorted(path for path in files.entries if path.endswith((".toml", ".conf")))
    for path in list(dict.fromkeys((*loaded, *rest)))[:_FILES]:
        content = files.read(path)
        if isinstance(content, str | bytes):
            data = content.encode() if isinstance(content, str) else content
            yield _config_file(path, data, _modified(node.host, path))


def _config_file(path: str, content: bytes, modified: str) -> ConfigFile:
    text = mask(content.decode("utf-8", "replace"))
    return ConfigFile(
        path=path,
        sha256=hashlib.sha256(content).hexdigest(),
        modified=modified,
        text=text[:TEXT_LIMIT],
        truncated=len(text) > TEXT_LIMIT,
    )


def _modified(host: Path, path: str) -> str:
    """When a file was written last; "" when it has gone since it was read."""
    root = Root(host)
    resolved = root.resolve(path)
    try:
        seconds = root.outside(resolved).stat().st_mtime if resolved else None
    except OSError:
        return ""
    return rfc3339(dt.datetime.fromtimestamp(int(seconds), dt.UTC)) if seconds is not None else ""


def rfc3339(moment: dt.datetime) -> str:
    """A moment as objects of the API have it."""
    return moment.astimezone(dt.UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def mask(text: str) -> str:
    """Credentials of registries replaced, one line staying one line."""
    return _SECRET_PAIR.sub(r'\1"***"', _SECRET.sub(r'\1"***"', text))


def cdi_state(host: Path, directories: Iterable[str]) -> CDIState:
    """Every specification file of the node's CDI directories, what the runtime makes of it, its text where it fits."""
    return CDIState(specs=tuple(_with_texts(host, _specs(read_directories(host, directories)))))


def spec_directories(state: RuntimeState) -> tuple[str, ...]:
    """The directories that the runtime reads, or would by default."""
    return state.cdi_spec_dirs or DEFAULT_DIRECTORIES


def _specs(registry: Registry) -> Iterator[CDISpec]:
    good = {
        file.path: CDISpec(
            path=file.path,
            kind=file.spec.kind,
            devices=tuple(device.name for device in file.spec.devices),
            error="; ".join(registry.troubles.get(file.path, ())),
        )
        for file in registry.files
    }
    bad = {
        path: CDISpec(path=path, error="; ".join(texts))
        for path, texts in registry.troubles.items()
        if path not in good
    }
    yield from (spec for _, spec in sorted({**good, **bad}.items()))


def _with_texts(host: Path, specs: Iterable[CDISpec]) -> Iterator[CDISpec]:
    """The texts as far as they fit, in the order of paths: which are left out does not depend on chance."""
    root, room = Root(host), SPECS_LIMIT
    for spec in specs:
        content = _bytes(root, spec.path)
        if content is None:
            yield spec  # a directory, or gone since
            continue
        fits = len(content) <= min(SPEC_LIMIT, room)
        room -= len(content) if fits else 0
        yield msgspec.structs.replace(
            spec,
            sha256=hashlib.sha256(content).hexdigest(),
            text=content.decode("utf-8", "replace") if fits else "",
            truncated=not fits,
        )


def _bytes(root: Root, path: str) -> bytes | None:
    resolved = root.resolve(path)
    try:
        if resolved is None:
            return None
        with root.outside(resolved).open("rb") as file:
            return file.read(SIZE_LIMIT + 1)
    except OSError:
        return None
