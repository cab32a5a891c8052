"""Two drop-ins name different default runtimes.

The one that is read last wins; a drop-in over the top-level file is how toolkits work, two drop-ins are a contest.

Why it matters: which runtime pods get that name none depends on the names of files.
Fix: keep `default_runtime_name` in one drop-in.
"""

from collections.abc import Iterator

from lockgate.lint.edits import drop_lines
from lockgate.lint.rule import Mark, Problem, lint_rule
from lockgate.lint.subject import Config
from lockgate.model.finding import Severity


@lint_rule(severity=Severity.WARNING)
def default_runtime_overridden(config: Config) -> Iterator[Problem]:
    leaf = config.effective.leaf("plugins", config.runtime, "containerd", "default_runtime_name")
    root = config.subject.root
    if leaf is None or leaf.origin.file in ("", root):
        return
    beaten = next((o for o in leaf.overrode if o.origin.file not in ("", root, leaf.origin.file)), None)
    if beaten is None or beaten.value == leaf.value or not beaten.value:
        return
    yield Problem(
        key=beaten.origin.file,
        summary=(
            f'{config.show(beaten.origin)} makes "{beaten.value}" the default runtime, and {config.show(leaf.origin)}, '
            f'read later, "{leaf.value}"'
        ),
        marks=(
            Mark.at(beaten.origin, "has no effect", f'"{beaten.value}"'),
            Mark.at(leaf.origin, "read later: this one wins", f'"{leaf.value}"'),
        ),
        help="keep default_runtime_name in one drop-in",
        fixes=drop_lines(config, [beaten.origin], "remove the one that has no effect"),
    )
