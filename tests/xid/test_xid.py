"""XIDs: lines as drivers write them, the table of codes, and who acts on which code."""

# ruff: noqa: E501 - lines of real programs stay on one line

import datetime as dt

import pytest

from lockgate.accounting.checkpoint import devices_by_pod
from lockgate.xid.codes import CODES, FAMILIES, Family, code_of
from lockgate.xid.kernel_log import bus_of, parse_kernel_log
from lockgate.xid.policies import APPLICATION_XIDS, EKS_ACTS_ON, GKE_ACTS_ON, NEEDS_RESET, nvidia_plugin_ignores

LOST = "NVRM: Xid (PCI:0000:3b:00): 79, pid='<unknown>', name=<unknown>, GPU has fallen off the bus."
FAULT = "NVRM: Xid (PCI:0000:ca:00): 31, pid=3000, name=python, Ch 00000008, intr 00000000. MMU Fault: ENGINE GRAPHICS"
OLD = "NVRM: Xid (0000:03:00): 13, Graphics Exception: ESR 0x404490=0x80000001"


@pytest.mark.parametrize(
    ("line", "code", "bus", "pid", "process", "text"),
    [
        (f"[  104.200000] {LOST}", 79, "0000:3b:00", "", "", "GPU has fallen off the bus."),
        (f"Nov 29 23:00:01 gpu-a kernel: {FAULT}", 31, "0000:ca:00", "3000", "python", "Ch 00000008, intr 00000000. MMU Fault: ENGINE GRAPHICS"),
        (OLD, 13, "0000:03:00", "", "", "Graphics Exception: ESR 0x404490=0x80000001"),
    ],
)  # fmt: skip
def test_a_line_of_any_driver_is_read(line: str, code: int, bus: str, pid: str, process: str, text: str) -> None:
    (seen,) = parse_kernel_log(line).xids
    assert (seen.code, seen.bus, seen.pid, seen.process, seen.text) == (code, bus, pid, process, text)


def test_the_line_of_a_mig_device_names_its_instance() -> None:
    lines = [
        "NVRM: Xid (PCI:0000:3b:00 GPU-I:07 GPU-CI:00): 31, pid=3000, name=python, Ch 00000008",
        "NVRM: Xid (PCI:0000:3b:00 GPU-I:02): 94, pid=77, name=python, Contained",
        "NVRM: Xid (PCI:0000:3b:00): 154, GPU recovery action changed from 0x0 (None) to 0x1 (GPU Reset Required)",
    ]
    seen = [x for line in lines for x in parse_kernel_log(line).xids]
    assert [(x.code, x.instance, x.process) for x in seen] == [
        (31, "7/0", "python"),
        (94, "2", "python"),
        (154, "", ""),
    ]
    assert seen[2].text.startswith("GPU recovery action changed")


def test_the_details_of_an_sxid_are_no_sxids() -> None:
    head = "nvidia-nvswitch3: SXid (PCI:0000:05:00.0): 12028, "
    details = ["Non-fatal, Link 32 egress", "Severity 0 Engine instance 32 Sub-engine instance 00", "Data {0x00000001}"]
    assert len(parse_kernel_log("\n".join(head + each for each in details)).sxids) == 1


def test_a_log_keeps_its_order_and_tells_which_gpu_is_where() -> None:
    log = parse_kernel_log(f"noise\nNVRM: GPU at PCI:0000:3b:00: GPU-1a-2b\n{LOST}\nnoise\n{FAULT}\n")
    assert [(x.code, x.number) for x in log.xids] == [(79, 3), (31, 5)]
    assert log.uuids == {"0000:3b:00": "GPU-1a-2b"}


def test_a_time_counts_only_with_its_zone() -> None:
    lines = [f"2026-11-29T23:00:01+0100 gpu-a kernel: {LOST}", f"[Sun Nov 29 23:00:01 2026] {LOST}"]
    assert [x.at for line in lines for x in parse_kernel_log(line).xids] == [
        dt.datetime(2026, 11, 29, 22, 0, 1, tzinfo=dt.UTC),
        None,
    ]


def test_an_nvswitch_says_whether_its_error_is_fatal() -> None:
    text = (
        "nvidia-nvswitch3: SXid (PCI:0000:05:00.0): 12028, Non-fatal, Link 32 egress non-posted PRIV error (First)\n"
        "nvidia-nvswitch0: SXid (PCI:0000:06:00.0): 20034, Fatal, Link 30 LTSSM Fault Up\n"
    )
    assert [(s.code, s.bus, s.fatal) for s in parse_kernel_log(text).sxids] == [
        (12028, "0000:05:00", False),
        (20034, "0000:06:00", True),
    ]


def test_all_spellings_of_an_address_are_one() -> None:
    assert {bus_of(a) for a in ("00000000:3B:00.0", "0000:3b:00", "0000:3B:00.0")} == {"0000:3b:00"}


def test_every_code_has_a_meaning_and_an_action() -> None:
    assert all(code.meaning and code.action for code in CODES.values())
    assert set(FAMILIES) == set(Family)


def test_the_codes_of_the_catalogue_are_in_the_table() -> None:
    listed = {
        13,
        31,
        32,
        43,
        45,
        68,
        69,
        80,
        94,
        48,
        95,
        140,
        171,
        172,
        63,
        64,
        92,
        79,
        54,
        62,
        167,
        119,
        120,
        158,
        143,
    }
    listed |= {109, 74, 136, 137, *range(144, 151), 155, 154, 78}
    assert listed <= set(CODES)
    assert code_of(999).family is Family.OTHER


@pytest.mark.parametrize(
    ("code", "disable", "enable", "ignored"),
    [
        (13, "", "", True),
        (109, "", "", True),
        (94, "", "", False),
        (94, "94, 95", "", True),
        (13, "", "13", False),
        (13, "", "all", False),
        (79, "all", "", True),
        (79, "xids", "79", True),  # the plugin's quirk: single codes do not come back
    ],
)
def test_nvidias_plugin_ignores_what_its_list_and_its_settings_say(
    code: int, disable: str, enable: str, ignored: bool
) -> None:
    assert nvidia_plugin_ignores(code, disable, enable) is ignored


def test_policies_differ() -> None:
    assert 109 in EKS_ACTS_ON & APPLICATION_XIDS
    assert GKE_ACTS_ON < EKS_ACTS_ON
    assert not NEEDS_RESET & APPLICATION_XIDS


def test_the_kubelets_record_tells_who_has_which_device() -> None:
    text = (
        '{"Data":{"PodDeviceEntries":[{"PodUID":"u-1","ContainerName":"main","ResourceName":"nvidia.com/gpu",'
        '"DeviceIDs":{"-1":["GPU-a::3"],"0":["GPU-b"]},"AllocResp":"Q0RJ"}],"RegisteredDevices":{}},"Checksum":1}'
    )
    assert devices_by_pod(text) == {"u-1": ("GPU-a", "GPU-b")}
    assert devices_by_pod(text.replace('{"-1":["GPU-a::3"],"0":["GPU-b"]}', '["GPU-a"]')) == {"u-1": ("GPU-a",)}


def test_a_broken_record_tells_nothing() -> None:
    assert devices_by_pod("{half") is None
