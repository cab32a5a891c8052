"""A file that defines a handler makes containerd forget its built-in runc.

Before containerd 2.0 the first table `containerd.runtimes.<name>` in any file replaces the built-in list of runtimes.
A drop-in that names only `nvidia` leaves no `runc`, which stays the default runtime.

Why it matters: the CRI plugin does not load (`no corresponding runtime configured`), and no pod starts on the node.
Fix: repeat runc beside the other handler, or make another one the default.
"""

from collections.abc import Iterator

from lockgate.containerd.effective import RUNC_V2
from lockgate.containerd.releases import PluginMerge
from lockgate.containerd.values import Leaf, Plain, Table, find
from lockgate.lint.edits import put
from lockgate.lint.rule import Mark, Path, Problem, lint_rule
from lockgate.lint.subject import Config
from lockgate.model.finding import Severity


@lint_rule(codes=("E03",), severity=Severity.BLOCKER, mutes=("containerd/default-runtime-undefined",))
def runc_lost(config: Config) -> Iterator[Problem]:
    effective = config.effective
    replaces = config.release.family.plugins is PluginMerge.REPLACE
    if not replaces or effective.cri_disabled or effective.default_runtime_name != "runc" or not effective.handlers:
        return
    if "runc" in effective.handlers or _legacy_default(config):
        return
    first = next(iter(effective.handlers.values()))
    named = effective.leaf("plugins", config.runtime, "containerd", "default_runtime_name")
    said = (Mark.at(named.origin, "stays the default"),) if named and not named.origin.is_built_in else ()
    yield Problem(
        key="runc",
        summary=(
            f'the default runtime "runc" will not exist: {config.show(first.table.origin)} begins a list of runtimes '
            f"that replaces the built-in one on containerd {config.release}"
        ),
        marks=(Mark.at(first.table.origin, "replaces the built-in runtimes, runc among them"), *said),
        help="define runc in the same file",
        fixes=put(
            config,
            first.table.origin.file,
            _runc(config, first.systemd_cgroup),
            "define runc beside it",
            *_meant(config),
        ),
    )


def _legacy_default(config: Config) -> bool:
    table = config.effective.cri("containerd", "default_runtime")
    kind = table.get("runtime_type") if isinstance(table, Table) else None
    return isinstance(kind, Leaf) and bool(kind.value)


def _runc(config: Config, systemd_cgroup: bool) -> dict[Path, Plain]:
    table = ("plugins", _section(config), "containerd", "runtimes", "runc")
    pairs: dict[Path, Plain] = {(*table, "runtime_type"): RUNC_V2}
    return pairs | ({(*table, "options", "SystemdCgroup"): True} if systemd_cgroup else {})


def _section(config: Config) -> str:
    by_id = any(find(d, "plugins", "cri") is not None for d in config.documents.values())
    version = [d["version"] for d in config.documents.values() if "version" in d]
    return "cri" if by_id and not version else config.runtime


def _meant(config: Config) -> tuple[Path, ...]:
    return (("plugins", config.runtime, "containerd", "runtimes", "runc"),)
