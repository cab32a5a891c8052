"""The one ConfigMap that is ever read of a live cluster: the one that the ClusterPolicy names for the device plugin.

It holds configurations of NVIDIA's plugin, and nothing that is secret. It is asked for by its name, so that `get` on it
is all that has to be allowed; where that is not, the section is Missing with the right that lacks. That it does not
exist is known then too, unlike of one that a file does not hold.
"""

from collections.abc import Mapping
from typing import Any, Final

from lockgate.collect.reader import Reader
from lockgate.kit.untyped import mapping_at
from lockgate.kube import resources as kinds
from lockgate.model.facts import NOT_COLLECTED, Missing
from lockgate.model.objects import ClusterPolicy, ConfigMap, DaemonSet, Metadata

_PLUGIN: Final = "nvidia-device-plugin-daemonset"


async def read_plugin_config(read: Reader, found: Mapping[str, Any]) -> Any:
    """The section `config_maps`, where the policies and DaemonSets that were read tell which one it is."""
    policies, daemon_sets = (_there(found, section) for section in ("cluster_policies", "daemon_sets"))
    name = next((named for policy in policies if (named := _named(policy))), "")
    space = next((ds.namespace for ds in daemon_sets if _is_plugin(ds)), "")
    if not (name and space):
        return NOT_COLLECTED
    config_map = await read.get(kinds.CONFIGMAPS, name, space)
    if isinstance(config_map, Missing):
        return config_map
    return (config_map or ConfigMap(metadata=Metadata(name=name, namespace=space), is_absent=True),)


def _named(policy: ClusterPolicy) -> str:
    plugin = mapping_at(policy.spec, "devicePlugin")
    is_off = policy.status.state == "ignored" or plugin.get("enabled") is False
    return "" if is_off else str(mapping_at(plugin, "config").get("name") or "")


def _is_plugin(daemon_set: DaemonSet) -> bool:
    return _PLUGIN in (daemon_set.name, daemon_set.metadata.labels.get("app"))


def _there(found: Mapping[str, Any], section: str) -> Any:
    objects = found.get(section, ())
    return () if isinstance(objects, Missing) else objects
