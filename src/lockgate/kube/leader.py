"""Leader election by a Lease: of several operators one works.

As client-go: who holds the lease renews it; the others watch whether it changes, by their own clock (the holder's clock
is not trusted), and take it when it has not changed for its duration. Who cannot renew in time stops working before the
lease ends, so two never work at once.
"""

import asyncio
import datetime as dt
import logging
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final

from lockgate.kube.api import Api
from lockgate.kube.errors import ApiError, Conflict, NotFound, Unreachable
from lockgate.kube.resources import LEASES
from lockgate.kube.transport import Sleep

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class Timing:
    """Seconds. The lease outlasts the deadline for renewing it, so a holder gives up before others may take it."""

    lease: float = 15.0
    renew_deadline: float = 10.0
    retry: float = 2.0


class Election:
    """One candidate. `win` returns when it leads, `hold` when it no longer does."""

    def __init__(
        self,
        api: Api,
        *,
        namespace: str,
        name: str,
        identity: str,
        timing: Timing = Timing(),
        clock: Callable[[], float] = time.monotonic,
        sleep: Sleep = asyncio.sleep,
    ) -> None:
        self._api = api
        self._namespace = namespace
        self._name = name
        self.identity = identity
        self._timing = timing
        self._clock = clock
        self._sleep = sleep
        self._seen: tuple[str, str] = ("", "")
        self._seen_at = float("-inf")

    async def win(self) -> None:
        """Try until this candidate leads."""
        complaint = ""
        while True:
            try:
                if await self._try():
                    log.info("leading: lease %s/%s", self._namespace, self._name)
                    return
            except (ApiError, Unreachable) as error:
                if str(error) != complaint and not isinstance(error, Conflict):
                    log.warning("leader election: %s; trying again", error)
                complaint = str(error)
            await self._sleep(self._timing.retry)

    async def hold(self) -> None:
        """Renew the lease; returns when it is lost or could not be renewed in time."""
        renewed, trouble = self._clock(), "no answer"
        while (left := self._timing.renew_deadline - (self._clock() - renewed)) > 0:
            try:
                async with asyncio.timeout(left):
                    held = await self._try()
            except (ApiError, Unreachable, TimeoutError) as error:
                trouble = str(error) or trouble
            else:
                if not held:
                    log.error("leader election: %s leads now", self._seen[0])
                    return
                renewed = self._clock()
            await self._sleep(self._timing.retry)
        log.error("leader election: lease not renewed for %s s: %s", self._timing.renew_deadline, trouble)

    async def release(self) -> None:
        """Let the next candidate lead at once; called when this one stops in order."""
        try:
            body = await self._api.get_manifest(LEASES, self._name, self._namespace)
            if body["spec"].get("holderIdentity") == self.identity:
                body["spec"] |= {"holderIdentity": "", "leaseDurationSeconds": 1, "renewTime": _now()}
                await self._api.replace(body)
        except (ApiError, Unreachable) as error:
            log.warning("leader election: lease not released: %s", error)

    async def _try(self) -> bool:
        """Create, renew or take the lease; False when another holds it. Raises Conflict when another was faster."""
        try:
            body = await self._api.get_manifest(LEASES, self._name, self._namespace)
        except NotFound:
            await self._api.create(self._body({}))
            return True
        spec = body["spec"]
        holder = spec.get("holderIdentity") or ""
        self._look(holder, spec.get("renewTime") or "")
        if holder not in ("", self.identity) and not self._expired(spec):
            return False
        await self._api.replace(self._body(body))
        return True

    def _look(self, holder: str, renewed: str) -> None:
        if (holder, renewed) != self._seen:
            self._seen, self._seen_at = (holder, renewed), self._clock()

    def _expired(self, spec: dict[str, Any]) -> bool:
        duration = spec.get("leaseDurationSeconds") or self._timing.lease
        return self._clock() - self._seen_at > float(duration)

    def _body(self, current: dict[str, Any]) -> dict[str, Any]:
        """The lease as ours: created, renewed, or taken from its last holder."""
        spec = dict(current.get("spec", {}))
        if spec.get("holderIdentity") != self.identity:
            spec["acquireTime"] = _now()
            spec["leaseTransitions"] = (spec.get("leaseTransitions") or 0) + (1 if current else 0)
        spec |= {
            "holderIdentity": self.identity,
            "leaseDurationSeconds": max(1, round(self._timing.lease)),
            "renewTime": _now(),
        }
        metadata = current.get("metadata") or {"name": self._name, "namespace": self._namespace}
        return {"apiVersion": LEASES.api_version, "kind": LEASES.kind, "metadata": metadata, "spec": spec}


MICRO_TIME: Final = "%Y-%m-%dT%H:%M:%S.%fZ"


def _now() -> str:
    return dt.datetime.now(dt.UTC).strftime(MICRO_TIME)
