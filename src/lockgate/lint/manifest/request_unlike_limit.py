"""A container requests another number of GPUs than its limit.

Devices are not overcommitted: a request must be equal to the limit (`must be equal to nvidia.com/gpu limit of 2`), or
be left out.

Why it matters: the API server refuses the pod; no smaller request makes it fit on a fuller node.
Fix: leave the request out, and write under `limits` what the container needs.
"""

from collections.abc import Iterator

from lockgate.kit.quantity import parse_quantity
from lockgate.lint.manifests import Manifests, is_filled_in_later
from lockgate.lint.rule import Problem, lint_rule
from lockgate.lint.yaml_items import Item
from lockgate.model.finding import Severity


@lint_rule(codes=("A05",), severity=Severity.ERROR)
def request_unlike_limit(manifests: Manifests) -> Iterator[Problem]:
    for template in manifests.templates:
        for container in template.containers:
            limits = dict(container.resources("limits"))
            for name, item in container.resources("requests"):
                if name in limits and _differ(item, limits[name]):
                    said, limit = item.text(), limits[name].text()
                    yield Problem(
                        key=template.key(container.name, name),
                        summary=f"{template.name}: container {container.name} requests {said} of {name} and limits it "
                        f"to {limit}; the API server refuses the pod",
                        marks=(
                            template.mark(item, f"must be equal to the limit of {limit}"),
                            template.mark(limits[name], "the limit is what the container gets"),
                        ),
                        help="leave the request out; the limit stands for both",
                    )


def _differ(one: Item, other: Item) -> bool:
    if is_filled_in_later(one) or is_filled_in_later(other):
        return False
    try:
        return parse_quantity(one.text()) != parse_quantity(other.text())
    except ValueError:
        return False  # said by another rule
