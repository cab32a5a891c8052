"""Probes by which the kubelet ends a container itself: its own events say so, and the exit code looks like a crash.

Source: pkg/kubelet/kuberuntime (`Container %s failed liveness probe, will be restarted`) and pkg/kubelet/prober
(`Liveness probe failed: ...`).
"""

import re
from collections.abc import Iterable
from typing import Final

from lockgate.diagnosis.seen import event
from lockgate.model.finding import Evidence, Remedy, Risk
from lockgate.model.objects import Event

_KILLED: Final = re.compile(r"Container (?P<container>\S+) failed (?P<probe>liveness|startup) probe")
_LONGER: Final = (
    "Give it the time that it needs, for example to load a model: a startupProbe, or a larger failureThreshold or "
    "timeoutSeconds of the {probe} probe"
)


def killed_by_probe(container: str, events: Iterable[Event]) -> tuple[str, tuple[Evidence, ...]]:
    """Which probe of a container made the kubelet end it ("" for none), and the events that say so."""
    events = tuple(events)
    killed = [(e, m["probe"]) for e in events if e.reason == "Killing" and (m := _killed(e, container))]
    if not killed:
        return "", ()
    seen, probe = killed[-1]
    words = [e for e in events if e.reason == "Unhealthy" and e.text.startswith(f"{probe.capitalize()} probe")]
    return probe, (*map(event, words[-1:]), event(seen))


def give_time(probe: str) -> Remedy:
    """Let the probe wait longer."""
    return Remedy(_LONGER.format(probe=probe), "", Risk.LOW)


def _killed(seen: Event, container: str) -> re.Match[str] | None:
    found = _KILLED.search(seen.text)
    return found if found and found["container"] == container else None
