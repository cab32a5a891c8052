"""What waits for the toolkit on a fresh install, and that nothing waits for long."""

import datetime as dt

import pytest

from lockgate.model.objects import DaemonSet, DaemonSetStatus
from lockgate.model.policy import PolicySpec, parse_spec
from lockgate.operands.catalogue import operands
from lockgate.operands.operand import Operand
from lockgate.operands.precedence import waits

BY_STATE = {operand.state: operand for operand in operands()}
PLUGIN = BY_STATE["state-device-plugin"]
NEW, OLD = dt.timedelta(seconds=5), dt.timedelta(seconds=61)
NOWHERE, SOMEWHERE = DaemonSet(), DaemonSet(status=DaemonSetStatus(number_ready=1, number_available=1))


def waiting(
    operand: Operand = PLUGIN,
    spec: PolicySpec | None = None,
    own: DaemonSet | None = None,
    toolkit: DaemonSet | None = NOWHERE,
    age: dt.timedelta = NEW,
) -> bool:
    return waits(operand, spec or PolicySpec(), own=own, toolkit=toolkit, age=age)


def test_on_a_fresh_install_what_needs_the_handler_waits_for_the_toolkit() -> None:
    assert {state for state, operand in BY_STATE.items() if waiting(operand)} == {
        "state-operator-validation",
        "state-device-plugin",
        "gpu-feature-discovery",
    }
    assert waiting(toolkit=None)
    assert waiting(toolkit=DaemonSet(status=DaemonSetStatus(number_ready=1))), "started is not configured"


@pytest.mark.parametrize(
    "waits_no_more",
    [
        waiting(toolkit=SOMEWHERE),
        waiting(age=OLD),
        waiting(own=NOWHERE),
        waiting(spec=parse_spec({"toolkit": {"enabled": False}})),
    ],
    ids=["the toolkit is ready somewhere", "a minute has passed", "it exists already", "there is no toolkit"],
)
def test_it_waits_no_more_when(waits_no_more: bool) -> None:
    assert not waits_no_more


def test_every_operand_that_names_the_runtime_class_says_so() -> None:
    from tests.operands.test_render import context, rendered

    named = {name for name, m in rendered(context()).items() if "runtimeClassName" in m["spec"]["template"]["spec"]}
    assert named == {operand.daemonset for operand in operands() if operand.needs_handler}
