"""Writes the facts of a live cluster into a bundle: what rules can use, redacted, section by section. It only looks.

Objects are decoded into our types and written again, so a field that no rule reads is never in a bundle; Secrets and
ConfigMaps are not even asked for.
"""

import asyncio
import datetime as dt
from collections.abc import Callable, Iterable, Mapping
from typing import Any, Final

import msgspec

from lockgate import __version__
from lockgate.collect.bundle_file import BundleFile
from lockgate.collect.live import Access, connect, kinded
from lockgate.collect.neighbours import NEIGHBOURS, read_neighbour
from lockgate.collect.operand_logs import is_operand, is_operator
from lockgate.collect.reader import Reader, is_unknown
from lockgate.collect.redaction import Redactor
from lockgate.kube import resources as kinds
from lockgate.model import names
from lockgate.model.facts import Log, Missing
from lockgate.model.objects import Pod
from lockgate.model.pod_state import is_ready

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
Tell = Callable[[str], None]


class Gathering:
    """One bundle in the making; `manifest` says what is in it, what is not, and why."""

    def __init__(self, bundle: BundleFile, redactor: Redactor, tell: Tell, now: dt.datetime) -> None:
        self._bundle, self._redactor, self._tell, self._now = bundle, redactor, tell, now
        self._sections: dict[str, Any] = {}
        self._nodes: dict[str, Any] = {}
        self._logs = 0
        self._done = False

    def run(self, access: Access) -> None:
        """Read everything; raises `kube.errors.Unreachable` when there is no answer, KeyboardInterrupt as it comes."""
        asyncio.run(self._run(access))
        self._done = True

    def manifest(self) -> dict[str, Any]:
        """What was collected so far."""
        return {
            "apiVersion": names.API_VERSION,
            "kind": "BundleManifest",
            "takenAt": self._now.strftime("%Y-%m-%dT%H:%M:%SZ"),
            "tool": {"name": "lockgate", "version": __version__},
            "complete": self._done and not self._bundle.left_out,
            "sections": {
                kind.plural: self._sections.get(kind.plural, {"missing": "the collection was interrupted before it"})
                for kind in (*SECTIONS, *_NEIGHBOURS.values())
            },
            "logs": self._logs,
            "nodes": self._nodes,
            "leftOut": self._bundle.left_out,
            "redacted": dict(sorted(self._redactor.counts.items())),
        }

    def take_node(self, node: str, files: Mapping[str, str]) -> None:
        """Files of a node and outputs of its programs, by their path in `nodes/<node>/`."""
        added = [self._bundle.add(f"nodes/{node}/{p}", self._redactor.text(t).encode()) for p, t in files.items()]
        self._nodes[node] = {"count": sum(added)}
        self._tell(f"node {node}: {sum(added)} files")

    def miss_node(self, node: str, why: str) -> None:
        """A node whose files could not be read."""
        self._nodes[node] = {"missing": self._redactor.text(why)}
        self._tell(f"node {node}: not read ({why})")

    async def _run(self, access: Access) -> None:
        async with connect(access) as api:
            read = Reader(api)
            pods: tuple[Pod, ...] = ()
            for resource in SECTIONS:
                found = await read.list(resource)
                self._take(resource, found)
                if resource is kinds.PODS and not isinstance(found, Missing):
                    pods = found
                if resource is kinds.JOBS:
                    await self._take_neighbours(read)
                del found  # a list of a large cluster is the memory that there is
            await self._take_logs(read, pods)

    async def _take_neighbours(self, read: Reader) -> None:
        """What only some clusters have; where it is not served there is nothing that lacks."""
        for section, resource in _NEIGHBOURS.items():
            found = await read_neighbour(read, section)
            if is_unknown(found):
                self._sections[resource.plural] = {"notServed": found.reason}
            else:
                self._take(resource, found)

    def _take(self, resource: kinds.Resource[Any], found: Any) -> None:
        if isinstance(found, Missing):
            self._sections[resource.plural] = {"missing": self._redactor.text(found.reason), "how": found.how}
            self._tell(f"{resource.plural}: not read ({found.how or found.reason})")
            return
        items = [self._redactor.tree(msgspec.to_builtins(kinded(each, resource.kind))) for each in found]
        document = {"apiVersion": resource.api_version, "kind": f"{resource.kind}List", "items": items}
        if self._bundle.add(f"cluster/{resource.plural}.json", msgspec.json.encode(document)):
            self._sections[resource.plural] = {"count": len(items)}
            self._tell(f"{resource.plural}: {len(items):,}")
        else:
            why = {"missing": "over the size bound", "how": "collect with a larger --max-size"}
            self._sections[resource.plural] = why
            self._tell(f"{resource.plural}: left out, over the size bound")

    async def _take_logs(self, read: Reader, pods: Iterable[Pod]) -> None:
        """Logs of operands, and of GPU pods that do not run well; those of other programs are nobody's business."""
        telling = sorted((p for p in pods if _is_telling(p)), key=is_ready)  # the bound cuts off those that are well
        wanted = [(p, s.name, previous) for p in telling for s, previous in _runs(p)]
        for pod, container, previous in wanted[:_MOST_LOGS]:
            log = await read.log(pod, container, previous)
            if isinstance(log, Log):
                suffix = ".previous.log" if previous else ".log"
                inner = f"logs/{log.namespace}/{log.pod}/{log.container}{suffix}"
                self._logs += self._bundle.add(inner, self._redactor.text(log.text).encode())
        self._tell(f"logs: {self._logs}")


def _is_telling(pod: Pod) -> bool:
    if is_operand(pod) or is_operator(pod):
        return True
    asks = any(names.is_gpu_resource(r) for c in pod.spec.containers for r in c.resources.limits)
    return asks and not is_ready(pod)


def _runs(pod: Pod) -> Iterable[tuple[Any, bool]]:
    for status in (*pod.status.init_container_statuses, *pod.status.container_statuses):
        if status.state.running or status.state.terminated:
            yield status, False
        if status.restart_count:
            yield status, True
