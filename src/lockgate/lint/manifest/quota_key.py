"""A ResourceQuota counts GPUs under a key that is never enforced.

For resources with a domain a quota knows requests only: `requests.nvidia.com/gpu`. `nvidia.com/gpu` and
`limits.nvidia.com/gpu` are accepted, and count nothing.

Why it matters: the namespace has no limit, though its quota shows one; one team takes every GPU.
Fix: `requests.nvidia.com/gpu: "4"`.
"""

from collections.abc import Iterator

from lockgate.lint.manifests import Document, Manifests
from lockgate.lint.rule import Fix, Problem, lint_rule
from lockgate.lint.yaml_edits import with_key
from lockgate.lint.yaml_items import Item
from lockgate.model.finding import Severity
from lockgate.model.names import is_gpu_resource

_REQUESTS, _LIMITS = "requests.", "limits."


@lint_rule(codes=("A02",), severity=Severity.ERROR)
def quota_key(manifests: Manifests) -> Iterator[Problem]:
    for document in manifests.of_kind("ResourceQuota"):
        hard = document.item.get("spec", "hard")
        for name, item in hard.pairs() if hard else ():
            if not name.startswith(_REQUESTS) and is_gpu_resource(name.removeprefix(_LIMITS)):
                yield _problem(manifests, document, name, item)


def _problem(manifests: Manifests, document: Document, name: str, item: Item) -> Problem:
    right = _REQUESTS + name.removeprefix(_LIMITS)
    return Problem(
        key=f"{document.name} {name}",
        summary=f'ResourceQuota {document.name}: "{name}" is never enforced; GPUs are counted as "{right}"',
        marks=(document.mark(item, f"expected {right}", name),),
        fixes=_fixes(manifests, document, item, right),
    )


def _fixes(manifests: Manifests, document: Document, item: Item, right: str) -> tuple[Fix, ...]:
    hard = document.item.get("spec", "hard")
    if hard is None or hard.get(right) is not None:
        return ()  # both are there: which number is meant is for a person to say
    text = with_key(manifests.texts[document.file], item, right)
    return (Fix(f"count {right}", {document.file: text}, (manifests.place_of(hard),)),) if text else ()
