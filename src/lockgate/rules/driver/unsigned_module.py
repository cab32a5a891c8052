"""The kernel refuses the driver's module: Secure Boot trusts no key that signed it.

With Secure Boot the kernel loads only modules that are signed with a key it knows. A module that was built on the node
has no such signature.

Why it matters: the driver never loads, and every other operand of the node waits for it.
How to tell: `Key was rejected by service` in the driver container's log; `mokutil --sb-state` says that it is on.
Fix: use the distribution's signed driver packages on the host (`driver.enabled: false`) or signed precompiled images,
enroll the key that signs your modules, or turn Secure Boot off for GPU nodes.
"""

import re

from lockgate.diagnosis.followers import AFTER_DRIVER
from lockgate.diagnosis.rule import Outcome, rule
from lockgate.diagnosis.stack_fault import STAGES, blame, read_logs, with_more
from lockgate.diagnosis.views.ailing import Ailing
from lockgate.diagnosis.views.stack import NodeStack, Told
from lockgate.model.finding import Remedy, Risk, Severity

# modprobe and NVIDIA's installer (gpu-operator#266, #1142, #1726, #141); the kernel's own (kernel/module/signing.c).
_TEXTS = (
    re.compile(r"Key was rejected by service"),
    re.compile(r"not signed by a key that is trusted by the kernel"),
    re.compile(r"Kernel module load error: Operation not permitted"),
)
_KERNEL = re.compile(r"[Ll]oading of (?:unsigned module|module with unavailable key) is rejected")
_STATE = re.compile(r"SecureBoot enabled")


@rule(codes=("H05",), severity=Severity.BLOCKER, stages=STAGES, asks_gpu=None, mutes=AFTER_DRIVER)
def unsigned_module(ailing: Ailing) -> Outcome:
    return blame(
        ailing,
        _find,
        lambda on, told: "the kernel refuses NVIDIA's module, whose signature it does not trust (Secure Boot).",
        _remedies,
        softer=Severity.ERROR,
    )


def _find(on: NodeStack) -> Told | None:
    told = on.said(*_TEXTS) or on.kernel(_KERNEL)
    return with_more(told, on.printed(("mokutil", "mokutil-sb-state"), _STATE))


def _remedies(on: NodeStack, told: Told) -> tuple[Remedy, ...]:
    return (
        Remedy(f"On {on.name}, see whether Secure Boot is on", "mokutil --sb-state", Risk.NONE),
        Remedy(
            "Use signed drivers: packages on the host with driver.enabled=false, or signed precompiled images",
            "kubectl edit clusterpolicy",
            Risk.HIGH,
        ),
        *read_logs(told),
    )
