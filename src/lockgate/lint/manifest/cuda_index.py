"""CUDA_VISIBLE_DEVICES names a GPU by a number that the container will not have.

Inside a container the GPUs that it was given are counted from 0. With one GPU only `0` exists, whichever card of the
node it is.

Why it matters: the program starts, and finds no CUDA device (`no CUDA-capable device is detected`).
Fix: take the variable out: a container sees its own GPUs only.
"""

from collections.abc import Iterator
from typing import Final

from lockgate.kit.counted import counted
from lockgate.lint.manifests import Container, Manifests, PodTemplate
from lockgate.lint.rule import Fix, Problem, lint_rule
from lockgate.lint.yaml_edits import without
from lockgate.lint.yaml_items import Item
from lockgate.model.finding import Severity

_NAME: Final = "CUDA_VISIBLE_DEVICES"


@lint_rule(severity=Severity.ERROR)
def cuda_index(manifests: Manifests) -> Iterator[Problem]:
    for template in manifests.templates:
        for container in template.containers:
            entry = container.env(_NAME)
            count = sum(container.gpus.values())
            if entry is not None and count and _beyond(entry.text("value"), count):
                yield _problem(manifests, template, container, entry, count)


def _beyond(value: str, count: int) -> bool:
    """Whether the first number is one that is not there: CUDA ignores what follows an invalid one."""
    first = value.split(",")[0].strip()
    return first.isdecimal() and int(first) >= count


def _problem(manifests: Manifests, template: PodTemplate, container: Container, entry: Item, count: int) -> Problem:
    value = entry.text("value")
    return Problem(
        key=template.key(container.name),
        summary=f"{template.name}: container {container.name} gets {counted(count, 'GPU')}, numbered "
        f"from 0, and {_NAME}={value} names none of them",
        marks=(template.mark(entry, f"the highest number is {count - 1}", _NAME),),
        help="take the variable out",
        fixes=_fixes(manifests, container, entry),
    )


def _fixes(manifests: Manifests, container: Container, entry: Item) -> tuple[Fix, ...]:
    entries = container.item.get("env")
    assert entries is not None  # the entry is in it
    text = without(manifests.texts[container.file], entry if len(entries.each()) > 1 else entries)
    return (Fix(f"take {_NAME} out", {container.file: text}, (manifests.place_of(entries),)),) if text else ()
