"""A pod that asks for a GPU names its node itself.

`nodeName` goes past the scheduler. The kubelet of that node drops a request for a resource that it does not know, and
refuses the pod when its GPUs are taken: nobody waits for one to be free.

Why it matters: on a node whose device plugin has not registered the pod runs *without a GPU*; on a full one it ends as
Failed (`UnexpectedAdmissionError`, `OutOfnvidia.com/gpu`), and its controller makes the next one at once.
Fix: say where it may run with `nodeSelector` (`kubernetes.io/hostname`, `nvidia.com/gpu.product`) and let the
scheduler count.
"""

from collections.abc import Iterator

from lockgate.lint.manifests import Manifests
from lockgate.lint.rule import Problem, lint_rule
from lockgate.model.finding import Severity


@lint_rule(codes=("C20", "D08"), severity=Severity.WARNING)
def node_pinned(manifests: Manifests) -> Iterator[Problem]:
    for template in manifests.templates:
        pinned = template.spec.get("nodeName")
        # A pod that has been in a cluster has its node from the scheduler.
        bound = template.document.live and template.document.kind == "Pod"
        if pinned is not None and pinned.text() and template.asks and not bound:
            yield Problem(
                key=template.key(),
                summary=f"{template.name} asks for a GPU and names node {pinned.text()} itself: no scheduler counts "
                "whether one is free there",
                marks=(template.mark(pinned, "goes past the scheduler"),),
                help=f"nodeSelector: {{kubernetes.io/hostname: {pinned.text()}}}",
            )
