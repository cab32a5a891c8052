"""What kube-scheduler and cluster-autoscaler write about a pod that fits nowhere: read into values, and written again.

Texts of 1.20 to 1.37 are read. A reason nobody knows keeps its words and its count; nothing of a message is dropped.
A node counts once per reason of the *first* filter that refused it, so the counts may add up to more than the nodes.
Source: kube-scheduler framework/types.go (FitError), preemption.go; cluster-autoscaler eventing processor.
"""

import re
from collections.abc import Mapping

import msgspec

from lockgate.scheduling.causes import Cause, Reason, cause_of, parse_reason

NO_NODES = "no nodes available to schedule pods"
_TRUNCATED = " ..."


class Preemption(msgspec.Struct, frozen=True, kw_only=True):
    """What evicting pods of lower priority could do: reasons per node, or one sentence for all (`text`)."""

    text: str
    nodes: int | None = None
    reasons: tuple[Reason, ...] = ()

    @property
    def victims_missing(self) -> int:
        """Nodes where freeing pods would have helped, had there been pods of lower priority."""
        return sum(reason.count for reason in self.reasons if reason.cause is Cause.NO_VICTIMS)

    @property
    def not_helpful(self) -> int:
        """Nodes where freeing pods could never help: the refusal is not about what pods hold."""
        return sum(reason.count for reason in self.reasons if reason.cause is Cause.NOT_HELPFUL)


class FailedScheduling(msgspec.Struct, frozen=True, kw_only=True):
    """One FailedScheduling text.

    `nodes` is how many there are; `prefilter` a refusal that holds for all of them at once; `notes` what else is said.
    """

    verbatim: str
    nodes: int
    reasons: tuple[Reason, ...] = ()
    prefilter: str = ""
    prefilter_cause: Cause | None = None
    preemption: Preemption | None = None
    notes: tuple[str, ...] = ()
    truncated: bool = False

    def count(self, cause: Cause, resource: str = "") -> int:
        """How many nodes were refused for a cause, or for one resource of it."""
        return sum(r.count for r in self.reasons if r.cause is cause and (not resource or r.resource == resource))

    def insufficient(self, resource: str) -> int:
        """How many nodes had too little of a resource."""
        return self.count(Cause.INSUFFICIENT, resource)


class NotTriggeredScaleUp(msgspec.Struct, frozen=True, kw_only=True):
    """cluster-autoscaler's NotTriggerScaleUp: why no node group would help; counts are node groups."""

    verbatim: str
    reasons: tuple[Reason, ...] = ()


# --- reading


_HEAD = re.compile(r"\s*(\d+)/(\d+) nodes are available:?\s*")
_PREEMPTION = re.compile(r"(?:^|(?<=[\s,]))preemption: ?")
_SCALE_UP = re.compile(r"\s*pod didn't trigger scale-up(?: \(it wouldn't fit if a new node is added\))?(?::\s*|$)")
_PART = re.compile(r"(\d+) (.+)", re.DOTALL)
_NEXT_PART = re.compile(r", (?=\d+ )")
_SENTENCE_END = re.compile(r"\.(?=\.|\s|$)")


def parse_failed_scheduling(text: str) -> FailedScheduling | None:
    """Read the text of a FailedScheduling event or of the PodScheduled condition; None when it is not one.

    A text that the event recorder cut (1,024 characters) is read as far as it goes and marked `truncated`.
    """
    if text.strip() == NO_NODES:
        return FailedScheduling(verbatim=text, nodes=0)
    head = _HEAD.match(text)
    if head is None:
        return None
    body, truncated = _without_cut(text[head.end() :])
    sentence, tail = _split_preemption(body)
    parts, notes = _sentence(sentence)
    return FailedScheduling(
        verbatim=text,
        nodes=int(head.group(2)),
        reasons=_reasons(parts),
        prefilter="" if _is_list(parts) else parts,
        prefilter_cause=None if not parts or _is_list(parts) else cause_of(parts),
        preemption=None if tail is None else _preemption(tail),
        notes=notes,
        truncated=truncated,
    )


def parse_scale_up(text: str) -> NotTriggeredScaleUp | None:
    """Read cluster-autoscaler's `pod didn't trigger scale-up ...`; None when it is not that."""
    head = _SCALE_UP.match(text)
    if head is None:
        return None
    return NotTriggeredScaleUp(verbatim=text, reasons=_reasons(text[head.end() :].strip().rstrip(".")))


def _without_cut(text: str) -> tuple[str, bool]:
    return (text.removesuffix(_TRUNCATED), True) if text.endswith(_TRUNCATED) else (text, False)


def _split_preemption(text: str) -> tuple[str, str | None]:
    found = _PREEMPTION.search(text)
    return (text, None) if found is None else (text[: found.start()], text[found.end() :])


def _sentence(text: str) -> tuple[str, tuple[str, ...]]:
    """The first sentence, and what follows it (notes of other plugins, for example `no new claims to deallocate`)."""
    text = text.strip().removesuffix(",")
    end = next((m for m in _SENTENCE_END.finditer(text) if _depth(text, m.start()) == 0), None)
    if end is None:
        return text, ()
    rest = text[end.end() :].strip(" .,")
    return text[: end.start()], (rest,) if rest else ()


def _preemption(text: str) -> Preemption:
    text = text.strip()
    head = _HEAD.match(text)
    if head is None:
        return Preemption(text=text.rstrip("."))
    parts, _ = _sentence(text[head.end() :])
    return Preemption(text=text, nodes=int(head.group(2)), reasons=_reasons(parts))


def _is_list(text: str) -> bool:
    return _PART.match(text) is not None


def _reasons(text: str) -> tuple[Reason, ...]:
    matches = (_PART.fullmatch(part) for part in _parts(text))
    return tuple(parse_reason(int(m.group(1)), m.group(2)) for m in matches if m)


def _parts(text: str) -> list[str]:
    """Split at `, <number> ` outside braces: old texts carry the taint's value, which may hold anything."""
    if not _is_list(text):
        return []
    cuts = [m for m in _NEXT_PART.finditer(text) if _depth(text, m.start()) == 0]
    starts = [0, *(m.end() for m in cuts)]
    ends = [*(m.start() for m in cuts), len(text)]
    return [text[start:end] for start, end in zip(starts, ends, strict=True)]


def _depth(text: str, end: int) -> int:
    return text.count("{", 0, end) - text.count("}", 0, end)


# --- writing


def render_reasons(counts: Mapping[str, int]) -> str:
    """Counts of reasons as the scheduler lists them: sorted as strings, so that `10 x` comes before `2 y`."""
    return ", ".join(sorted(f"{count} {text}" for text, count in counts.items()))


def render_fit_error(nodes: int, counts: Mapping[str, int], prefilter: str = "", postfilter: str = "") -> str:
    """The text of a FailedScheduling event as 1.37 writes it; a prefilter message stands for all reasons."""
    sentence = prefilter or render_reasons(counts)
    text = f"0/{nodes} nodes are available:" + (f" {sentence}." if sentence else "")
    return f"{text} {postfilter}" if postfilter else text


def render_preemption(nodes: int, counts: Mapping[str, int]) -> str:
    """The preemption part that ends such a text."""
    return f"preemption: {render_fit_error(nodes, counts)}"


def render_nomination(node: str, victims: int) -> str:
    """The preemption part of a pod for which others are evicted."""
    return f"preemption: found a potential placement for pod on node {node}, preempting {victims} victims"
