"""`smoke`: one `nvidia-smi -L` on each GPU node, as an ordinary pod gets its GPU, and which gate stopped it."""

import asyncio
import time
from collections.abc import Callable, Iterable, Sequence
from typing import Any, Final

import msgspec

from lockgate.apply.short_lived import ShortLived
from lockgate.cli.short_pods import Image, Place, smoke_pod
from lockgate.cli.smoke_plan import Planned, Result
from lockgate.collect.live import Access, connect
from lockgate.collect.watching import watch_pod
from lockgate.diagnosis.engine import diagnose
from lockgate.diagnosis.stage import Stage, stage_of
from lockgate.diagnosis.target import Target, find
from lockgate.kube.api import Api
from lockgate.kube.errors import ApiError
from lockgate.model import names
from lockgate.model.facts import Snapshot
from lockgate.model.finding import Diagnosis, Severity
from lockgate.model.objects import Pod
from lockgate.rules import all_rules

_AT_ONCE: Final = 8  # each pod that is watched costs a dozen requests whenever something about it changes
_GATES: Final = {
    Stage.SCHEDULING: "gate 1",
    Stage.ADMISSION: "gate 1",
    Stage.CREATING: "gate 2",
    Stage.FAILED: "program",
}


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


def as_dict(results: Sequence[Result]) -> dict[str, Any]:
    """One document with a version."""
    return {"apiVersion": names.API_VERSION, "kind": "Smoke", "nodes": msgspec.to_builtins(results)}
