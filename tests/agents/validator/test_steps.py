"""Settings, the plugin's step, and what every step leaves on the node."""

import asyncio
from collections.abc import Callable
from pathlib import Path

import pytest

from lockgate.agents.options import SettingsError
from lockgate.agents.validator.__main__ import pause, validate
from lockgate.agents.validator.plugin import judge
from lockgate.agents.validator.result import NotReadyError, Passed, Results
from lockgate.agents.validator.settings import Settings, read_settings
from lockgate.model.node_state import DriverState, Validation
from lockgate.model.objects import Metadata, Node, NodeStatus


def test_nvidias_names_are_read() -> None:
    environ = {"COMPONENT": "driver", "WITH_WAIT": "true", "NODE_NAME": "gpu-a", "DRIVER_INSTALL_DIR": "/opt/driver"}
    settings = read_settings([], environ)
    assert (settings.component, settings.wait, settings.node) == ("driver", True, "gpu-a")
    assert settings.driver_root_ctr == Path("/opt/driver")


@pytest.mark.parametrize("environ", [{}, {"COMPONENT": "vfio-pci"}])
def test_a_missing_or_unknown_component_is_told(environ: dict[str, str]) -> None:
    with pytest.raises(SettingsError, match="expected one of driver, toolkit, cuda, plugin"):
        read_settings([], environ)


def node(capacity: dict[str, str], allocatable: dict[str, str]) -> Node:
    return Node(metadata=Metadata(name="gpu-a"), status=NodeStatus(capacity=capacity, allocatable=allocatable))


def test_a_node_with_gpus_to_give() -> None:
    resources = {"cpu": "8", "nvidia.com/gpu": "2"}
    assert judge(node(resources, resources)).message == "allocatable: nvidia.com/gpu 2"
    mig = {"nvidia.com/mig-1g.5gb": "7"}
    assert "mig-1g.5gb 7" in judge(node(mig, mig)).message


@pytest.mark.parametrize(
    ("capacity", "words"),
    [
        ({}, "has not registered"),
        ({"nvidia.com/gpu": "2"}, "unhealthy or it has ended"),
        ({"nvidia.com/gpu": "0"}, "ended more than five minutes ago"),
    ],
)
def test_a_node_without_gpus_to_give_says_which_way_it_has_none(capacity: dict[str, str], words: str) -> None:
    with pytest.raises(NotReadyError, match=words):
        judge(node(capacity, dict.fromkeys(capacity, "0")))


class Check:
    """A step that passes at the n-th try."""

    def __init__(self, passes_at: int) -> None:
        self.left = passes_at

    async def __call__(self, settings: Settings) -> Passed:
        self.left -= 1
        if self.left > 0:
            raise NotReadyError(f"not yet {self.left}")
        return Passed(message="works", content="A=1\n", driver=DriverState(version="580.1"))


def run(check: Check, output: Path, publish: Callable[[], None] = lambda: None, **fields: object) -> bool:
    settings = Settings(**{"component": "driver", "output": output, "pause": 0.01, **fields})  # type: ignore[arg-type]
    return asyncio.run(validate(settings, check, publish, asyncio.Event()))


def test_a_step_that_passes_opens_its_door(tmp_path: Path) -> None:
    assert run(Check(1), tmp_path)
    assert (tmp_path / "driver-ready").read_text() == "A=1\n"
    state, driver = Results(tmp_path).state()
    assert state.steps == (Validation(name="driver", ready=True, message="works"),)
    assert driver == DriverState(version="580.1")


def test_a_stale_door_is_closed_first(tmp_path: Path) -> None:
    (tmp_path / "driver-ready").touch()
    assert not run(Check(2), tmp_path)
    assert not (tmp_path / "driver-ready").exists()
    state, driver = Results(tmp_path).state()
    assert state.steps == (Validation(name="driver", ready=False, message="not yet 1"),)
    assert driver is not None
    assert driver.error == "not yet 1"


def test_with_wait_a_step_is_tried_until_it_passes(tmp_path: Path) -> None:
    published: list[bool] = []
    assert run(Check(4), tmp_path, lambda: published.append((tmp_path / "driver-ready").exists()), wait=True)
    assert published == [False, False, False, True]


def test_the_plugins_step_is_tried_for_a_while(tmp_path: Path) -> None:
    assert run(Check(30), tmp_path, component="plugin")
    assert not run(Check(31), tmp_path, component="plugin")


def test_every_door_is_closed_when_asked_to(tmp_path: Path) -> None:
    (tmp_path / "cuda-ready").touch()
    run(Check(2), tmp_path, clean_all=True)
    assert not (tmp_path / "cuda-ready").exists()


def test_a_plugin_is_looked_for_each_second_at_first_and_the_rest_every_five() -> None:
    plugin, driver = Settings(component="plugin"), Settings(component="driver")
    assert (pause(plugin, 0.0), pause(plugin, 29.0), pause(plugin, 31.0)) == (1.0, 1.0, 5.0)
    assert pause(driver, 0.0) == 5.0
    assert pause(Settings(component="plugin", pause=0.25), 0.0) == 0.25
