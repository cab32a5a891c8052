"""The toolkit's whole life beside a simulated driver: specifications, renewal, drift, publication, leaving."""

import asyncio
import contextlib
import datetime as dt
import os
import shutil
import tempfile
from collections.abc import AsyncIterator, Callable, Iterator
from pathlib import Path

import pytest
from msgspec.structs import replace

from deploy.cache import cache_folder
from lockgate.agents.published_files import SPEC_LIMIT, SPECS_LIMIT, cdi_state, mask
from lockgate.agents.toolkit.agent import Agent
from lockgate.agents.toolkit.report import DRIFTED
from lockgate.agents.toolkit.settings import Settings
from lockgate.agents.toolkit.specs import Roots, SpecWriter
from lockgate.cdi.build import Place
from lockgate.cdi.registry import DEFAULT_DIRECTORIES
from lockgate.host.cdi_directories import read_directories
from lockgate.lab.launch import SimulatedMachine, simulated_machine
from lockgate.model.node_state import CDIState, RuntimeState
from tests.agents.toolkit.supervised import Runtime


@pytest.fixture
def machine(monkeypatch: pytest.MonkeyPatch) -> Iterator[SimulatedMachine]:
    if shutil.which("gcc") is None:
        pytest.skip("the simulated driver is compiled with gcc, and there is none on PATH")
    cache = cache_folder()
    with tempfile.TemporaryDirectory(prefix="tk-") as folder, simulated_machine(Path(folder), cache) as running:
        for name, value in running.variables.items():
            monkeypatch.setenv(name, value)
        yield running


class Seen:
    """What was published, and waiting for it."""

    def __init__(self) -> None:
        self.runtime: RuntimeState | None = None
        self.cdi = CDIState()

    def __call__(self, runtime: RuntimeState | None, cdi: CDIState | None) -> None:
        self.runtime, self.cdi = runtime, cdi or CDIState()

    async def until(self, holds: Callable[[RuntimeState, CDIState], bool]) -> None:
        for _ in range(200):
            if self.runtime is not None and holds(self.runtime, self.cdi):
                return
            await asyncio.sleep(0.05)
        raise AssertionError(f"never published, last was {self.runtime} {self.cdi}")


def settings(runtime: Runtime, machine: SimulatedMachine) -> Settings:
    """A toolkit on a node whose root is the runtime's folder, as far as CDI goes."""
    return Settings(
        config=runtime.config,
        config_host=str(runtime.config),
        drop_in=runtime.drop_in,
        drop_in_host=str(runtime.drop_in),
        socket=runtime.socket,
        socket_host=str(runtime.socket),
        host_root=Path("/"),
        driver_root="/run/nvidia/driver",
        driver_root_ctr=machine.root,
        cdi_enabled=True,
        cdi_output_dir=str(runtime.root / "cdi"),
        install_dir=runtime.root / "install",
    )


@contextlib.asynccontextmanager
async def running(runtime: Runtime, machine: SimulatedMachine) -> AsyncIterator[Seen]:
    """A toolkit that looks ten times a second; it cleans the node when the block ends."""
    seen, stop = Seen(), asyncio.Event()
    task = asyncio.create_task(Agent(settings(runtime, machine), seen, look=0.1).run(stop))
    try:
        yield seen
    finally:
        stop.set()
        await task


def device_names(runtime: Runtime) -> set[str]:
    return set(read_directories(Path("/"), [str(runtime.root / "cdi")]).devices)


def gpu_names(runtime: Runtime) -> set[str]:
    kind, names = "nvidia.com/gpu=", device_names(runtime)
    return {name.removeprefix(kind) for name in names if name.startswith(kind)}


def test_a_life(runtime: Runtime, machine: SimulatedMachine) -> None:
    before = runtime.config.read_bytes()
    uuids = [gpu.uuid for gpu in machine.control.gpus()]

    async def live() -> Seen:
        async with running(runtime, machine) as seen:
            await seen.until(lambda state, _: state.phase == "Configured")
            assert seen.runtime is not None
            assert {"nvidia", "runc"} <= {handler.name for handler in seen.runtime.handlers}
            assert (seen.runtime.release, seen.runtime.cdi_enabled) == ("1.7.24", True)
            assert seen.runtime.cdi_spec_dirs == DEFAULT_DIRECTORIES
            assert [file.path for file in seen.runtime.files] == [str(runtime.config), str(runtime.drop_in)]
            assert [file.modified for file in seen.runtime.files] == [written(runtime.config), written(runtime.drop_in)]
            assert moment(seen.runtime.started) >= moment(written(runtime.drop_in)) - dt.timedelta(seconds=1)
            expected = {"nvidia.com/gpu=0", "nvidia.com/gpu=all", *(f"nvidia.com/gpu={uuid}" for uuid in uuids)}
            assert expected <= device_names(runtime)
        return seen

    assert asyncio.run(live()).runtime is None, "what is not known any more is withdrawn"
    assert runtime.config.read_bytes() == before
    assert not runtime.drop_in.exists()
    assert device_names(runtime) == set()


