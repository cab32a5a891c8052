"""The driver image cannot reach its package repositories.

It builds the kernel module on the node and fetches compiler, headers and firmware from the distribution's repositories;
names do not resolve, or the servers do not answer.

Why it matters: the driver never loads, and every other operand of the node waits for it.
How to tell: the package manager's own error stands in the driver container's log.
Fix: let the node reach the repositories (DNS, proxy: `driver.env` with HTTP_PROXY), point it to a mirror
(`driver.repoConfig`), or use precompiled drivers, which fetch nothing.
"""

import re

from lockgate.diagnosis.followers import AFTER_DRIVER
from lockgate.diagnosis.rule import Outcome, rule
from lockgate.diagnosis.stack_fault import STAGES, blame, read_logs
from lockgate.diagnosis.views.ailing import Ailing
from lockgate.diagnosis.views.stack import NodeStack, Told
from lockgate.model.finding import Remedy, Risk, Severity

# apt, dnf and curl (gpu-operator#1244, #91, #337).
_TEXTS = (
    re.compile(r"Temporary failure resolving '?(?P<host>[\w.-]+)"),
    re.compile(r"Could not resolve host: (?P<host>[\w.-]+)"),
    re.compile(r"W: Failed to fetch \w+://(?P<host>[\w.-]+)"),
)


@rule(
    codes=("H02",),
    severity=Severity.BLOCKER,
    stages=STAGES,
    asks_gpu=None,
    mutes=("driver/kernel-packages", *AFTER_DRIVER),
)
def packages_unreachable(ailing: Ailing) -> Outcome:
    return blame(
        ailing,
        lambda on: on.said(*_TEXTS, of=("driver",)),
        lambda on, told: f"the driver container cannot fetch packages from {told.match['host']}.",
        _remedies,
        softer=Severity.ERROR,
    )


def _remedies(on: NodeStack, told: Told) -> tuple[Remedy, ...]:
    host = told.match["host"]
    return (
        Remedy(f"On {on.name}, see whether the server is reached", f"curl -sSI http://{host} | head -1", Risk.NONE),
        Remedy(
            "Give the driver a proxy (spec.driver.env) or a mirror (repoConfig), or use precompiled drivers",
            "kubectl edit clusterpolicy",
            Risk.HIGH,
        ),
        *read_logs(told),
    )
