"""What XIDs have to do with what is asked about: a node's own, those of a pod's GPU, those that hold GPUs from a pod.

A pod that ended may have ended by an XID of its GPU. It did where the GPU was its own (the kubelet or an exporter says
so, or no other pod can be meant) and the XID fell into its life, or the GPU is still out. Else that stays an open
question.
"""

import datetime as dt
from collections.abc import Callable, Iterable, Sequence
from functools import cache
from typing import Final

import msgspec

from lockgate.diagnosis.followers import TAKEN_AWAY
from lockgate.diagnosis.gate_row import Obstacle
from lockgate.diagnosis.rule import Failed, Skipped, on_each
from lockgate.diagnosis.seen import listed
from lockgate.diagnosis.stage import Stage, bad_end, is_out_of_memory, is_ready
from lockgate.diagnosis.views.gate_one import GateOne
from lockgate.diagnosis.views.hardware import Hardware
from lockgate.diagnosis.views.places import Places
from lockgate.diagnosis.views.xids import Xids
from lockgate.diagnosis.ways import read_node
from lockgate.diagnosis.xid_told import Holders, NodeXid
from lockgate.kit.counted import counted
from lockgate.model import names
from lockgate.model.facts import Missing, Snapshot
from lockgate.model.finding import Evidence, Remedy, Severity
from lockgate.model.objects import Node, Pod
from lockgate.scheduling.requests import amounts
from lockgate.xid.codes import Family
from lockgate.xid.policies import nvidia_plugin_ignores

STAGES: Final = (Stage.NODE, Stage.SCHEDULING, Stage.RUNNING, Stage.FAILED)
_OPEN: Final = "That may be why: whose GPU it was, or when, is not known"
_LOG: Final = "on the node: dmesg | grep -iE 'NVRM|Xid'"
_LEAVE_IT_WELL: Final = (Family.APPLICATION, Family.CONTAINED)  # only the program is ended
_MOST: Final = 8  # XIDs of one family on one node, told one by one


class Hit(msgspec.Struct, frozen=True):
    """An XID on a node; `sure` that it has to do with what is asked about.

    `lacking` is the code of what gate 1 shows of it: the node offers no GPU (C07), fewer than it registered (C06) or
    fewer than it has (C08). `elsewhere`: other XIDs account for every GPU that the node lacks.
    """

    node: str
    xid: NodeXid
    sure: bool
    lacking: str = ""
    elsewhere: bool = False

    @property
    def pod(self) -> str:
        """A pod that has the GPU, as arguments of kubectl; what is to be put there where none is known."""
        namespace, _, name = next(iter(self.xid.holders.pods), "NAMESPACE/POD").partition("/")
        return f"-n {namespace} {name}"

    @property
    def smi(self) -> str:
        """The GPU as nvidia-smi's `-i` takes it."""
        return self.xid.uuid or (f"{self.xid.bus}.0" if self.xid.bus else "GPU")

    @property
    def now(self) -> bool:
        """Whether the node still lacks a GPU."""
        return self.xid.active or bool(self.lacking)

    @property
    def out(self) -> bool:
        """Whether it lacks one for this XID: a code that plugins ignore takes none away."""
        return self.xid.active or (bool(self.lacking) and not nvidia_plugin_ignores(self.xid.code.number))


