"""What the programs of a node say: its kernel's log and its kubelet's, and the logs of the operands that run there."""

import datetime as dt
import re
from collections.abc import Mapping
from typing import Final

import msgspec

from lockgate.diagnosis.stage import statuses
from lockgate.diagnosis.views.operands import Operands
from lockgate.model.facts import Log, Logs, Missing, NodeFiles, NodeFolders
from lockgate.model.finding import Evidence
from lockgate.model.objects import Pod

# Names under which the kernel's and the kubelet's log are put into nodes/<node>/ (`.txt` is left off, `.log` is not).
KERNEL: Final = ("dmesg", "dmesg.log", "kernel", "kernel.log", "kern.log", "journal", "journal.log", "journalctl")
KUBELET: Final = ("kubelet", "kubelet.log", "kubelet-journal", "journal", "journal.log", "journalctl")
FABRIC: Final = ("fabricmanager", "fabricmanager.log", "nvidia-fabricmanager", "journal", "journal.log", "journalctl")
_LONGEST = 500


class Line(msgspec.Struct, frozen=True):
    """A line that a rule looked for, and where it was read."""

    match: re.Match[str]
    evidence: Evidence


class NodeWords:
    """The texts of every node that any are known of."""

    def __init__(
        self,
        folders: Mapping[str, NodeFiles],
        logs: Mapping[str, tuple[Log, ...]],
        pods: Mapping[tuple[str, str], Pod],
    ) -> None:
        self._folders, self._logs, self._pods = folders, logs, pods

    def kernel(self, node: str) -> tuple[tuple[str, str], ...]:
        """The kernel's log of a node as pairs of source and text; empty where none is known."""
        return self._texts(node, KERNEL)

    def find_in_kernel(self, node: str, pattern: re.Pattern[str]) -> Line | None:
        """The newest line of the kernel's log that fits."""
        return self._find(node, KERNEL, pattern)

    def find_in_kubelet(self, node: str, pattern: re.Pattern[str]) -> Line | None:
        """The newest line of the kubelet's log that fits."""
        return self._find(node, KUBELET, pattern)

    def find_in_fabric_manager(self, node: str, pattern: re.Pattern[str]) -> Line | None:
        """The newest line of the fabric manager's log that fits."""
        return self._find(node, FABRIC, pattern)

    def operand_logs(self, node: str) -> tuple[Log, ...]:
        """The logs of the operands' pods on a node."""
        return self._logs.get(node, ())

    def ended(self, log: Log) -> dt.datetime | None:
        """When the run before of an operand's container ended, of which a log is; None where that is not known."""
        pod = self._pods.get((log.namespace, log.pod))
        own = (s for s in statuses(pod) if s.name == log.container) if pod else ()
        return next((ended.finished_at for s in own if (ended := s.last_state.terminated)), None)

    def output(self, node: str, command: str) -> str:
        """What a command printed on the node, "" where that is not known."""
        return self._outputs(node).get(command, "")

    def file(self, node: str, path: str) -> str:
        """What a file of the node holds, "" where that is not known."""
        folder = self._folders.get(node)
        return folder.files.get(path, "") if folder else ""

    def _outputs(self, node: str) -> Mapping[str, str]:
        folder = self._folders.get(node)
        return folder.outputs if folder else {}

    def _texts(self, node: str, names: tuple[str, ...]) -> tuple[tuple[str, str], ...]:
        own = self._outputs(node)
        return tuple((name, own[name]) for name in names if name in own)

    def _find(self, node: str, names: tuple[str, ...], pattern: re.Pattern[str]) -> Line | None:
        found = (newest_line(f"{node}:{name}", text, pattern) for name, text in self._texts(node, names))
        return next((line for line in found if line is not None), None)


def newest_line(place: str, text: str, pattern: re.Pattern[str]) -> Line | None:
    """The last line of a text that fits."""
    for number, line in reversed([*enumerate(text.splitlines(), 1)] if pattern.search(text) else []):
        if match := pattern.search(line):
            return Line(match, Evidence(file=place, line=number, verbatim=line.strip()[:_LONGEST]))
    return None


def node_words(node_files: NodeFolders | Missing, operands: Operands, logs: Logs | Missing) -> NodeWords:
    """Bring together what is said on each node; what is not known says nothing."""
    folders = () if isinstance(node_files, Missing) else node_files
    pods = {(each.pod.namespace, each.pod.name): each.pod for each in operands.pods}
    by_node: dict[str, list[Log]] = {}
    for log in () if isinstance(logs, Missing) else logs:
        pod = pods.get((log.namespace, log.pod))
        if pod is not None and pod.spec.node_name:
            by_node.setdefault(pod.spec.node_name, []).append(log)
    return NodeWords({f.node: f for f in folders}, {n: tuple(found) for n, found in by_node.items()}, pods)