@pytest.mark.skipif(os.getuid() != 0, reason="only root makes device nodes")
def test_a_gpu_that_appears_is_in_the_specifications_after_the_next_look(
    runtime: Runtime, machine: SimulatedMachine
) -> None:
    shutil.rmtree(machine.dev)
    machine.dev.mkdir()
    for minor, name in ((255, "nvidiactl"), (0, "nvidia0")):
        os.mknod(machine.dev / name, 0o20666, os.makedev(195, minor))
    writer = SpecWriter(runtime.root / "cdi", Roots(machine.root, machine.dev.parent, Place()))
    assert writer.renew().problem == ""
    assert {"nvidia.com/gpu=0", "management.nvidia.com/gpu=all"} <= device_names(runtime)
    assert "nvidia.com/gpu=1" not in device_names(runtime)
    assert writer.renew().changed == ()
    os.mknod(machine.dev / "nvidia1", 0o20666, os.makedev(195, 1))
    assert len(writer.renew().changed) == 2
    assert "nvidia.com/gpu=1" in device_names(runtime)
    writer.close()


def test_a_file_says_that_the_first_change_has_ended_well_or_not(runtime: Runtime, machine: SimulatedMachine) -> None:
    done = runtime.root / "done"

    async def first_look(**changes: object) -> str:
        agent = Agent(replace(settings(runtime, machine), done_file=done, **changes), Seen())
        await agent.look()
        return agent.outcome.phase

    assert asyncio.run(first_look(socket=runtime.root / "nobody")) == "Unreachable"
    assert not done.exists()
    runtime.config.write_text("broken = [")
    assert asyncio.run(first_look()) == "Refused"
    assert done.exists()


def test_mig_devices_and_files_of_the_driver_are_in_the_specifications_after_the_next_look(
    runtime: Runtime, machine: SimulatedMachine
) -> None:
    minors = runtime.root / "mig-minors"
    minors.write_text("gpu0/gi7/access 66\ngpu0/gi7/ci0/access 67\n")
    roots = Roots(machine.root, machine.dev.parent, Place(), mig_minors=minors)
    writer = SpecWriter(runtime.root / "cdi", roots, namings=("type-index",))
    try:
        writer.renew()
        assert gpu_names(runtime) == {"gpu0", "gpu1", "all"}
        small = {"id": 7, "profile": 19, "start": 0, "size": 1}
        compute = {"id": 0, "profile": 0, "start": 0, "size": 1}
        machine.control.set(
            0, mig_mode=True, mig_pending=True, gpu_instances=[small | {"compute_instances": [compute]}]
        )
        assert len(writer.renew().changed) == 1
        assert gpu_names(runtime) == {"mig0:0", "gpu1", "all"}
        specification = (runtime.root / "cdi/nvidia.com-gpu.yaml").read_text()
        assert all(f"/dev/nvidia-caps/nvidia-cap{number}" in specification for number in (66, 67))
        machine.control.set(0, mig_mode=False, mig_pending=False, gpu_instances=[])
        firmware = machine.root / "lib/firmware/nvidia/580.95.05/gsp_ga10x.bin"
        firmware.parent.mkdir(parents=True)
        firmware.touch()
        writer.renew()
        assert gpu_names(runtime) == {"gpu0", "gpu1", "all"}
        assert "gsp_ga10x.bin" in (runtime.root / "cdi/nvidia.com-gpu.yaml").read_text()
    finally:
        writer.close()


def test_a_driver_that_does_not_answer_leaves_the_specification_and_is_told(
    runtime: Runtime, machine: SimulatedMachine
) -> None:
    async def live() -> None:
        async with running(runtime, machine) as seen:
            await seen.until(lambda state, _: state.phase == "Configured")
            names = device_names(runtime)
            machine.control.unload_driver()
            await seen.until(lambda state, _: "CDI specifications are not renewed" in state.message)
            assert device_names(runtime) == names
            machine.control.load_driver()
            await seen.until(lambda state, _: "not renewed" not in state.message)

    asyncio.run(live())


