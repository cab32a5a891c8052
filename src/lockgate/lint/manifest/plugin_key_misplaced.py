"""A key of the device plugin's configuration stands where the plugin does not look for it.

The plugin drops keys that it does not know in a place, without a word. `renameByDefault` under `flags` does nothing;
it belongs under `sharing.timeSlicing`.

Why it matters: the resource keeps its name, requests for two slots are admitted, MIG stays off, and the configuration
looks right.
Fix: move the key to the place that is shown, and restart the plugin's pods: the operator does not watch the ConfigMap.
"""

from collections.abc import Iterator, Mapping
from typing import Final

from lockgate.lint.manifests import Manifests
from lockgate.lint.plugin_configs import PluginConfig, plugin_configs
from lockgate.lint.rule import Path, Problem, lint_rule
from lockgate.lint.yaml_items import Item
from lockgate.model.finding import Severity

_SHARED: Final = (("sharing", "timeSlicing"), ("sharing", "mps"))
# Where each key is read (k8s-device-plugin 0.20, api/config/v1).
_PLACES: Final[Mapping[str, tuple[Path, ...]]] = {
    "renameByDefault": _SHARED,
    "failRequestsGreaterThanOne": _SHARED,
    "timeSlicing": (("sharing",),),
    "mps": (("sharing",),),
    "migStrategy": (("flags",),),
    "deviceListStrategy": (("flags", "plugin"),),
    "deviceIDStrategy": (("flags", "plugin"),),
    "passDeviceSpecs": (("flags", "plugin"),),
}


@lint_rule(codes=("C13",), severity=Severity.ERROR)
def plugin_key_misplaced(manifests: Manifests) -> Iterator[Problem]:
    for config in plugin_configs(manifests):
        for above, name, item in _keys(config.item, ()):
            if name in _PLACES and above not in _PLACES[name]:
                yield _problem(config, above, name, item)


def _keys(item: Item, above: Path) -> Iterator[tuple[Path, str, Item]]:
    for name, child in item.pairs():
        yield above, name, child
        yield from _keys(child, (*above, name))


def _problem(config: PluginConfig, above: Path, name: str, item: Item) -> Problem:
    right = " or ".join(".".join(place) for place in _PLACES[name])
    return Problem(
        key=f"{config.document.name} {config.key} {'.'.join((*above, name))}",
        summary=f"ConfigMap {config.document.name}, {config.key}: {name} under {'.'.join(above) or 'the top'} is "
        f"ignored; the plugin reads it under {right}",
        marks=(config.mark(item, f"belongs under {right}"),),
        help="then restart the device plugin's pods; the ConfigMap is not watched",
    )
