"""The devices of each node as its plugin sees them: which are unhealthy, and why, by `GPUNodeState` or its own log."""

import re
from collections.abc import Iterator, Mapping
from typing import Final

from lockgate.diagnosis.gate_row import GateRow
from lockgate.diagnosis.stage import is_ready
from lockgate.diagnosis.views.operands import Operands
from lockgate.model.facts import Log, Logs, Missing, NodeStates
from lockgate.model.finding import Evidence
from lockgate.model.node_state import Device, DevicesState

# k8s-device-plugin, internal/rm/health.go and internal/plugin/server.go. A device that is unhealthy stays so until the
# plugin registers anew.
_ALL: Final = re.compile(r"Marking all devices as unhealthy", re.IGNORECASE)
_ONE: Final = re.compile(r"device marked unhealthy: (?P<id>\S+)")
_REGISTERED: Final = re.compile(r"Registered device plugin for '|Starting to serve '")
_LONGEST: Final = 500


class Said:
    """What the log of a node's plugin says of its devices since it registered last."""

    def __init__(self, log: Log) -> None:
        self.whole: Evidence | None = None
        self.marked: dict[str, Evidence] = {}
        for line in map(str.strip, log.text.splitlines()):
            told = Evidence(object=f"log of {log.pod}/{log.container}", verbatim=line[:_LONGEST])
            if _REGISTERED.search(line):
                self.whole, self.marked = None, {}
            elif _ALL.search(line):
                self.whole = told
            elif one := _ONE.search(line):
                self.marked[one["id"]] = told

    def all_of(self, count: int) -> tuple[Evidence, ...]:
        """The lines by which so many devices are all unhealthy; none where some may be well."""
        if self.whole is not None:
            return (self.whole,)
        return tuple(self.marked.values()) if len(self.marked) >= count else ()


class Devices:
    """What the plugins published of their devices, or log; a node without either is not known."""

    def __init__(self, states: Mapping[str, DevicesState], said: Mapping[str, Said]) -> None:
        self._states, self._said = states, said

    def on(self, node: str) -> DevicesState | None:
        """A node's devices, or None where its plugin publishes none."""
        return self._states.get(node)

    def unhealthy(self, node: str) -> tuple[Device, ...]:
        """The devices of a node that its plugin calls unhealthy."""
        state = self.on(node)
        return tuple(d for d in state.devices if not d.healthy) if state else ()

    def explain(self, row: GateRow) -> bool:
        """Whether unhealthy devices alone explain what a node lacks, so that its plugin need not be gone."""
        if not row.capacity:
            return False
        state = self.on(row.node)
        if state is None or not state.registered or not state.devices:
            return bool(self.logged(row))
        return len(self.unhealthy(row.node)) == len(state.devices)

    def logged(self, row: GateRow) -> tuple[Evidence, ...]:
        """The lines in which a plugin that runs calls every device of the node unhealthy."""
        said = self._said.get(row.node)
        return said.all_of(row.capacity) if said else ()

    def marked(self, row: GateRow) -> Mapping[str, Evidence]:
        """The devices that a plugin that runs has marked unhealthy one by one, by id, each with the line that says so.

        Nothing where it has marked more than the node lacks: then they are not those.
        """
        said = self._said.get(row.node)
        return said.marked if said and len(said.marked) <= row.capacity - row.allocatable else {}


def devices(node_states: NodeStates | Missing, operands: Operands | Missing, logs: Logs | Missing) -> Devices:
    """Bring together what the plugins published and what they log."""
    known = () if isinstance(node_states, Missing) else node_states
    said = {node: Said(log) for node, log in _plugin_logs(operands, logs)}
    return Devices({s.name: s.status.devices for s in known if s.status.devices is not None}, said)


def _plugin_logs(operands: Operands | Missing, logs: Logs | Missing) -> Iterator[tuple[str, Log]]:
    """The logs of plugins that run, and their nodes; what a plugin that ended has said is no longer what holds."""
    if isinstance(operands, Missing) or isinstance(logs, Missing):
        return
    nodes = {
        (each.pod.namespace, each.pod.name): each.pod.spec.node_name
        for each in operands.pods
        if each.operand == "device-plugin" and is_ready(each.pod)
    }
    for log in logs:
        if not log.previous and (node := nodes.get((log.namespace, log.pod))) and "device-plugin" in log.container:
            yield node, log
