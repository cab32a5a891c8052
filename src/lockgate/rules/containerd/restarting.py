"""The container runtime does not answer on the node.

Kubelet and toolkit reach it by its socket, and nothing listens there. While the toolkit restarts it that lasts for
seconds. If it lasts longer the runtime does not come up, often since it refuses its configuration.

Why it matters: no container starts or stops on the node meanwhile; what runs goes on.
How to tell: `dial unix ....sock: connect: connection refused` is the last thing that is said of the pod.
Fix: wait a minute. If it stays, read on the node why the runtime ends: `journalctl -u containerd` (or crio).
"""

import re
from typing import Final

from lockgate.diagnosis.followers import BROKEN_NODE
from lockgate.diagnosis.rule import Failed, rule
from lockgate.diagnosis.runtime_socket import TOOLKIT, UNREACHED, looks_elsewhere
from lockgate.diagnosis.seen import event, pod_ref
from lockgate.diagnosis.stage import Stage, statuses
from lockgate.diagnosis.views.operands import Operands
from lockgate.diagnosis.views.words import Words
from lockgate.model.facts import Events, Missing
from lockgate.model.finding import Evidence, Remedy, Risk, Severity
from lockgate.model.objects import Pod

# The units of systemd that may have it, by what its socket's path tells, where none is called as the runtime is.
_UNITS: Final = {
    "/cri-dockerd.sock": ("cri-docker",),
    "/k3s/": ("k3s", "k3s-agent", "rke2-server", "rke2-agent"),
    "/k0s/": ("k0sworker", "k0scontroller"),
    "/microk8s/": ("snap.microk8s.daemon-containerd",),
}


@rule(
    codes=("E20",),
    severity=Severity.ERROR,
    stages=(Stage.CREATING, Stage.FAILED),
    asks_gpu=None,
    mutes=(*BROKEN_NODE, "containerd/handler-missing"),
)
def restarting(pod: Pod, pod_events: Events | Missing, words: Words, operands: Operands) -> Failed | None:
    said = _state(pod) or _last(() if isinstance(pod_events, Missing) else pod_events)
    if said is None and operands.name_of(pod) == TOOLKIT and (told := words.find(UNREACHED)):
        said = None if looks_elsewhere(pod, told) else (told.match, told.evidence)
    if said is None:
        return None
    match, evidence = said
    node, runtime = pod.spec.node_name, match["runtime"]
    units = next((names for part, names in _UNITS.items() if part in match["socket"]), (runtime,))
    return Failed(
        about=f"node/{node}",
        summary=f"{runtime} on {node} does not answer at {match['socket']}: it restarts, or does not come up.",
        evidence=(evidence,),
        remedy=(
            Remedy(
                f"Wait a minute; then see on {node} whether it runs, and why it ends",
                f"systemctl status {' '.join(units)} --no-pager; "
                f"sudo journalctl -u {' -u '.join(units)} -n 50 --no-pager",
                Risk.NONE,
            ),
        ),
    )


def _state(pod: Pod) -> tuple[re.Match[str], Evidence] | None:
    """What the kubelet says of a container at present."""
    for status in statuses(pod):
        waiting = status.state.waiting
        if waiting and (match := UNREACHED.search(waiting.message)):
            field = f"status.containerStatuses[{status.name}].state.waiting"
            return match, Evidence(object=pod_ref(pod), field=field, verbatim=waiting.message, note=waiting.reason)
    return None


def _last(events: Events) -> tuple[re.Match[str], Evidence] | None:
    """The newest event alone: whatever is said after it was said by a runtime that answers again."""
    match = UNREACHED.search(events[-1].text) if events else None
    return (match, event(events[-1])) if match else None
