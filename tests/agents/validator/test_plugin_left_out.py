"""A node whose device plugin is left out on purpose passes, so that its validator does not wait for ever."""

import pytest

from lockgate.agents.validator.plugin import judge
from lockgate.agents.validator.result import NotReadyError
from lockgate.model.objects import Metadata, Node

LABEL = "nvidia.com/gpu.deploy.device-plugin"


def node(value: str) -> Node:
    return Node(metadata=Metadata(name="a", labels={LABEL: value}))


def test_a_plugin_that_a_person_left_out_is_not_waited_for() -> None:
    assert judge(node("false")).message == f"nothing to prove: node a has no device plugin on purpose ({LABEL}=false)"


@pytest.mark.parametrize("value", ["true", "paused-for-mig-change", "paused-for-driver-upgrade"])
def test_a_plugin_that_should_run_or_will_come_back_is(value: str) -> None:
    with pytest.raises(NotReadyError, match="has not registered"):
        judge(node(value))
