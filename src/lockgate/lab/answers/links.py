"""How devices reach each other: PCI topology, NVLink and the switches behind it."""

from typing import Final

from lockgate.lab.answers.registry import Call, Target, Values, answers
from lockgate.lab.codes import NvmlError, Return
from lockgate.lab.state import Gpu
from lockgate.lab.wire import Object

_SAME, _SINGLE_SWITCH, _ONE_NUMA_NODE, _SYSTEM = 0, 10, 40, 50  # nvmlGpuTopologyLevel_t
_SWITCH: Final = 2  # NVML_NVLINK_DEVICE_TYPE_SWITCH
_SWITCH_BUSES: Final = (0xC4, 0xC5, 0xC6, 0xC7, 0xC8, 0xC9)


@answers("nvmlDeviceGetTopologyCommonAncestor", "gg")
def _common_ancestor(call: Call, one: Target, other: Target) -> Values:
    return (_distance(one.gpu, other.gpu),)


@answers("nvmlDeviceGetTopologyNearestGpus", "gu")
def _nearest(call: Call, target: Target, level: int) -> Values:
    """The number of GPUs at exactly that distance, and each of them."""
    others = [gpu for gpu in call.gpus if gpu.minor != target.gpu.minor and _distance(target.gpu, gpu) == level]
    return len(others), *(Object((gpu.minor,)) for gpu in others)


def _distance(one: Gpu, other: Gpu) -> int:
    """Pairs share a PCIe switch, as on HGX boards."""
    if one.minor == other.minor:
        return _SAME
    if one.numa_node != other.numa_node:
        return _SYSTEM
    return _SINGLE_SWITCH if one.minor // 2 == other.minor // 2 else _ONE_NUMA_NODE


@answers("nvmlDeviceOnSameBoard", "gg")
def _same_board(call: Call, one: Target, other: Target) -> Values:
    return (one.gpu.minor == other.gpu.minor,)


@answers("nvmlDeviceGetP2PStatus", "ggu")
def _peer_to_peer(call: Call, one: Target, other: Target, capability: int) -> Values:
    """0 when the pair can do it, 5 (not supported) for NVLink between boards without."""
    nvlink = 2
    linked = one.gpu.product.nvlinks and other.gpu.product.nvlinks
    return (5 if capability == nvlink and not linked else 0,)


def _check_link(target: Target, link: int) -> None:
    if not target.gpu.product.nvlinks:
        raise NvmlError(Return.NOT_SUPPORTED)
    if link >= target.gpu.product.nvlinks:
        raise NvmlError(Return.INVALID_ARGUMENT)


@answers("nvmlDeviceGetNvLinkState", "gu")
def _state(call: Call, target: Target, link: int) -> Values:
    _check_link(target, link)
    return (link not in target.gpu.nvlinks_down,)


@answers("nvmlDeviceGetNvLinkVersion", "gu")
def _version(call: Call, target: Target, link: int) -> Values:
    _check_link(target, link)
    return (target.gpu.product.nvlink_version,)


@answers("nvmlDeviceGetNvLinkCapability", "guu")
def _capability(call: Call, target: Target, link: int, capability: int) -> Values:
    _check_link(target, link)
    if capability > 5:
        raise NvmlError(Return.INVALID_ARGUMENT)
    slow_bridge = 4
    return (capability != slow_bridge,)


@answers("nvmlDeviceGetNvLinkErrorCounter", "guu")
def _errors(call: Call, target: Target, link: int, counter: int) -> Values:
    _check_link(target, link)
    if counter > 4:
        raise NvmlError(Return.INVALID_ARGUMENT)
    return (target.gpu.nvlink_errors,)


@answers("nvmlDeviceGetNvLinkRemotePciInfo_v2", "gu")
def _remote(call: Call, target: Target, link: int) -> Values:
    """Domain, bus, device, PCI ids: every link of these boards ends in an NVSwitch."""
    _check_active(target, link)
    return 0, _SWITCH_BUSES[link % len(_SWITCH_BUSES)], 0, 0x1AF110DE, 0


@answers("nvmlDeviceGetNvLinkRemoteDeviceType", "gu")
def _remote_type(call: Call, target: Target, link: int) -> Values:
    _check_active(target, link)
    return (_SWITCH,)


def _check_active(target: Target, link: int) -> None:
    _check_link(target, link)
    if link in target.gpu.nvlinks_down:
        raise NvmlError(Return.NOT_SUPPORTED)


@answers("nvmlDeviceGetPcieThroughput", "gu")
def _pcie_throughput(call: Call, target: Target, counter: int) -> Values:
    if counter > 1:
        raise NvmlError(Return.INVALID_ARGUMENT)
    return ((target.gpu.pcie_tx, target.gpu.pcie_rx)[counter],)
