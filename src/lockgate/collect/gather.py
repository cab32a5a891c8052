"""Writes the facts of a live cluster into a bundle: what rules can use, redacted, section by section. It only looks.

Objects are decoded into our types and written again, so a field that no rule reads is never in a bundle; Secrets and
ConfigMaps are not even asked for.
"""

import asyncio
import datetime as dt
from collections.abc import Callable, Iterable, Mapping
from typing import Any, Final

import msgspec

from lockgate.collect.bundle_file import BundleFile
from lockgate.collect.bundle_logs import telling_runs
from lockgate.collect.bundle_manifest import INTERRUPTED, BundleManifest, Part
from lockgate.collect.errors import InputError
from lockgate.collect.live import Access, connect, kinded
from lockgate.collect.narrowed import Listed, is_asked_for, listed, told_events
from lockgate.collect.neighbours import NEIGHBOURS, read_neighbour
from lockgate.collect.operand_logs import is_operand_name
from lockgate.collect.reader import Reader, is_unknown
from lockgate.collect.redaction import Redactor
from lockgate.kit.counted import counted
from lockgate.kit.near import did_you_mean, near
from lockgate.kube import resources as kinds
from lockgate.model.facts import Log, Missing
from lockgate.model.narrowing import WHOLE, Narrowing
from lockgate.model.objects import DaemonSet, Pod

# Small and telling sections first: what a bound or an interrupt cuts off is the rest.
SECTIONS: Final[tuple[kinds.Resource[Any], ...]] = (
    kinds.NODES,
    kinds.GPUNODESTATES,
    kinds.CLUSTERPOLICIES,
    kinds.NVIDIADRIVERS,
    kinds.RUNTIMECLASSES,
    kinds.DAEMONSETS,
    kinds.RESOURCEQUOTAS,
    kinds.NAMESPACES,
    kinds.PERSISTENTVOLUMECLAIMS,
    kinds.PERSISTENTVOLUMES,
    kinds.STORAGECLASSES,
    kinds.PODDISRUPTIONBUDGETS,
    kinds.DEPLOYMENTS,
    kinds.STATEFULSETS,
    kinds.REPLICASETS,
    kinds.JOBS,
    kinds.CRONJOBS,
    kinds.PODS,
    kinds.EVENTS,
)
# Section -> the kind under whose name it goes into the bundle.
_NEIGHBOURS: Final = {section: versions[0][0] for section, versions in NEIGHBOURS.items()}
_MOST_LOGS: Final = 200  # containers
_OVER: Final = Part(missing="over the size bound", how="collect with a larger --max-size")
Tell = Callable[[str], None]


