"""The validator: proves driver, toolkit, CUDA and device plugin on each node, one init container after the other."""

from typing import Final

from lockgate.model.policy.operands import Validator, ValidatorStep
from lockgate.operands.context import Context, image_of, pull_policy
from lockgate.operands.daemonset import finish, pod_spec, set_env, set_program, set_user_env
from lockgate.operands.manifests import Manifest, load, one
from lockgate.operands.operand import Operand, objects_of

MAIN: Final = "nvidia-operator-validator"


def desired(context: Context) -> tuple[Manifest, ...]:
    """The DaemonSet; without a device plugin its validation is left out."""
    daemonset, spec = one(__name__, "DaemonSet"), context.spec
    section = spec.validator
    if not spec.device_plugin.on:
        pod = pod_spec(daemonset)
        pod["initContainers"] = [step for step in pod["initContainers"] if step["name"] != "plugin-validation"]
    for step in pod_spec(daemonset)["initContainers"]:
        _set_step(step, context)
    set_program(daemonset, MAIN, section)
    pod_spec(daemonset)["runtimeClassName"] = spec.operator.runtime_class
    return (finish(daemonset, context, section, "spec.validator"),)


def _set_step(step: Manifest, context: Context) -> None:
    """What a step needs to start a pod of its own, and what the policy adds to it."""
    section = context.spec.validator
    name = step["name"].removesuffix("-validation")
    if name in ("cuda", "plugin"):
        set_env(step, _workload(context, section))
    if name == "plugin":
        set_env(step, {"MIG_STRATEGY": context.spec.mig.strategy or "none"})
    own: ValidatorStep | None = getattr(section, name)
    set_user_env(step, own.env if own else ())


def _workload(context: Context, section: Validator) -> dict[str, str | None]:
    return {
        "VALIDATOR_IMAGE": image_of(section, context.image, "spec.validator"),
        "VALIDATOR_IMAGE_PULL_POLICY": pull_policy(section),
        "VALIDATOR_IMAGE_PULL_SECRETS": ",".join(section.image_pull_secrets) or None,
        "VALIDATOR_RUNTIME_CLASS": context.spec.operator.runtime_class,
    }


OPERAND: Final = Operand(
    order=50,
    state="state-operator-validation",
    condition="ValidatorReady",
    switch="",
    enabled=lambda _: True,
    desired=desired,
    objects=objects_of(*load(__name__)),
    needs_handler=True,
)
