"""The operator is killed for want of memory.

Its memory limit (350Mi in NVIDIA's chart) does not hold what it keeps of a large cluster, from some 300 nodes on.

Why it matters: nothing is deployed, labelled or mended while it is away, and it dies again before it has done anything.
How to tell: `OOMKilled` as its last state, and CrashLoopBackOff. Once it has run for a day since, it is a remark.
Fix: raise the limit (`operator.resources.limits.memory` of the chart).
"""

import datetime as dt

from lockgate.diagnosis.rule import Failed, rule
from lockgate.diagnosis.seen import pod_ref
from lockgate.diagnosis.stage import Stage
from lockgate.diagnosis.views.operator_words import OperatorWords
from lockgate.kit.counted import counted
from lockgate.model.facts import Missing, Nodes, Snapshot
from lockgate.model.finding import Evidence, Remedy, Risk, Severity
from lockgate.model.objects import ContainerStatus, Pod
from lockgate.model.pod_state import RECENT

_KILLED = "OOMKilled"


@rule(
    codes=("G12",),
    severity=Severity.ERROR,
    stages=(Stage.CLUSTER,),
    mutes=("operator/policy-not-ready", "operands/plugin-not-installed", "pod/out-of-memory"),
)
def out_of_memory(operator_words: OperatorWords, nodes: Nodes | Missing, snapshot: Snapshot) -> Failed | None:
    found = ((pod, s) for pod in operator_words.pods for s in pod.status.container_statuses if _killed(s))
    pod, status = min(found, key=lambda each: each[1].ready, default=(None, None))
    if pod is None or status is None:
        return None
    own = (c.resources.limits for c in pod.spec.containers if c.name == status.name)
    limit = str(next(own, {}).get("memory", ""))
    many = "" if isinstance(nodes, Missing) else f" The cluster has {counted(len(nodes), 'node')}."
    well = _well_since(status)
    since = f" It runs since {well:%Y-%m-%d %H:%M} UTC." if well else ""
    return Failed(
        about=pod_ref(pod),
        title="The operator was killed for want of memory, and runs again" if status.ready else "",
        severity=_severity(status.ready, well, snapshot.taken_at),
        summary=f"The operator was killed at its memory limit{_limit(limit)}, {_times(status)}.{since}{many}",
        evidence=tuple(_seen(pod, status, limit)),
        remedy=(
            Remedy(
                "Raise the limit",
                f"helm upgrade -n {pod.namespace} --reuse-values RELEASE CHART"
                " --set operator.resources.limits.memory=1Gi",
                Risk.LOW,
            ),
        ),
    )


def _killed(status: ContainerStatus) -> bool:
    ended = (status.state.terminated, status.last_state.terminated)
    return any(each is not None and each.reason == _KILLED for each in ended)


def _severity(ready: bool, since: dt.datetime | None, now: dt.datetime | None) -> Severity | None:
    """A warning once it runs again, and a remark when it has done so for long."""
    if since is not None and now is not None and now - since > RECENT:
        return Severity.INFO
    return Severity.WARNING if ready else None


def _well_since(status: ContainerStatus) -> dt.datetime | None:
    """When the run began that is ready now."""
    return status.state.running.started_at if status.ready and status.state.running else None


def _limit(limit: str) -> str:
    return f" of {limit}" if limit else ""


def _times(status: ContainerStatus) -> str:
    return counted(status.restart_count, "restart") if status.restart_count != 1 else "once"


def _seen(pod: Pod, status: ContainerStatus, limit: str) -> list[Evidence]:
    field = f"status.containerStatuses[{status.name}].lastState.terminated"
    found = [Evidence(object=pod_ref(pod), field=field, value=_KILLED)]
    if limit:
        where = f"spec.containers[{status.name}].resources.limits[memory]"
        found.append(Evidence(object=pod_ref(pod), field=where, value=limit))
    return found
