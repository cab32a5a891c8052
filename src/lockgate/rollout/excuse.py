"""The note on a node that was failing before a revision came to it: which revision, from which stage on, and why.

The only thing that a rollout writes down, since nothing in the cluster tells it once the pod has been replaced.
"""

from typing import Final

from lockgate.rollout.values import STAGES, Stage, Verdict

ANNOTATION: Final = "lockgate.dev/toolkit-rollout-excused"


def render_excuse(revision: str, verdict: Verdict) -> str:
    """The annotation's value."""
    return f"{revision} {verdict.stage}: {verdict.text}"


def parse_excuse(text: str, revision: str) -> Stage | None:
    """The stage from which a node is excused under this revision; None when it is not, or the note is unreadable."""
    noted, _, rest = text.partition(" ")
    stage = rest.partition(":")[0]
    return next((known for known in STAGES if known == stage), None) if noted == revision else None
