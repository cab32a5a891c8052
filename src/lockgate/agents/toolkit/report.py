"""The node's gate 2 as the toolkit sees it, for GPUNodeState: what is loaded, what decides it, what CDI offers."""

from collections.abc import Iterable
from typing import Final

import msgspec
from msgspec.structs import replace

from lockgate.agents.published_files import config_files
from lockgate.agents.toolkit.change import CONFIGURED, UNREACHABLE, Node, Outcome
from lockgate.agents.toolkit.engines.containerd import CONTAINERD, read_node_files, running_release
from lockgate.agents.toolkit.loaded import differences
from lockgate.containerd import ConfigError, Effective, Files, Plan, Refusal, lost_handlers, plan_dropin, resolve
from lockgate.containerd.traps import LostHandler
from lockgate.host.cri import Loaded, UnreachableError, ask_loaded
from lockgate.model.node_state import ConfigFile, RuntimeState

DRIFTED: Final = "Drifted"


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
    found = config_files(node.host, files, loaded)
    if outcome.phase != CONFIGURED:
        return found, Drift()
    return found, _drift(node, files, effective, await ask_loaded(node.service.socket))


async def _other(node: Node, outcome: Outcome) -> tuple[tuple[ConfigFile, ...], Drift]:
    """The files of a runtime without such a model: what would be written now, and what is loaded, say the rest."""
    seen = await node.engine.look(node.place, node.service.socket)
    found = config_files(node.host, seen.files, (node.config,))
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
