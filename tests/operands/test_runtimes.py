"""The condition of the nodes' runtimes: what is out of step, the gravest first, and what is only on its way."""

import pytest

from lockgate.controllers.metrics import Metrics
from lockgate.model.node_state import NodeStanding, RuntimeStanding, StandingStatus
from lockgate.model.objects import Metadata
from lockgate.operands.runtimes import count_runtimes, judge_runtimes


def node(name: str, phase: str, drift: str = "", message: str = "m") -> NodeStanding:
    runtime = RuntimeStanding(phase=phase, drift=drift, message=message)
    return NodeStanding(metadata=Metadata(name=name), status=StandingStatus(runtime=runtime))


def test_nodes_that_have_said_nothing_are_no_condition() -> None:
    assert judge_runtimes([]) is None
    assert judge_runtimes([NodeStanding(metadata=Metadata(name="a"))]) is None
    assert judge_runtimes([node("a", "")]) is None, "discovery shows files, and is no toolkit"


@pytest.mark.parametrize(
    ("phase", "drift", "reason"),
    [
        ("Configured", "", "InStep"),
        ("Unreachable", "", "InStep"),  # it starts, or restarts: not known, and said by the toolkit's own condition
        ("Drifted", "HandlersLostAtRestart", "Drifted"),
        ("Drifted", "ConfigRefusedAtRestart", "Drifted"),
        ("Drifted", "DropInOutdated", "Drifted"),
        ("Drifted", "", "Drifted"),  # an agent of the last release
        ("Drifted", "HandlerNotLoaded", "HandlersLost"),
        ("Refused", "", "HandlersLost"),
        ("RolledBack", "", "HandlersLost"),
    ],
)
def test_a_phase_has_its_reason(phase: str, drift: str, reason: str) -> None:
    found = judge_runtimes([node("a", "Configured"), node("b", phase, drift)])
    assert found is not None
    assert (found.reason, found.status) == (reason, "True" if reason == "InStep" else "False")


def test_those_that_fail_now_are_named_first_and_many_are_counted() -> None:
    waiting = [node(f"a{n}", "Drifted", "DropInOutdated") for n in range(6)]
    found = judge_runtimes([*waiting, node("z", "Refused", message="a line\nis broken")])
    assert found is not None
    assert found.message.startswith("7 of 7 nodes are not as the toolkit has left them: z: Refused: a line")
    assert found.message.endswith("; and 2 more")


def test_the_metric_forgets_what_no_node_says_any_more() -> None:
    metrics = Metrics()
    metrics.note_runtimes(count_runtimes([node("a", "Configured"), node("b", "Drifted", "DropInOutdated")]))
    name, labels = "gpu_operator_node_runtimes", {"phase": "Drifted", "drift": "DropInOutdated"}
    assert metrics.registry.get_sample_value(name, labels) == 1
    metrics.note_runtimes(count_runtimes([node("a", "Configured"), node("b", "Configured")]))
    assert metrics.registry.get_sample_value(name, labels) is None
    assert metrics.registry.get_sample_value(name, {"phase": "Configured", "drift": ""}) == 2
