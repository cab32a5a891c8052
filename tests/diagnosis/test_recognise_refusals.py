"""A pasted text of what refuses, queues or does not place a pod is recognised by the rule that names the cause."""

import pytest

from lockgate.diagnosis.recognise import recognise
from lockgate.rules import all_rules

_TEXTS = {
    'pods "x" is forbidden: violates PodSecurity "baseline:latest": host namespaces (hostPID=true)': (
        "admission/pod-security"
    ),
    'admission webhook "validation.gatekeeper.sh" denied the request: no cpu limit': "admission/webhook-denied",
    'failed calling webhook "v.example": failed to call webhook: connection refused': "admission/webhook-down",
    'pods "x" is forbidden: no PriorityClass with name gpu-high was found': "admission/priority-class",
    'pods "x" is forbidden: maximum nvidia.com/gpu usage per Container is 1, but limit is 2': "admission/limit-range",
    "spec.containers[0].resources.limits: Required value: Limit must be set for non overcommitable resources": (
        "admission/amount-invalid"
    ),
    'spec.containers[0].resources.limits[nvidia.com/gpu]: Invalid value: "500m": must be an integer': (
        "admission/amount-invalid"
    ),
    'pods "x" is forbidden: status unknown for quota: q, resources: requests.nvidia.com/gpu': (
        "admission/quota-uncounted"
    ),
    "0/1 nodes are available: 1 cannot allocate all claims.": "claims/unsatisfied",
    "0/1 nodes are available: request gpu: device class gpu.nvidia.com does not exist.": "claims/class-missing",
    "Failed to prepare dynamic resources: DRA driver gpu.nvidia.com is not registered": "claims/not-prepared",
    "0/4 nodes are available: minCount (4) cannot be satisfied: 1 scheduled, 2 remaining.": "queueing/gang-waits",
    "3/4 tasks in gang unschedulable: pod group is not ready, 4 minAvailable, 4 Pending.": "queueing/gang-waits",
    "0/2 nodes are unavailable: 2 queue resource quota insufficient.": "queueing/over-quota",
    "no available node, 3 nodes do not meet": "queueing/no-device-fits",
    "pod didn't trigger scale-up: 2 Insufficient nvidia.com/gpu, 1 max node group size reached": (
        "autoscaling/no-node-added"
    ),
    "Failed to schedule pod, all available instance types exceed limits for nodepool": "autoscaling/no-node-added",
    'Resource "nvidia.com/gpu" was requested but not registered': "autoscaling/node-not-initialized",
    "invalid MIG configuration: more than one MIG device type present on node": "devices/mig-layout-invalid",
}


@pytest.mark.parametrize("text", _TEXTS)
def test_a_text_is_recognised(text: str) -> None:
    assert recognise(text, all_rules())[:1] == (_TEXTS[text],)


def test_other_words_are_not() -> None:
    assert recognise("the cat is on the mat", all_rules()) == ()
