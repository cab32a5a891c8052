"""A fleet to roll over: nodes whose pods take their time, whose toolkits and GPUs can be broken, and mended.

It plays DaemonSet controller, kubelet, toolkit and validator, roughly and slowly: a deleted pod leaves, another comes,
configures, and the validator passes only where everything works. It counts what was done to each node.
"""

import datetime as dt
from dataclasses import dataclass, field

from lockgate.rollout.plan import next_steps
from lockgate.rollout.values import NodeView, Outcome, Ref, Restart, Step, Verdict

START = dt.datetime(2026, 1, 1, tzinfo=dt.UTC)


@dataclass
class Machine:
    """One node. `settling`: ticks until its pod does its part; `refuses`: the toolkit fails; `dead`: it has no GPUs."""

    name: str
    revision: int
    settling: int = 0
    leaving: int = 0
    checked: bool = True  # the validator has passed with this pod
    checking: int = 0
    refuses: bool = False
    dead: bool = False
    down: bool = False
    since: dt.datetime = START
    pods: int = 1  # pods of the toolkit that it has had
    restarts: list[int] = field(default_factory=list)  # the revision wanted at each restart


class Fleet:
    """`wanted` is the revision that the DaemonSet has; `tick` lets time pass, `turn` lets the rollout look once."""

    def __init__(self, machines: list[Machine], budget: int = 1, slow: int = 1) -> None:
        self.machines = {machine.name: machine for machine in machines}
        self.budget, self.slow, self.wanted, self.now = budget, slow, 1, START

    def tick(self) -> None:
        self.now += dt.timedelta(seconds=10)
        for machine in self.machines.values():
            self._advance(machine)

    def _advance(self, machine: Machine) -> None:
        if machine.down:
            return
        if machine.leaving:
            machine.leaving -= 1
            if not machine.leaving:
                machine.revision, machine.settling, machine.checked = self.wanted, self.slow, False
                machine.pods, machine.since = machine.pods + 1, self.now
        elif machine.settling:
            machine.settling -= 1
        elif machine.checking:
            machine.checking -= 1
            machine.checked = not machine.checking and not machine.dead and not machine.refuses

    def turn(self) -> tuple[Step, ...]:
        """One look of an operator that remembers nothing, and what it does."""
        steps = next_steps(self.views(), self.budget, self.now)
        for step in steps:
            machine = self.machines[step.node]
            if isinstance(step, Restart):
                machine.leaving, machine.since = self.slow, self.now
                machine.restarts.append(self.wanted)
            else:
                machine.checking, machine.since = self.slow + 1, self.now
        return steps

    def views(self) -> list[NodeView]:
        return [self._view(machine) for machine in self.machines.values()]

    def _view(self, m: Machine) -> NodeView:
        place = "changing" if m.leaving else "updated" if m.revision == self.wanted else "outdated"
        verdicts = (
            Verdict(stage="toolkit", outcome=self._toolkit(m), text="toolkit"),
            Verdict(stage="devices", outcome="failed" if m.dead else "passed", text="no GPUs"),
            Verdict(stage="validation", outcome="passed" if m.checked else "waiting", text="validation"),
        )
        ref = Ref(name=f"{m.name}-{m.pods}", uid=f"{m.name}-{m.pods}")
        return NodeView(
            name=m.name,
            place=place,  # type: ignore[arg-type]
            pod=ref,
            validator=ref,
            stale=not m.checked and not m.checking,
            verdicts=verdicts,
            since=m.since,
            reachable=not m.down,
        )

    def _toolkit(self, m: Machine) -> Outcome:
        if m.down or m.leaving or m.settling:
            return "waiting"
        return "failed" if m.refuses else "passed"

    def works(self, machine: Machine) -> bool:
        """Whether GPU pods can start there."""
        idle = not (machine.leaving or machine.settling or machine.refuses or machine.dead or machine.down)
        return idle and machine.checked
