"""`smoke`: one `nvidia-smi -L` on each GPU node, as an ordinary pod gets its GPU, and which gate stopped it."""

import asyncio
import time
from collections.abc import Callable, Iterable, Sequence
from typing import Any, Final

import msgspec

from lockgate.apply.short_lived import ShortLived
from lockgate.cli.home import place
from lockgate.cli.short_pods import Image, Place, resource_of, smoke_pod
from lockgate.collect.live import Access, connect
from lockgate.collect.watching import watch_pod
from lockgate.diagnosis.engine import diagnose
from lockgate.diagnosis.operand_names import short_name
from lockgate.diagnosis.probe import gate_of, has_gpus, probe
from lockgate.diagnosis.seen import holders
from lockgate.diagnosis.stage import Stage, stage_of
from lockgate.diagnosis.target import Target, find
from lockgate.kube.api import Api
from lockgate.kube.errors import ApiError
from lockgate.model import names
from lockgate.model.facts import Missing, Snapshot
from lockgate.model.finding import Diagnosis, Severity
from lockgate.model.objects import DaemonSet, Node, Pod
from lockgate.rules import all_rules
from lockgate.scheduling.node_fit import pods_by_node
from lockgate.scheduling.requests import amounts

_AT_ONCE: Final = 8  # each pod that is watched costs a dozen requests whenever something about it changes
# The operand whose image is asked to run nvidia-smi: on every GPU node already, and with a C library.
_IMAGE_OF: Final = ("operator-validator", "device-plugin", "container-toolkit")
_GATES: Final = {
    Stage.SCHEDULING: "gate 1",
    Stage.ADMISSION: "gate 1",
    Stage.CREATING: "gate 2",
    Stage.FAILED: "program",
}


class Planned(msgspec.Struct, frozen=True):
    """One pod to make."""

    place: Place
    resource: str


