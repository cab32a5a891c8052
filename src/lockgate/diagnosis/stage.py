"""How far a pod has come on its way through the two gates, or what else is asked about: rules speak about stages."""

import enum

from lockgate.model.objects import ContainerStatus, Pod, StateTerminated

# Reasons of a pod that the kubelet refused before it made any container (pkg/kubelet/lifecycle, cm/admission).
_REFUSALS = ("UnexpectedAdmissionError", "TopologyAffinityError", "NodeAffinity", "AdmissionFailed", "OutOf")
_REJECTED = "Pod was rejected"  # begins the message of newer kubelets
_CRASH = "CrashLoopBackOff"


class Stage(enum.StrEnum):
    """Where a workload's pod is; the last four are for what is no single workload."""

    NO_POD = "no-pod"  # its controller wants it, it does not exist
    SCHEDULING = "scheduling"  # no node yet: gate 1
    ADMISSION = "admission"  # the kubelet refused it
    CREATING = "creating"  # on a node, its containers do not run yet: gate 2
    RUNNING = "running"
    FAILED = "failed"  # its containers ended badly, or crash again and again
    SUCCEEDED = "succeeded"
    TERMINATING = "terminating"
    REPLACED = "replaced"  # failed pods that nobody misses, all of them at once
    NODE = "node"  # a node, seen as a pod would see it that asks for its GPUs
    OPERAND = "operand"  # an operand's DaemonSet
    CLUSTER = "cluster"  # what belongs to no single node or pod


def stage_of(pod: Pod) -> Stage:
    """The stage that a pod's spec and status show; a pod that lacks both reads as one that has no node yet."""
    if pod.metadata.deletion_timestamp is not None:
        return Stage.TERMINATING
    match pod.status.phase:
        case "Succeeded":
            return Stage.SUCCEEDED
        case "Failed":
            return Stage.ADMISSION if was_refused(pod) else Stage.FAILED
        case "Running":
            return _running(pod)
        case _ if not pod.spec.node_name:
            return Stage.SCHEDULING
        case _:
            return Stage.FAILED if any(map(crash_loops, statuses(pod))) else Stage.CREATING


def was_refused(pod: Pod) -> bool:
    """Whether the kubelet refused the pod at admission: phase Failed and no container ever started."""
    refused = pod.status.reason.startswith(_REFUSALS) or pod.status.message.startswith(_REJECTED)
    if pod.status.phase != "Failed" or not refused:
        return False
    return not any(s.state.terminated or s.state.running for s in pod.status.container_statuses)


def is_ready(pod: Pod) -> bool:
    """Whether the pod's Ready condition is True."""
    return any(c.type == "Ready" and c.status == "True" for c in pod.status.conditions)


def statuses(pod: Pod) -> tuple[ContainerStatus, ...]:
    """The statuses of all containers, init containers first."""
    return (*pod.status.init_container_statuses, *pod.status.container_statuses)


def _running(pod: Pod) -> Stage:
    waiting = [s.state.waiting.reason for s in pod.status.container_statuses if s.state.waiting]
    if any(reason and reason != _CRASH for reason in waiting):
        return Stage.CREATING
    return Stage.FAILED if _CRASH in waiting else Stage.RUNNING


def crash_loops(status: ContainerStatus) -> bool:
    """Whether a container crashed, and waits to be started again."""
    return status.state.waiting is not None and status.state.waiting.reason == _CRASH


def bad_end(pod: Pod) -> tuple[ContainerStatus | None, StateTerminated | None]:
    """The first container that ended with an error, now or in its last run, and how."""
    for status in statuses(pod):
        for ended in (status.state.terminated, status.last_state.terminated):
            if ended is not None and ended.exit_code:
                return status, ended
    return None, None


def is_out_of_memory(ended: StateTerminated | None) -> bool:
    """Whether the node's kernel ended a container for memory of the host."""
    return ended is not None and ended.reason == "OOMKilled"
