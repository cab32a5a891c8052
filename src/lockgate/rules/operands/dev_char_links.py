"""The validator cannot make the device links that it wants.

With a driver that works it still loads NVIDIA's side modules, makes the device nodes, and links them below `/dev/char`,
so that containers keep their GPUs when systemd reloads. One of these steps fails.

Why it matters: the driver counts as not ready, and toolkit, plugin and all others wait, though `nvidia-smi` works.
How to tell: the validator's log says `error creating symlink creator`, with the step that failed behind it.
Fix: where the node cannot have that module (a cut-down kernel, a virtual machine), switch the links off:
`validator.driver.env` with DISABLE_DEV_CHAR_SYMLINK_CREATION=true.
"""

import re

from lockgate.diagnosis.followers import BROKEN_NODE
from lockgate.diagnosis.rule import Outcome, rule
from lockgate.diagnosis.stack_fault import STAGES, blame, read_logs
from lockgate.diagnosis.views.ailing import Ailing
from lockgate.diagnosis.views.stack import NodeStack, Told
from lockgate.model.finding import Remedy, Risk, Severity

# gpu-operator validator/main.go, nvidia-container-toolkit 1.20.2 pkg/system (gpu-operator#671, #1015, #539).
_TEXTS = (
    re.compile(r"error creating symlink creator: (?P<why>.*)"),
    re.compile(r"(?P<why>failed to create device node nvidia\S*: .*)"),
    re.compile(r"(?P<why>error creating symlinks: .*)"),
)
_ENV = '{"spec":{"validator":{"driver":{"env":[{"name":"DISABLE_DEV_CHAR_SYMLINK_CREATION","value":"true"}]}}}}'


@rule(codes=("I02",), severity=Severity.BLOCKER, stages=STAGES, asks_gpu=None, mutes=BROKEN_NODE)
def dev_char_links(ailing: Ailing) -> Outcome:
    return blame(
        ailing,
        lambda on: on.said(*_TEXTS),
        lambda on, told: f"the driver works, and its device links cannot be made: {told.match['why'][:200]}.",
        _remedies,
        softer=Severity.ERROR,
    )


def _remedies(on: NodeStack, told: Told) -> tuple[Remedy, ...]:
    return (
        Remedy(
            f"On {on.name}, try the step itself", "sudo modprobe nvidia-modeset; sudo modprobe nvidia-uvm", Risk.LOW
        ),
        Remedy(
            "Switch the links off (containers may then lose their GPUs when systemd reloads)",
            f"kubectl patch clusterpolicy cluster-policy --type merge -p '{_ENV}'",
            Risk.MEDIUM,
        ),
        *read_logs(told),
    )