class Gathering:
    """One bundle in the making; `manifest` says what is in it, what is not, and why.

    `narrowing` says whose pods' events and logs go in; those of operands and nodes always do.
    """

    def __init__(
        self, bundle: BundleFile, redactor: Redactor, tell: Tell, now: dt.datetime, narrowing: Narrowing = WHOLE
    ) -> None:
        self._bundle, self._redactor, self._tell, self._now = bundle, redactor, tell, now
        self._narrowing, self._is_there = narrowing, False
        self._sections: dict[str, Part] = {}
        self._nodes: dict[str, Part] = {}
        self._logs = self._unread_logs = 0
        self._done = False

    def run(self, access: Access) -> None:
        """Read everything; raises `kube.errors.Unreachable` when there is no answer, KeyboardInterrupt as it comes.

        Raises InputError where a namespace or pods that were asked for are not there.
        """
        asyncio.run(self._run(access))
        self._done = True

    def manifest(self) -> BundleManifest:
        """What was collected so far."""
        unread = Part(missing=INTERRUPTED)
        return BundleManifest(
            taken_at=self._now,
            complete=self._done and not self._bundle.left_out,
            narrowed=self._narrowing,
            sections={k.plural: self._sections.get(k.plural, unread) for k in (*SECTIONS, *_NEIGHBOURS.values())},
            logs=self._logs,
            logs_left_out=self._unread_logs,
            nodes=self._nodes,
            left_out=tuple(self._bundle.left_out),
            redacted=dict(sorted(self._redactor.counts.items())),
        )

    def take_node(self, node: str, files: Mapping[str, str]) -> None:
        """Files of a node and outputs of its programs, by their path in `nodes/<node>/`."""
        added = [self._bundle.add(f"nodes/{node}/{p}", self._redactor.text(t).encode()) for p, t in files.items()]
        self._nodes[node] = Part(count=sum(added))
        self._tell(f"node {node}: {counted(sum(added), 'file')}")

    def miss_node(self, node: str, why: str) -> None:
        """A node whose files could not be read."""
        self._nodes[node] = Part(missing=self._redactor.text(why))
        self._tell(f"node {node}: not read ({why})")

    async def _run(self, access: Access) -> None:
        async with connect(access) as api:
            read = Reader(api)
            await self._check_namespace(read)
            pods: tuple[Pod, ...] = ()
            for resource in SECTIONS:
                found = await self._take_list(read, resource, pods)
                if resource is kinds.PODS:
                    pods = found
                if resource is kinds.JOBS:
                    await self._take_neighbours(read)
                del found  # a list of a large cluster is the memory that there is
            await self._take_logs(read, pods)

    async def _take_list(self, read: Reader, resource: kinds.Resource[Any], pods: tuple[Pod, ...]) -> tuple[Any, ...]:
        """One section into the bundle; what was read of it."""
        answer = await self._list(read, resource, pods)
        self._take(resource, answer.found, answer.others)
        found = () if isinstance(answer.found, Missing) else answer.found
        if not self._narrowing.is_whole:
            self._is_there |= any(is_asked_for(each, self._narrowing) for each in found)
        if resource is kinds.DAEMONSETS:
            self._keep_operands(found)
        return found

    async def _list(self, read: Reader, resource: kinds.Resource[Any], pods: tuple[Pod, ...]) -> Listed:
        if resource is not kinds.EVENTS or self._narrowing.is_whole:
            return await listed(read, resource, self._narrowing.namespace)
        self._check_labels()
        return await told_events(read, self._narrowing, pods)

    async def _check_namespace(self, read: Reader) -> None:
        name = self._narrowing.namespace
        found = await read.list(kinds.NAMESPACES) if name else ()
        known = [name] if not name or isinstance(found, Missing) else [each.name for each in found]
        if name not in known:
            raise InputError(f"namespace/{name} is not there{did_you_mean(near(name, known))}")

    def _check_labels(self) -> None:
        known = not self._sections[kinds.PODS.plural].missing
        if self._narrowing.selector and known and not self._is_there:
            raise InputError(f"there are no {self._narrowing.text}: see `kubectl get pods -A --show-labels`")

    def _keep_operands(self, daemon_sets: Iterable[DaemonSet]) -> None:
        """The namespaces of operands count as asked for: what their events say strikes everybody's pods."""
        besides = sorted({ds.namespace for ds in daemon_sets if is_operand_name(ds.name)})
        if not self._narrowing.is_whole:
            self._narrowing = msgspec.structs.replace(self._narrowing, besides=tuple(besides))

    async def _take_neighbours(self, read: Reader) -> None:
        """What only some clusters have; where it is not served there is nothing that lacks."""
        for section, resource in _NEIGHBOURS.items():
            found = await read_neighbour(read, section)
            if is_unknown(found):
                self._sections[resource.plural] = Part(not_served=found.reason)
            else:
                self._take(resource, found)

    def _take(self, resource: kinds.Resource[Any], found: Any, others: Missing | None = None) -> None:
        """One section; `others` says why only those of the namespace could be read."""
        if isinstance(found, Missing):
            why = self._redactor.text(found.reason)
            unserved = Part(not_served=why, how=found.how)
            self._sections[resource.plural] = unserved if is_unknown(found) else Part(missing=why, how=found.how)
            unread = f"not read ({found.how or found.reason})"
            self._tell(f"{resource.plural}: {'not known to this cluster' if is_unknown(found) else unread}")
            return
        items = [self._redactor.tree(msgspec.to_builtins(kinded(each, resource.kind))) for each in found]
        document = {"apiVersion": resource.api_version, "kind": f"{resource.kind}List", "items": items}
        if self._bundle.add(f"cluster/{resource.plural}.json", msgspec.json.encode(document)):
            self._sections[resource.plural] = self._part(len(items), others)
            more = f" of namespace {self._narrowing.namespace}, others not read ({others.how})" if others else ""
            self._tell(f"{resource.plural}: {len(items):,}{more}")
        else:
            self._sections[resource.plural] = _OVER
            self._tell(f"{resource.plural}: left out, over the size bound")

    def _part(self, count: int, others: Missing | None) -> Part:
        if others is None:
            return Part(count=count)
        why = self._redactor.text(others.reason)
        return Part(count=count, only=self._narrowing.namespace, others=why, how=others.how)

    async def _take_logs(self, read: Reader, pods: Iterable[Pod]) -> None:
        runs = telling_runs(pods, self._narrowing)
        for run in runs[:_MOST_LOGS]:
            log = await read.log(run.pod, run.container, run.previous)
            if isinstance(log, Log):
                suffix = ".previous.log" if run.previous else ".log"
                inner = f"logs/{log.namespace}/{log.pod}/{log.container}{suffix}"
                self._logs += self._bundle.add(inner, self._redactor.text(log.text).encode())
        self._unread_logs = max(len(runs) - _MOST_LOGS, 0)
        more = f", {self._unread_logs} more left out (the bound is {_MOST_LOGS})" if self._unread_logs else ""
        self._tell(f"logs: {self._logs}{more}")
