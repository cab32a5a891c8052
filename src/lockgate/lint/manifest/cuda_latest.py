"""A container with a GPU runs an image of CUDA whose version nobody has chosen.

The tag `latest`, or none, is what was pushed last. Each CUDA needs a driver that is new enough, and the node's driver
does not change with the image.

Why it matters: a node that pulls the image later than the others gets another CUDA; there it ends in `unsatisfied
condition: cuda>=...`, or `CUDA driver version is insufficient for CUDA runtime version`.
Fix: name the version (`nvidia/cuda:12.4.1-base-ubuntu22.04`), or a digest.
"""

from collections.abc import Iterator

from lockgate.lint.images import parse_image
from lockgate.lint.manifests import Manifests
from lockgate.lint.rule import Problem, lint_rule
from lockgate.model.finding import Severity


@lint_rule(codes=("E17",), severity=Severity.WARNING)
def cuda_latest(manifests: Manifests) -> Iterator[Problem]:
    for template in manifests.templates:
        for container in template.containers:
            said = container.item.get("image")
            image = parse_image(said.text()) if said is not None else None
            if said is None or image is None or not container.asks or not image.floats:
                continue
            if image.is_for_gpus:
                yield Problem(
                    key=template.key(container.name),
                    summary=f"{template.name}: container {container.name} runs {said.text()}: which CUDA that is, and "
                    "which driver it needs, is decided when a node pulls it",
                    marks=(template.mark(said, "no version is chosen"),),
                    help="name a version that the nodes' driver can run (`kubectl gpu survey` shows the driver)",
                )
