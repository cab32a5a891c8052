"""OpenShift has no driver toolkit image for the node's release.

On OpenShift the driver is built with a toolkit image that belongs to the exact release of the nodes' system. The
image stream of the cluster has none for this one, so the operator falls back to packages that need an entitlement.

Why it matters: the driver build usually fails on such nodes, and they offer no GPU. It happens when an update of the
cluster has not finished.
How to tell: the driver's DaemonSet carries `openshift.driver-toolkit.rhcos-image-missing=true`.
Fix: finish the cluster's update, so that the image stream knows the release; behind a mirror, mirror the toolkit
image.
"""

from lockgate.diagnosis.followers import AFTER_DRIVER
from lockgate.diagnosis.operand_names import short_name
from lockgate.diagnosis.rule import Failed, rule
from lockgate.diagnosis.stage import Stage
from lockgate.kit.counted import agreeing
from lockgate.model.finding import Evidence, Remedy, Risk, Severity
from lockgate.model.objects import DaemonSet

# gpu-operator controllers/object_controls.go (transformOpenShiftDriverToolkitContainer).
_MISSING = "openshift.driver-toolkit.rhcos-image-missing"
_RELEASE = "openshift.driver-toolkit.rhcos"


@rule(
    codes=("H17",),
    severity=Severity.ERROR,
    stages=(Stage.OPERAND,),
    asks_gpu=None,
    mutes=("driver/kernel-packages", "driver/packages-unreachable", *AFTER_DRIVER),
)
def rhcos_image_missing(operand: DaemonSet) -> Failed | None:
    labels, status = operand.metadata.labels, operand.status
    ready = status.number_ready >= status.desired_number_scheduled
    if short_name(operand) != "driver" or labels.get(_MISSING) != "true" or ready:
        return None
    place, release = f"daemonset/{operand.namespace}/{operand.name}", labels.get(_RELEASE, "")
    return Failed(
        about=place,
        summary=f"There is no driver toolkit image for RHCOS {release or 'of these nodes'}, and "
        f"{status.number_ready} of {status.desired_number_scheduled} drivers "
        f"{agreeing(status.number_ready, 'is', 'are')} ready.",
        evidence=(
            Evidence(object=place, field=f"metadata.labels[{_MISSING}]", value="true"),
            *((Evidence(object=place, field=f"metadata.labels[{_RELEASE}]", value=release),) if release else ()),
        ),
        remedy=(
            Remedy(
                "See which releases the image stream knows, and whether the cluster's update is through",
                "oc get imagestream -n openshift driver-toolkit; oc get clusterversion",
                Risk.NONE,
            ),
        ),
    )
