"""The labels of a node's GPUs, as NVIDIA's GPU feature discovery 0.20 gives them.

On a node with several models NVIDIA's choice is random; here the model with the most GPUs names the node, of equals the
one with the more memory, then the lower index.
"""

import re
from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Final

import msgspec

from lockgate.agents.sharing import PREFIX, Sharing
from lockgate.gpu.values import Capability, Gpu, MigDevice, Snapshot, Unread, known
from lockgate.mig.profile_name import parse_profile_name
from lockgate.model.names import GPU

_FABRIC_COMPLETED: Final = 3
_NO_CLUSTER: Final = "00000000-0000-0000-0000-000000000000"
_FAMILIES: Final = {
    1: "tesla",
    2: "fermi",
    3: "kepler",
    5: "maxwell",
    6: "pascal",
    9: "hopper",
    10: "blackwell",
    12: "blackwell",
    13: "rubin",
}
_MODES: Final = {0x030000: "graphics", 0x030200: "compute"}


class Surroundings(msgspec.Struct, frozen=True):
    """What else the labels say: the machine's product name, when the process started (Unix seconds; None: no label)."""

    machine: str = "unknown"
    timestamp: int | None = None


def sanitise(text: str) -> str:
    """A label value: unusual characters dropped, runs of white space as one dash.

    Beyond NVIDIA's rule it is cut to 63 characters and to a letter or digit at both ends: one value that the API server
    refuses would keep all the others from the node.
    """
    value = "-".join(re.sub(r"[^A-Za-z0-9\-_. ]", "", re.sub(r"\s", " ", text)).split())
    return value.strip("-_.")[:63].rstrip("-_.")


def family(capability: Capability) -> str:
    """The GPU family's name by compute capability; `undefined` for one that we do not know."""
    major, minor = capability.major, capability.minor
    if major == 7:
        return "turing" if minor >= 5 else "volta"
    if major == 8:
        return "ada-lovelace" if minor >= 9 else "ampere"
    return _FAMILIES.get(major, "undefined")


def node_labels(seen: Snapshot, strategy: str, sharing: Sharing, around: Surroundings) -> dict[str, str]:
    """Every label, with its prefix. `strategy`: MIG strategy (none, single, mixed)."""
    labels = {} if around.timestamp is None else {"gfd.timestamp": str(around.timestamp)}
    labels["vgpu.present"] = "false"
    if seen.gpus:
        labels |= _version_labels(seen)
        labels |= _node_wide(seen.gpus, around)
        labels |= _gpu_labels(seen.gpus, sharing)
        labels |= _mig_labels(seen.gpus, strategy, sharing)
    return {PREFIX + name: value for name, value in sorted(labels.items())}


