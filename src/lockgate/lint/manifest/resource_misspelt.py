"""A container asks for a GPU under a name that no device plugin of NVIDIA's advertises.

A resource's name is compared letter by letter. One that nobody advertises is no mistake for the API server, as long as
it has a domain: the pod waits for ever with `Insufficient nvidia.com/gpus`.

Why it matters: it looks like a full cluster, and no free GPU helps.
Fix: write `nvidia.com/gpu`, or `nvidia.com/mig-<profile>` as the nodes advertise it (`kubectl gpu survey`).
"""

import re
from collections.abc import Iterator
from typing import Final

from lockgate.lint.manifests import Container, Manifests, PodTemplate
from lockgate.lint.rule import Fix, Problem, lint_rule
from lockgate.lint.yaml_edits import with_key
from lockgate.lint.yaml_items import Item
from lockgate.model.finding import Severity
from lockgate.model.names import GPU, is_gpu_resource

# What people write, from the reports: an old alpha name, another separator, a plural, a slip, no domain at all.
_MEANT: Final = re.compile(
    r"(?:alpha\.kubernetes\.io/nvidia-gpu|nvidia[./-]gpus?|(?:nvidia|nvdia|nvida|nividia|nvidea)\.com/gpus?"
    r"|nvidia\.com\.gpu|nvidia\.io/gpu|nvidia\.org/gpu|kubernetes\.io/nvidia-gpu|gpus?)",
    re.IGNORECASE,
)
_MIG: Final = re.compile(
    r"nvidia\.com/(?:mig[-_.]?)?(?:(?P<compute>\d)c\.?)?(?P<slices>\d)g[._-]?(?P<memory>\d+)gb(?P<more>[.+][a-z.]+)?",
    re.IGNORECASE,
)


@lint_rule(codes=("C11",), severity=Severity.ERROR)
def resource_misspelt(manifests: Manifests) -> Iterator[Problem]:
    for template in manifests.templates:
        for container in template.containers:
            for name, right in sorted({(n, r) for n, _ in _all(container) if (r := _meant(n))}):
                yield _problem(manifests, template, container, name, right)


def _all(container: Container) -> Iterator[tuple[str, Item]]:
    for part in ("limits", "requests"):
        found = container.item.get("resources", part)
        yield from found.pairs() if found is not None else ()


def _meant(name: str) -> str:
    """The name that was meant; "" for one that is right, or that means something else."""
    profile = _MIG.fullmatch(name)
    if profile:
        compute = f"{profile['compute']}c." if profile["compute"] else ""
        more = (profile["more"] or "").lower().replace("+", ".")
        right = f"nvidia.com/mig-{compute}{profile['slices']}g.{profile['memory']}gb{more}"
        return "" if right == name else right
    if is_gpu_resource(name) and name.lower() == name and not name.endswith("gpus"):
        return ""
    return GPU if _MEANT.fullmatch(name) else ""


def _problem(manifests: Manifests, template: PodTemplate, container: Container, name: str, right: str) -> Problem:
    places = [item for known, item in _all(container) if known == name]
    return Problem(
        key=template.key(container.name, name),
        summary=f'{template.name}: container {container.name} asks for "{name}", which nobody advertises; meant is '
        f"{right}",
        marks=tuple(template.mark(item, f"meant is {right}", name) for item in places),
        fixes=_fixes(manifests, container, places, right),
    )


def _fixes(manifests: Manifests, container: Container, places: list[Item], right: str) -> tuple[Fix, ...]:
    """All of them at once, the last one first, so that places stay true."""
    text = manifests.texts[container.file]
    if any(known == right for known, _ in _all(container)):
        return ()  # both are there: which amount counts is for a person to say
    for item in sorted(places, key=lambda one: one.span.start, reverse=True):
        edited = with_key(text, item, right)
        if edited is None:
            return ()
        text = edited
    resources = container.item.get("resources")
    assert resources is not None  # the places are in it
    return (Fix(f"ask for {right}", {container.file: text}, (manifests.place_of(resources),)),)
