"""A RuntimeClass names a program, or nothing, where it should name a handler.

`handler` is the name under which a runtime is defined in the configuration of containerd or CRI-O: `nvidia`. The
program behind it (`nvidia-container-runtime`) stands in that configuration only.

Why it matters: every pod of the class fails with `no runtime for "nvidia-container-runtime" is configured`.
Fix: `handler: nvidia`.
"""

from collections.abc import Iterator

from lockgate.lint.manifests import Document, Manifests
from lockgate.lint.rule import Fix, Problem, lint_rule
from lockgate.lint.yaml_edits import with_scalar
from lockgate.lint.yaml_items import Item
from lockgate.model.finding import Severity

_PROGRAMS = {
    "nvidia-container-runtime": "nvidia",
    "nvidia-container-runtime.cdi": "nvidia-cdi",
    "nvidia-container-runtime.legacy": "nvidia-legacy",
}


@lint_rule(codes=("E01",), severity=Severity.ERROR)
def runtime_class_handler(manifests: Manifests) -> Iterator[Problem]:
    for document in manifests.of_kind("RuntimeClass"):
        handler = document.item.get("handler") or document.item.get("spec", "runtimeHandler")  # v1alpha1, up to 1.23
        if handler is None:
            yield _problem(document, document.item, "has no handler; the API server refuses it", ())
        elif (right := _PROGRAMS.get(handler.text().rpartition("/")[2])) is not None:
            text = with_scalar(manifests.texts[document.file], handler, right)
            fix = Fix(f"handler: {right}", {document.file: text}, (manifests.place_of(handler),))
            yield _problem(document, handler, f"names the program {handler.text()}, expected handler {right}", (fix,))


def _problem(document: Document, item: Item, text: str, fixes: tuple[Fix, ...]) -> Problem:
    return Problem(
        key=document.name,
        summary=f"RuntimeClass {document.name} {text}",
        marks=(document.mark(item, "a handler of containerd's configuration is expected"),),
        help="" if fixes else "handler: nvidia",
        fixes=fixes,
    )
