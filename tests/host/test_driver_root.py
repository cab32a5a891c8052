"""Driver roots of the distributions, as directories."""

import shutil
import socket
import subprocess
from pathlib import Path

import pytest

from lockgate.cdi.driver_files import File, Library
from lockgate.host.driver_root import DriverNotFoundError, find
from tests.host.elf_files import shared_library

VERSION = "580.95.05"


def put(root: Path, inside: str, content: bytes = b"") -> None:
    path = root / inside.lstrip("/")
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)


def put_library(root: Path, directory: str, name: str, soname: str, machine: str = "x86_64-linux-gnu") -> None:
    put(root, f"{directory}/{name}.{VERSION}", shared_library(soname, machine))
    link = root / directory.lstrip("/") / soname
    if soname != f"{name}.{VERSION}":
        link.symlink_to(f"{name}.{VERSION}")


def put_driver(root: Path, directory: str, machine: str = "x86_64-linux-gnu") -> None:
    put_library(root, directory, "libnvidia-ml.so", "libnvidia-ml.so.1", machine)
    put_library(root, directory, "libcuda.so", "libcuda.so.1", machine)
    put_library(root, directory, "libnvidia-glcore.so", f"libnvidia-glcore.so.{VERSION}", machine)


@pytest.mark.parametrize(
    "directory",
    ["/usr/lib/x86_64-linux-gnu", "/usr/lib64", "/usr/lib", "/usr/lib/x86_64-linux-gnu/nvidia/current",
     "/usr/local/nvidia/lib64", "/home/kubernetes/bin/nvidia/lib64"],
)  # fmt: skip
def test_the_driver_is_found_where_each_distribution_puts_it(tmp_path: Path, directory: str) -> None:
    put_driver(tmp_path, directory)
    found = find(tmp_path)
    assert (found.version, found.machine) == (VERSION, "x86_64-linux-gnu")
    assert found.libraries == (
        Library(path=f"{directory}/libcuda.so.{VERSION}", names=("libcuda.so.1", "libcuda.so")),
        Library(path=f"{directory}/libnvidia-glcore.so.{VERSION}", names=(f"libnvidia-glcore.so.{VERSION}",)),
        Library(path=f"{directory}/libnvidia-ml.so.{VERSION}", names=("libnvidia-ml.so.1",)),
    )


def test_an_arm_machine(tmp_path: Path) -> None:
    put_driver(tmp_path, "/usr/lib/aarch64-linux-gnu", "aarch64-linux-gnu")
    assert find(tmp_path).machine == "aarch64-linux-gnu"


def test_32_bit_libraries_beside_the_driver_are_left_out(tmp_path: Path) -> None:
    put_driver(tmp_path, "/usr/lib64")
    put_driver(tmp_path, "/usr/lib", "i386-linux-gnu")
    assert {library.path.rpartition("/")[0] for library in find(tmp_path).libraries} == {"/usr/lib64"}


def test_libraries_of_another_version_are_left_out(tmp_path: Path) -> None:
    put_driver(tmp_path, "/usr/lib64")
    put(tmp_path, "/usr/lib64/libnvidia-old.so.470.1", shared_library("libnvidia-old.so.1"))
    assert not [library for library in find(tmp_path).libraries if "old" in library.path]


def test_a_root_without_a_driver_says_where_was_looked(tmp_path: Path) -> None:
    put(tmp_path, "/usr/lib64/libc.so.6", shared_library("libc.so.6"))
    with pytest.raises(DriverNotFoundError, match=r"no libnvidia-ml.so.<version> or .* looked in: /usr/lib64"):
        find(tmp_path)
    with pytest.raises(DriverNotFoundError, match="none of the usual library directories exists"):
        find(tmp_path / "nothing")


def test_a_file_that_only_has_the_name_of_a_library_is_no_driver(tmp_path: Path) -> None:
    put(tmp_path, f"/usr/lib64/libcuda.so.{VERSION}", b"half a download")
    with pytest.raises(DriverNotFoundError):
        find(tmp_path)


def test_a_link_to_the_host_does_not_lead_out_of_a_drivers_container(tmp_path: Path) -> None:
    outside, root = tmp_path / "outside", tmp_path / "root"
    put_driver(outside, "/usr/lib64")
    (root / "usr").mkdir(parents=True)
    (root / "usr/lib64").symlink_to(outside / "usr/lib64")
    with pytest.raises(DriverNotFoundError):
        find(root)


def test_directories_that_are_one_by_links_give_each_library_once(tmp_path: Path) -> None:
    put_driver(tmp_path, "/usr/lib64")
    (tmp_path / "lib64").symlink_to("usr/lib64")
    assert len(find(tmp_path).libraries) == 3


def test_the_version_in_use_counts_and_not_one_that_is_left_over(tmp_path: Path) -> None:
    put(tmp_path, "/usr/lib64/libcuda.so.470.1", shared_library("libcuda.so.1"))
    put_driver(tmp_path, "/usr/lib64")
    assert find(tmp_path).version == VERSION


