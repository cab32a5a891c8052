"""The GPU stack of one node: which of its pods are not well, and what they, their events and the node itself say.

A text counts only while what said it is not well. A restart that is over, an init container that has done its work and
an old line of the kernel's log blame nobody.
"""

import datetime as dt
import re
from collections.abc import Callable, Collection, Iterator, Mapping
from functools import cached_property
from typing import Any, Final

import msgspec

from lockgate.diagnosis.operand_names import PATH
from lockgate.diagnosis.stage import is_ready, statuses
from lockgate.diagnosis.views.kernel_modules import Module, parse_modules
from lockgate.diagnosis.views.node_words import KERNEL, newest_line
from lockgate.diagnosis.views.operands import OperandPod
from lockgate.diagnosis.views.words import Words
from lockgate.model import names
from lockgate.model.facts import Log, NodeFiles
from lockgate.model.finding import Evidence
from lockgate.model.gpu_node import is_gpu_node
from lockgate.model.node_state import GPUNodeState
from lockgate.model.objects import Event, Node, Pod
from lockgate.model.pod_state import has_run, is_flapping, is_well
from lockgate.scheduling.node_fit import offers_gpus

Place = tuple[str, str]  # namespace, name
_Question = tuple[tuple[re.Pattern[str], ...], tuple[str, ...]]
_MODULES: Final = "/proc/modules"
_DRIVER: Final = ("driver",)


class Told(msgspec.Struct, frozen=True):
    """A text that a rule looked for: the match, where it was read, and the pod that said it."""

    match: re.Match[str]
    evidence: Evidence
    pod: Pod | None = None
    more: tuple[Evidence, ...] = ()


class Sick(msgspec.Struct, frozen=True):
    """A pod of the stack that is not well, and the words of those of its containers that are not."""

    operand: str
    pod: Pod
    words: Words


class Known(msgspec.Struct, frozen=True):
    """What is known beside the nodes and the operands, by the pod or node that it is about."""

    events: Mapping[Place, tuple[Event, ...]]
    logs: Mapping[Place, tuple[Log, ...]]
    folders: Mapping[str, NodeFiles]
    states: Mapping[str, GPUNodeState]
    now: dt.datetime | None = None


