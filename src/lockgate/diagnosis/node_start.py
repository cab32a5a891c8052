"""A node's GPU stack within its normal start: after the node was made or booted, and while nothing has failed.

Driver, toolkit, device plugin and validator start one after the other. Each may take a while from the moment at which
it could begin: when its pod was made, a reboot ended its containers, or the one before it was done. A crash is no
start, and nothing is called one whose moments are not known.
"""

import datetime as dt
from collections.abc import Iterable, Iterator
from typing import Final

import msgspec

from lockgate.diagnosis.stage import is_ready, statuses
from lockgate.diagnosis.views.operands import OperandPod
from lockgate.diagnosis.waits import BEFORE_HANDLER, waits_of
from lockgate.model.objects import ContainerStatus, Node, Pod
from lockgate.model.pod_state import is_failing
from lockgate.scheduling.node_fit import offers_gpus

CHAIN: Final = ("driver", "container-toolkit", "device-plugin", "operator-validator", "cuda-validator")
"""In which order they are done: the validator ends last."""
_PLUGIN: Final = "device-plugin"
# A driver's container compiles the kernel's modules; the others load their images and wait for the one before.
_LONGEST: Final = {"driver": dt.timedelta(minutes=10)}
LONG: Final = dt.timedelta(minutes=5)
"""So long any other operand may take to start."""
# From a plugin that is ready to the GPUs in the node's status: the kubelet writes it every ten seconds.
_REGISTERING: Final = dt.timedelta(minutes=1)
# A kubelet finds what a reboot ended, and says Ready, within moments of each other.
_AT_ONCE: Final = dt.timedelta(minutes=1)
# A kubelet tries a sandbox again every ten to fifteen seconds.
_TRIED: Final = dt.timedelta(minutes=1)


class Start(msgspec.Struct, frozen=True, kw_only=True):
    """The operand that is starting, since when, how long that may take, and the operands that come after it."""

    operand: str
    pod: Pod
    since: dt.datetime
    longest: dt.timedelta
    after: tuple[str, ...] = ()


def start_of(node: Node, here: Iterable[OperandPod], now: dt.datetime | None) -> Start | None:
    """What is starting on a node; None where nothing is, or where it takes too long, or failed."""
    there = [p for p in here if p.pod.metadata.deletion_timestamp is None and p.pod.status.phase != "Succeeded"]
    path = [p for name in CHAIN for p in there if p.operand == name]
    if now is None or is_silent(node) or not any(p.operand == _PLUGIN for p in path):
        return None
    if any(_has_failed(p.pod, node, now) for p in path):
        return None
    begun: dt.datetime | None = None
    for place, each in enumerate(path):
        longest = _LONGEST.get(each.operand, LONG)
        since = _latest(begun, _begun(each.pod))
        if not is_ready(each.pod):
            after = tuple(dict.fromkeys(p.operand for p in path[place + 1 :] if not is_ready(p.pod)))
            return _young(each, since, longest, now, after)
        begun = _done(each.pod, longest)
        if each.operand == _PLUGIN and not offers_gpus(node):
            return _young(each, _latest(begun, _booted(node)), _REGISTERING, now)
    late = {(w.pod.namespace, w.pod.name) for w in waits_of(there)}
    beside = next((p for p in there if (p.pod.namespace, p.pod.name) in late), None)
    return _young(beside, _latest(begun, _begun(beside.pod)), LONG, now) if beside else None


def is_handler_due(here: Iterable[OperandPod], now: dt.datetime) -> bool:
    """Whether driver and toolkit are done for a while: that the runtime lacks the handler is no start then."""
    ready = [_ready_since(each.pod) for each in here if each.operand in BEFORE_HANDLER]
    return all(since is not None and now - since > _TRIED for since in ready)


def is_silent(node: Node) -> bool:
    """Whether its kubelet is away or at fault: what is known of its pods is not of now."""
    return any(c.type == "Ready" and c.status != "True" for c in node.status.conditions)


def _young(
    each: OperandPod, since: dt.datetime | None, longest: dt.timedelta, now: dt.datetime, after: tuple[str, ...] = ()
) -> Start | None:
    if since is None or now - since >= longest:
        return None
    return Start(operand=each.operand, pod=each.pod, since=since, longest=longest, after=after)


def _booted(node: Node) -> dt.datetime | None:
    """When the node became ready last."""
    return next((c.last_transition_time for c in node.status.conditions if c.type == "Ready"), None)


def _begun(pod: Pod) -> dt.datetime | None:
    """When a pod began to start: its oldest container that runs, else the last that happened to it."""
    running = [s.state.running.started_at for s in statuses(pod) if s.state.running]
    if running:
        return None if None in running else min(filter(None, running))
    return _latest(pod.metadata.creation_timestamp, *(m for s in statuses(pod) for m in _ends(s)))


def _done(pod: Pod, longest: dt.timedelta) -> dt.datetime | None:
    """When a pod that is ready was so first; the node's own silence makes it ready anew, and is no start of it."""
    ready, begun = _ready_since(pod), _begun(pod)
    return None if ready is None or begun is None else min(ready, begun + longest)


def _ready_since(pod: Pod) -> dt.datetime | None:
    ready = (c for c in pod.status.conditions if c.type == "Ready" and c.status == "True")
    return next((c.last_transition_time for c in ready), None)


def _ends(status: ContainerStatus) -> Iterator[dt.datetime | None]:
    for ended in (status.state.terminated, status.last_state.terminated):
        if ended is not None:
            yield ended.finished_at


def _has_failed(pod: Pod, node: Node, now: dt.datetime) -> bool:
    """Whether a container of it is tried in vain, or has crashed since the node is there, and lately."""
    if is_failing(pod):
        return True
    crashed = (s.last_state.terminated for s in statuses(pod))
    return any(_counts(e.finished_at, _booted(node), now) for e in crashed if e is not None and e.exit_code)


def _counts(crashed: dt.datetime | None, booted: dt.datetime | None, now: dt.datetime) -> bool:
    if crashed is None or now - crashed > max(_LONGEST.values()):
        return crashed is None
    return booted is None or crashed > booted + _AT_ONCE


def _latest(*moments: dt.datetime | None) -> dt.datetime | None:
    return max(filter(None, moments), default=None)
