"""Every reason that kube-scheduler 1.37 can write is sorted: the texts are those of its source, pkg/scheduler."""

import pytest

from lockgate.scheduling.causes import Cause, cause_of, parse_reason

_KNOWN = {
    # framework/plugins/noderesources/fit.go
    "Too many pods": Cause.TOO_MANY_PODS,
    "Insufficient nvidia.com/gpu": Cause.INSUFFICIENT,
    # nodevolumelimits, volumebinding, volumezone, volumerestrictions
    "node(s) exceed max volume count": Cause.VOLUME,
    "ebs.csi.aws.com CSI driver is not installed on the node": Cause.VOLUME,
    "node(s) didn't find available persistent volumes to bind": Cause.VOLUME,
    "node(s) didn't match PersistentVolume's node affinity": Cause.VOLUME,
    "node(s) did not have enough free storage": Cause.VOLUME,
    "node(s) unavailable due to one or more pvc(s) bound to non-existent pv(s)": Cause.VOLUME,
    "node(s) had no available volume zone": Cause.VOLUME,
    "node(s) had no available disk": Cause.VOLUME,
    "PersistentVolumeClaim had no name": Cause.VOLUME,
    "PersistentVolume had no name": Cause.VOLUME,
    'VolumeBindingMode not set for StorageClass "fast"': Cause.VOLUME,
    (
        "node(s) unavailable due to PersistentVolumeClaim with ReadWriteOncePod access mode "
        "already in-use by another pod"
    ): Cause.VOLUME,
    'persistentvolumeclaim "data" not found': Cause.VOLUME,
    "pod has unbound immediate PersistentVolumeClaims": Cause.VOLUME,
    # dynamicresources
    "cannot allocate all claims": Cause.DEVICE_CLAIM,
    "resourceclaim in use": Cause.DEVICE_CLAIM,
    "resourceclaim not available on the node": Cause.DEVICE_CLAIM,
    "resource claim ml/gpu is in the process of being allocated": Cause.DEVICE_CLAIM,
    "request gpu: device class absent.example does not exist": Cause.DEVICE_CLAIM,
    'resourceclaim "gpu" is being deleted': Cause.DEVICE_CLAIM,
    'resourceclaim.resource.k8s.io "absent" not found': Cause.DEVICE_CLAIM,
    "claim ml/gpu, request gpu: exact count 400 is too large": Cause.DEVICE_CLAIM,
    "node gpu-a: timed out trying to allocate devices": Cause.DEVICE_CLAIM,
    "deallocation of ResourceClaim completed": Cause.DEVICE_CLAIM,
    # dynamicresources of 1.26 to 1.31
    "waiting for resource driver to allocate resource": Cause.DEVICE_CLAIM,
    'waiting for dynamic resource controller to create the resourceclaim "x-gpu"': Cause.DEVICE_CLAIM,
    # gangscheduling
    "waiting for minCount pods from a gang to appear in scheduling queue": Cause.GANG,
    'waiting for pods\'s pod group "train" to appear in scheduling queue': Cause.GANG,
    'waiting for composite pod group "train" tree to meet quorum': Cause.GANG,
    "minCount (4) cannot be satisfied: 1 scheduled, 2 remaining": Cause.GANG,
    "waiting for the preemption for this pod group to be finished": Cause.GANG,
    # the rest, by their folders' names
    "node(s) had untolerated taint(s)": Cause.TAINT,
    "node(s) had taints that the pod didn't tolerate": Cause.TAINT,
    "node(s) were unschedulable": Cause.CORDONED,
    "node(s) had unknown conditions": Cause.CORDONED,
    "node(s) didn't match Pod's node affinity/selector": Cause.SELECTOR,
    "node(s) didn't match scheduler-enforced node affinity": Cause.SELECTOR,
    "node(s) didn't match the requested node name": Cause.NODE_NAME,
    "node(s) didn't have free ports for the requested pod ports": Cause.PORTS,
    "node(s) didn't satisfy existing pods anti-affinity rules": Cause.POD_ANTI_AFFINITY,
    "node(s) didn't match pod anti-affinity rules": Cause.POD_ANTI_AFFINITY,
    "node(s) didn't match pod affinity rules": Cause.POD_AFFINITY,
    "node(s) didn't match pod topology spread constraints": Cause.TOPOLOGY_SPREAD,
    "node(s) didn't match pod topology spread constraints (missing required label)": Cause.TOPOLOGY_SPREAD,
    "node(s) didn't match Pod's required features": Cause.OTHER_PLUGIN,
    "node had resize preemption disabled": Cause.OTHER_PLUGIN,
    "pod assigned to different node": Cause.OTHER_PLUGIN,
    "node(s) didn't satisfy plugin(s) [Custom]": Cause.OTHER_PLUGIN,
    # preemption
    "No preemption victims found for incoming pod": Cause.NO_VICTIMS,
    "No preemption victims found for incoming preemptor": Cause.NO_VICTIMS,
    "Preemption is not helpful for scheduling": Cause.NOT_HELPFUL,
}


@pytest.mark.parametrize("text", _KNOWN)
def test_a_reason_is_sorted_into_its_cause(text: str) -> None:
    assert parse_reason(1, text).cause is _KNOWN[text]


@pytest.mark.parametrize("text", ["node(s) were eaten", "a claim", "", "Insufficient"])
def test_words_that_no_scheduler_writes_stay_unknown(text: str) -> None:
    assert cause_of(text) is Cause.UNKNOWN
