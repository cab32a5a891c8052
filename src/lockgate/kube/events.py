"""Events: what a person sees under `kubectl describe`. The same thing said again counts up instead of adding a line."""

import datetime as dt
import hashlib
import logging
from collections.abc import Callable
from typing import Literal

from lockgate.kube.api import Api
from lockgate.kube.errors import ApiError, Conflict, Unreachable
from lockgate.kube.resources import EVENTS
from lockgate.model.objects import ObjectReference

log = logging.getLogger(__name__)
Clock = Callable[[], dt.datetime]


class Recorder:
    """Writes Events in the name of `component`. A failed Event is logged and never stops the work that it tells of."""

    def __init__(self, api: Api, component: str, clock: Clock = lambda: dt.datetime.now(dt.UTC)) -> None:
        self._api = api
        self._component = component
        self._clock = clock

    async def record(
        self, about: ObjectReference, kind: Literal["Normal", "Warning"], reason: str, message: str
    ) -> None:
        """Say something about an object. Cluster-scoped objects have their Events in namespace `default`."""
        namespace = about.namespace or "default"
        name = f"{about.name}.{_digest(about.uid, reason, message)}"
        now = self._clock().strftime("%Y-%m-%dT%H:%M:%SZ")
        body = {
            "apiVersion": "v1",
            "kind": "Event",
            "metadata": {"name": name, "namespace": namespace},
            "involvedObject": {
                "apiVersion": about.api_version,
                "kind": about.kind,
                "name": about.name,
                "namespace": about.namespace,
                "uid": about.uid,
            },
            "type": kind,
            "reason": reason,
            "message": message[:1024],
            "source": {"component": self._component},
            "reportingComponent": self._component,
            "firstTimestamp": now,
            "lastTimestamp": now,
            "count": 1,
        }
        try:
            await self._write(body, name, namespace, now)
        except (ApiError, Unreachable) as error:
            log.warning("event %s about %s %s not recorded: %s", reason, about.kind, about.name, error)

    async def _write(self, body: dict[str, object], name: str, namespace: str, now: str) -> None:
        try:
            await self._api.create(body, field_manager=self._component)
        except Conflict:
            event = await self._api.get(EVENTS, name, namespace)
            again = {"count": (event.count or 1) + 1, "lastTimestamp": now}
            await self._api.patch(EVENTS, name, again, namespace, field_manager=self._component)


def _digest(*parts: str) -> str:
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()[:16]
