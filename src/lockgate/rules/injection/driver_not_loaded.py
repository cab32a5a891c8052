"""The driver is not loaded when a container is to begin.

NVIDIA's hook found the driver's libraries, and no kernel module of it. After a boot that is so until the driver is
there; later its module was unloaded, or has not loaded.

Why it matters: no container with a GPU begins on this node, and each is tried again by itself.
How to tell: `nvml error: driver not loaded` in the container's state or in its event.
Fix: see the driver's pod on the node, or load the module of a driver that the host has (`sudo modprobe nvidia`).
"""

import re

from lockgate.diagnosis.rule import Failed, rule
from lockgate.diagnosis.seen import pod_ref
from lockgate.diagnosis.stage import Stage, is_ready
from lockgate.diagnosis.views.operands import Operands
from lockgate.diagnosis.views.words import Words
from lockgate.diagnosis.ways import log_command
from lockgate.model.finding import Evidence, Remedy, Risk, Severity
from lockgate.model.objects import Pod
from lockgate.model.pod_state import trouble

# libnvidia-container's words in reports (failure catalogue H07).
_TEXT = re.compile(r"nvml error: driver not loaded")


@rule(
    codes=("H07",),
    severity=Severity.BLOCKER,
    stages=(Stage.CREATING, Stage.FAILED),
    asks_gpu=None,
    mutes=("operands/plugin-gone", "operands/plugin-idle", "operands/resources-not-seen", "operator/policy-not-ready"),
)
def driver_not_loaded(pod: Pod, words: Words, operands: Operands) -> Failed | None:
    said = words.find_outside_logs(_TEXT)
    if said is None:
        return None
    node, driver = pod.spec.node_name, operands.pod_on(pod.spec.node_name, "driver")
    return Failed(
        about=f"node/{node}",
        summary=f"The driver on {node} was not loaded when the container was to begin. {_whose(driver)}",
        evidence=(said.evidence, *((_seen(driver),) if driver else ())),
        remedy=(*((_read(driver),) if driver else ()), _look(node)),
    )


def _whose(driver: Pod | None) -> str:
    if driver is None:
        return "No driver pod is known there: the host is to have one."
    state = "is ready, and may have been loaded since" if is_ready(driver) else f"is not ready: {trouble(driver)}"
    return f"Its pod {driver.name} {state}."


def _seen(driver: Pod) -> Evidence:
    value = "Ready" if is_ready(driver) else "not Ready"
    return Evidence(object=pod_ref(driver), field="status", value=value)


def _read(driver: Pod) -> Remedy:
    return Remedy("Read what the driver's pod says", log_command(driver.namespace, driver.name), Risk.NONE)


def _look(node: str) -> Remedy:
    return Remedy(f"On {node}, see whether the module is there", "lsmod | grep nvidia; modinfo nvidia", Risk.NONE)
