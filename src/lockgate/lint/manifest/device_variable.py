"""A container names its GPUs itself, in NVIDIA_VISIBLE_DEVICES.

The variable is how the device plugin and the runtime talk to each other. Set by hand, it takes GPUs past the
scheduler: where the NVIDIA runtime honours it (`accept-nvidia-visible-devices-envvar-when-unprivileged`, its default),
`all` shows every GPU of the node to a pod that was given one, or none.

Why it matters: two pods compute on one GPU, and each runs out of memory because of the other; on a node that injects
by CDI the variable does nothing, and the program finds no GPU.
Fix: take the variable out, and ask for `nvidia.com/gpu` under `resources.limits`; the plugin says which one.
"""

from collections.abc import Iterator
from typing import Final

from lockgate.lint.manifests import Container, Manifests, PodTemplate
from lockgate.lint.rule import Fix, Problem, lint_rule
from lockgate.lint.yaml_edits import without
from lockgate.lint.yaml_items import Item
from lockgate.model.finding import Severity
from lockgate.model.names import GPU

VISIBLE: Final = "NVIDIA_VISIBLE_DEVICES"
_NO_GPU: Final = ("", "void", "none")  # what keeps GPUs away is no way to get one


@lint_rule(codes=("J09",), severity=Severity.WARNING, mutes=("manifest/no-gpu-asked",))
def device_variable(manifests: Manifests) -> Iterator[Problem]:
    for template in manifests.templates:
        if template.is_operand:
            continue
        for container in template.containers:
            entry = container.env(VISIBLE)
            if entry is not None and entry.text("value") not in _NO_GPU:
                yield _problem(manifests, template, container, entry)


def _problem(manifests: Manifests, template: PodTemplate, container: Container, entry: Item) -> Problem:
    value = entry.text("value")
    has = "asked for" if container.asks else f"none of which it has asked for ({GPU} is not in its limits)"
    return Problem(
        key=template.key(container.name),
        within=template.key(),
        summary=f"{template.name}: container {container.name} sets {VISIBLE}={value} itself: it takes GPUs past the "
        f"scheduler, {'besides those that it has ' if container.asks else ''}{has}",
        marks=(template.mark(entry, "the device plugin sets it", VISIBLE),),
        help=f"take the variable out{'' if container.asks else f', and add {GPU}: 1 under resources.limits'}",
        fixes=_fixes(manifests, container, entry),
    )


def _fixes(manifests: Manifests, container: Container, entry: Item) -> tuple[Fix, ...]:
    """Only where it has asked for a GPU: without the variable another one would have none."""
    entries = container.item.get("env")
    if not container.asks or entries is None:
        return ()
    gone = entry if len(entries.each()) > 1 else entries
    text = without(manifests.texts[container.file], gone)
    return (Fix(f"take {VISIBLE} out", {container.file: text}, (manifests.place_of(entries),)),) if text else ()
