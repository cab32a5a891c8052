"""Every GPU pod also gets RDMA or GPUDirect Storage devices, which nobody asked for.

The device plugin is set to hand out InfiniBand (`MOFED_ENABLED`), GPUDirect Storage (`GDS_ENABLED`) or GDRCopy devices
with each GPU, while the policy does not enable them. GPU operator 26.3.0 to 26.3.2 did so by itself (fixed in 26.3.3).

Why it matters: pods see devices of the host that they should not, and containers fail where such a device is missing.
How to tell: the environment of the device plugin's DaemonSet, against `driver.rdma`, `gds` and `gdrcopy` of the policy.
Fix: update the operator, or set the variable to `false` in `devicePlugin.env`.
"""

from lockgate.diagnosis.device_plugins import is_plugin
from lockgate.diagnosis.rule import Failed, rule
from lockgate.diagnosis.stage import Stage
from lockgate.kit.untyped import mapping_at, mappings_at
from lockgate.model.facts import ClusterPolicies, DaemonSets
from lockgate.model.finding import Evidence, Remedy, Risk, Severity
from lockgate.model.objects import ClusterPolicy, DaemonSet

# The plugin's variable -> where the policy enables it.
_WHERE = {"MOFED_ENABLED": ("driver", "rdma"), "GDS_ENABLED": ("gds",), "GDRCOPY_ENABLED": ("gdrcopy",)}


@rule(codes=("J16",), severity=Severity.INFO, stages=(Stage.CLUSTER,))
def rdma_by_default(daemon_sets: DaemonSets, cluster_policies: ClusterPolicies) -> Failed | None:
    for ds in filter(is_plugin, daemon_sets):
        for policy in cluster_policies:
            if seen := _unasked(ds, policy):
                names = ", ".join(e.field.rpartition("[")[2].rstrip("]") for e in seen)
                return Failed(
                    about=f"daemonset/{ds.namespace}/{ds.name}",
                    summary=f"The plugin sets {names}, which {policy.name} does not enable: every GPU pod gets those.",
                    evidence=seen,
                    remedy=(
                        Remedy(
                            "Update the operator to 26.3.3 or newer",
                            f"kubectl get ds -n {ds.namespace} {ds.name} -o jsonpath='{{.metadata.labels}}'",
                            Risk.NONE,
                        ),
                    ),
                )
    return None


def _unasked(ds: DaemonSet, policy: ClusterPolicy) -> tuple[Evidence, ...]:
    own = {e.get("name") for e in mappings_at(policy.spec, "devicePlugin", "env")}
    return tuple(
        Evidence(
            object=f"daemonset/{ds.namespace}/{ds.name}", field=f"{container.name}.env[{env.name}]", value=env.value
        )
        for container in ds.spec.template.spec.containers
        for env in container.env
        if env.name in _WHERE and env.value.lower() == "true" and env.name not in own and not _enabled(policy, env.name)
    )


def _enabled(policy: ClusterPolicy, name: str) -> bool:
    return bool(mapping_at(policy.spec, *_WHERE[name]).get("enabled"))
