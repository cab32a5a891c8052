"""Where XIDs are told: the logs of kernel, driver and plugin, GPUNodeState, conditions and events that agents write.

The same code on the same GPU is one, however often and by whomever it is told.
"""

import datetime as dt
import re
from collections.abc import Iterable, Iterator
from typing import Final

import msgspec

from lockgate.diagnosis.seen import event
from lockgate.diagnosis.views.node_words import NodeWords
from lockgate.model.facts import Log
from lockgate.model.finding import Evidence
from lockgate.model.node_state import DevicesState
from lockgate.model.objects import Event, Node
from lockgate.model.pod_state import RECENT
from lockgate.xid.codes import Code, code_of
from lockgate.xid.kernel_log import KernelLog, XidLine, parse_kernel_log
from lockgate.xid.policies import APPLICATION_XIDS, watcher_of

# k8s-device-plugin, internal/rm/health.go.
_MARKED: Final = re.compile(
    r"XidCriticalError: Xid=(?P<code>\d+) on Device=(?P<uuid>\S+?)[;,] marking device as unhealthy"
)
# Lockgate's plugin, in its log, and in GPUNodeState.
_OURS: Final = re.compile(r"\bXID (?P<code>\d+) on (?:(?P<uuid>GPU-\S+)|a GPU that does not tell)")
_AGAIN: Final = re.compile(r"\((?P<uuid>GPU-[^)\s]+)\): healthy again")
_REASON: Final = re.compile(r"\bXID (?P<code>\d+)")
_MOST: Final = 3  # pieces of evidence of one XID
_LONGEST: Final = 500


class Holders(msgspec.Struct, frozen=True):
    """The pods that have the GPU; `known` when the kubelet's own record says so, or nothing else is possible."""

    pods: tuple[str, ...] = ()  # namespace/name
    known: bool = False


class Run(msgspec.Struct, frozen=True):
    """A run of a container that is over; `ended` is None where that moment is not known."""

    container: str
    ended: dt.datetime | None = None

    def is_long_over(self, now: dt.datetime | None) -> bool:
        """Whether what it told is no more than a thing to know."""
        return self.ended is not None and now is not None and now - self.ended > RECENT


class NodeXid(msgspec.Struct, frozen=True, kw_only=True):
    """One code on one GPU of a node. `acted` says who did what about it.

    `active`: the GPU is still out for it; `past`: the GPU is known to be well again. `run` is the run of a container
    that all of it was told in, where that is over.
    """

    code: Code
    bus: str = ""
    uuid: str = ""
    count: int = 1
    text: str = ""
    process: str = ""
    instance: str = ""
    at: dt.datetime | None = None
    evidence: tuple[Evidence, ...] = ()
    acted: tuple[str, ...] = ()
    active: bool = False
    past: bool = False
    run: "Run | None" = None
    holders: Holders = Holders()

    @property
    def gpu(self) -> str:
        """The GPU as a person finds it: its UUID, its address, or both, and the MIG device on it."""
        gpu = " at ".join(part for part in (self.uuid, self.bus) if part) or "a GPU that is not told"
        return f"{gpu}, MIG instance {self.instance}" if self.instance else gpu


# --- where XIDs are told


def from_kernel(node: str, logs: Iterable[tuple[str, KernelLog]]) -> Iterator[NodeXid]:
    """Every XID of the kernel's log, oldest first."""
    for source, log in logs:
        for seen in log.xids:
            line = Evidence(file=f"{node}:{source}", line=seen.number, verbatim=seen.line[:_LONGEST])
            yield _of_line(seen, seen.at, line)


def from_operands(
    logs: Iterable[tuple[Log, KernelLog]], kernel: Iterable[KernelLog], words: NodeWords
) -> Iterator[NodeXid]:
    """The kernel's lines that an operand repeats in its own log, as the driver's container does; not those known."""
    known = {(seen.code, seen.bus, seen.text) for log in kernel for seen in log.xids}
    for log, told in logs:
        for seen in told.xids:
            if (seen.code, seen.bus, seen.text) not in known:
                own = _of_line(seen, seen.at, quoted(log, seen.line))
                yield msgspec.structs.replace(own, run=run_of(log, words))


def quoted(log: Log, line: str) -> Evidence:
    """A line of an operand's log, and whether it is of a run that is over."""
    where = f"log of {log.pod}/{log.container}" + (" (previous run)" if log.previous else "")
    return Evidence(object=where, verbatim=line.strip()[:_LONGEST])


def run_of(log: Log, words: NodeWords) -> Run | None:
    """The run that a log is of, where that is over."""
    return Run(log.container, words.ended(log)) if log.previous else None


def from_events(events: Iterable[Event]) -> Iterator[NodeXid]:
    """The kernel's lines that an agent (node-problem-detector) has repeated as events about the node."""
    for said in events:
        for seen in parse_kernel_log(said.text).xids:
            yield _of_line(seen, said.last_seen, event(said))


