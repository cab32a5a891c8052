"""A node in the rollout of the container toolkit, read from its pods, its published state and its allocatable GPUs.

Verified means: the toolkit's pod is ready and says that it has configured the runtime, the node has GPUs to hand out,
and the validator has passed since that pod was started (its sandbox is made by the handler, its steps use the CDI
names and run CUDA). Times are compared only when one clock wrote both.
"""

import datetime as dt
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

from lockgate.kit.quantity import parse_quantity
from lockgate.model import names
from lockgate.model.node_state import NodeStanding, RuntimeStanding, ValidationState
from lockgate.model.objects import ContainerStatus, DaemonSet, Node, Pod
from lockgate.model.pod_state import is_failing, is_ready, trouble
from lockgate.rollout.values import NodeView, Outcome, Place, Ref, Verdict

REVISION: Final = "controller-revision-hash"
_STEP: Final = "toolkit-validation"
_PLUGIN: Final = names.DEPLOY_PREFIX + "device-plugin"
_VALIDATOR: Final = names.DEPLOY_PREFIX + "operator-validator"
_CONFIGURED: Final = "Configured"
_UNREACHABLE: Final = "Unreachable"


@dataclass(frozen=True, slots=True, kw_only=True)
class Wanted:
    """What a verified node has.

    `revision` is the DaemonSet's newest. `publishes`: its toolkit writes GPUNodeStates (NVIDIA's does not, and one that
    leaves the runtime alone has nothing to say). `hands_out`: the policy has a device plugin.
    """

    revision: str
    publishes: bool
    hands_out: bool


def view(
    node: Node, toolkits: Iterable[Pod], validators: Iterable[Pod], state: NodeStanding | None, wanted: Wanted
) -> NodeView:
    """The node as it is. `toolkits` and `validators` are its pods of either DaemonSet, those that leave included."""
    toolkits, validators = tuple(toolkits), tuple(validators)
    pod, validator = _staying(toolkits), _staying(validators)
    place = _place(toolkits, pod, wanted.revision)
    stale = pod is not None and validator is not None and _is_stale(validator, pod)
    return NodeView(
        name=node.name,
        place=place,
        pod=_ref(pod),
        validator=_ref(validator),
        stale=stale,
        verdicts=(
            _toolkit(node, pod, state.status.runtime if state else None, wanted),
            _devices(node, wanted),
            _validation(node, validator, state.status.validation if state else None, stale),
        ),
        since=_newest((*toolkits, *validators)),
        reachable=_is_reachable(node),
    )


def _staying(pods: Iterable[Pod]) -> Pod | None:
    return next((pod for pod in pods if pod.metadata.deletion_timestamp is None), None)


def _place(pods: tuple[Pod, ...], pod: Pod | None, revision: str) -> Place:
    """A node whose old pod has not left yet is changing, even when the new one waits beside it."""
    if pod is None or len(pods) > 1:
        return "changing"
    return "updated" if pod.metadata.labels.get(REVISION) == revision else "outdated"


def _ref(pod: Pod | None) -> Ref | None:
    return Ref(name=pod.name, uid=pod.metadata.uid) if pod else None


def _newest(pods: Iterable[Pod]) -> dt.datetime | None:
    times = ((pod.metadata.creation_timestamp, pod.metadata.deletion_timestamp) for pod in pods)
    return max((time for pair in times for time in pair if time is not None), default=None)


def _is_reachable(node: Node) -> bool:
    return all(c.status == "True" for c in node.status.conditions if c.type == "Ready")


def _is_stale(validator: Pod, toolkit: Pod) -> bool:
    """Whether the validator looked at the runtime before this toolkit was started. Its kubelet wrote both times."""
    started = max((t for s in toolkit.status.container_statuses if (t := _started(s))), default=None)
    looked = next((_started(s) for s in validator.status.init_container_statuses if s.name == _STEP), None)
    return started is not None and looked is not None and looked < started


def _started(status: ContainerStatus) -> dt.datetime | None:
    state = status.state
    if state.running:
        return state.running.started_at
    return state.terminated.started_at if state.terminated else None


def _toolkit(node: Node, pod: Pod | None, runtime: RuntimeStanding | None, wanted: Wanted) -> Verdict:
    if not _is_reachable(node):
        return _verdict("waiting", "the node is not Ready")
    if pod is None:
        return _verdict("waiting", "its toolkit's pod has not been replaced yet")
    if not is_ready(pod):
        return _verdict("failed" if is_failing(pod) else "waiting", f"its toolkit's pod is not ready: {trouble(pod)}")
    if runtime is None or runtime.pod not in ("", pod.name):
        text = "its toolkit has not said yet what it did"
        return _verdict("waiting", text) if wanted.publishes else _verdict("passed")
    if runtime.phase == _CONFIGURED:
        return _verdict("passed")
    outcome: Outcome = "waiting" if runtime.phase in (_UNREACHABLE, "") else "failed"
    return _verdict(outcome, f"its toolkit says {runtime.phase or 'nothing'}: {runtime.message}")


def _verdict(outcome: Outcome, text: str = "") -> Verdict:
    return Verdict(stage="toolkit", outcome=outcome, text=text)


def _devices(node: Node, wanted: Wanted) -> Verdict:
    """Any GPU, slot or MIG device; where a person keeps the plugin away there is nothing to ask."""
    allocatable = node.status.allocatable.items()
    has = any(names.is_gpu_resource(name) and parse_quantity(amount) > 0 for name, amount in allocatable)
    if has or not wanted.hands_out or node.metadata.labels.get(_PLUGIN) != "true":
        return Verdict(stage="devices", outcome="passed")
    return Verdict(stage="devices", outcome="failed", text="it has no allocatable GPU (nvidia.com/gpu or MIG devices)")


def _validation(node: Node, pod: Pod | None, state: ValidationState | None, stale: bool) -> Verdict:
    if node.metadata.labels.get(_VALIDATOR) != "true":
        return Verdict(stage="validation", outcome="passed")
    if pod is None or stale:
        text = "it is to be validated again" if stale else "its validator's pod is not there yet"
        return Verdict(stage="validation", outcome="waiting", text=text)
    if is_ready(pod):
        return Verdict(stage="validation", outcome="passed")
    said = next((f": {step.message}" for step in (state.steps if state else ()) if not step.ready and step.message), "")
    text = f"its validation has not passed: {trouble(pod)}{said}"
    return Verdict(stage="validation", outcome="failed" if is_failing(pod) else "waiting", text=text)


def publishes(daemonset: DaemonSet, image: str) -> bool:
    """Whether the toolkit says what became of the runtime: it is of our image and configures one at all."""
    container = next(iter(daemonset.spec.template.spec.containers), None)
    if container is None or container.image != image:
        return False
    told = [variable.value for variable in container.env if variable.name == "NO_RUNTIME_CONFIG"]
    left_alone = any(value.lower() in ("1", "t", "true") for value in told)
    return not left_alone and not any("no-runtime-config" in argument for argument in container.args)
