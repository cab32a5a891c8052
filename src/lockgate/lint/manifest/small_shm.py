"""A pod with several GPUs has the 64 MiB of shared memory that a container gets by default.

`/dev/shm` of a container is 64 MiB, whatever its memory limit. NCCL exchanges buffers through it between the GPUs of
one node where they cannot reach each other directly, and data loaders hand batches over in it.

Why it matters: training starts and then ends in `No space left on device`, `unable to open shared memory` or a bus
error.
Fix: mount an `emptyDir` with `medium: Memory` at `/dev/shm`; what is written there counts against the memory limit.
"""

from collections.abc import Iterator

from lockgate.lint.manifests import Container, Manifests, PodTemplate
from lockgate.lint.rule import Problem, lint_rule
from lockgate.model.finding import Severity

_PLACE = "/dev/shm"


@lint_rule(severity=Severity.INFO)
def small_shm(manifests: Manifests) -> Iterator[Problem]:
    for template in manifests.templates:
        shares = template.spec.get("hostIPC")
        for container in template.containers if shares is None or shares.value is not True else ():
            count = sum(container.gpus.values())
            if count > 1 and not _ends(container) and not _has_shm(container):
                yield _problem(template, container, count)


def _ends(container: Container) -> bool:
    """Whether it is a patch that does not say all, or an init container that only prepares."""
    return not container.is_whole or (container.init and not container.sidecar)


def _has_shm(container: Container) -> bool:
    mounts = (mount.text("mountPath").rstrip("/") for mount in container.item.items("volumeMounts"))
    return any(path in (_PLACE, "/dev") for path in mounts)


def _problem(template: PodTemplate, container: Container, count: int) -> Problem:
    places = [item for _, item in container.resources("limits")]
    return Problem(
        key=template.key(container.name),
        summary=f"{template.name}: container {container.name} has {count} GPUs and 64 MiB of shared memory, which NCCL "
        "and data loaders fill",
        marks=tuple(template.mark(item, "nothing is mounted at /dev/shm") for item in places),
        help="mount an emptyDir {medium: Memory, sizeLimit: 8Gi} at /dev/shm; it counts against the memory limit",
    )