def test_the_trap_is_told_before_and_after_it_shuts_and_is_not_fought(
    runtime: Runtime, machine: SimulatedMachine
) -> None:
    trap = runtime.drop_in.with_name("99-zz.toml")

    async def live() -> None:
        async with running(runtime, machine) as seen:
            await seen.until(lambda state, _: state.phase == "Configured")
            trap.write_text(
                'version = 2\n\n[plugins."io.containerd.grpc.v1.cri".containerd.runtimes.runc]\n'
                '  runtime_type = "io.containerd.runc.v2"\n'
            )
            await seen.until(lambda state, _: state.phase == DRIFTED)
            assert seen.runtime is not None
            assert "the next restart of containerd will lose handlers" in seen.runtime.message
            assert seen.runtime.drift == "HandlersLostAtRestart"
            await asyncio.to_thread(runtime.restart_by_hand)
            await seen.until(lambda state, _: 'has not loaded handler "nvidia"' in state.message)
            assert f"{trap}:3" in seen.runtime.message
            assert seen.runtime.drift == "HandlerNotLoaded"
            assert trap.exists()

    asyncio.run(live())
    assert not runtime.drop_in.exists()


def test_a_persons_edit_that_our_copy_hides_is_told(runtime: Runtime, machine: SimulatedMachine) -> None:
    async def live() -> None:
        async with running(runtime, machine) as seen:
            await seen.until(lambda state, _: state.phase == "Configured")
            runtime.config.write_text(runtime.config.read_text().replace("pause:1", "pause:2"))
            await seen.until(lambda state, _: state.phase == DRIFTED)
            assert seen.runtime is not None
            assert f"{runtime.drop_in} would be written otherwise now" in seen.runtime.message
            assert seen.runtime.drift == "DropInOutdated"

    asyncio.run(live())


def test_since_when_containerd_runs_is_another_moment_after_a_restart_and_the_same_at_each_look(
    runtime: Runtime, machine: SimulatedMachine
) -> None:
    async def live() -> None:
        async with running(runtime, machine) as seen:
            await seen.until(lambda state, _: state.phase == "Configured")
            assert seen.runtime is not None
            first = seen.runtime
            await asyncio.sleep(1.2)
            assert seen.runtime == first, "nothing has changed, so nothing is written"
            await asyncio.to_thread(runtime.restart_by_hand)
            await seen.until(lambda state, _: state.started > first.started)

    asyncio.run(live())


SPEC = '{"cdiVersion": "0.5.0", "kind": "a.com/b", "devices": [{"name": "%s", "containerEdits": {"env": ["A=%s"]}}]}'


def test_specifications_are_published_whole_or_not_at_all(tmp_path: Path) -> None:
    (tmp_path / "etc/cdi").mkdir(parents=True)
    for name, size in (("a", 10), ("b", SPEC_LIMIT), ("c", 30000), ("d", 30000), ("e", 30000), ("f", 30000), ("g", 10)):
        (tmp_path / f"etc/cdi/{name}.json").write_text(SPEC % (name, "x" * size))
    (tmp_path / "etc/cdi/h.yaml").write_text("cdiVersion: 0.5.0\nkind: a.com/b\ndevices: []\n")
    found = {spec.path[9:10]: spec for spec in cdi_state(tmp_path, ["/etc/cdi", "/var/run/cdi"]).specs}
    assert {name for name, spec in found.items() if spec.truncated} == {"b", "f"}
    assert {name for name, spec in found.items() if not spec.text} == {"b", "f"}
    assert [spec.devices for name, spec in found.items() if name != "h"] == [(name,) for name in "abcdefg"]
    assert sum(len(spec.text) for spec in found.values()) <= SPECS_LIMIT
    assert "no devices" in found["h"].error and found["h"].text.startswith("cdiVersion"), "a bad one can be judged too"
    assert cdi_state(tmp_path, ["/etc/cdi", "/var/run/cdi"]).specs == tuple(found.values())


def test_a_specification_that_was_edited_is_another_state(tmp_path: Path) -> None:
    (tmp_path / "etc/cdi").mkdir(parents=True)
    file = tmp_path / "etc/cdi/a.json"
    file.write_text(SPEC % ("a", "1"))
    before = cdi_state(tmp_path, ["/etc/cdi"])
    file.touch()
    assert cdi_state(tmp_path, ["/etc/cdi"]) == before
    file.write_text(SPEC % ("a", "2"))
    assert cdi_state(tmp_path, ["/etc/cdi"]).specs[0].sha256 != before.specs[0].sha256


def moment(text: str) -> dt.datetime:
    return dt.datetime.fromisoformat(text)


def written(path: Path) -> str:
    return dt.datetime.fromtimestamp(int(path.stat().st_mtime), dt.UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def test_credentials_are_not_published() -> None:
    text = '[a.auth]\n  username = "me"\n  password = "p\\"w"\n  auth = { token = \'t\' }\n  server = "https://r"\n'
    masked = mask(text)
    assert 'server = "https://r"' in masked
    assert "me" not in masked.replace("username", "")
    assert masked.count("\n") == text.count("\n")
    assert not [secret for secret in ("p\\", "'t'") if secret in masked]


async def _eventually(holds: Callable[[], bool]) -> None:
    for _ in range(200):
        if holds():
            return
        await asyncio.sleep(0.05)
    raise AssertionError("it never came true")
