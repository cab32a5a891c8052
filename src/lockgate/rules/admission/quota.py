"""A ResourceQuota of the namespace refuses the pods.

The controller asks for a pod and the API server refuses it: the namespace may not request that much.

Why it matters: there is no pod to describe, and GPUs may be free all the while; only the controller's events tell.
How to tell: the event says `exceeded quota`, with what was asked for, used and allowed. Pods that wait count too;
finished ones do not.
Fix: end pods of the namespace that use the quota up, ask for less, or have the quota raised.
"""

import re

from lockgate.diagnosis.rule import Failed, Passed, rule
from lockgate.diagnosis.seen import some
from lockgate.diagnosis.stage import Stage
from lockgate.diagnosis.standing import standing
from lockgate.diagnosis.views.creation import Creation
from lockgate.diagnosis.views.gate_one import gpu_asked
from lockgate.model import names
from lockgate.model.facts import Events, Missing, Pods, ResourceQuotas
from lockgate.model.finding import Evidence, Remedy, Risk, Severity
from lockgate.model.objects import Workload

_TEXT = re.compile(r"exceeded quota: (?P<quota>[^,\s]+), requested: (?P<rest>.+)$", re.DOTALL)
_PART = re.compile(r"(?<![^\s,=])(?P<key>[^\s,=]+)=(?P<value>[^\s,]+)")


@rule(codes=("A01",), severity=Severity.BLOCKER, stages=(Stage.NO_POD,), asks_gpu=None)
def quota(
    workload: Workload,
    creation: Creation,
    workload_events: Events | Missing,
    resource_quotas: ResourceQuotas | Missing,
    namespace_pods: Pods | Missing,
) -> Failed | Passed | None:
    said = creation.find(_TEXT)
    if said is None:
        return None if isinstance(workload_events, Missing) else Passed("no event of its controllers names a quota")
    return _failed(workload, said.evidence, said.match, resource_quotas, namespace_pods)


def _failed(
    workload: Workload,
    evidence: Evidence,
    text: re.Match[str],
    quotas: ResourceQuotas | Missing,
    pods: Pods | Missing,
) -> Failed:
    name = text["quota"]
    requested, used, limited = _amounts(text["rest"])
    keys = [k for k, v in requested.items() if k in limited]
    key = next((k for k in keys if names.GPU_PREFIX in k), keys[0] if keys else "")
    return Failed(
        about=f"resourcequota/{workload.namespace}/{name}",
        summary=(
            f"{standing(workload)}: quota {name} allows {limited.get(key, '?')} "
            f"{key}, {used.get(key, '?')} in use, and one more pod asks for {requested.get(key, '?')}."
        ),
        evidence=(evidence, *_quota(workload.namespace, name, key, quotas), *some(_holders(workload, pods))),
        remedy=(
            Remedy(
                "See what the quota allows and who uses it",
                f"kubectl describe quota -n {workload.namespace} {name}",
                Risk.NONE,
            ),
            Remedy(
                "End pods of the namespace that hold it, or have the quota raised",
                f"kubectl edit quota -n {workload.namespace} {name}",
                Risk.MEDIUM,
            ),
        ),
    )


def _amounts(rest: str) -> tuple[dict[str, str], dict[str, str], dict[str, str]]:
    """`a=1, used: a=1, limited: a=1` as three maps."""
    requested, _, tail = rest.partition(", used: ")
    used, _, limited = tail.partition(", limited: ")
    return _map(requested), _map(used), _map(limited)


def _map(text: str) -> dict[str, str]:
    return {m["key"]: m["value"] for m in _PART.finditer(text)}


def _quota(namespace: str, name: str, key: str, quotas: ResourceQuotas | Missing) -> tuple[Evidence, ...]:
    if isinstance(quotas, Missing):
        return ()
    place = f"resourcequota/{namespace}/{name}"
    own = [q for q in quotas if q.name == name and q.namespace == namespace]
    return tuple(
        Evidence(
            object=place,
            field=f"status.hard[{key}]",
            value=str(q.status.hard.get(key, q.spec.hard.get(key, "absent"))),
            note=f"used {q.status.used.get(key, 'unknown')}",
        )
        for q in own
    )


def _holders(workload: Workload, pods: Pods | Missing) -> Evidence | None:
    if isinstance(pods, Missing):
        return None
    alive = (p for p in pods if p.namespace == workload.namespace and p.status.phase in ("Running", "Pending"))
    holding = sorted(p.name for p in alive if gpu_asked(p))
    return Evidence(
        object=f"namespace/{workload.namespace}", field="pods that ask for GPUs", value=", ".join(holding) or "none"
    )