class Struck:
    """The XIDs that concern the subject, and what is to be said of a family of them."""

    def __init__(self, stage: Stage, hits: tuple[Hit, ...], blind: str = "", now: dt.datetime | None = None) -> None:
        self._stage, self._hits, self._blind, self._now = stage, hits, blind, now

    def open_question(self) -> Skipped | None:
        """That nothing would tell of an XID of the node on which a pod ended; None where something would."""
        if not self._blind:
            return None
        how = f"{read_node(self._blind)}; or {_LOG}"
        return Skipped(f"the kernel's log of {self._blind} is not known: an XID may be behind it", how, decides=False)

    def of(self, family: Family) -> tuple[Hit, ...]:
        """Those of one family."""
        return tuple(hit for hit in self._hits if hit.xid.code.family is family)

    def judged(
        self, code: str, family: Family, remedy: Callable[[Hit], tuple[Remedy, ...]], on_node: Severity = Severity.ERROR
    ) -> Failed | Skipped | None:
        """What is to be said of a family, by its code; `on_node` is its severity where a node is asked about.

        An XID that may be another pod's is an open question: its words do not stand for the pod's own.
        """
        hits = self.of(family)
        sure = tuple(hit for hit in hits if hit.sure)
        if not sure:
            return Skipped(f"{_summary(hits[:1])} {_OPEN}", read_node(hits[0].node)) if hits else None
        by_node: dict[str, tuple[Hit, ...]] = {}
        for hit in sure:
            by_node[hit.node] = (*by_node.get(hit.node, ()), hit)
        return on_each([self._failed(code, own, remedy(own[0]), on_node) for own in by_node.values()])

    def _failed(self, code: str, hits: tuple[Hit, ...], remedy: tuple[Remedy, ...], on_node: Severity) -> Failed:
        return Failed(
            about=f"node/{hits[0].node}",
            codes=self._codes(code, hits[0]),
            summary=_summary(hits),
            severity=self._severity(hits, on_node),
            evidence=tuple(e for hit in hits[:_MOST] for e in _evidence(hit)),
            remedy=remedy,
            nodes=(hits[0].node,) if self._stage is Stage.SCHEDULING else (),
            spares=TAKEN_AWAY if all(hit.elsewhere for hit in hits) else (),
        )

    def _codes(self, code: str, hit: Hit) -> tuple[str, ...]:
        """Its own code; and that of gate 1, where it is why a node offers less."""
        return tuple(c for c in (code, hit.lacking if hit.out else "") if c)

    def _severity(self, hits: Iterable[Hit], on_node: Severity) -> Severity | None:
        """What the rule declares, but no more than a warning where the GPU is back, and a remark where long since."""
        declared = on_node if self._stage is Stage.NODE else None
        if self._stage is Stage.FAILED or any(hit.now for hit in hits):
            return declared
        if all(hit.xid.run and hit.xid.run.is_long_over(self._now) for hit in hits):
            return Severity.INFO
        return Severity.WARNING if declared is None or declared.rank > Severity.WARNING.rank else declared


def struck(
    pod: Pod,
    stage: Stage,
    node: Node | Missing,
    places: Places | Missing,
    xids: Xids,
    gate_one: GateOne | Missing,
    hardware: Hardware | Missing,
    snapshot: Snapshot,
) -> Struck:
    """The XIDs that concern a node, or a pod."""
    if stage is Stage.NODE and not isinstance(node, Missing):
        own = tuple(x for x in xids.on(node.name) if not x.past)
        hits = tuple(_of_node(node, x, own, hardware) for x in own)
        return Struck(stage, hits, now=snapshot.taken_at) if hits else _unstruck(stage)
    if stage is Stage.SCHEDULING:
        found = () if isinstance(gate_one, Missing) else _that_hold(gate_one, xids, hardware, places)
        return Struck(stage, tuple(Hit(name, x, True, _lacking(_named(name, places), hardware)) for name, x in found))
    name = pod.spec.node_name
    blind = name if _may_be_behind(pod, stage) and not xids.known_of(name) else ""
    return Struck(stage, tuple(_of_pod(pod, stage, places, xids, hardware)), blind)


@cache
def _unstruck(stage: Stage) -> Struck:
    """The very same for all that no XID concerns, so that rules judge it once (`diagnosis.panel`)."""
    return Struck(stage, ())


def _of_node(node: Node, xid: NodeXid, own: Sequence[NodeXid], hardware: Hardware | Missing) -> Hit:
    if _is_elsewhere(xid, node, own):
        return Hit(node.name, xid, True, elsewhere=True)
    return Hit(node.name, xid, True, _lacking(node, hardware))


def _is_elsewhere(xid: NodeXid, node: Node | None, own: Sequence[NodeXid]) -> bool:
    """Whether only a run that is over told of it, and the GPUs that are out for other XIDs are all that are lacking."""
    if node is None or xid.run is None or xid.active:
        return False
    capacity, allocatable = amounts(node.status.capacity), amounts(node.status.allocatable)
    lost = sum(n - allocatable.get(name, 0) for name, n in capacity.items() if names.is_gpu_resource(name))
    return 0 < lost <= len({x.uuid for x in own if x.active and x.uuid})


def _that_hold(
    gate: GateOne, xids: Xids, hardware: Hardware | Missing, places: Places | Missing
) -> Iterable[tuple[str, NodeXid]]:
    """XIDs of the nearest nodes for which devices are out, or no pods are taken, and those by which one is not offered.

    A GPU that is gone from the bus before the plugin starts is no device, and nobody acts on it.
    """
    for row in gate.nearest_with(Obstacle.UNHEALTHY, Obstacle.GONE):
        node, own = _named(row.node, places), xids.on(row.node)
        yield from ((row.node, x) for x in own if x.active or (x.acted and not _is_elsewhere(x, node, own)))
    for row in gate.nearest_with(Obstacle.CORDON):
        yield from ((row.node, x) for x in xids.on(row.node) if x.active)
    for row in () if isinstance(hardware, Missing) else filter(hardware.explains, gate.nearest):
        yield from ((row.node, x) for x in xids.on(row.node) if x.code.family is Family.BUS and not x.past)


