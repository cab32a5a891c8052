"""Which handlers a node's runtime has loaded, from all that say so: a newer word unsays an older one.

The agent publishes only what has changed, the kubelet lists handlers with its status (`status.runtimeHandlers`, since
1.30), and the runtime refuses a pod in an event. A refusal holds while its pod waits: the kubelet asks again and again,
so that it would be heard otherwise.
"""

import datetime as dt
import re
from collections.abc import Iterable, Iterator, Mapping

import msgspec

from lockgate.diagnosis.stage import Stage, stage_of
from lockgate.model.facts import Events, Missing, Pods
from lockgate.model.node_state import GPUNodeState
from lockgate.model.objects import Event, Node, Pod

CONTAINERD, CRIO, DOCKER = "containerd", "CRI-O", "cri-dockerd"
_TEXTS = (
    (CONTAINERD, re.compile(r'no runtime for "(?P<handler>[^"]*)" is configured')),
    (CRIO, re.compile(r"failed to find runtime handler (?P<handler>\S+) from runtime list")),
    (DOCKER, re.compile(r'RuntimeHandler "(?P<handler>[^"]*)" not supported')),
)
_TOOLKIT = "lockgate-toolkit"  # the only agent that publishes what is loaded


class Refusal(msgspec.Struct, frozen=True):
    """An event in which a runtime says that it lacks a handler."""

    handler: str
    runtime: str
    event: Event


class LoadedHandlers(msgspec.Struct, frozen=True):
    """The handlers that the node's runtime answers with, and where that was read; `at` is None where it is not told."""

    names: tuple[str, ...]
    place: str
    field: str
    at: dt.datetime | None = None


Refusals = Mapping[str, Refusal]


def refusal(event: Event) -> Refusal | None:
    """What an event says of a handler that is lacking; None where it says nothing of one."""
    for runtime, text in _TEXTS:
        if found := text.search(event.text):
            return Refusal(found["handler"], runtime, event)
    return None


def refusals_by_node(events: Events | Missing, pods: Pods | Missing) -> dict[str, dict[str, Refusal]]:
    """The newest refusal of each handler on each node, of pods that wait still; of any pod where pods are not known."""
    said = [r for e in (() if isinstance(events, Missing) else events) if (r := refusal(e)) is not None]
    waiting = None if isinstance(pods, Missing) or not said else _waiting(pods)
    found: dict[str, dict[str, Refusal]] = {}
    for each in said:
        node = _node_of(each.event, waiting)
        before = found.get(node, {}).get(each.handler)
        if node and (before is None or not _is_newer(before.event.last_seen, each.event.last_seen)):
            found.setdefault(node, {})[each.handler] = each
    return found


def _waiting(pods: Pods) -> dict[tuple[str, str], Pod]:
    return {(p.namespace, p.name): p for p in pods if stage_of(p) is Stage.CREATING}


def _node_of(event: Event, waiting: Mapping[tuple[str, str], Pod] | None) -> str:
    """The node that an event is about, "" where its pod waits no more."""
    if waiting is None:
        return event.host
    about = event.about
    pod = waiting.get((about.namespace, about.name))
    if pod is None or (about.uid and pod.metadata.uid and about.uid != pod.metadata.uid):
        return ""
    return pod.spec.node_name


def by_agent(state: GPUNodeState | None) -> LoadedHandlers | None:
    """What the node's own agent published, since when that has stood there."""
    runtime = state.status.runtime if state else None
    if state is None or runtime is None or not runtime.handlers:
        return None
    names = tuple(sorted(h.name for h in runtime.handlers))
    written = [m.time for m in state.metadata.managed_fields if m.manager == _TOOLKIT and m.time is not None]
    at = max(written, default=state.metadata.creation_timestamp)
    return LoadedHandlers(names, f"gpunodestate/{state.name}", "status.runtime.handlers", at)


def by_kubelet(node: Node | None) -> LoadedHandlers | None:
    """What the kubelet lists with its status."""
    if node is None or node.status.runtime_handlers is None:
        return None
    # "" is the kubelet's name for the default handler.
    names = tuple(sorted(h.name for h in node.status.runtime_handlers if h.name))
    at = next((c.last_heartbeat_time for c in node.status.conditions if c.type == "Ready"), None)
    return LoadedHandlers(names, f"node/{node.name}", "status.runtimeHandlers", at)


def standing(lists: Iterable[LoadedHandlers | None], refusals: Refusals) -> LoadedHandlers | None:
    """The first list that no newer refusal contradicts: one that is wrong in one name is out of date in all."""
    return next((each for each in lists if each is not None and not any(_contradicting(each, refusals))), None)


def holding(lists: Iterable[LoadedHandlers | None], refusals: Refusals) -> dict[str, Refusal]:
    """The refusals that no newer list has unsaid."""
    known = [each for each in lists if each is not None]
    return {name: r for name, r in refusals.items() if not any(_unsays(each, r) for each in known)}


def _contradicting(each: LoadedHandlers, refusals: Refusals) -> Iterator[Refusal]:
    yield from (r for r in refusals.values() if r.handler in each.names and not _unsays(each, r))


def _unsays(each: LoadedHandlers, refused: Refusal) -> bool:
    return refused.handler in each.names and _is_newer(each.at, refused.event.last_seen)


def _is_newer(one: dt.datetime | None, other: dt.datetime | None) -> bool:
    """Whether a moment is known to lie behind another one; what has none is older than what has."""
    return one is not None and (other is None or one > other)
