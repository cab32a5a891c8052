"""A pod mounts NVIDIA's device nodes from the host, to see GPUs.

Device nodes in a `hostPath` volume go past the scheduler and the device plugin: no one counts them, and without
`privileged` the cgroup forbids to open them all the same.

Why it matters: the pod uses a GPU that another one was given; Pod Security `baseline` refuses it; and the driver's
libraries are still missing.
Fix: take the volume (and `privileged`) out, and ask for `nvidia.com/gpu` under `resources.limits`.
"""

from collections.abc import Iterator

from lockgate.lint.manifests import Manifests, PodTemplate
from lockgate.lint.rule import Problem, lint_rule
from lockgate.lint.yaml_items import Item
from lockgate.model.finding import Severity


@lint_rule(codes=("A07", "J09"), severity=Severity.WARNING)
def device_mounted(manifests: Manifests) -> Iterator[Problem]:
    for template in manifests.templates:
        found = () if template.is_operand else _devices(template)
        if found:
            names = ", ".join(item.text() for item in found)
            yield Problem(
                key=template.key(),
                summary=f"{template.name} mounts {names} from its node: that is no request, and nobody counts it",
                marks=tuple(template.mark(item, "past the scheduler and the device plugin") for item in found),
                help="ask for nvidia.com/gpu under resources.limits, without the volume and without privileged",
            )


def _devices(template: PodTemplate) -> tuple[Item, ...]:
    paths = (volume.get("hostPath", "path") for volume in template.spec.items("volumes"))
    return tuple(path for path in paths if path is not None and path.text().startswith("/dev/nvidia"))
