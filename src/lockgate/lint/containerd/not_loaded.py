"""The files define a runtime that the running containerd does not have.

containerd reads its files only when it starts; what was written afterwards waits for a restart.

Why it matters: the files are right, and pods fail with `no runtime for "nvidia" is configured` all the same.
Fix: restart containerd on this node; pods keep running.
"""

from collections.abc import Iterator

from lockgate.lint.rule import Mark, Problem, lint_rule
from lockgate.lint.subject import Config, NodeFacts
from lockgate.model.finding import Severity


@lint_rule(codes=("E01",), severity=Severity.WARNING, mutes=("containerd/newer-than-process",))
def not_loaded(config: Config, node: NodeFacts) -> Iterator[Problem]:
    if node.loaded is None or config.effective.cri_disabled:
        return
    waiting = [h for name, h in sorted(config.effective.handlers.items()) if name not in node.loaded]
    waiting = [handler for handler in waiting if not handler.origin.is_built_in]
    if waiting:
        has = ", ".join(sorted(node.loaded)) or "none"
        names = ", ".join(f'"{handler.name}"' for handler in waiting)
        yield Problem(
            key=names,
            summary=f"the running containerd has no runtime {names} (it has: {has})",
            marks=tuple(Mark.at(handler.table.origin, "not loaded yet") for handler in waiting),
            help="systemctl restart containerd",
        )
