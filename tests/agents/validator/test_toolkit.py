import asyncio
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from grpc import aio

from lockgate.agents.validator.result import NotReadyError, Passed
from lockgate.agents.validator.settings import Settings
from lockgate.agents.validator.toolkit import check_toolkit
from lockgate.cdi.build import Gpu, Place, gpu_spec, management_spec
from lockgate.cdi.driver_files import DriverFiles, Library
from lockgate.cdi.render import render_yaml
from lockgate.model.names import HANDLERS
from tests.agents.toolkit.fake_containerd import Handlers, text_field

DRIVER = DriverFiles(
    version="580.1",
    machine="x86_64-linux-gnu",
    libraries=(Library(path="/usr/lib64/libcuda.so.580.1", names=("libcuda.so.1",)),),
)
NODES = ("/dev/nvidia0", "/dev/nvidiactl")


@pytest.fixture
def host(tmp_path: Path) -> Path:
    """A node with one GPU whose specifications and files are all there."""
    place = Place(driver_root="/run/nvidia/driver")
    gpu = Gpu(index="0", uuid="GPU-a", nodes=("/dev/nvidia0",))
    folder = tmp_path / "var/run/cdi"
    folder.mkdir(parents=True)
    (folder / "nvidia.com-gpu.yaml").write_bytes(render_yaml(gpu_spec(DRIVER, [gpu], NODES, place)))
    (folder / "management.nvidia.com-gpu.yaml").write_bytes(render_yaml(management_spec(DRIVER, NODES, place)))
    for path in ("run/nvidia/driver/usr/lib64/libcuda.so.580.1", "dev/nvidia0", "dev/nvidiactl"):
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).touch()
    return tmp_path


def check(host: Path) -> Passed:
    return asyncio.run(check_toolkit(Settings(component="toolkit", host=host)))


def test_all_that_the_specifications_bring_is_there(host: Path) -> None:
    assert "nvidia.com/gpu=all, management.nvidia.com/gpu=all resolve" in check(host).message
    assert "socket cannot be reached" in check(host).message, "what was not checked is said"


@pytest.fixture
def named() -> Iterator[Path]:
    """A folder whose path is short enough for sockets."""
    with tempfile.TemporaryDirectory(prefix="vt-") as folder:
        yield Path(folder)


def answering(path: Path, names: tuple[str, ...]) -> str:
    """What the step says beside a CRI-O that tells these handlers."""

    async def serve_and_check() -> str:
        handlers = Handlers("1.33.0", "")
        handlers.answers["/runtime.v1.RuntimeService/Status"] = b"".join(
            text_field(3, text_field(1, name.encode())) for name in names
        )
        server = aio.server()
        server.add_generic_rpc_handlers((handlers,))
        socket = path / "run/crio/crio.sock"
        socket.parent.mkdir(parents=True, exist_ok=True)
        server.add_insecure_port(f"unix:{socket}")
        await server.start()
        try:
            return (await check_toolkit(Settings(component="toolkit", host=path))).message
        finally:
            await server.stop(None)

    return asyncio.run(serve_and_check())


def test_a_node_of_crio_is_asked_by_its_own_socket(host: Path, named: Path) -> None:
    shutil.copytree(host, named, dirs_exist_ok=True)
    assert "has loaded handlers and CDI" in answering(named, ("", "crun", *HANDLERS))
    assert "does not tell which handlers" in answering(named, ())
    with pytest.raises(NotReadyError, match='CRI-O has not loaded runtime handler "nvidia", only crun, runc'):
        answering(named, ("crun", "runc"))


def test_a_missing_specification(host: Path) -> None:
    (host / "var/run/cdi/management.nvidia.com-gpu.yaml").unlink()
    with pytest.raises(NotReadyError, match=r"no file defines kind management\.nvidia\.com/gpu; defined are nvidia"):
        check(host)


@pytest.mark.parametrize("path", ["dev/nvidia0", "run/nvidia/driver/usr/lib64/libcuda.so.580.1"])
def test_a_file_that_is_gone_from_the_node(host: Path, path: str) -> None:
    (host / path).unlink()
    with pytest.raises(NotReadyError, match=f"needs /{path}, which is not on the node"):
        check(host)


def test_a_broken_specification_is_named(host: Path) -> None:
    (host / "var/run/cdi/nvidia.com-gpu.yaml").write_text("cdiVersion: [")
    with pytest.raises(NotReadyError, match=r"/var/run/cdi/nvidia.com-gpu.yaml cannot be used"):
        check(host)
