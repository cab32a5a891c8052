"""A handler's `runtime_type` is not a shim that this containerd can start.

Handlers of runc and of programs that wrap it are of type `io.containerd.runc.v2`. `io.containerd.runtime.v1.linux` and
`io.containerd.runc.v1` ended with containerd 2; an empty type never works.

Why it matters: pods of the handler fail when their sandbox is made (`failed to get runtime`, `invalid runtime name`).
Fix: `runtime_type = "io.containerd.runc.v2"`.
"""

import re
from collections.abc import Iterator

from lockgate.containerd.effective import RUNC_V2, Handler
from lockgate.containerd.values import Leaf, Table
from lockgate.lint.edits import put, set_at
from lockgate.lint.rule import Fix, Mark, Problem, lint_rule
from lockgate.lint.subject import Config
from lockgate.model.finding import Severity

_GONE = ("io.containerd.runtime.v1.linux", "io.containerd.runc.v1")
_SHIM = re.compile(r"[a-z0-9_-]+(?:\.[a-z0-9_-]+){2,}")  # the last two words name the program


@lint_rule(severity=Severity.ERROR)
def wrong_runtime_type(config: Config) -> Iterator[Problem]:
    for handler in config.effective.handlers.values():
        reason = _reason(config, handler)
        if reason:
            yield _problem(config, handler, reason)


def _reason(config: Config, handler: Handler) -> str:
    kind = handler.runtime_type
    wraps_runc = "nvidia-container-runtime" in handler.binary_name
    if not kind:
        return "it names no shim"
    if kind in _GONE and not config.release.family.plugin_by_id:
        return f"containerd {config.release} has no such shim any more"
    if wraps_runc and kind not in (RUNC_V2, *_GONE):
        return f"{handler.binary_name} is a program in runc's place"
    if not kind.startswith("/") and not _SHIM.fullmatch(kind):
        return "that is no name of a shim"
    return ""


def _problem(config: Config, handler: Handler, reason: str) -> Problem:
    leaf = handler.table.get("runtime_type")
    origin = leaf.origin if isinstance(leaf, Leaf) and not leaf.origin.is_built_in else handler.table.origin
    kind = handler.runtime_type
    return Problem(
        key=handler.name,
        summary=f'runtime "{handler.name}" has runtime_type = "{kind}": {reason}; expected "{RUNC_V2}"',
        marks=(Mark.at(origin, f'expected "{RUNC_V2}"', f'"{kind}"' if kind else ""),),
        fixes=_fixes(config, handler, leaf),
    )


def _fixes(config: Config, handler: Handler, leaf: object) -> tuple[Fix, ...]:
    intends = ("plugins", config.runtime, "containerd", "runtimes", handler.name, "runtime_type")
    text = f'runtime_type = "{RUNC_V2}"'
    if isinstance(leaf, Leaf) and not leaf.origin.is_built_in:
        return set_at(config, leaf.origin, RUNC_V2, text, intends)
    file = handler.table.origin.file
    plugins = config.documents[file].get("plugins") if file in config.documents else None
    for section in plugins if isinstance(plugins, Table) else ():
        fixes = put(
            config,
            file,
            {("plugins", section, "containerd", "runtimes", handler.name, "runtime_type"): RUNC_V2},
            text,
            intends,
        )
        if fixes:
            return fixes
    return ()