class Result(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """What came of one node: passed, failed at `gate` (gate 1, gate 2, program), or skipped for a reason."""

    node: str
    result: str
    gate: str = ""
    text: str = ""
    devices: tuple[str, ...] = ()
    seconds: float = 0.0
    diagnosis: Diagnosis | None = None


class SmokeError(Exception):
    """Nothing can be tried; the text is for a person."""


# --- what to make


def plan(
    snapshot: Snapshot, wanted: Sequence[str], namespace: str, mark: str
) -> tuple[tuple[Planned, ...], tuple[Result, ...]]:
    """The pods to make, and the nodes that are left alone with the reason; raises SmokeError where no node is known.

    Without names: every GPU node that is ready and not cordoned. A node whose devices are all held is not tried, since
    the pod would only wait, or push out one of lower priority.
    """
    if isinstance(snapshot.nodes, Missing):
        raise SmokeError(f"nodes are not known: {snapshot.nodes.reason}")
    by_name = {node.name: node for node in snapshot.nodes}
    for name in wanted:
        if name not in by_name:
            raise SmokeError(f"node {name} is not there (there is: {', '.join(sorted(by_name)) or 'none'})")
    chosen = [by_name[n] for n in wanted] or sorted((n for n in snapshot.nodes if has_gpus(n)), key=lambda n: n.name)
    if not chosen:
        raise SmokeError("no node is known to have a GPU; --node NAME tries one all the same")
    left = {n.name: reason for n in chosen if (reason := _left_alone(snapshot, n, named=bool(wanted)))}
    planned = tuple(_planned(node, namespace, mark) for node in chosen if node.name not in left)
    return planned, tuple(Result(node=name, result="skipped", text=reason) for name, reason in left.items())


def _planned(node: Node, namespace: str, mark: str) -> Planned:
    return Planned(place(namespace, "smoke", mark, node.name), resource_of(amounts(node.status.allocatable)))


def _left_alone(snapshot: Snapshot, node: Node, *, named: bool) -> str:
    ready = next((c.status for c in node.status.conditions if c.type == "Ready"), "True")
    if ready != "True":
        return "the node is not ready"
    if node.spec.unschedulable and not named:
        return "the node is cordoned; --node tries it all the same"
    if isinstance(snapshot.pods, Missing):
        return ""
    here = tuple(pods_by_node(p for p in snapshot.pods if p.spec.node_name == node.name).get(node.name, ()))
    gate = gate_of(probe(node, snapshot.runtime_classes), node, here)
    full = [row for row in gate.rows if row.known and row.allocatable and row.headroom == 0 and not row.obstacles]
    return f"no {gate.resource} is free{holders(full[0])}" if full else ""


def home(snapshot: Snapshot) -> DaemonSet | None:
    """The operand whose image and namespace are used, None where no operator is installed."""
    sets = () if isinstance(snapshot.daemon_sets, Missing) else snapshot.daemon_sets
    by_operand = {short_name(ds): ds for ds in sets}
    return next((by_operand[name] for name in _IMAGE_OF if name in by_operand), None)


# --- making, watching, judging


async def smoke(
    access: Access, planned: Iterable[Planned], image: Image, seconds: float, tell: Callable[[str], None]
) -> tuple[Result, ...]:
    """Make the pods, wait for each, say what came of it, and remove them, also when this is interrupted."""
    at_once = asyncio.Semaphore(_AT_ONCE)
    async with connect(access) as api, ShortLived(api, tell) as pods:

        async def one(each: Planned) -> Result:
            async with at_once:
                await pods.make(smoke_pod(each.place, image, each.resource))
                try:
                    return await _watched(api, access, each, seconds, tell)
                finally:
                    await pods.remove(each.place.namespace, each.place.name)

        return tuple(await asyncio.gather(*map(one, planned)))


async def _watched(api: Api, access: Access, each: Planned, seconds: float, tell: Callable[[str], None]) -> Result:
    look = _Look(each)
    started = time.monotonic()
    try:
        async with asyncio.timeout(seconds):
            await watch_pod(access, each.place.name, each.place.namespace, look.seen, tell)
    except TimeoutError:
        pass
    took = round(time.monotonic() - started, 1)
    log = await _log(api, each.place) if look.stage in (Stage.SUCCEEDED, Stage.FAILED) else ""
    return msgspec.structs.replace(look.result(log, seconds), seconds=took)


async def _log(api: Api, at: Place) -> str:
    try:
        return await api.logs(at.namespace, at.name, tail=100)
    except ApiError:
        return ""


class _Look:
    """What was last seen of one pod."""

    def __init__(self, each: Planned) -> None:
        self._target = Target("Pod", each.place.name, each.place.namespace)
        self._node = each.place.node
        self._answer: Diagnosis | None = None
        self.stage = Stage.SCHEDULING

    def seen(self, snapshot: Snapshot) -> bool:
        """Whether it is decided: the program has ended, or a cause is named that waiting does not mend."""
        pod = self._pod(snapshot)
        if pod is None:
            return False
        self.stage = stage_of(pod)
        self._answer = diagnose(snapshot, self._target, all_rules())
        ended = self.stage in (Stage.SUCCEEDED, Stage.FAILED, Stage.ADMISSION)
        return ended or any(f.severity is Severity.BLOCKER for f in self._answer.findings)

    def _pod(self, snapshot: Snapshot) -> Pod | None:
        known = {(p.namespace, p.name) for p in snapshot.known_pods}
        if (self._target.namespace, self._target.name) not in known:
            return None
        return find(snapshot, self._target).pods[0]

    def result(self, log: str, seconds: float) -> Result:
        devices = tuple(line.strip() for line in log.splitlines() if line.startswith(("GPU ", "  MIG")))
        if self.stage is Stage.SUCCEEDED and devices:
            return Result(node=self._node, result="passed", devices=devices)
        if self.stage is Stage.SUCCEEDED:
            return Result(node=self._node, result="failed", gate="gate 2", text="nvidia-smi lists no GPU")
        gate = _GATES.get(self.stage, "gate 2")
        return Result(node=self._node, result="failed", gate=gate, text=self._why(log, seconds), diagnosis=self._answer)

    def _why(self, log: str, seconds: float) -> str:
        worst = next((f for f in self._answer.findings if not f.follows), None) if self._answer else None
        if worst is not None:
            return f"{worst.id}: {worst.summary}"
        said = log.strip().splitlines()
        return said[-1] if said else f"it did not run within {seconds:g} s, and no cause is seen"


def said_before(planned: Sequence[Planned], image: Image) -> str:
    """What will be made, in a sentence."""
    nodes = ", ".join(p.place.node for p in planned[:6]) + (f" and {len(planned) - 6} more" if planned[6:] else "")
    resources = ", ".join(sorted({p.resource for p in planned}) or [names.GPU])
    return (
        f"makes {len(planned)} pod{'s' if len(planned) != 1 else ''} in namespace {planned[0].place.namespace} "
        f"({planned[0].place.name}, ...), on {nodes}: each asks for 1 {resources}, runs `nvidia-smi -L` in "
        f"{image.name}, and is removed again"
    )


def as_dict(results: Sequence[Result]) -> dict[str, Any]:
    """One document with a version."""
    return {"apiVersion": names.API_VERSION, "kind": "Smoke", "nodes": msgspec.to_builtins(results)}
