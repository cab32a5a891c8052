"""What a GPU exporter publishes (dcgm-exporter, or any with its series) as readings, a device and pod each.

Taken are utilisation and used memory, under the names of dcgm-exporter 4 and, for old ones, 1. A device may have a
series for each pod that shares it. Source: reference B3 to B6; `exported_*` labels come from a Prometheus in between.
"""

import math
from collections.abc import Mapping
from typing import Final

from lockgate.model.facts import Reading

# series -> what makes it a share of 1; the engine's own measure before the coarse one
_UTILISATION: Final[Mapping[str, float]] = {
    "DCGM_FI_PROF_GR_ENGINE_ACTIVE": 1.0,
    "DCGM_FI_PROF_SM_ACTIVE": 1.0,
    "DCGM_FI_DEV_GPU_UTIL": 0.01,
    "dcgm_gpu_utilization": 0.01,
}
_MEMORY: Final = ("DCGM_FI_DEV_FB_USED", "dcgm_fb_used")
_NAMESPACE: Final = ("exported_namespace", "namespace", "pod_namespace")
_POD: Final = ("exported_pod", "pod", "pod_name")
_Key = tuple[str, str, str, str]  # device, profile, namespace, pod


def parse_readings(node: str, text: str) -> tuple[Reading, ...]:
    """The readings of one node's exporter; raises ValueError for what is not Prometheus' text format."""
    from prometheus_client.parser import text_string_to_metric_families

    found: dict[_Key, dict[str, float]] = {}
    for family in text_string_to_metric_families(text):
        for sample in family.samples:
            known = sample.name in _UTILISATION or sample.name in _MEMORY
            if known and (device := _device(sample.labels)) and math.isfinite(sample.value):
                key = (device, sample.labels.get("GPU_I_PROFILE", ""), *_holder(sample.labels))
                found.setdefault(key, {})[sample.name] = sample.value
    return tuple(_reading(node, key, values) for key, values in sorted(found.items()))


def _reading(node: str, key: _Key, values: Mapping[str, float]) -> Reading:
    device, profile, namespace, pod = key
    shares = [values[name] * unit for name, unit in _UTILISATION.items() if name in values]
    memory = next((round(values[name]) for name in _MEMORY if name in values), None)
    return Reading(
        node=node,
        device=device,
        profile=profile,
        namespace=namespace,
        pod=pod,
        utilisation=max(shares, default=None),
        memory_used_mib=memory,
    )


def _device(labels: Mapping[str, str]) -> str:
    """A device by its UUID where there is one; a MIG device is told from its GPU by its instance."""
    gpu = labels.get("UUID") or labels.get("uuid") or labels.get("gpu", "")
    instance = labels.get("GPU_I_ID", "")
    return f"{gpu}/{instance}" if instance else gpu


def _holder(labels: Mapping[str, str]) -> tuple[str, str]:
    namespace = next((labels[name] for name in _NAMESPACE if labels.get(name)), "")
    pod = next((labels[name] for name in _POD if labels.get(name)), "")
    return (namespace, pod) if pod else ("", "")
