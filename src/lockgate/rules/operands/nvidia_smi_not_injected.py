"""The toolkit does not put the driver into containers.

The validator starts a container that should get `nvidia-smi` from the node's runtime, and it is not there: it ran
without NVIDIA's runtime, or the runtime found no driver.

Why it matters: pods get no GPU either; plugin, feature discovery and exporters wait for this step.
How to tell: `"nvidia-smi": executable file not found in $PATH` in the log of toolkit-validation.
Fix: see what runtime the handler `nvidia` really has (`containerd config dump`): a wrong BinaryName, a drop-in that was
overridden, or a toolkit that writes to another containerd's files.
"""

import re

from lockgate.diagnosis.followers import BROKEN_NODE
from lockgate.diagnosis.rule import Outcome, rule
from lockgate.diagnosis.stack_fault import STAGES, blame, read_logs
from lockgate.diagnosis.views.ailing import Ailing
from lockgate.diagnosis.views.stack import NodeStack, Told
from lockgate.model.finding import Remedy, Risk, Severity

# gpu-operator validator/main.go, Go's os/exec (gpu-operator#1374).
_TEXT = re.compile(r'\\?"nvidia-smi\\?": executable file not found in \$PATH')  # logrus quotes what it quotes


@rule(codes=("I03",), severity=Severity.BLOCKER, stages=STAGES, asks_gpu=None, mutes=BROKEN_NODE)
def nvidia_smi_not_injected(ailing: Ailing) -> Outcome:
    return blame(
        ailing,
        lambda on: on.said(_TEXT, of=("operator-validator",)),
        lambda on, told: "a container that should get the driver's files gets none, so no GPU pod would work.",
        _remedies,
        softer=Severity.ERROR,
    )


def _remedies(on: NodeStack, told: Told) -> tuple[Remedy, ...]:
    return (
        Remedy(
            f"On {on.name}, see which runtime the handler has",
            "sudo containerd config dump | grep -A12 'runtimes.nvidia'",
            Risk.NONE,
        ),
        *read_logs(told),
    )
