"""Feature discovery at work: look, label, sleep. What cannot be read or written now is tried again; labels stay."""

import asyncio
import logging
import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Final

from lockgate.agents.features.destinations import (
    FIELD_MANAGER,
    LabelApi,
    feature_manifest,
    has_nfd,
    node_manifest,
    render_file,
    write_features,
)
from lockgate.agents.features.labels import Surroundings, node_labels
from lockgate.agents.features.settings import Settings
from lockgate.gpu.library import UnavailableError
from lockgate.gpu.nvml import Nvml
from lockgate.gpu.values import Snapshot
from lockgate.kube.errors import ApiError, Unreachable

RETRY: Final = 5.0  # seconds after a failure, or the sleep interval when that is shorter
AGAIN: Final = 600.0  # seconds after which unchanged labels are applied again, should someone have removed them
_log = logging.getLogger("lockgate.features")


class FeatureAgent:
    """One node's feature discovery.

    `connect` makes the API client; None: no cluster, labels go to the file only. `started`: Unix seconds. `reload` is
    asked before each look.
    """

    def __init__(
        self,
        settings: Settings,
        connect: Callable[[], LabelApi] | None,
        started: int,
        *,
        reload: Callable[[], Settings | None] = lambda: None,
        sys_root: Path = Path("/sys"),
    ) -> None:
        self.settings = settings
        self.labels: dict[str, str] = {}
        self._reload = reload
        self._connect = connect
        self._api: LabelApi | None = None
        self._started = started
        self._nvml = Nvml(settings.driver_root_ctr, sys_root)
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="nvml")
        self._applied: dict[str, str] = {}
        self._applied_at = float("-inf")
        self._complaint = ""

    async def run(self, stop: asyncio.Event) -> int:
        """Work until `stop` is set, or once; 1 when the first look fails and that is to end the process."""
        try:
            while not stop.is_set():
                looked = await self._look()
                if not looked and not self.labels and self.settings.fail_on_init_error:
                    return 1
                delivered = await self._deliver() if self.labels else False
                if self.settings.oneshot:
                    return 0 if delivered else 1
                await self._sleep(stop, settled=looked and delivered)
            return 0
        finally:
            await self._close()

    async def _sleep(self, stop: asyncio.Event, *, settled: bool) -> None:
        interval = self.settings.sleep
        if not settled:
            interval = RETRY if interval is None else min(RETRY, interval)
        try:
            await asyncio.wait_for(stop.wait(), interval)
        except TimeoutError:
            return

    async def _close(self) -> None:
        await asyncio.get_running_loop().run_in_executor(self._thread, self._nvml.close)
        self._thread.shutdown(wait=False)
        if self._api:
            await self._api.close()

    async def _look(self) -> bool:
        """Whether the GPUs could be read; the labels follow only a complete answer, or the very first one."""
        self.settings = self._reload() or self.settings
        try:
            seen = await asyncio.get_running_loop().run_in_executor(self._thread, self._snapshot)
        except UnavailableError as error:
            self._complain(f"{error}{'; the labels stay as they are' if self.labels else ''}")
            return False
        if seen.unreadable and (self.labels or not seen.gpus):
            lost = ", ".join(f"GPU {gpu.index}: {gpu.why.said}" for gpu in seen.unreadable)
            self._complain(f"{lost}; the labels stay as they are")
            return bool(self.labels)
        self.labels = node_labels(seen, self.settings.mig_strategy, self.settings.sharing, self._surroundings())
        return True

    def _snapshot(self) -> Snapshot:
        """A fresh start of NVML each time: an hour may lie between two looks, and the driver may have gone and come."""
        self._nvml.open()
        try:
            return self._nvml.snapshot()
        finally:
            self._nvml.close()

    def _surroundings(self) -> Surroundings:
        try:
            machine = self.settings.machine_type_file.read_text()
        except OSError:
            machine = "unknown"
        return Surroundings(machine, None if self.settings.no_timestamp else self._started)

    async def _deliver(self) -> bool:
        """Labels to every place that wants them; whether all took them."""
        now = asyncio.get_running_loop().time()
        if self.labels == self._applied and now - self._applied_at < AGAIN:
            return True
        try:
            await self._send()
        except (ApiError, Unreachable, OSError) as error:
            self._complain(f"labels not delivered: {error}")
            return False
        self._applied, self._applied_at, self._complaint = self.labels, now, ""
        return True

    async def _send(self) -> None:
        settings = self.settings
        if settings.output is None:
            sys.stdout.write(render_file(self.labels))
            sys.stdout.flush()
        if self._connect is None:
            self._write_file()
            return
        self._api = self._api or self._connect()
        if settings.use_node_feature_api and await has_nfd(self._api):
            body, place = feature_manifest(settings.node_name, settings.namespace, self.labels), "NodeFeature"
        else:
            self._write_file()
            body, place = node_manifest(settings.node_name, self.labels), "Node"
        await self._api.apply(body, FIELD_MANAGER)
        if self.labels != self._applied:
            _log.info("%s %s: %d labels applied", place, body["metadata"]["name"], len(self.labels))

    def _write_file(self) -> None:
        if self.settings.output is not None:
            write_features(self.settings.output, self.labels)

    def _complain(self, text: str) -> None:
        """Log a trouble when it is a new one."""
        if text != self._complaint:
            _log.warning("%s", text)
            self._complaint = text
