"""Whether the nodes' runtimes are still as the toolkit has left them: said outside of a rollout too, node by node.

A toolkit that finds its work undone publishes so and does not fight. Where pods that need a handler fail now, the
policy is not ready; what waits for the next restart of containerd is said, and changes nothing else.
"""

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Final

from lockgate.kit.counted import agreeing
from lockgate.model.node_state import NodeStanding, RuntimeStanding
from lockgate.model.objects import Condition

IN_STEP: Final = "RuntimeInStep"
LOST: Final = "HandlersLost"
DRIFTED: Final = "Drifted"
# What of a published phase or drift means that pods which need the handler fail now.
_FAILS_NOW: Final = ("HandlerNotLoaded", "Refused", "RolledBack")
_SHOWN: Final = 5


def judge_runtimes(states: Iterable[NodeStanding]) -> Condition | None:
    """The condition, without times; None while no toolkit has published anything."""
    # Without a phase it is no toolkit that says it: discovery shows the files of nodes that have none.
    known = {state.name: runtime for state in states if (runtime := state.status.runtime) and runtime.phase}
    if not known:
        return None
    wrong = {name: runtime for name, runtime in sorted(known.items()) if _what(runtime)}
    if not wrong:
        text = f"{len(known)} of {len(known)} nodes run with what the toolkit has written"
        return Condition(type=IN_STEP, status="True", reason="InStep", message=text)
    lost = {name: runtime for name, runtime in wrong.items() if _what(runtime) in _FAILS_NOW}
    rest = {name: runtime for name, runtime in wrong.items() if name not in lost}
    return Condition(
        type=IN_STEP, status="False", reason=LOST if lost else DRIFTED, message=_message(len(known), {**lost, **rest})
    )


def _what(runtime: RuntimeStanding) -> str:
    """The reason for which a node is out of step; "" where it is in step, or busy with its first configuration."""
    if runtime.phase == "Drifted":
        return runtime.drift or "Drifted"
    return runtime.phase if runtime.phase in _FAILS_NOW else ""


def _message(known: int, wrong: Mapping[str, RuntimeStanding]) -> str:
    shown = [f"{name}: {_what(runtime)}: {runtime.message}" for name, runtime in list(wrong.items())[:_SHOWN]]
    more = f"; and {len(wrong) - _SHOWN} more" if len(wrong) > _SHOWN else ""
    are, them = agreeing(len(wrong), "is", "are"), agreeing(len(wrong), "it", "them")
    return f"{len(wrong)} of {known} nodes {are} not as the toolkit has left {them}: {'; '.join(shown)}{more}"


def count_runtimes(states: Iterable[NodeStanding]) -> Mapping[tuple[str, str], int]:
    """Nodes by published phase and drift ("" where there is none)."""
    return Counter((r.phase, r.drift) for state in states if (r := state.status.runtime) and r.phase)