@pytest.mark.skipif(shutil.which("ldconfig", path="/sbin:/usr/sbin:/usr/bin") is None, reason="needs ldconfig")
def test_a_driver_in_a_directory_that_only_the_loaders_cache_names(tmp_path: Path) -> None:
    put_driver(tmp_path, "/srv/nvidia")
    put(tmp_path, "/etc/ld.so.conf", b"/srv/nvidia\n")
    with pytest.raises(DriverNotFoundError):
        find(tmp_path)
    program = shutil.which("ldconfig", path="/sbin:/usr/sbin:/usr/bin")
    subprocess.run([str(program), "-r", tmp_path], check=True, capture_output=True)
    assert {library.path.rpartition("/")[0] for library in find(tmp_path).libraries} == {"/srv/nvidia"}


def test_a_broken_cache_names_no_directory(tmp_path: Path) -> None:
    put(tmp_path, "/etc/ld.so.cache", b"glibc-ld.so.cache1.1" + b"\xff" * 40)
    put_driver(tmp_path, "/usr/lib64")
    assert find(tmp_path).version == VERSION


def test_names_without_a_version_are_those_that_the_driver_links_and_those_that_programs_ask_for(
    tmp_path: Path,
) -> None:
    put_driver(tmp_path, "/usr/lib64")
    (tmp_path / "usr/lib64/libnvidia-ml.so").symlink_to("libnvidia-ml.so.1")
    put_library(tmp_path, "/usr/lib64", "libGLX_nvidia.so", "libGLX_nvidia.so.0")
    put_library(tmp_path, "/usr/lib64", "libnvidia-allocator.so", "libnvidia-allocator.so.1")
    put_library(tmp_path, "/usr/lib64/vdpau", "libvdpau_nvidia.so", "libvdpau_nvidia.so.1")
    assert [library.names for library in find(tmp_path).libraries] == [
        ("libGLX_nvidia.so.0", "libGLX_indirect.so.0"),
        ("libcuda.so.1", "libcuda.so"),
        ("libnvidia-allocator.so.1", "gbm/nvidia-drm_gbm.so"),
        (f"libnvidia-glcore.so.{VERSION}",),
        ("libnvidia-ml.so.1", "libnvidia-ml.so"),
        ("vdpau/libvdpau_nvidia.so.1",),
    ]


def test_graphics_and_management_have_what_the_others_have_not(tmp_path: Path) -> None:
    put_driver(tmp_path, "/usr/lib64")
    put(tmp_path, "/usr/lib64/libnvidia-egl-gbm.so.1.1.2", shared_library("libnvidia-egl-gbm.so.1"))
    put(tmp_path, "/usr/lib64/libnvsdm.so.1", shared_library("libnvsdm.so.1"))
    put(tmp_path, f"/usr/lib64/xorg/modules/extensions/libglxserver_nvidia.so.{VERSION}")
    found = find(tmp_path)
    assert [library.names for library in found.graphics.libraries] == [("libnvidia-egl-gbm.so.1",)]
    assert [file.container_path for file in found.graphics.files] == [
        f"/usr/lib64/xorg/modules/extensions/libglxserver_nvidia.so.{VERSION}",
        "/usr/lib64/xorg/modules/extensions/libglxserver_nvidia.so",
    ]
    assert [library.names for library in found.management.libraries] == [("libnvsdm.so.1",)]


def test_binaries_firmware_and_configuration(tmp_path: Path) -> None:
    put_driver(tmp_path, "/usr/lib64")
    put(tmp_path, "/usr/bin/nvidia-smi")
    put(tmp_path, "/usr/sbin/nvidia-persistenced")
    put(tmp_path, f"/lib/firmware/nvidia/{VERSION}/gsp_ga10x.bin")
    put(tmp_path, f"/lib/firmware/updates/nvidia/{VERSION}/ucodes_gb100.bin")
    put(tmp_path, "/lib/firmware/nvidia/470.1/gsp.bin")
    put(tmp_path, "/usr/share/vulkan/icd.d/nvidia_icd.json")
    put(tmp_path, "/vulkan/implicit_layer.d/nvidia_layers.json")
    found = find(tmp_path)
    assert found.binaries == (
        File(path="/usr/bin/nvidia-smi", container_path="/usr/bin/nvidia-smi"),
        File(path="/usr/sbin/nvidia-persistenced", container_path="/usr/bin/nvidia-persistenced"),
    )
    assert [file.path for file in found.files] == [
        f"/lib/firmware/updates/nvidia/{VERSION}/ucodes_gb100.bin",
        f"/lib/firmware/nvidia/{VERSION}/gsp_ga10x.bin",
    ]
    assert found.graphics.files == (
        File(path="/usr/share/vulkan/icd.d/nvidia_icd.json", container_path="/etc/vulkan/icd.d/nvidia_icd.json"),
        File(
            path="/vulkan/implicit_layer.d/nvidia_layers.json",
            container_path="/etc/vulkan/implicit_layer.d/nvidia_layers.json",
        ),
    )


def test_only_a_real_socket_is_an_ipc_socket(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    put_driver(tmp_path, "/usr/lib64")
    put(tmp_path, "/run/nvidia-fabricmanager/socket")
    (tmp_path / "run/nvidia-persistenced").mkdir()
    monkeypatch.chdir(tmp_path / "run/nvidia-persistenced")  # socket paths are short
    with socket.socket(socket.AF_UNIX) as server:
        server.bind("socket")
        path = "/run/nvidia-persistenced/socket"
        assert find(tmp_path).sockets == (File(path=path, container_path=path),)
