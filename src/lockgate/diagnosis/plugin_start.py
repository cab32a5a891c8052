"""Device plugins that are on their way: a pod that was made just now tells nothing of GPUs yet, and is no fault."""

import datetime as dt
from collections.abc import Iterable

from lockgate.diagnosis.node_start import LONG
from lockgate.diagnosis.views.plugin import Plugin, PluginOn
from lockgate.model.facts import Events, Missing


def starting(
    plugin: Plugin | Missing, nodes: Iterable[str], events: Events | Missing, now: dt.datetime | None
) -> list[PluginOn]:
    """The plugins on these nodes whose pod is young, has had no container yet, and of which no event warns."""
    young = [] if isinstance(plugin, Missing) else [on for name in nodes if _is_young(on := plugin.on(name), now)]
    warned = _warned(events) if young else set()
    return [on for on in young if on.pod not in warned]


def _is_young(on: PluginOn, now: dt.datetime | None) -> bool:
    return now is not None and on.starting_since is not None and now - on.starting_since < LONG


def _warned(events: Events | Missing) -> set[str]:
    """The pods (namespace/name) that the kubelet has trouble with."""
    said = () if isinstance(events, Missing) else events
    return {f"{e.about.namespace}/{e.about.name}" for e in said if e.type == "Warning" and e.about.kind == "Pod"}
