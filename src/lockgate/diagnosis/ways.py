"""The commands that read what was not read: the log of a pod, and what stands on a node itself."""

from typing import Final

from lockgate.diagnosis.stage import statuses
from lockgate.model.objects import ContainerStatus, Pod

COLLECT: Final = "kubectl gpu collect -o bundle.tgz"
PROBE: Final = f"{COLLECT} --probe"

UNSEEN: Final = "nothing was read from the node itself: the runtime's and CDI's files, the kernel's log"


def read_node(name: str) -> str:
    """What a node says itself: by a short-lived pod, whoever set the node up."""
    return f"{PROBE} {name}"


def read_log(pod: Pod) -> str:
    """The log of a pod; of a container that crashed and was started again the one before, which holds the crash."""
    crashed = next((s.name for s in statuses(pod) if _crashed(s)), "")
    return log_command(pod.namespace, pod.name, crashed, previous=bool(crashed), lines=200)


def log_command(namespace: str, pod: str, container: str = "", *, previous: bool = False, lines: int = 50) -> str:
    """The command that shows the end of a container's log, or of all of a pod's; `previous`: of its run before."""
    which = f"-c {container}" if container else "--all-containers"
    return f"kubectl logs -n {namespace} {pod} {which}{' --previous' if previous else ''} --tail={lines}"


def _crashed(status: ContainerStatus) -> bool:
    """Whether its last run ended with an error, and the one after it has not come up well."""
    last = status.last_state.terminated
    return last is not None and bool(last.exit_code) and not status.ready
