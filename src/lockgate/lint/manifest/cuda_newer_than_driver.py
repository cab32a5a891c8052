"""An image's CUDA is newer than any that the drivers of the GPU nodes can run.

A driver runs programs of its own CUDA version and of older ones. Programs of a newer minor version of the same major
one run too (minor version compatibility, from CUDA 11 on), but NVIDIA's images ask for their own version when they
start.

Why it matters: the container does not start (`unsatisfied condition: cuda>=12.8`), or CUDA does not (`CUDA driver
version is insufficient for CUDA runtime version`).
Fix: take an image of an older CUDA, or renew the driver on the nodes.
"""

import re
from collections.abc import Iterator
from typing import Final

from lockgate.lint.cluster_facts import ClusterFacts, GpuNode
from lockgate.lint.images import parse_image
from lockgate.lint.manifests import Container, Manifests
from lockgate.lint.rule import Problem, lint_rule
from lockgate.lint.yaml_items import Item
from lockgate.model.finding import Severity

_CUDA_IMAGE: Final = re.compile(r"(?:^|/)(?:cuda|cudagl)$")
_IN_TAG: Final = re.compile(r"(?:^|[-_.])cuda-?(?P<major>1[0-9])[.-]?(?P<minor>[0-9])(?![0-9])")
_FIRST: Final = re.compile(r"(?P<major>\d{1,2})\.(?P<minor>\d)(?:\.\d+)?(?:-|$)")


@lint_rule(codes=("E17",), severity=Severity.ERROR)
def cuda_newer_than_driver(manifests: Manifests, cluster: ClusterFacts) -> Iterator[Problem]:
    for template in manifests.templates:
        for container in template.containers:
            said = container.item.get("image")
            needs = _cuda_of(said) if said is not None else None
            nodes = _nodes(cluster, container)
            newest = max((node.cuda for node in nodes if node.cuda), default=None)
            if said is None or needs is None or newest is None or any(node.cuda is None for node in nodes):
                continue
            if needs > newest:
                yield Problem(
                    key=template.key(container.name),
                    summary=f"{template.name}: container {container.name} brings CUDA {_text(needs)}, and the newest "
                    f"that a driver here can run is {_text(newest)} (of {len(nodes)} GPU nodes)",
                    marks=(template.mark(said, f"CUDA {_text(needs)}"),),
                    severity=None if needs[0] > newest[0] else Severity.WARNING,
                    help=f"an image of CUDA {_text(newest)} or older, or a newer driver on the nodes",
                )


def _nodes(cluster: ClusterFacts, container: Container) -> tuple[GpuNode, ...]:
    return cluster.offering(frozenset(container.gpus)) if container.gpus else ()


def _cuda_of(said: Item) -> tuple[int, int] | None:
    """The CUDA that an image's name tells: NVIDIA's own by their tag, others where the tag has it."""
    image = parse_image(said.text())
    if image is None:
        return None
    found = _FIRST.match(image.tag) if _CUDA_IMAGE.search(image.name) else _IN_TAG.search(image.tag)
    return (int(found["major"]), int(found["minor"])) if found else None


def _text(version: tuple[int, int]) -> str:
    return f"{version[0]}.{version[1]}"
