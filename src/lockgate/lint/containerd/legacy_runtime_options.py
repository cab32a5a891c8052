"""A handler has `runtime_root` or `runtime_engine`, which only the shim of containerd 1.2 knew.

They belong to `io.containerd.runtime.v1.linux`. Empty values, as generated files have them, do no harm.

Why it matters: containerd 1 does not load its CRI plugin with them; containerd 2 ignores them, so that a wrapper that
`runtime_engine` names is never run.
Fix: remove them; the runtime's path is `options.BinaryName`.
"""

from collections.abc import Iterator

from lockgate.containerd.validate import LINUX_V1
from lockgate.containerd.values import Leaf, Table, find
from lockgate.lint.edits import drop_lines
from lockgate.lint.lost_settings import SECTIONS
from lockgate.lint.rule import Mark, Problem, lint_rule
from lockgate.lint.subject import Config
from lockgate.model.finding import Severity

_KEYS = ("runtime_root", "runtime_engine")


@lint_rule(severity=Severity.WARNING)
def legacy_runtime_options(config: Config) -> Iterator[Problem]:
    for document in config.documents.values():
        for section in SECTIONS:
            runtimes = find(document, "plugins", section, "containerd", "runtimes")
            for name, table in runtimes.items() if isinstance(runtimes, Table) else ():
                if isinstance(table, Table) and _type(config, name) != LINUX_V1:
                    yield from _of(config, name, table)


def _type(config: Config, name: str) -> str:
    handler = config.effective.handlers.get(name)
    return handler.runtime_type if handler is not None else ""


def _of(config: Config, name: str, table: Table) -> Iterator[Problem]:
    legacy = {key: leaf for key in _KEYS if isinstance(leaf := table.get(key), Leaf) and leaf.value}
    if not legacy:
        return
    kills = config.release.family.plugin_by_id and name in config.effective.handlers
    keys = " and ".join(legacy)
    effect = "its CRI plugin does not load with it" if kills else "it ignores it"
    prefix = ("plugins", config.runtime, "containerd", "runtimes", name)
    yield Problem(
        key=f"{table.origin.file} {name}",
        summary=f'runtime "{name}" has {keys}, which containerd {config.release} does not know: {effect}',
        marks=tuple(Mark.at(leaf.origin, "only for the shim of containerd 1.2", key) for key, leaf in legacy.items()),
        help="the runtime's path is options.BinaryName",
        severity=Severity.BLOCKER if kills else None,
        fixes=drop_lines(
            config, [leaf.origin for leaf in legacy.values()], f"remove {keys}", *((*prefix, key) for key in legacy)
        ),
    )
