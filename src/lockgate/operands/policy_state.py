"""What is written to a policy's status: which policy counts, its state, and NVIDIA's pair of conditions over ours."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Final

from lockgate.model.objects import ClusterPolicy, Condition

FINALIZER: Final = "lockgate.dev/node-labels"
READY: Final = "Ready"
ERROR: Final = "Error"
NO_GPU_NODES: Final = "NoGPUNodes"


@dataclass(frozen=True, slots=True, kw_only=True)
class PolicyState:
    """`state` is ignored, ready or notReady; `conditions` are without times."""

    state: str
    conditions: tuple[Condition, ...]

    @property
    def summary(self) -> Condition:
        """The condition that says it all: Ready, or Error with its reason."""
        return next(c for c in self.conditions if c.type == (READY if self.state == "ready" else ERROR))


def active(policies: Iterable[ClusterPolicy]) -> ClusterPolicy | None:
    """The policy that counts: the oldest, then the first by name, as NVIDIA's operator chooses."""
    return min(policies, key=_age, default=None)


def _age(policy: ClusterPolicy) -> tuple[str, str]:
    created = policy.metadata.creation_timestamp
    return (created.isoformat() if created else "", policy.name)


def ignored(winner: str) -> PolicyState:
    """A second policy: it has no effect, and says so."""
    text = f'ClusterPolicy "{winner}" is in charge; only the oldest counts. Delete this one or that one.'
    return _failed("ignored", "Ignored", text, ())


def failed(reason: str, message: str) -> PolicyState:
    """The policy could not be followed at all."""
    return _failed("notReady", reason, message, ())


def judged(operands: Sequence[tuple[str, Condition]]) -> PolicyState:
    """The state of a policy whose operands (NVIDIA's state name, condition) stand so: ready when every one holds."""
    conditions = [condition for _, condition in operands]
    missing = [(state, condition) for state, condition in operands if condition.status != "True"]
    if not missing:
        return PolicyState(state="ready", conditions=(*_ready(), *conditions))
    reasons = {condition.reason for _, condition in missing}
    reason = NO_GPU_NODES if reasons == {NO_GPU_NODES} else "OperandNotReady"
    states = " ".join(dict.fromkeys(state for state, _ in missing))
    text = f"ClusterPolicy is not ready; states not ready: [{states}]: {missing[0][0]}: {missing[0][1].message}"
    return _failed("notReady", reason, text, conditions)


def with_note(state: PolicyState, condition: Condition) -> PolicyState:
    """The state with one more condition, which does not decide whether the policy is ready."""
    return replace(state, conditions=(*state.conditions, condition))


def _ready() -> tuple[Condition, Condition]:
    text = "every operand that should run does run on each node that should have it"
    return (
        Condition(type=READY, status="True", reason="Reconciled", message=text),
        Condition(type=ERROR, status="False", reason="Ready", message=""),
    )


def _failed(state: str, reason: str, text: str, conditions: Sequence[Condition]) -> PolicyState:
    pair = (
        Condition(type=READY, status="False", reason="Error", message=text),
        Condition(type=ERROR, status="True", reason=reason, message=text),
    )
    return PolicyState(state=state, conditions=(*pair, *conditions))
