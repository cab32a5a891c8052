"""A CDI device that the pod needs is not defined on the node.

The runtime was told a CDI device name and found no specification in its directories (/etc/cdi, /var/run/cdi) that
defines it.

Why it matters: the container does not start, however healthy the GPU is.
How to tell: `unresolvable CDI devices` is followed by the name. Its kind, the part before `=`, tells who asked for
it: `nvidia.com/gpu` the node's own specification, `k8s.device-plugin.nvidia.com/gpu` the device plugin,
`management.nvidia.com/gpu` NVIDIA's runtime.
Fix: have the specification that should define it written anew, by its writer's pod on this node; or correct the name
that was asked for.
"""

import re

from lockgate.diagnosis.remedies import restart_plugin, restart_toolkit
from lockgate.diagnosis.rule import Failed, Passed, rule
from lockgate.diagnosis.seen import event, listed, pod_ref
from lockgate.diagnosis.stage import Stage, statuses
from lockgate.diagnosis.views.gate_two import DefinedDevices, GateTwo
from lockgate.diagnosis.views.plugin import Plugin
from lockgate.model import names
from lockgate.model.facts import Events, Missing
from lockgate.model.finding import Evidence, Remedy, Risk, Severity
from lockgate.model.objects import Pod

_TEXT = re.compile(r"unresolvable CDI devices (?P<names>[^\s:]+(?:, [^\s:=]+=[^\s:,]+)*)")
# What the kind of the name tells about who asked for the device (nvidia-container-toolkit, device plugin, DRA driver).
_STORIES = {
    names.CDI_MANAGEMENT: (
        "the NVIDIA runtime resolved it against the management specification, which only has `all`",
        "Drop runtimeClassName from the pod: with CDI in the runtime itself it needs none",
    ),
    names.CDI_PLUGIN: (
        "the device plugin handed it out, and its own specification is stale or not in the runtime's directories",
        "Restart the device plugin of the node: it writes its specification anew",
    ),
    "runtime.nvidia.com/gpu": (
        "the NVIDIA runtime wanted to generate it and failed before",
        "See the NVIDIA runtime's log on the node: generating the specification failed",
    ),
    "k8s.gpu.nvidia.com/device": ("the DRA driver prepared it", "See the DRA driver's kubelet plugin on the node"),
    names.CDI_GPU: (
        "the node's own specification should define it, and does not",
        "Let the toolkit write the node's specification anew: restart its pod on the node",
    ),
}


@rule(codes=("E11",), severity=Severity.BLOCKER, stages=(Stage.CREATING, Stage.FAILED), asks_gpu=None)
def unresolvable(
    pod: Pod, gate_two: GateTwo, pod_events: Events | Missing, plugin: Plugin | Missing
) -> Failed | Passed | None:
    said = _said(pod, () if isinstance(pod_events, Missing) else pod_events)
    if said is None:
        return None if isinstance(pod_events, Missing) else Passed("no event names an unresolvable CDI device")
    evidence, wanted = said
    gate = gate_two.on(pod.spec.node_name)
    kind = wanted[0].partition("=")[0]
    twice = _twice(wanted, gate.cdi)
    story, advice = _STORIES.get(kind, (f"nobody is known to write kind {kind}", "Find out who asks for this kind"))
    return Failed(
        about=f"node/{gate.name}",
        summary=f"{gate.name} cannot inject {listed(wanted)}: {_conflict(twice) or story}.{_instead(kind, gate.cdi)}",
        evidence=(evidence, *_defined(gate.name, wanted, gate.cdi)),
        remedy=(
            _remove(twice) if twice else _remedy(kind, gate.name, advice, plugin),
            Remedy(f"See what {gate.name} defines, on the node", "ls -l /etc/cdi /var/run/cdi", Risk.NONE),
        ),
    )


def _twice(wanted: list[str], defined: DefinedDevices | None) -> tuple[str, ...]:
    """The files that both define a device that is wanted."""
    return next((tuple(defined.conflicts[n]) for n in wanted if n in defined.conflicts), ()) if defined else ()


def _conflict(files: tuple[str, ...]) -> str:
    return f"{listed(files)} both define it, and by the CDI rules neither counts then" if files else ""


def _remove(files: tuple[str, ...]) -> Remedy:
    look = f"head -n 20 {' '.join(files)}"
    return Remedy(f"On the node, remove the one of {listed(files)} that does not belong there", look, Risk.MEDIUM)


def _remedy(kind: str, node: str, advice: str, plugin: Plugin | Missing) -> Remedy:
    """What whoever asked for the device needs: on this node, and with its pod where that is known."""
    match kind:
        case names.CDI_PLUGIN:
            return restart_plugin(node, plugin, advice)
        case names.CDI_GPU:
            return restart_toolkit(node, advice, Risk.MEDIUM)
        case names.CDI_MANAGEMENT:
            return Remedy(advice, "", Risk.LOW)
        case _:
            return Remedy(advice, "", Risk.NONE)


def _said(pod: Pod, events: Events) -> tuple[Evidence, list[str]] | None:
    for status in statuses(pod):
        for state in (status.state.waiting, status.state.terminated, status.last_state.terminated):
            if state and (found := _TEXT.search(state.message)):
                field = f"status.containerStatuses[{status.name}].state"
                seen = Evidence(object=pod_ref(pod), field=field, verbatim=state.message, note=state.reason)
                return seen, _names(found)
    for seen_event in reversed(events):
        if found := _TEXT.search(seen_event.text):
            return event(seen_event), _names(found)
    return None


def _names(found: re.Match[str]) -> list[str]:
    return [name.rstrip(".,") for name in found["names"].split(", ")]


def _instead(kind: str, defined: DefinedDevices | None) -> str:
    if defined is None:
        return ""
    same = sorted(name for name in defined.devices if name.startswith(f"{kind}="))
    if same:
        return f" Defined are {listed(same)}."
    kinds = sorted({name.partition("=")[0] for name in defined.devices})
    return f" Kinds defined there: {listed(kinds)}." if kinds else " Nothing is defined there."


def _defined(node: str, wanted: list[str], defined: DefinedDevices | None) -> tuple[Evidence, ...]:
    if defined is None:
        return ()
    kind = wanted[0].partition("=")[0]
    by_file: dict[str, list[str]] = {}
    for name, path in sorted(defined.devices.items()):
        by_file.setdefault(path, []).append(name)
    specs = [_spec(node, path, own, kind, defined) for path, own in sorted(by_file.items())]
    twice = [
        Evidence(object=defined.place, file=f"{node}:{files[0]}", field=name, note=f"also in {listed(files[1:])}")
        for name, files in defined.conflicts.items()
        if name in wanted
    ]
    broken = [
        Evidence(file=f"{node}:{path}", verbatim=text, note="cannot be used") for path, text in defined.troubles.items()
    ]
    return (*twice, *specs, *broken)


def _spec(node: str, path: str, own: list[str], kind: str, defined: DefinedDevices) -> Evidence:
    note = "the kind that was asked for" if any(name.startswith(f"{kind}=") for name in own) else ""
    return Evidence(object=defined.place, file=f"{node}:{path}", field="devices", value=listed(own, 6), note=note)
