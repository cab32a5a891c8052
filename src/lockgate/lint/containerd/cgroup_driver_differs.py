"""A handler and the node's runc use different cgroup drivers.

`SystemdCgroup` decides who makes a container's cgroup, systemd or runc itself. The kubelet uses one of both for all
pods.

Why it matters: containers of the odd handler are made outside of their pod's cgroup: limits do not hold, and on many
nodes they do not start (`expected cgroupsPath to be of format "slice:prefix:name"`).
Fix: give the handler the value that runc has.
"""

from collections.abc import Iterator

from lockgate.containerd.effective import RUNC_V2, Handler
from lockgate.containerd.migrate_cri import CRI
from lockgate.containerd.values import Leaf, Origin, Table, leaves
from lockgate.lint.edits import put, set_at
from lockgate.lint.rule import Fix, Mark, Path, Problem, lint_rule
from lockgate.lint.subject import Config
from lockgate.model.finding import Severity


@lint_rule(severity=Severity.ERROR)
def cgroup_driver_differs(config: Config) -> Iterator[Problem]:
    runc = config.effective.handlers.get("runc")
    if runc is None or runc.runtime_type != RUNC_V2 or not _is_used(config, runc):
        return
    for handler in config.effective.handlers.values():
        if handler.runtime_type == RUNC_V2 and handler.systemd_cgroup != runc.systemd_cgroup:
            yield _problem(config, handler, runc)


def _is_used(config: Config, runc: Handler) -> bool:
    """A runc that no file speaks of, beside another default, is nobody's."""
    said = any(not leaf.origin.is_built_in for _, leaf in leaves(runc.table))
    return said or config.effective.default_runtime_name == "runc"


def _problem(config: Config, handler: Handler, runc: Handler) -> Problem:
    wanted = runc.systemd_cgroup
    words = (str(handler.systemd_cgroup).lower(), str(wanted).lower())
    notes = ("this runtime has", "runc has")
    origins = (_place(handler), _place(runc))
    marks = tuple(
        Mark.at(origin, f"{note} SystemdCgroup = {word}")
        for origin, note, word in zip(origins, notes, words, strict=True)
        if not origin.is_built_in
    )
    return Problem(
        key=handler.name,
        summary=f'runtime "{handler.name}" has SystemdCgroup = {words[0]}, and the node\'s runc {words[1]}',
        marks=marks,
        help="both must be what the kubelet's cgroupDriver is",
        fixes=_fixes(config, handler, wanted),
    )


def _leaf(handler: Handler) -> Leaf | None:
    options = handler.table.get("options")
    leaf = options.get("SystemdCgroup") if isinstance(options, Table) else None
    return leaf if isinstance(leaf, Leaf) and not leaf.origin.is_built_in else None


def _place(handler: Handler) -> Origin:
    leaf = _leaf(handler)
    return leaf.origin if leaf is not None else handler.origin


def _fixes(config: Config, handler: Handler, wanted: bool) -> tuple[Fix, ...]:
    intends = ("plugins", config.runtime, "containerd", "runtimes", handler.name, "options", "SystemdCgroup")
    text = f"give {handler.name} the value that runc has"
    leaf = _leaf(handler)
    if leaf is not None:
        return set_at(config, leaf.origin, wanted, text, intends)
    file = handler.origin.file
    if not file:
        return ()
    return tuple(
        fix
        for table in _tables(config, file, handler.name)
        for fix in put(config, file, {(*table, "options", "SystemdCgroup"): wanted}, text, intends)
    )


def _tables(config: Config, file: str, name: str) -> Iterator[Path]:
    """The handler's table under the names that the file itself uses."""
    plugins = config.documents[file].get("plugins")
    for section in plugins if isinstance(plugins, Table) else ():
        if section in ("cri", CRI, config.runtime):
            yield ("plugins", section, "containerd", "runtimes", name)