def _version_labels(seen: Snapshot) -> dict[str, str]:
    labels: dict[str, str] = {}
    parts = seen.driver_version.split(".")
    if len(parts) in (2, 3):
        major, minor, revision = (*parts, "")[:3]
        labels |= {
            "cuda.driver-version.major": major,
            "cuda.driver-version.minor": minor,
            "cuda.driver-version.revision": revision,
            "cuda.driver-version.full": seen.driver_version,
            "cuda.driver.major": major,
            "cuda.driver.minor": minor,
            "cuda.driver.rev": revision,
        }
    if not isinstance(seen.cuda_version, Unread):
        major, minor = str(seen.cuda_version // 1000), str(seen.cuda_version % 1000 // 10)
        labels |= {
            "cuda.runtime-version.major": major,
            "cuda.runtime-version.minor": minor,
            "cuda.runtime-version.full": f"{major}.{minor}",
            "cuda.runtime.major": major,
            "cuda.runtime.minor": minor,
        }
    return labels


def _node_wide(gpus: tuple[Gpu, ...], around: Surroundings) -> dict[str, str]:
    capable = any(gpu.mig_enabled is not None for gpu in gpus)
    labels = {
        "gpu.machine": sanitise(around.machine) or "unknown",
        "gpu.mode": _mode(gpus),
        "mig.capable": _bool(capable),
        "mps.capable": "false",
    }
    clique = _clique(gpus)
    return labels | ({"gpu.clique": clique} if clique else {})


def _mode(gpus: Iterable[Gpu]) -> str:
    modes = {_MODES.get(gpu.pci_class or 0, "unknown") for gpu in gpus}
    return modes.pop() if len(modes) == 1 else "unknown"


def _clique(gpus: Iterable[Gpu]) -> str:
    """`<cluster>.<clique>` when every GPU has joined the same NVLink fabric, else empty."""
    cliques = set()
    for gpu in gpus:
        fabric = gpu.fabric
        if isinstance(fabric, Unread) or fabric.state != _FABRIC_COMPLETED or fabric.status != 0:
            return ""
        cliques.add((fabric.cluster_uuid, fabric.clique_id))
    if len(cliques) != 1:
        return ""
    cluster, clique = cliques.pop()
    return "" if cluster == _NO_CLUSTER else f"{cluster}.{clique}"


# --- whole GPUs


def _gpu_labels(gpus: tuple[Gpu, ...], sharing: Sharing) -> dict[str, str]:
    chosen = _model(gpus)
    count = sum(gpu.name == chosen.name for gpu in gpus)
    labels = _resource_labels("gpu", sanitise(chosen.name), count, GPU, sharing)
    if chosen.mig_enabled and sharing.of(GPU).replicas < 2:
        labels["gpu.replicas"] = "0"
    memory = known(chosen.memory_mib, 0)
    if memory:
        labels["gpu.memory"] = str(memory)
    if not isinstance(chosen.capability, Unread) and chosen.capability.major:
        labels |= {
            "gpu.family": family(chosen.capability),
            "gpu.compute.major": str(chosen.capability.major),
            "gpu.compute.minor": str(chosen.capability.minor),
        }
    return labels


def _model(gpus: tuple[Gpu, ...]) -> Gpu:
    """The GPU whose model speaks for the node."""
    counts = Counter(gpu.name for gpu in gpus)
    return min(gpus, key=lambda gpu: (-counts[gpu.name], -known(gpu.memory_mib, 0), gpu.index))


def _resource_labels(prefix: str, product: str, count: int, resource: str, sharing: Sharing) -> dict[str, str]:
    """What every kind of resource has; a shared one that keeps its name says so in its product."""
    how = sharing.of(resource)
    shared = how.replicas > 1
    suffix = "-SHARED" if shared and how.advertised == resource else ""
    return {
        f"{prefix}.product": product + suffix,
        f"{prefix}.count": str(count),
        f"{prefix}.replicas": str(how.replicas),
        f"{prefix}.sharing-strategy": sharing.strategy if shared else "none",
    }


# --- MIG


def _mig_labels(gpus: tuple[Gpu, ...], strategy: str, sharing: Sharing) -> dict[str, str]:
    if strategy == "single":
        return {"mig.strategy": strategy} | _single(gpus, sharing)
    if strategy == "mixed":
        return {"mig.strategy": strategy} | _mixed(gpus, sharing)
    return {}


def _single(gpus: tuple[Gpu, ...], sharing: Sharing) -> dict[str, str]:
    """MIG devices described as the GPUs of the node; a layout that cannot be is named INVALID and counts nothing."""
    enabled = [gpu for gpu in gpus if gpu.mig_enabled]
    if not enabled:
        return {}
    profiles = {mig.profile for gpu in enabled for mig in gpu.mig}
    if len(enabled) < len(gpus) or not all(gpu.mig for gpu in enabled) or len(profiles) != 1:
        return {
            "gpu.product": f"{sanitise(enabled[0].name)}-MIG-INVALID",
            "gpu.count": "0",
            "gpu.replicas": "0",
            "gpu.memory": "0",
            "gpu.sharing-strategy": "",
        }
    return _profile_labels("gpu", enabled, profiles.pop(), GPU, sharing)


def _mixed(gpus: tuple[Gpu, ...], sharing: Sharing) -> dict[str, str]:
    labels: dict[str, str] = {}
    for profile in sorted({mig.profile for gpu in gpus for mig in gpu.mig}):
        name = parse_profile_name(profile)
        if name.compute_slices == name.gpu_slices:
            resource = f"mig-{name.resource_suffix}"
            labels |= _profile_labels(resource, gpus, profile, PREFIX + resource, sharing)
    return labels


def _profile_labels(prefix: str, gpus: Iterable[Gpu], profile: str, resource: str, sharing: Sharing) -> dict[str, str]:
    found = [(gpu, mig) for gpu in gpus for mig in gpu.mig if mig.profile == profile]
    gpu, mig = found[0]
    product = f"{sanitise(gpu.name)}-MIG-{parse_profile_name(profile).resource_suffix}"
    labels = _resource_labels(prefix, product, len(found), resource, sharing)
    return labels | {f"{prefix}.{name}": str(value) for name, value in _attributes(mig).items()}


def _attributes(mig: MigDevice) -> Mapping[str, int]:
    engines = mig.engines
    return {
        "memory": mig.memory_mib,
        "multiprocessors": engines.multiprocessors,
        "slices.gi": mig.gpu_slices,
        "slices.ci": mig.compute_slices,
        "engines.copy": engines.copy,
        "engines.decoder": engines.decoder,
        "engines.encoder": engines.encoder,
        "engines.jpeg": engines.jpeg,
        "engines.ofa": engines.ofa,
    }


def _bool(value: bool) -> str:
    return "true" if value else "false"
