"""Our CDI specifications against those that NVIDIA's own nvidia-ctk generates for the same simulated nodes.

Equal, except for the differences that docs/decisions/0043 lists with their reasons; and each of those is seen. Needs
root (for device nodes), Go and gcc.
"""

import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import msgspec
import pytest

from lockgate.cdi.registry import Directory, load
from lockgate.cdi.render import file_name, render_json
from lockgate.cdi.spec import Spec
from tests.truth.toolkit import nvidia_ctk
from tests.truth.toolkit.explained import rows
from tests.truth.toolkit.machine_folder import Layout, Machine, instance, standing
from tests.truth.toolkit.spec_differences import Difference, differences

pytestmark = [
    pytest.mark.truth,
    pytest.mark.skipif(os.getuid() != 0, reason="only root makes device nodes"),
    pytest.mark.skipif(shutil.which("go") is None or shutil.which("gcc") is None, reason="needs Go and gcc"),
]

_SMALL = instance(7, 19, 0, 1, (0, 0, 0, 1))
_SPLIT = instance(1, 14, 2, 2, (0, 0, 0, 1), (1, 0, 1, 1))
LAYOUTS = (
    Layout(name="driver container of Debian's folders"),
    Layout(name="driver container of Red Hat's folders", libraries="usr/lib64", gpus="H100-SXM5-80GB,T4"),
    Layout(name="driver of the host", driver_root="/"),
    Layout(name="Debian's own packages", driver_root="/", libraries="usr/lib/x86_64-linux-gnu/nvidia/current"),
    Layout(name="device nodes in the driver root", dev_root="/run/nvidia/driver", gpus="2xT4"),
    Layout(name="no graphics", graphics=False, gpus="8xA100-SXM4-80GB"),
    Layout(name="MIG on one GPU of two", mig={1: (_SMALL, _SPLIT)}),
    Layout(name="MIG on all", mig={0: (_SMALL,), 1: (_SPLIT,)}),
    Layout(name="MIG without a device", mig={0: ()}),
)
STRATEGIES = ("index", "uuid", "type-index", "index,uuid", "index,uuid,type-index")
SPECIFICATIONS = {
    "nvidia.com/gpu": (),
    "management.nvidia.com/gpu": ("--mode=management", "--vendor=management.nvidia.com"),
}


@pytest.fixture(scope="module", params=LAYOUTS, ids=lambda layout: layout.name)
def machine(request: pytest.FixtureRequest) -> Iterator[Machine]:
    with tempfile.TemporaryDirectory(prefix="m-") as folder, standing(Path(folder), request.param) as made:
        nvidia_ctk.install(nvidia_ctk.ready(), made.root)
        yield made


def theirs(machine: Machine, kind: str, strategies: str) -> Spec:
    layout = machine.layout
    roots = (f"--driver-root={layout.driver_root}", f"--dev-root={layout.dev_root}")
    naming = f"--device-name-strategy={strategies}"
    return nvidia_ctk.generate(machine.root, *roots, naming, *SPECIFICATIONS[kind], environ=machine.inside())


def ours(machine: Machine, kind: str, strategies: str) -> Spec:
    layout, command = machine.layout, (sys.executable, "-m", "tests.truth.toolkit.our_specs")
    with tempfile.TemporaryDirectory() as output:
        words = (machine.root, layout.driver_root, layout.dev_root, strategies, output)
        subprocess.run([*command, *map(str, words)], env=os.environ | machine.outside(), check=True)
        return msgspec.yaml.decode((Path(output) / file_name(kind, "yaml")).read_bytes(), type=Spec)


SEEN: set[str] = set()


def compared(machine: Machine, kind: str, strategies: str) -> list[Difference]:
    return list(differences(theirs(machine, kind, strategies), ours(machine, kind, strategies)))


@pytest.mark.parametrize("strategies", STRATEGIES)
def test_gpus_are_named_and_given_as_nvidia_ctk_gives_them(machine: Machine, strategies: str) -> None:
    found = compared(machine, "nvidia.com/gpu", strategies)
    SEEN.update(row for row, _ in found)
    assert [one for one in found if one[0] not in rows("Specifications")] == []


def test_management_containers_get_what_nvidia_ctk_gives_them(machine: Machine) -> None:
    found = compared(machine, "management.nvidia.com/gpu", "index")
    SEEN.update(row for row, _ in found)
    assert [one for one in found if one[0] not in rows("Specifications")] == []


def test_what_nvidia_ctk_generates_is_valid_to_our_reader(machine: Machine) -> None:
    spec = theirs(machine, "nvidia.com/gpu", "index,uuid")
    registry = load([Directory(path="/etc/cdi", files={"nvidia.json": render_json(spec)})])
    assert registry.troubles == {}
    assert {f"nvidia.com/gpu={device.name}" for device in spec.devices} == set(registry.devices)


def test_each_difference_that_is_explained_is_there() -> None:
    assert rows("Specifications") - SEEN == set()
