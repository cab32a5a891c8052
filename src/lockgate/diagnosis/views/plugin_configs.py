"""Which configuration of the device plugin a node asks for, and how it shares a GPU: ClusterPolicy, ConfigMap, label.

The policy's `devicePlugin.config.name` is a ConfigMap whose keys are configurations. A node names one by its label
`nvidia.com/device-plugin.config`; one that names none has the policy's default, and without a default an empty
configuration (gpu-operator, assets/state-device-plugin: FALLBACK_STRATEGIES=empty).
"""

from collections.abc import Iterator, Mapping
from typing import Any, Final

import msgspec

from lockgate.diagnosis.views.plugin import Plugin
from lockgate.kit.plain_yaml import PlainYamlError, parse_documents
from lockgate.kit.untyped import mapping_at, mappings_at
from lockgate.model import names
from lockgate.model.facts import ClusterPolicies, ConfigMaps, Missing, Nodes
from lockgate.model.finding import Evidence
from lockgate.model.gpu_node import is_gpu_node
from lockgate.model.objects import ClusterPolicy, ConfigMap, Node

_MOST_VALUES: Final = 10_000
_IN_EACH: Final = "kube-root-ca.crt"  # kube-controller-manager's root-ca-certificate-publisher
_WAYS: Final = ("timeSlicing", "mps")


class Share(msgspec.Struct, frozen=True, kw_only=True):
    """One configuration that shares whole GPUs: its key, by how many, and whether it keeps the resource's name.

    `one_each` says that a container may ask for one slot alone.
    """

    key: str
    replicas: int
    is_renamed: bool = False
    one_each: bool = False


class PluginConfigs(msgspec.Struct, frozen=True, kw_only=True):
    """The configurations of the cluster's plugin; `keys` is None where its ConfigMap was not read, or `is_absent`.

    `unchosen` is a configuration that shares and that nothing chooses: no default, and no GPU node names any.
    """

    policy: str
    place: str  # namespace/name of the ConfigMap, the name alone where its namespace is not known
    default: str
    keys: tuple[str, ...] | None = None
    shares: tuple[Share, ...] = ()
    unchosen: Share | None = None
    lacking: Missing | None = None
    is_absent: bool = False

    def key_of(self, node: Node) -> str:
        """The configuration that a node has; "" where it has none."""
        return node.metadata.labels.get(names.PLUGIN_CONFIG) or self.default

    def share_of(self, node: Node) -> Share | None:
        """How the node's GPUs are to be shared; None where they are not, or where that is not known."""
        return next((share for share in self.shares if share.key == self.key_of(node)), None)

    def lacks(self, node: Node) -> bool:
        """Whether the node has a configuration that the ConfigMap does not hold."""
        key = self.key_of(node)
        return bool(key) and self.keys is not None and key not in self.keys

    @property
    def as_arguments(self) -> str:
        """The ConfigMap as arguments of `kubectl get configmaps`."""
        namespace, _, name = self.place.rpartition("/")
        return f"-n {namespace} {name}" if namespace else f"-A --field-selector metadata.name={name}"

    def said(self, share: Share) -> Evidence:
        """The line of the ConfigMap that shares."""
        field = f"data[{share.key}] sharing"
        return Evidence(object=f"configmap/{self.place}", field=field, value=f"replicas: {share.replicas}")

    def chosen_by(self, node: Node) -> Evidence:
        """What chooses the node's configuration."""
        if label := node.metadata.labels.get(names.PLUGIN_CONFIG):
            return Evidence(object=f"node/{node.name}", field=f"metadata.labels[{names.PLUGIN_CONFIG}]", value=label)
        field, value = "spec.devicePlugin.config.default", self.default or "none"
        return Evidence(object=f"clusterpolicy/{self.policy}", field=field, value=value)


def plugin_configs(
    config_maps: ConfigMaps | Missing,
    cluster_policies: ClusterPolicies | Missing,
    plugin: Plugin | Missing,
    nodes: Nodes | Missing,
) -> PluginConfigs | Missing:
    """What the policy, its ConfigMap and the place of the plugin tell together; Missing where no policy names any."""
    policies = () if isinstance(cluster_policies, Missing) else cluster_policies
    policy, named = next(((p, c) for p in policies if (c := _named(p)) and c.get("name")), (None, {}))
    if policy is None:
        return cluster_policies if isinstance(cluster_policies, Missing) else Missing("no policy names a configuration")
    spaces = () if isinstance(plugin, Missing) else tuple(dict.fromkeys(ds.namespace for ds in plugin.daemon_sets))
    name, default = str(named["name"]), str(named.get("default") or "")
    place = f"{spaces[0]}/{name}" if spaces else name
    if isinstance(config_maps, Missing):
        unread = PluginConfigs(policy=policy.name, place=place, default=default)
        how = config_maps.how if config_maps.refused else f"kubectl get configmaps {unread.as_arguments} -o json"
        return msgspec.structs.replace(unread, lacking=msgspec.structs.replace(config_maps, how=how))
    found = [m for m in config_maps if m.name == name and (m.namespace in spaces or not spaces)]
    if len(found) != 1 or found[0].is_absent:
        is_absent = any(each.is_absent for each in found) or (not found and _is_all_of(config_maps, spaces))
        return PluginConfigs(policy=policy.name, place=place, default=default, is_absent=is_absent)
    shares = tuple(_shares(found[0]))
    labels = [] if isinstance(nodes, Missing) else [n.metadata.labels for n in nodes if is_gpu_node(n)]
    is_chosen = bool(default) or not labels or any(each.get(names.PLUGIN_CONFIG) for each in labels)
    return PluginConfigs(
        policy=policy.name,
        place=f"{found[0].namespace}/{name}",
        default=default,
        keys=tuple(found[0].data),
        shares=shares,
        unchosen=None if is_chosen else max(shares, key=lambda share: share.replicas, default=None),
    )


def _named(policy: ClusterPolicy) -> Mapping[str, Any]:
    """The policy's choice of a ConfigMap; nothing of a policy that the operator ignores, or that wants no plugin."""
    plugin = mapping_at(policy.spec, "devicePlugin")
    is_off = policy.status.state == "ignored" or plugin.get("enabled") is False
    return {} if is_off else mapping_at(plugin, "config")


def _is_all_of(config_maps: ConfigMaps, spaces: tuple[str, ...]) -> bool:
    """Whether all ConfigMaps of some namespaces are there, by the one that Kubernetes puts into each."""
    whole = {each.namespace for each in config_maps if each.name == _IN_EACH}
    return bool(spaces) and whole.issuperset(spaces)


def _shares(config_map: ConfigMap) -> Iterator[Share]:
    for key, text in config_map.data.items():
        sharing = mapping_at(_read(text), "sharing")
        for way in (mapping_at(sharing, each) for each in _WAYS):
            for resource in mappings_at(way, "resources"):
                replicas = resource.get("replicas")
                whole = str(resource.get("name", "")).removeprefix(f"{names.NVIDIA_GROUP}/") == "gpu"
                if whole and isinstance(replicas, int) and replicas > 1:
                    renamed = bool(way.get("renameByDefault")) or "rename" in resource
                    one = bool(way.get("failRequestsGreaterThanOne"))
                    yield Share(key=key, replicas=replicas, is_renamed=renamed, one_each=one)


def _read(text: str) -> object:
    """What a configuration says; nothing where it is not one YAML document, which its plugin refuses."""
    try:
        found = parse_documents(text.encode(), _MOST_VALUES)
    except PlainYamlError:
        return None
    return found[0] if len(found) == 1 else None
