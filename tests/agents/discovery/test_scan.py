from pathlib import Path

import pytest

from lockgate.agents.discovery.scan import clean, scan, scan_kernel, scan_numa, scan_pci, scan_system
from lockgate.host.rooted import Root

PREFIX = "feature.node.kubernetes.io/"


def put(host: Path, path: str, text: str) -> None:
    (host / path).parent.mkdir(parents=True, exist_ok=True)
    (host / path).write_text(text)


def put_pci(host: Path, address: str, vendor: str, cls: str) -> None:
    """As the kernel does: the device elsewhere, a link in the folder that is read."""
    put(host, f"sys/devices/pci0000:00/{address}/vendor", f"{vendor}\n")
    put(host, f"sys/devices/pci0000:00/{address}/class", f"{cls}\n")
    links = host / "sys/bus/pci/devices"
    links.mkdir(parents=True, exist_ok=True)
    (links / address).symlink_to(f"../../../devices/pci0000:00/{address}")


@pytest.mark.parametrize(("cls", "name"), [("0x030200", "0302"), ("0x030000", "0300")])
def test_an_nvidia_gpu_is_named_by_vendor_and_by_class(tmp_path: Path, cls: str, name: str) -> None:
    put_pci(tmp_path, "0000:07:00.0", "0x10de", cls)
    assert scan_pci(Root(tmp_path)) == {
        f"{PREFIX}pci-10de.present": "true",
        f"{PREFIX}pci-{name}_10de.present": "true",
    }


def test_other_devices_are_not_gpus(tmp_path: Path) -> None:
    put_pci(tmp_path, "0000:00:01.0", "0x8086", "0x030000")
    put_pci(tmp_path, "0000:00:02.0", "0x10de", "0x040300")  # the audio function of an NVIDIA board
    put_pci(tmp_path, "0000:00:03.0", "0x10de", "0x068000")  # an NVSwitch
    assert scan_pci(Root(tmp_path)) == {}


def test_a_mellanox_network_card_is_told(tmp_path: Path) -> None:
    put_pci(tmp_path, "0000:00:04.0", "0x15b3", "0x020700")
    assert f"{PREFIX}pci-15b3.present" in (scan_pci(Root(tmp_path)) or {})


def test_without_any_pci_device_nothing_is_known(tmp_path: Path) -> None:
    assert scan_pci(Root(tmp_path)) is None


@pytest.mark.parametrize(
    ("release", "labels"),
    [
        ("5.15.0-91-generic", {"full": "5.15.0-91-generic", "major": "5", "minor": "15", "revision": "0"}),
        ("6.6.9+rpt~rc1-", {"full": "6.6.9_rpt_rc1", "major": "6", "minor": "6", "revision": "9"}),
        ("6.8", {"full": "6.8", "major": "6", "minor": "8"}),
    ],
)
def test_the_kernels_release(tmp_path: Path, release: str, labels: dict[str, str]) -> None:
    put(tmp_path, "proc/sys/kernel/osrelease", release + "\n")
    assert scan_kernel(Root(tmp_path)) == {f"{PREFIX}kernel-version.{key}": value for key, value in labels.items()}


def test_the_operating_system_behind_debians_link(tmp_path: Path) -> None:
    put(tmp_path, "usr/lib/os-release", 'NAME="Ubuntu"\nID=ubuntu\nVERSION_ID="22.04"\n# note\nBAD="\n')
    (tmp_path / "etc").mkdir()
    (tmp_path / "etc/os-release").symlink_to("../usr/lib/os-release")
    assert scan_system(Root(tmp_path)) == {
        f"{PREFIX}system-os_release.ID": "ubuntu",
        f"{PREFIX}system-os_release.VERSION_ID": "22.04",
        f"{PREFIX}system-os_release.VERSION_ID.major": "22",
        f"{PREFIX}system-os_release.VERSION_ID.minor": "04",
    }


def test_numa_is_told_from_the_second_node_on(tmp_path: Path) -> None:
    assert scan_numa(Root(tmp_path)) is None
    (tmp_path / "sys/devices/system/node/node0").mkdir(parents=True)
    assert scan_numa(Root(tmp_path)) == {}
    (tmp_path / "sys/devices/system/node/node1").mkdir()
    assert scan_numa(Root(tmp_path)) == {f"{PREFIX}memory-numa": "true"}


def test_every_source_of_an_empty_host_is_unknown(tmp_path: Path) -> None:
    assert set(scan(tmp_path).values()) == {None}


def test_a_value_fits_a_label() -> None:
    assert clean("_x y!" + "z" * 80) == ("x_y_" + "z" * 80)[:62]
