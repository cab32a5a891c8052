"""A container uses a resource claim that its pod does not have, or the pod's claim names no object.

With dynamic resource allocation a pod lists its claims under `resourceClaims`, each with `resourceClaimName` or
`resourceClaimTemplateName`, and a container uses one by the name in that list.

Why it matters: the API server refuses the pod (`must specify one of: resourceClaimName, resourceClaimTemplateName`,
`must be one of the names in pod.spec.resourceClaims`).
Fix: list the claim in the pod, under the name that the container uses.
"""

from collections.abc import Iterator

from lockgate.lint.manifests import Manifests, PodTemplate
from lockgate.lint.rule import Problem, lint_rule
from lockgate.lint.yaml_items import Item
from lockgate.model.finding import Severity

_NAMES = ("resourceClaimName", "resourceClaimTemplateName")
_OLD = "source"  # the two names stood under it up to Kubernetes 1.30


@lint_rule(codes=("A12",), severity=Severity.ERROR)
def claim_undefined(manifests: Manifests) -> Iterator[Problem]:
    for template in manifests.templates:
        claims = template.spec.items("resourceClaims")
        known = {claim.text("name") for claim in claims}
        for claim in claims:
            if claim.get(_OLD) is None and not any(claim.text(name) for name in _NAMES):
                text = f"claim {claim.text('name')} names neither {_NAMES[0]} nor {_NAMES[1]}"
                yield _problem(template, claim, claim.text("name"), text)
        for container in template.containers if all(c.is_whole for c in template.containers) else ():
            for used in container.item.items("resources", "claims"):
                if used.text("name") not in known:
                    text = f"container {container.name} uses claim {used.text('name')}, which the pod does not list"
                    yield _problem(template, used, f"{container.name} {used.text('name')}", text)


def _problem(template: PodTemplate, item: Item, key: str, text: str) -> Problem:
    return Problem(
        key=template.key(key),
        summary=f"{template.name}: {text}; the API server refuses the pod",
        marks=(template.mark(item, "here"),),
        help="resourceClaims: [{name: gpu, resourceClaimTemplateName: NAME}]",
    )
