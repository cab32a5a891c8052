"""Time-slicing advertises a GPU several times, and its memory is not divided.

`replicas: 5` lets five pods use one device in turn. Each may take all of the memory; none is guaranteed any, an error
of one stops all, and DCGM cannot tell which pod used how much.

Why it matters: pods that fit alone end in `CUDA out of memory` together, at a moment when nothing was changed.
Fix: for memory of its own use MIG; else let the programs bound themselves. `failRequestsGreaterThanOne: true` keeps
pods from taking two slots of one device for two GPUs.
"""

from collections.abc import Iterator

from lockgate.lint.manifests import Manifests, amount_of
from lockgate.lint.plugin_configs import PluginConfig, plugin_configs
from lockgate.lint.rule import Problem, lint_rule
from lockgate.lint.yaml_items import Item
from lockgate.model.finding import Severity


@lint_rule(codes=("J13",), severity=Severity.INFO)
def replicas_share_memory(manifests: Manifests) -> Iterator[Problem]:
    for config in plugin_configs(manifests):
        sharing = config.item.get("sharing", "timeSlicing")
        for resource in sharing.items("resources") if sharing else ():
            replicas = resource.get("replicas")
            if sharing is not None and replicas is not None and amount_of(replicas) > 1:
                yield _problem(config, sharing, resource, replicas)


def _problem(config: PluginConfig, sharing: Item, resource: Item, replicas: Item) -> Problem:
    name, count = resource.text("name"), replicas.text()
    refuses = sharing.text("failRequestsGreaterThanOne") == "true"
    return Problem(
        key=f"{config.document.name} {config.key} {name}",
        summary=f"ConfigMap {config.document.name}, {config.key}: {count} pods share each {name}; none is guaranteed "
        f"any memory{'' if refuses else ', and a pod that asks for 2 may get one device twice'}",
        marks=(config.mark(replicas, f"one device, advertised {count} times"),),
        help="MIG for memory of its own" + ("" if refuses else "; failRequestsGreaterThanOne: true under timeSlicing"),
    )
