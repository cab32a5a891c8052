"""Findings that somebody has waived, in `lockgate.yaml` or by an annotation: taken out of the verdict, and still told.

    lockgate.dev/waive: "devices/unhealthy until 2026-12-31 -- RMA 4711"

on a node, pod, workload, ClusterPolicy or namespace waives findings about that object (about all that is in a
namespace); several stand on lines of their own. A finding that strikes several objects is waived when each of them is.
"""

import datetime as dt
from collections.abc import Iterable, Iterator, Sequence
from fnmatch import fnmatchcase
from typing import Any, Final

import msgspec

from lockgate.diagnosis.near_ids import meant
from lockgate.model import names
from lockgate.model.facts import Missing, Snapshot
from lockgate.model.finding import Finding, TargetRef, VoidWaiver, Waived
from lockgate.model.waiver import Waiver, WaiverError, parse_waiver

# Sections whose objects may carry the annotation, by how findings name their kind.
_ANNOTATED: Final = {
    "nodes": "node",
    "pods": "pod",
    "namespace_pods": "pod",
    "daemon_sets": "daemonset",
    "deployments": "deployment",
    "replica_sets": "replicaset",
    "stateful_sets": "statefulset",
    "jobs": "job",
    "cron_jobs": "cronjob",
    "cluster_policies": "clusterpolicy",
    "namespaces": "namespace",
}


class Waivers(msgspec.Struct, frozen=True):
    """All that was waived, and on which day it is asked; `void` are those that nobody could read."""

    known: tuple[Waiver, ...] = ()
    today: dt.date | None = None
    void: tuple[VoidWaiver, ...] = ()

    @property
    def holding(self) -> tuple[Waiver, ...]:
        """Those that have not expired."""
        return tuple(w for w in self.known if self.today is not None and w.holds(self.today))

    def with_annotations(self, snapshot: Snapshot, ids: Sequence[str]) -> "Waivers":
        """These, and those that the objects of a snapshot carry; `ids` are those that a finding may have."""
        if self.today is None:
            return self
        found = tuple(_annotated(snapshot))
        written = tuple(w for w in found if isinstance(w, Waiver))
        unread = (w for w in found if isinstance(w, VoidWaiver))
        return Waivers((*self.known, *written), self.today, (*self.void, *unread, *without_rule(written, ids)))

    def apart(self, findings: Sequence[Finding], target: TargetRef) -> tuple[tuple[Finding, ...], tuple[Waived, ...]]:
        """The findings that count, and the waived ones: what follows from a waived cause is waived with it.

        What is asked about is struck by whatever is found, so a waiver at the target counts as well.
        """
        holding = self.holding
        if not holding:
            return tuple(findings), ()
        above: dict[str, Waiver | None] = {}  # the latest of each id: what follows from it stands right behind it
        kept, waived = [], []
        for finding in findings:
            here = next((w for w in holding if w.covers(finding.id, _spelt(target))), None)
            waiver = here or _waiver(finding, holding) or above.get(finding.follows)
            above[finding.id] = waiver
            if waiver is None:
                kept.append(finding)
            else:
                waived.append(Waived(finding, waiver.reason, waiver.until, waiver.source))
        return tuple(kept), tuple(waived)

    def expired(self, findings: Iterable[Finding], target: TargetRef) -> tuple[VoidWaiver, ...]:
        """Those that would have counted for one of these findings, and whose day is over; and the unreadable ones."""
        places = [(f.id, place) for f in findings for place in (*_places(f), _spelt(target))]
        holding = self.holding
        over = [w for w in self.known if w not in holding and any(w.covers(i, p) for i, p in places)]
        return (*(VoidWaiver(_said(w), f"expired on {w.until}", w.source) for w in over), *self.void)


NO_WAIVERS: Final = Waivers()


def without_rule(written: Iterable[Waiver], ids: Sequence[str]) -> tuple[VoidWaiver, ...]:
    """Those that can waive nothing, since no finding has their id or fits their pattern."""
    lost = (w for w in written if not any(fnmatchcase(each, w.id) for each in ids))
    return tuple(VoidWaiver(_said(w), f"no finding has this id; {meant(w.id, ids)}", w.source) for w in lost)


def _waiver(finding: Finding, holding: Sequence[Waiver]) -> Waiver | None:
    """The waiver of a finding; None where any object that it strikes has none."""
    found = [next((w for w in holding if w.covers(finding.id, place)), None) for place in _places(finding)]
    return found[0] if all(w is not None for w in found) else None


def said(headline: str, waived: Sequence[Waived]) -> str:
    """A headline that does not keep silent about what was waived."""
    ids = dict.fromkeys(w.finding.id for w in waived)
    return f"{headline} Waived: {', '.join(ids)}." if ids else headline


def _places(finding: Finding) -> list[tuple[str, ...]]:
    """Everything that a finding strikes, each as it may be spelt: `node/gpu-7`, `gpu-7`, or by what is at fault.

    Of several objects that are at fault themselves each has to be named; a node's pods follow the node.
    """
    kind, _, rest = finding.about.partition("/")
    space, _, name = rest.rpartition("/")
    struck = [f"{space}/{a}" if space and "/" not in a else a for a in finding.affects]
    several = rest in struck or name in finding.affects  # what is at fault is one of them

    def spelt(one: str) -> tuple[str, ...]:
        itself = (one, f"{kind}/{one}", f"{'pod' if '/' in one else 'node'}/{one}")
        at_fault = several and ("/" in one) == bool(space)
        return itself if at_fault else (*itself, finding.about, rest)

    return [spelt(one) for one in struck] or [(finding.about, rest)]


def _spelt(target: TargetRef) -> tuple[str, ...]:
    """What is asked about, as it may be spelt; nothing where that is the whole cluster."""
    name = f"{target.namespace}/{target.name}" if target.namespace else target.name
    return (f"{target.kind.lower()}/{name}", name) if target.name else ()


def _annotated(snapshot: Snapshot) -> Iterator[Waiver | VoidWaiver]:
    seen: Any = None
    for section, kind in _ANNOTATED.items():
        objects: Any = getattr(snapshot, section)
        before, seen = seen, objects
        for each in () if isinstance(objects, Missing) or objects is before else objects:
            text = each.metadata.annotations.get(names.WAIVE)
            if text is not None:
                yield from _of_object(kind, each, text)


def _of_object(kind: str, each: Any, text: str) -> Iterator[Waiver | VoidWaiver]:
    place = f"{kind}/{each.namespace}/{each.name}" if each.namespace else f"{kind}/{each.name}"
    where = f"{each.name}/*" if kind == "namespace" else place
    for line in filter(str.strip, text.splitlines()):
        try:
            yield parse_waiver(line, where, f"annotation of {place}")
        except WaiverError as error:
            yield VoidWaiver(line.strip(), str(error), f"annotation of {place}")


def _said(waiver: Waiver) -> str:
    return f"{waiver.id} at {waiver.where} -- {waiver.reason}"