def _of_pod(
    pod: Pod, stage: Stage, places: Places | Missing, xids: Xids, hardware: Hardware | Missing
) -> Iterable[Hit]:
    """Those of its own GPU; and, if it is not well, those that may have been, unless their GPU is well again."""
    name = pod.spec.node_name
    sick = _may_be_behind(pod, stage) or (stage is not Stage.FAILED and not is_ready(pod))
    for xid in xids.on(name):
        if f"{pod.namespace}/{pod.name}" not in xid.holders.pods:
            continue
        hit = Hit(name, xid, sure=False, lacking=_lacking(_named(name, places), hardware))
        if xid.holders.known and (hit.out or (sick and _in_its_life(pod, xid))):
            yield msgspec.structs.replace(hit, sure=True)
        elif sick and (xid.code.family in _LEAVE_IT_WELL or not xid.past):
            yield hit


def _may_be_behind(pod: Pod, stage: Stage) -> bool:
    """Whether a pod ended, and not for memory of the host: the driver clears what the kernel killed off the GPU."""
    return stage is Stage.FAILED and not is_out_of_memory(bad_end(pod)[1])


def _in_its_life(pod: Pod, xid: NodeXid) -> bool:
    started = pod.status.start_time
    return xid.at is not None and started is not None and started <= xid.at


def _named(name: str, places: Places | Missing) -> Node | None:
    return None if isinstance(places, Missing) else places.nodes.get(name)


def _lacking(node: Node | None, hardware: Hardware | Missing) -> str:
    """C07 where a node offers no GPU, C06 where fewer than it registered, C08 where it registered fewer than it has."""
    capacity, allocatable = (amounts(a) for a in (node.status.capacity, node.status.allocatable)) if node else ({}, {})
    own = [name for name in capacity if names.is_gpu_resource(name)]
    if not any(allocatable.get(name) for name in own):
        return "C07"
    if any(allocatable.get(name, 0) < capacity[name] for name in own):
        return "C06"
    return "C08" if node and not isinstance(hardware, Missing) and hardware.lacks(node.name) else ""


def _summary(hits: tuple[Hit, ...]) -> str:
    """A sentence for each code on each node, of the first two; how many more there are."""
    alike: dict[tuple[str, int], list[Hit]] = {}
    for hit in hits:
        alike.setdefault((hit.node, hit.xid.code.number), []).append(hit)
    told = [_sentence(node, own) for (node, _), own in alike.items()]
    return " ".join(told[:2]) + (f" {len(told) - 2} more." if len(told) > 2 else "")


def _sentence(node: str, hits: list[Hit]) -> str:
    own = [hit.xid for hit in hits]
    first, code = own[0], own[0].code
    name = f" ({code.name})" if code.name else ""
    count = sum(xid.count for xid in own)
    times = f", {counted(count, 'time')}" if count > len(own) else ""
    by = f", by {first.process}" if first.process else ""
    what = first.text if first.text and code.family is Family.RECOVERY else code.meaning
    asks = f" NVIDIA's action: {code.action}." if code.action else ""
    acted = dict.fromkeys(each for xid in own for each in xid.acted)
    who = f" {_upper('; '.join(acted))}." if acted else " Nobody is known to have acted on it."
    where = f"{node}: XID {code.number}{name} on {listed(xid.gpu for xid in own)}{by}{times}"
    return f"{where}: {what}.{asks}{who}{_now(hits)}"


def _now(hits: Sequence[Hit]) -> str:
    if any(hit.now for hit in hits):
        return ""
    runs = [hit.xid.run for hit in hits if hit.xid.run]
    if len(runs) < len(hits):
        return " The node still offers all of its GPUs."
    last = max((run.ended for run in runs if run.ended), default=None)
    when = f" at {last:%Y-%m-%d %H:%M} UTC" if last else ""
    offers = (
        "what the node lacks now, it lacks for other XIDs" if hits[0].elsewhere else "the node offers all of its GPUs"
    )
    return f" That was before {runs[-1].container} was restarted{when}; {offers}."


def _evidence(hit: Hit) -> Iterable[Evidence]:
    yield from hit.xid.evidence
    holders = hit.xid.holders
    if holders.pods:
        field = f"pods with {hit.xid.uuid or hit.xid.bus or 'the GPU'}"
        yield Evidence(object=f"node/{hit.node}", field=field, value=listed(holders.pods, 6), note=_how_sure(holders))


def _how_sure(holders: Holders) -> str:
    if holders.known:
        return "it is theirs" if len(holders.pods) > 1 else "it is this pod's"
    return "one of these; the kubelet's record (kubelet_internal_checkpoint) would tell which"


def _upper(text: str) -> str:
    return text[:1].upper() + text[1:]
