"""A container with a GPU is privileged.

A privileged container has every device of its node. It sees all GPUs, also those that other pods were given: what it
asked for is only what the scheduler counts.

Why it matters: frameworks take the first GPU, or all of them; another pod's job runs out of memory.
Fix: take `privileged` out: a GPU needs no rights. For what does need one, name it under `capabilities`.
"""

from collections.abc import Iterator

from lockgate.lint.manifests import Manifests
from lockgate.lint.rule import Problem, lint_rule
from lockgate.model.finding import Severity


@lint_rule(codes=("J09",), severity=Severity.WARNING)
def privileged_gpu(manifests: Manifests) -> Iterator[Problem]:
    for template in manifests.templates:
        for container in () if template.is_operand else template.containers:
            said = container.item.get("securityContext", "privileged")
            if said is not None and said.value is True and container.asks:
                yield Problem(
                    key=template.key(container.name),
                    summary=f"{template.name}: container {container.name} is privileged: it sees every GPU of its "
                    "node, not only those that it has asked for",
                    marks=(template.mark(said, "gives every device of the node"),),
                    help="take privileged out; a GPU needs no rights",
                )
