"""An NVSwitch, or the fabric manager over it, reports an error.

NVSwitches write `SXid` lines into the kernel's log, fatal or not, which the driver's container repeats in its own; the
fabric manager writes what it makes of them.

Why it matters: after a fatal error work on several GPUs of the fabric ends, and new CUDA programs may find the system
`not yet initialized` until the fabric is set up again.
How to tell: `Fatal` in the SXid line, `detected NVSwitch fatal error` in /var/log/fabricmanager.log.
Fix: after a fatal error drain the node, and reset all its GPUs and switches together, which a reboot does.
"""

import datetime as dt
import re
from collections.abc import Sequence

from lockgate.diagnosis.remedies import drain
from lockgate.diagnosis.rule import Failed, rule
from lockgate.diagnosis.stage import Stage
from lockgate.diagnosis.views.node_words import NodeWords
from lockgate.diagnosis.views.xids import Xids
from lockgate.diagnosis.xid_told import Run
from lockgate.model.facts import Snapshot
from lockgate.model.finding import Remedy, Risk, Severity
from lockgate.model.objects import Node

# The fabric manager's words: gpud's matchers (failure catalogue K), and nv-fabricmanager 595.
_FATAL = re.compile(
    r"detected NVSwitch fatal error \d+|Aborting all the CUDA jobs and leaving the system uninitialized"
)
_WORDS = re.compile(
    r"detected NVSwitch (?:non-)?fatal error \d+|failed to find the GPU handle \d+ in the multicast team"
)
_MOST = 5


@rule(
    codes=("K08",),
    severity=Severity.ERROR,
    stages=(Stage.NODE,),
    mutes=("devices/unhealthy", "gpu-use/fabric-not-ready"),
)
def switch_error(node: Node, xids: Xids, node_words: NodeWords, snapshot: Snapshot) -> Failed | None:
    told = xids.switches_on(node.name)
    fabric = node_words.find_in_fabric_manager(node.name, _FATAL) or node_words.find_in_fabric_manager(
        node.name, _WORDS
    )
    if not told and fabric is None:
        return None
    aborted = fabric is not None and bool(_FATAL.search(fabric.evidence.verbatim))
    fatal = aborted or any(each.line.fatal and each.run is None for each in told)
    past = [each.run for each in told if each.line.fatal and each.run]
    shown = told[-_MOST:]
    named = ", ".join(f"SXid {each.line.code} of {each.line.bus}" for each in shown)
    return Failed(
        about=f"node/{node.name}",
        severity=None if fatal else _severity(past, snapshot.taken_at),
        summary=f"{node.name}: {named or 'its fabric manager tells of an NVSwitch'}; {_weight(fatal, bool(past))}.",
        evidence=(*(each.evidence for each in shown), *((fabric.evidence,) if fabric else ())),
        remedy=(
            Remedy(
                f"On {node.name}, see what the fabric manager says", "tail -50 /var/log/fabricmanager.log", Risk.NONE
            ),
            *((drain(node.name),) if fatal else ()),
        ),
    )


def _severity(past: Sequence[Run], now: dt.datetime | None) -> Severity:
    """Of what is not fatal, or was so before a restart."""
    return Severity.INFO if all(run.is_long_over(now) for run in past) else Severity.WARNING


def _weight(fatal: bool, past: bool) -> str:
    if fatal:
        return "fatal: the fabric has to be set up again"
    before = "fatal, and told before the driver's container was restarted, which sets the fabric up again"
    return before if past else "not fatal: work goes on"
