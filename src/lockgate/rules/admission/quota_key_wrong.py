"""A ResourceQuota bounds GPUs by a key that is never enforced.

For devices a quota knows only `requests.<resource>`. The API server takes `nvidia.com/gpu` and `limits.nvidia.com/gpu`
as keys without a word, and nothing counts them.

Why it matters: the namespace looks bounded and is not; one team can take every GPU.
How to tell: `status.used` of the quota has no such key, however many GPUs the namespace uses.
Fix: write `requests.nvidia.com/gpu`.
"""

from lockgate.diagnosis.rule import Failed, Skipped, rule
from lockgate.diagnosis.stage import Stage
from lockgate.kit.counted import counted
from lockgate.model import names
from lockgate.model.facts import Missing, ResourceQuotas
from lockgate.model.finding import Evidence, Remedy, Risk, Severity
from lockgate.model.objects import ResourceQuota

# pkg/quota/v1/evaluator/core/pods.go: podComputeUsageHelper counts extended resources by requests alone.
_COUNTED = "requests."
_LIMITS = "limits."


@rule(codes=("A02",), severity=Severity.WARNING, stages=(Stage.CLUSTER,), asks_gpu=None)
def quota_key_wrong(resource_quotas: ResourceQuotas | Missing) -> Failed | Skipped | None:
    if isinstance(resource_quotas, Missing):
        return Skipped(resource_quotas.reason, resource_quotas.how, decides=False)
    wrong = [(quota, key) for quota in resource_quotas for key in sorted(quota.spec.hard) if _is_ignored(key)]
    if not wrong:
        return None
    quota, key = wrong[0]
    right = _COUNTED + key.removeprefix(_LIMITS)
    others = f" {_more(len(wrong) - 1)}." if len(wrong) > 1 else ""
    return Failed(
        about=_ref(quota),
        summary=(
            f"ResourceQuota {quota.name} of namespace {quota.namespace} bounds {key}, which counts nothing: the key is "
            f"{right}.{others}"
        ),
        evidence=tuple(_seen(q, k) for q, k in wrong),
        remedy=(
            Remedy(
                f"Write {right} instead of {key}", f"kubectl edit quota -n {quota.namespace} {quota.name}", Risk.MEDIUM
            ),
        ),
    )


def _more(count: int) -> str:
    return counted(count, "more key is like it", "more keys are like it")


def _is_ignored(key: str) -> bool:
    return names.is_gpu_resource(key.removeprefix(_LIMITS))


def _ref(quota: ResourceQuota) -> str:
    return f"resourcequota/{quota.namespace}/{quota.name}"


def _seen(quota: ResourceQuota, key: str) -> Evidence:
    used = quota.status.used.get(key)
    note = "status.used has no such key" if used is None else f"used {used}"
    return Evidence(object=_ref(quota), field=f"spec.hard[{key}]", value=str(quota.spec.hard[key]), note=note)
