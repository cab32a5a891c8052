"""The driver's libraries are not where the runtime looks for them.

NVIDIA's hook loads `libnvidia-ml.so.1` from the driver root (`/` for a driver of the host, `/run/nvidia/driver` for the
driver container) before it makes a container, and found none there.

Why it matters: no container gets a GPU on this node, the operands among them, so the node soon offers none.
How to tell: with a driver container, its pod is not ready yet, or died; with a driver of the host, only its kernel
modules were installed, or the toolkit's configuration names the wrong root.
Fix: wait for the driver container or mend it; else install the driver's libraries, or correct the root.
"""

import re

from lockgate.diagnosis.followers import BROKEN_NODE
from lockgate.diagnosis.rule import Failed, rule
from lockgate.diagnosis.seen import pod_ref
from lockgate.diagnosis.stage import Stage, is_ready
from lockgate.diagnosis.views.operands import Operands
from lockgate.diagnosis.views.words import Words
from lockgate.diagnosis.ways import log_command
from lockgate.model.finding import Evidence, Remedy, Risk, Severity
from lockgate.model.objects import Pod

_TEXT = re.compile(
    r"initialization error: load library failed: (?P<library>\S+?): cannot open shared object file"
    r"|failed to create \S*cdi spec: (?P<cdi>lib\S+) not found"
)


@rule(
    codes=("E14",),
    severity=Severity.BLOCKER,
    stages=(Stage.CREATING, Stage.FAILED),
    asks_gpu=None,
    mutes=(*BROKEN_NODE, "pod/no-gpu-asked", "gpu-use/not-injected"),
)
def driver_library_missing(pod: Pod, words: Words, operands: Operands) -> Failed | None:
    said = words.find(_TEXT)
    if said is None:
        return None
    node = pod.spec.node_name
    library = said.match["library"] or said.match["cdi"]
    driver = operands.pod_on(node, "driver")
    return Failed(
        about=f"node/{node}",
        summary=f"The runtime on {node} found no {library} in its driver root; {_driver(driver)}.",
        evidence=(said.evidence, *_state(driver)),
        remedy=(
            _look(driver),
            Remedy(
                f"See which root the toolkit on {node} uses, and that the library is in it",
                "grep -n root /etc/nvidia-container-runtime/config.toml"
                " /usr/local/nvidia/toolkit/.config/nvidia-container-runtime/config.toml; ldconfig -p | grep nvidia-ml",
                Risk.NONE,
            ),
        ),
    )


def _driver(pod: Pod | None) -> str:
    if pod is None:
        return "no driver container is known there, so the driver should be installed on the host"
    return f"driver container {pod.name} is {'ready' if is_ready(pod) else 'not ready'}"


def _state(driver: Pod | None) -> tuple[Evidence, ...]:
    if driver is None:
        return ()
    return (Evidence(object=pod_ref(driver), field="status", value="Ready" if is_ready(driver) else "not Ready"),)


def _look(driver: Pod | None) -> Remedy:
    if driver is None:
        return Remedy("Install the driver's user-space libraries on the host", "", Risk.MEDIUM)
    command = log_command(driver.namespace, driver.name)
    return Remedy("Wait until the driver container is ready; see what it says", command, Risk.NONE)
