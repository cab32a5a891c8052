"""Where a containerd that `nvidia-ctk runtime configure` has set up differs from one of ours, under the page's rows.

Both sides are judged by what the release would load of the files, not by their text.
"""

from collections.abc import Iterator

from lockgate.containerd import (
    ConfigError,
    Effective,
    Files,
    Plan,
    Refusal,
    Release,
    Table,
    Wanted,
    plan_dropin,
    resolve,
)
from lockgate.containerd.dropin_text import said
from lockgate.containerd.values import Plain, leaves
from tests.truth.toolkit.spec_differences import Difference

TOP_LEVEL = "/etc/containerd/config.toml"
DROP_IN = "/etc/containerd/conf.d/99-nvidia.toml"
WANTED = Wanted(handlers=("nvidia",))
_BINARY = "/usr/bin/nvidia-container-runtime"


def differences(
    node: dict[str, str], theirs: dict[str, str] | None, release: Release, defaults: Table | None = None
) -> Iterator[Difference]:
    """Every difference between what both make of a node's files; `theirs` None: nvidia-ctk refused them.

    Nothing for a node whose containerd does not start as it is. `defaults` are those of a real binary.
    """
    before = resolve(Files(node), TOP_LEVEL, release, defaults=defaults)
    if isinstance(before, ConfigError):
        return
    plan = plan_dropin(node, TOP_LEVEL, release, WANTED, DROP_IN, defaults=defaults)
    after = resolve(Files(theirs), TOP_LEVEL, release, defaults=defaults) if theirs is not None else None
    harm = list(_harm(before, after))
    if isinstance(plan, Refusal):
        yield from harm or [("refused", f"{plan.id}: {plan.message}")]
        return
    yield from harm
    if isinstance(after, Effective) and "nvidia" in after.handlers:
        yield from _handler(after, plan.expected)
    if theirs is not None:
        yield from _text(node.get(TOP_LEVEL, ""), theirs, plan)


def _harm(before: Effective, after: Effective | ConfigError | None) -> Iterator[Difference]:
    """What nvidia-ctk's files do to the node besides what they are for."""
    if after is None:
        yield "no configuration", "nvidia-ctk ends with an error"
        return
    if isinstance(after, ConfigError):
        yield "containerd does not start", str(after)
        return
    if "nvidia" not in after.handlers and not before.cri_disabled:
        yield "handler lost", ", ".join(after.handlers)
    if after.release.family.cdi_switch and after.enable_cdi is not True and not before.cri_disabled:
        yield "CDI not on", str(after.enable_cdi)
    old, new = _settings(before), _settings(after)
    for path in sorted(old.keys() | new.keys()):
        if old.get(path) != new.get(path):
            yield "other settings", f"{'.'.join(path)}: {old.get(path)!r} to {new.get(path)!r}"


def _settings(effective: Effective) -> dict[tuple[str, ...], Plain]:
    """What is not the GPU handler's, absent and empty being the same."""
    ours = {"imports", "enable_cdi", "nvidia"}
    return {path: leaf.value for path, leaf in leaves(effective.document) if leaf.value and not ours & set(path)}


def _handler(theirs: Effective, ours: Effective) -> Iterator[Difference]:
    their_keys, our_keys = said(theirs.handlers["nvidia"].table), said(ours.handlers["nvidia"].table)
    their_options, our_options = their_keys.pop("options", {}), our_keys.pop("options", {})
    assert isinstance(their_options, dict)
    assert isinstance(our_options, dict)
    if their_options.get("BinaryName") == _BINARY:
        yield "`BinaryName`", f"{_BINARY}, {our_options.get('BinaryName')}"
    if their_keys != our_keys:
        yield "keys of the handler", f"{their_keys}, {our_keys}"
    rest = {key: value for key, value in their_options.items() if key != "BinaryName"}
    if rest != {key: value for key, value in our_options.items() if key != "BinaryName"}:
        yield "options of the handler", f"{their_options}, {our_options}"


def _text(top_level: str, theirs: dict[str, str], plan: Plan) -> Iterator[Difference]:
    ours = plan.files.get(TOP_LEVEL, top_level) or ""
    comments = _comments(top_level)
    if _comments(ours) != comments:
        yield "comments lost by us", str(comments)
    if _comments(theirs.get(TOP_LEVEL, "")) != comments:
        yield "comments and order", comments[0]


def _comments(text: str) -> list[str]:
    return [line.partition("# ")[2] for line in text.splitlines() if "# " in line]
