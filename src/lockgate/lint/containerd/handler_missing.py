"""A RuntimeClass of the cluster names a handler that no file of a GPU node defines.

Judged for NVIDIA's handlers on nodes that have GPUs; other classes may be meant for other nodes.

Why it matters: every pod of that class on the node fails with `no runtime for "nvidia" is configured`.
Fix: let the container toolkit write the handler on this node; see its pod there.
"""

from collections.abc import Iterator

from lockgate.containerd.traps import lost_handlers
from lockgate.lint.rule import Mark, Problem, lint_rule
from lockgate.lint.subject import Config, NodeFacts
from lockgate.model.finding import Severity


@lint_rule(codes=("E01",), severity=Severity.ERROR)
def handler_missing(config: Config, node: NodeFacts) -> Iterator[Problem]:
    if config.effective.cri_disabled:
        return
    told = {
        one.name for one in lost_handlers(config.effective, config.subject.files)
    }  # other rules say how it was lost
    defined = ", ".join(sorted(config.effective.handlers)) or "none"
    for name, handler in sorted(node.needed.items()):
        if handler.startswith("nvidia") and handler not in config.effective.handlers and handler not in told:
            yield Problem(
                key=name,
                summary=f'RuntimeClass "{name}" needs handler "{handler}", and no file defines it (defined: {defined})',
                marks=(Mark(config.subject.root, 1, "neither this file nor its imports define it"),),
                help="see the toolkit pod of this node",
            )
