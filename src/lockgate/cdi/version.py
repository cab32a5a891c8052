"""Which CDI version a document needs at least.

Source: `MinimumRequiredVersion` of the reference library's specs-go v1.1.1. Null entries in lists make the
library panic; `validate` refuses them before it asks for a version.
"""

from collections.abc import Iterator

from lockgate.cdi.spec import EARLIEST, Edits, Spec


def minimum_version(spec: Spec) -> str:
    """The lowest version of the specification whose features this document uses."""
    for version, needs in _REQUIREMENTS:
        if needs(spec):
            return version
    return EARLIEST


def _all_edits(spec: Spec) -> Iterator[Edits]:
    yield spec.container_edits
    for device in spec.devices:
        yield device.container_edits


def _needs_1_1_0(spec: Spec) -> bool:
    def one(edits: Edits) -> bool:
        rdt = edits.intel_rdt
        return bool(edits.net_devices) or (rdt is not None and (rdt.schemata is not None or rdt.enable_monitoring))

    return any(map(one, _all_edits(spec)))


def _needs_0_7_0(spec: Spec) -> bool:
    return any(edits.intel_rdt is not None or edits.additional_gids for edits in _all_edits(spec))


def _needs_0_6_0(spec: Spec) -> bool:
    dotted_class = "." in spec.kind.partition("/")[2]
    return bool(spec.annotations) or any(device.annotations for device in spec.devices) or dotted_class


def _needs_0_5_0(spec: Spec) -> bool:
    digit_first = any("0" <= device.name[:1] <= "9" for device in spec.devices)
    return digit_first or any(node and node.host_path for edits in _all_edits(spec) for node in edits.device_nodes)


def _needs_0_4_0(spec: Spec) -> bool:
    return any(mount and mount.type for edits in _all_edits(spec) for mount in edits.mounts)


_REQUIREMENTS = (
    ("1.1.0", _needs_1_1_0),
    ("0.7.0", _needs_0_7_0),
    ("0.6.0", _needs_0_6_0),
    ("0.5.0", _needs_0_5_0),
    ("0.4.0", _needs_0_4_0),
)
