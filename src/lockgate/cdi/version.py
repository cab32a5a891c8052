"""Which CDI version a document needs, and which one the reference library insists on: they are not always the same.

Source: `MinimumRequiredVersion` of the reference library's specs-go v1.1.1. That module is compiled as Go 1.19, where
all turns of a loop share one variable: for the features of 0.5.0 and 0.4.0 it looks at the last device only. So a
document may pass that an older runtime cannot use.
"""

from collections.abc import Iterable
from itertools import chain

from lockgate.cdi.spec import EARLIEST, Edits, Spec


def minimum_version(spec: Spec) -> str:
    """The lowest version of the specification whose features this document uses."""
    return _lowest(spec, _all_edits(spec))


def enforced_version(spec: Spec) -> str:
    """The version below which the reference library refuses the document."""
    return _lowest(spec, edits_looked_at(spec))


def edits_looked_at(spec: Spec) -> list[Edits]:
    """The edits in which the library looks for device nodes and mounts of newer versions, in its order."""
    return [*(device.container_edits for device in spec.devices[-1:]), spec.container_edits]


def starts_with_digit(name: str) -> bool:
    """Whether a device name needs 0.5.0."""
    return "0" <= name[:1] <= "9"


def _all_edits(spec: Spec) -> list[Edits]:
    return [*(device.container_edits for device in spec.devices), spec.container_edits]


def _lowest(spec: Spec, edits: Iterable[Edits]) -> str:
    edits, everything = list(edits), _all_edits(spec)
    nodes, mounts = chain(*(e.device_nodes for e in edits)), chain(*(e.mounts for e in edits))
    needs = {
        "1.1.0": any(map(_needs_1_1_0, everything)),
        "0.7.0": any(e.intel_rdt is not None or e.additional_gids for e in everything),
        "0.6.0": _needs_0_6_0(spec),
        "0.5.0": any(starts_with_digit(d.name) for d in spec.devices) or any(n and n.host_path for n in nodes),
        "0.4.0": any(mount and mount.type for mount in mounts),
    }
    return next((version for version, needed in needs.items() if needed), EARLIEST)


def _needs_1_1_0(edits: Edits) -> bool:
    rdt = edits.intel_rdt
    return bool(edits.net_devices) or (rdt is not None and (rdt.schemata is not None or rdt.enable_monitoring))


def _needs_0_6_0(spec: Spec) -> bool:
    annotated = bool(spec.annotations) or any(device.annotations for device in spec.devices)
    return annotated or "." in spec.kind.partition("/")[2]