class NodeStack:
    """The stack of one node."""

    def __init__(self, name: str, node: Node | None, pods: tuple[OperandPod, ...], known: Known) -> None:
        self.name, self.node, self.pods, self._known = name, node, pods, known
        self._told: dict[_Question, Told | None] = {}  # each pod of the node asks the same again
        self._found: dict[Callable[..., Told | None], Told | None] = {}

    @cached_property
    def advertises(self) -> bool:
        """Whether the node has GPUs to give; True where nothing is known of its amounts."""
        if self.node is None or not self.node.status.allocatable:
            return True
        return offers_gpus(self.node)

    @cached_property
    def sick(self) -> tuple[Sick, ...]:
        """The pods that are not well, in the order in which they wait for each other."""
        found = ((p, self._unwell(p)) for p in self.pods)
        return tuple(Sick(p.operand, p.pod, self._words(p.pod, those)) for p, those in found if those is not None)

    @cached_property
    def is_closed(self) -> bool:
        """Whether the way to a GPU is closed here: no GPU is offered, or a pod on that way is not well."""
        return self._lacks_gpus or any(each.operand in PATH for each in self.sick)

    @property
    def is_ailing(self) -> bool:
        return self._lacks_gpus or bool(self.sick)

    @cached_property
    def unread(self) -> tuple[Pod, ...]:
        """The sick pods whose containers have run, where no log of any of them is known."""
        ran = tuple(each.pod for each in self.sick if any(map(has_run, statuses(each.pod))))
        return () if any((pod.namespace, pod.name) in self._known.logs for pod in ran) else ran

    @cached_property
    def modules(self) -> dict[str, Module]:
        """The kernel's modules by name; empty where they are not known."""
        folder = self._known.folders.get(self.name)
        if folder is None:
            return {}
        return parse_modules(folder.files.get(_MODULES) or folder.outputs.get("lsmod", ""))

    def module(self, name: str) -> Told | None:
        """The line that tells that a kernel module is loaded."""
        line = self.modules[name].line if name in self.modules else ""
        match = re.search(re.escape(name), line)
        return Told(match, Evidence(file=f"{self.name}:{self._modules_from}", verbatim=line)) if match else None

    @property
    def _modules_from(self) -> str:
        folder = self._known.folders.get(self.name)
        return _MODULES if folder is not None and folder.files.get(_MODULES) else "lsmod"

    def pod_of(self, operand: str) -> Pod | None:
        """The operand's pod on the node, sick or well."""
        return next((each.pod for each in self.pods if each.operand == operand), None)

    def said(self, *patterns: re.Pattern[str], of: Collection[str] = ()) -> Told | None:
        """The first text of a sick pod (of some operands alone), or published by the agents, that a pattern fits."""
        question = (patterns, tuple(of))
        if question not in self._told:
            self._told[question] = self._search(patterns, of)
        return self._told[question]

    def found(self, by: Callable[..., Told | None], *given: Any) -> Told | None:
        """What a rule's function finds on the node, with what is the same for all its pods, looked for once."""
        if by not in self._found:
            self._found[by] = by(self, *given)
        return self._found[by]

    def kernel(self, *patterns: re.Pattern[str]) -> Told | None:
        """The newest line of the kernel's log that a pattern fits, while the way to a GPU is closed.

        A driver container that fails copies the kernel's lines into its own log: where no line is known from the node
        itself, that log is read.
        """
        return (self.printed(KERNEL, *patterns) or self.said(*patterns, of=_DRIVER)) if self.is_closed else None

    def printed(self, commands: Collection[str], *patterns: re.Pattern[str]) -> Told | None:
        """The last line that a pattern fits, of what some commands printed on the node."""
        folder = self._known.folders.get(self.name)
        outputs = {} if folder is None else folder.outputs
        for command in (c for c in commands if c in outputs):
            for found in (newest_line(f"{self.name}:{command}", outputs[command], p) for p in patterns):
                if found is not None:
                    return Told(found.match, found.evidence)
        return None

    @cached_property
    def _lacks_gpus(self) -> bool:
        node = self.node
        if node is None or self.advertises or not is_gpu_node(node):
            return False
        labels = node.metadata.labels
        for_machines = labels.get(names.WORKLOAD_CONFIG, "container") != "container"
        return not for_machines and labels.get(names.DEPLOY_OPERANDS) != "false"

    def _search(self, patterns: tuple[re.Pattern[str], ...], of: Collection[str]) -> Told | None:
        for each in self.sick:
            if (not of or each.operand in of) and (found := each.words.find(*patterns)):
                return Told(found.match, found.evidence, each.pod)
        return None if of else self._published(patterns)

    def _unwell(self, each: OperandPod) -> tuple[str, ...] | None:
        """The containers that are not well, None for a pod that is; a pod may be ready and fail at its work."""
        if each.pod.metadata.deletion_timestamp is not None or each.pod.status.phase == "Succeeded":
            return None
        flapping = tuple(s.name for s in statuses(each.pod) if is_flapping(s, self._known.now))
        if is_ready(each.pod):
            failing = self._fails_ready(each.operand)
            return tuple(c.name for c in each.pod.spec.containers) if failing else flapping or None
        return (*flapping, *(s.name for s in statuses(each.pod) if not is_well(s)))

    def _fails_ready(self, operand: str) -> bool:
        if operand == "device-plugin":
            return self._lacks_gpus
        state = self.node.metadata.labels.get(names.MIG_CONFIG_STATE, "") if self.node else ""
        return operand == "mig-manager" and state == "failed"

    def _words(self, pod: Pod, unwell: tuple[str, ...]) -> Words:
        place = (pod.namespace, pod.name)
        told = {s.name for s in statuses(pod)}
        logs = [log for log in self._known.logs.get(place, ()) if log.container in unwell or log.container not in told]
        return Words(_only(pod, unwell), self._known.events.get(place, ()), tuple(sorted(logs, key=_is_previous)))

    def _published(self, patterns: tuple[re.Pattern[str], ...]) -> Told | None:
        """What the node's own agents say of what does not work."""
        state = self._known.states.get(self.name)
        for field, text in _complaints(state) if state else ():
            match = next((m for p in patterns if (m := p.search(text))), None)
            if match is not None:
                return Told(match, Evidence(object=f"gpunodestate/{self.name}", field=field, verbatim=text))
        return None


def _is_previous(log: Log) -> bool:
    return log.previous


def _only(pod: Pod, containers: tuple[str, ...]) -> Pod:
    """The pod with the statuses of some containers alone."""
    status = msgspec.structs.replace(
        pod.status,
        init_container_statuses=tuple(s for s in pod.status.init_container_statuses if s.name in containers),
        container_statuses=tuple(s for s in pod.status.container_statuses if s.name in containers),
    )
    return msgspec.structs.replace(pod, status=status)


def _complaints(state: GPUNodeState) -> Iterator[tuple[str, str]]:
    driver, validation = state.status.driver, state.status.validation
    if driver is not None and driver.error:
        yield "status.driver.error", driver.error
    for step in validation.steps if validation else ():
        if not step.ready and step.message:
            yield f"status.validation.steps[{step.name}].message", step.message
