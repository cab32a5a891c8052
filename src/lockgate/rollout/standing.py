"""How one node stands: verified, still busy, or failed and with what."""

import datetime as dt
from dataclasses import dataclass
from typing import Final, Literal

from lockgate.rollout.values import PATIENCE, NodeView, Verdict

State = Literal["verified", "busy", "failed"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Standing:
    """`verdict` is the stage that decides; None when the node is verified, or has no pod to judge."""

    state: State
    verdict: Verdict | None = None

    @property
    def text(self) -> str:
        return self.verdict.text if self.verdict else ""


VERIFIED: Final = Standing(state="verified")


def standing(node: NodeView, now: dt.datetime) -> Standing:
    """The first stage that has not passed decides; what waits for longer than PATIENCE has failed."""
    open_ = [verdict for verdict in node.verdicts if verdict.outcome != "passed"]
    if not open_ or (node.place == "updated" and _is_proved(node)):
        return VERIFIED if node.place != "changing" else Standing(state="busy")
    first = next((verdict for verdict in open_ if verdict.outcome == "failed"), open_[0])
    if first.outcome == "failed":
        return Standing(state="failed", verdict=first)
    if node.since is None or now - node.since <= PATIENCE:
        return Standing(state="busy", verdict=first)
    late = f"{first.text} for more than {PATIENCE // dt.timedelta(minutes=1)} minutes"
    return Standing(state="failed", verdict=Verdict(stage=first.stage, outcome="failed", text=late))


def _is_proved(node: NodeView) -> bool:
    """Whether the validator has passed with this toolkit, GPUs included: that they are gone now is not its doing."""
    others = [verdict for verdict in node.verdicts if verdict.stage != "devices"]
    return node.validator is not None and all(verdict.outcome == "passed" for verdict in others)
