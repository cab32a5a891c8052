"""The driver root is laid out as NVIDIA's driver container leaves it, built once, and fit for older systems."""

import ctypes
import os
import re
import shutil
import subprocess
import zipfile
from pathlib import Path

import pytest

from lockgate.lab.boards import parse_boards
from lockgate.lab.driver import MissingCompilerError, build_driver_root, device_nodes, write_sysfs
from lockgate.lab.driver.build import PRODUCTS, SOURCES, Product, compile_product
from lockgate.lab.state import new_driver


def test_a_driver_root_has_its_libraries_and_programs(tmp_path: Path, cache: Path) -> None:
    build_driver_root(tmp_path / "root", cache)

    libraries = tmp_path / "root/usr/lib/x86_64-linux-gnu"
    for stem in ("libnvidia-ml", "libcuda"):
        assert (libraries / f"{stem}.so.580.95.05").is_file()
        assert (libraries / f"{stem}.so.1").readlink() == Path(f"{stem}.so.580.95.05")
        assert (libraries / f"{stem}.so").readlink() == Path(f"{stem}.so.1")
    for name in ("nvidia-smi", "cuda-vectoradd"):
        assert os.access(tmp_path / "root/usr/bin" / name, os.X_OK)
    assert (tmp_path / "root/run/nvidia-persistenced").is_dir()


def test_building_again_compiles_nothing(tmp_path: Path, cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    build_driver_root(tmp_path / "root", cache)
    monkeypatch.setenv("PATH", "")

    build_driver_root(tmp_path / "root", cache)
    build_driver_root(tmp_path / "other", cache)

    assert (tmp_path / "other/usr/bin/nvidia-smi").is_file()


def test_another_version_has_other_libraries(tmp_path: Path, cache: Path) -> None:
    build_driver_root(tmp_path / "root", cache, driver_version="570.172.08", cuda_version=12080)

    assert (tmp_path / "root/usr/lib/x86_64-linux-gnu/libnvidia-ml.so.570.172.08").is_file()


def test_without_a_compiler_it_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "")

    with pytest.raises(MissingCompilerError, match="compiled with gcc"):
        build_driver_root(tmp_path / "root", tmp_path / "cache")


@pytest.mark.parametrize(
    "product", [product for product in PRODUCTS if product.library], ids=lambda product: product.name
)
def test_the_libraries_load_on_glibc_of_2012(tmp_path: Path, cache: Path, product: Product) -> None:
    objdump = shutil.which("objdump")
    if objdump is None:
        pytest.skip("binutils has objdump, and there is none on PATH")
    build_driver_root(tmp_path, cache)

    library = tmp_path / "usr/lib/x86_64-linux-gnu" / product.name
    symbols = subprocess.run([objdump, "-T", library], capture_output=True, text=True, check=True).stdout

    versions = {tuple(map(int, found.split("."))) for found in re.findall(r"GLIBC_([0-9.]+)", symbols)}
    assert max(versions) <= (2, 17)


def test_the_library_exports_the_interface_and_nothing_else(tmp_path: Path, cache: Path) -> None:
    build_driver_root(tmp_path, cache)
    library = ctypes.CDLL(str(tmp_path / "usr/lib/x86_64-linux-gnu/libnvidia-ml.so.1"))

    declared = re.findall(r"\bnvml[A-Z]\w+(?=\()", (SOURCES / "nvml_prototypes.h").read_text())
    assert len(declared) > 150
    assert all(hasattr(library, name) for name in declared)
    assert not hasattr(library, "nvml_call")
    assert not hasattr(library, "connection_ask")


def test_the_interface_is_the_one_of_nvidias_header(tmp_path: Path, cache: Path) -> None:
    """Compiles our definitions against NVIDIA's declarations, where Go's module cache has them."""
    modules = Path(os.environ.get("GOMODCACHE") or Path.home() / "go/pkg/mod")
    headers = sorted(modules.glob("github.com/!n!v!i!d!i!a/go-nvml@*/pkg/nvml/nvml.h"))
    if not headers:
        pytest.skip("Go's module cache has no github.com/NVIDIA/go-nvml")
    # go-nvml wraps each opaque handle into a struct of one pointer; C has the pointer itself
    wrapped = r"typedef struct\s*\{\s*struct (nvml\w+_st)\s*\*\s*handle;\s*\} (nvml\w+_t);"
    header = tmp_path / "nvml.h"
    header.write_text(re.sub(wrapped, r"typedef struct \1 *\2;", headers[-1].read_text()))
    (product,) = (product for product in PRODUCTS if product.name == "libnvidia-ml.so.1")

    extra = (f'-DLOCKGATE_NVML_HEADER="{header}"', "-Wno-deprecated-declarations")
    compile_product(product, tmp_path / "library.so", extra=extra)


def test_the_wheel_carries_the_sources(tmp_path: Path) -> None:
    builder = pytest.importorskip("hatchling.builders.wheel")
    repository = SOURCES.parents[3]
    (wheel,) = builder.WheelBuilder(str(repository)).build(directory=str(tmp_path))

    packed = {Path(name).name for name in zipfile.ZipFile(wheel).namelist() if "lab/driver/" in name}
    assert {path.name for path in SOURCES.glob("*.[ch]")} <= packed


def test_device_nodes_have_nvidias_numbers() -> None:
    assert [tuple(node) for node in device_nodes(2)] == [
        ("/dev/nvidia0", 195, 0),
        ("/dev/nvidia1", 195, 1),
        ("/dev/nvidiactl", 195, 255),
        ("/dev/nvidia-modeset", 195, 254),
        ("/dev/nvidia-uvm", 510, 0),
        ("/dev/nvidia-uvm-tools", 510, 1),
    ]


def test_sysfs_shows_the_gpus_as_3d_controllers(tmp_path: Path) -> None:
    write_sysfs(tmp_path, new_driver(parse_boards("T4,H100-80GB")).gpus)

    assert sorted(path.name for path in tmp_path.iterdir()) == ["0000:07:00.0", "0000:0f:00.0"]
    second = tmp_path / "0000:0f:00.0"
    read = {name: (second / name).read_text().strip() for name in ("vendor", "device", "class", "numa_node")}
    assert read == {"vendor": "0x10de", "device": "0x2330", "class": "0x030200", "numa_node": "0"}
