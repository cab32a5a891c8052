"""The operator's capacity gauges, when it is asked for them: the answer of `kubectl gpu capacity`, every so often.

Off by default: all pods of the cluster are listed each time, and the right to do so is needed (chart value
`operator.capacityMetricsInterval`). Only the operator that leads does it.
"""

import asyncio
import logging
from collections.abc import Iterable
from typing import Final

from prometheus_client import CollectorRegistry, Gauge

from lockgate.capacity.overview import measured
from lockgate.capacity.samples import GAUGES, Sample
from lockgate.kube.errors import ApiError, Unreachable
from lockgate.kube.informer import Informer
from lockgate.kube.reader import Reader
from lockgate.kube.resources import PODS
from lockgate.model.facts import Snapshot
from lockgate.model.objects import Node

_ALIVE: Final = "status.phase!=Succeeded,status.phase!=Failed"
log = logging.getLogger(__name__)


class CapacityMetrics:
    """Gauges in a registry that follow the cluster at an interval; a failed look leaves the last numbers."""

    def __init__(self, api: Reader, nodes: Informer[Node], registry: CollectorRegistry) -> None:
        self._api, self._nodes = api, nodes
        self._gauges = {n: Gauge(n, about.text, about.labels, registry=registry) for n, about in GAUGES.items()}

    async def run(self, every: float) -> None:
        """Look and publish until cancelled."""
        while True:
            try:
                self.publish(await self._look())
            except (ApiError, Unreachable) as error:
                log.warning("capacity metrics: %s", error)
            await asyncio.sleep(every)

    def publish(self, samples: Iterable[Sample]) -> None:
        """Show these samples, and none of products and resources that are gone."""
        for gauge in self._gauges.values():
            gauge.clear()
        for sample in samples:
            self._gauges[sample.name].labels(**sample.labels).set(sample.value)

    async def _look(self) -> tuple[Sample, ...]:
        pods = tuple(await self._api.list(PODS, field_selector=_ALIVE))
        # In a thread: a second of arithmetic on 5,000 nodes must not hold up the lease.
        return await asyncio.to_thread(measured, Snapshot(nodes=tuple(self._nodes), pods=pods))