def _of_line(seen: XidLine, at: dt.datetime | None, evidence: Evidence) -> NodeXid:
    return NodeXid(
        code=code_of(seen.code),
        bus=seen.bus,
        text=seen.text,
        process=_process(seen.pid, seen.process),
        instance=seen.instance,
        at=at,
        evidence=(evidence,),
    )


def from_plugin(node: str, words: NodeWords) -> Iterator[NodeXid]:
    """XIDs that Lockgate's plugin saw, and those for which NVIDIA's took a device out."""
    for log in words.operand_logs(node):
        lines = log.text.splitlines()
        well = {found["uuid"]: at for at, line in enumerate(lines) if (found := _AGAIN.search(line))}
        for at, line in enumerate(lines):
            if match := _OURS.search(line):
                yield NodeXid(
                    code=code_of(int(match["code"])),
                    uuid=match["uuid"] or "",
                    past=well.get(match["uuid"], -1) > at,
                    run=run_of(log, words),
                    evidence=(quoted(log, line),),
                )
            if match := _MARKED.search(line):
                yield NodeXid(
                    code=code_of(int(match["code"])),
                    uuid=match["uuid"],
                    run=run_of(log, words),
                    evidence=(quoted(log, line),),
                    acted=("NVIDIA's device plugin marked the device unhealthy, until the plugin is restarted",),
                    active=not log.previous,
                )


def from_state(node: str, state: DevicesState | None) -> Iterator[NodeXid]:
    """The last XIDs that Lockgate's plugin saw, and those for which it took a device out."""
    for number, seen in enumerate(state.xids if state else ()):
        told = f"XID {seen.code} on {seen.uuid or 'a GPU that is not told'}"
        yield NodeXid(
            code=code_of(seen.code),
            uuid=seen.uuid,
            evidence=(Evidence(object=f"gpunodestate/{node}", field=f"status.devices.xids[{number}]", value=told),),
            acted=("Lockgate's device plugin ignores it",) if seen.code in APPLICATION_XIDS else (),
        )
    for device in state.devices if state else ():
        if match := _REASON.search(device.reason):
            field = f"status.devices[{device.uuid}].reason"
            yield NodeXid(
                code=code_of(int(match["code"])),
                uuid=device.uuid,
                evidence=(Evidence(object=f"gpunodestate/{node}", field=field, verbatim=device.reason),),
                acted=("Lockgate's device plugin took the device out, until it is well again",),
                active=not device.healthy,
            )


def from_conditions(node: Node | None) -> Iterator[NodeXid]:
    """Conditions in which an agent names XIDs: of EKS, of GKE, of NVSentinel and others by their type."""
    for condition in node.status.conditions if node else ():
        watcher = watcher_of(condition.type)
        if watcher is None or condition.status != watcher.sick:
            continue
        said = f"{condition.reason}: {condition.message}"
        for number in dict.fromkeys(watcher.codes.findall(said)):
            field = f"status.conditions[{condition.type}]"
            name = node.name if node else ""
            yield NodeXid(
                code=code_of(int(number)),
                uuid=next(iter(re.findall(r"GPU-[\da-fA-F-]+", said)), ""),
                evidence=(
                    Evidence(
                        object=f"node/{name}",
                        field=field,
                        value=condition.status,
                        verbatim=(condition.message or condition.reason)[:_LONGEST],
                        note=condition.reason if condition.message else "",
                    ),
                ),
                acted=(f"{watcher.who or 'an agent'} set {condition.type}={condition.status}",),
                active=True,
            )


def merged(told: Iterable[NodeXid]) -> list[NodeXid]:
    """Told of the same GPU by several; who knows no GPU joins the only one that had the code."""
    by_gpu: dict[tuple[int, str], NodeXid] = {}
    for each in told:
        same = [key for key in by_gpu if key[0] == each.code.number]
        own = (each.code.number, (each.uuid or each.bus) + each.instance)
        key = same[0] if not own[1] and len(same) == 1 else own
        by_gpu[key] = _joined(by_gpu[key], each) if key in by_gpu else each
    return list(by_gpu.values())


def _joined(first: NodeXid, later: NodeXid) -> NodeXid:
    """The newest occurrence speaks; who acted, and whether it is out, is kept from each."""
    more_of_kernel = bool(first.bus and later.bus)
    evidence = (*first.evidence[-1:], *later.evidence) if more_of_kernel else (*first.evidence, *later.evidence)
    return msgspec.structs.replace(
        later,
        bus=later.bus or first.bus,
        uuid=later.uuid or first.uuid,
        text=later.text or first.text,
        process=later.process or first.process,
        at=later.at or first.at,
        count=first.count + more_of_kernel,
        evidence=evidence[-_MOST:],
        acted=tuple(dict.fromkeys((*first.acted, *later.acted))),
        active=first.active or later.active,
        run=later.run if first.run else None,
    )


def _process(pid: str, name: str) -> str:
    return f"{name or 'process'} (pid {pid})" if pid else name
