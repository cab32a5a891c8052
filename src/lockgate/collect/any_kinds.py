"""Objects of any kinds, out of one file or of several, as facts: what is not among them is Missing."""

from collections.abc import Iterable
from typing import Any

from lockgate.collect.custom_owner import parse_owner
from lockgate.collect.cut_lists import TORN, without_cut
from lockgate.collect.decode import existing, untyped
from lockgate.collect.event_sieve import in_zone
from lockgate.collect.event_table import told_by
from lockgate.collect.folder import latest_moment
from lockgate.collect.taken import Taken
from lockgate.model.facts import API_SECTIONS, BY_KIND, Events, Missing, Snapshot
from lockgate.model.objects import Workload


class AnyKinds:
    """`name` is what the objects come from, `asked` what is asked about; `once`: an object may be in several files."""

    def __init__(self, name: str, asked: str = "", *, once: bool = False) -> None:
        self._name, self._taken = name, Taken(name, asked)
        self._owners: list[Workload] = []
        self._unknown: set[str] = set()
        self._known: set[tuple[str, str, str]] | None = set() if once else None
        self._is_whole = self._is_torn = False

    def add(self, name: str, objects: Iterable[tuple[str, bytes]]) -> None:
        """Take the objects of a file, by kind and JSON; raises InputError where one is broken."""
        namespaces, sections = set[str](), set[str]()
        self._is_torn = False
        for kind, raw in objects:
            if kind not in BY_KIND:
                self._unknown.add(kind or "object without a kind")
                self._owners += _owner(name, raw)
                continue
            section, value = BY_KIND[kind], existing(name, raw, BY_KIND[kind])
            if kind == "Pod":
                namespaces.add(value.namespace)
            sections.add(section.section)
            if self._is_new(kind, value):
                self._taken.add(section.section, [value])
        # One pod, or one namespace's pods: what other pods hold on the nodes is not known.
        self._is_whole |= len(namespaces) > 1
        for each in sections if self._is_torn else ():
            self._taken.note_cut(each, name, TORN)

    def note_cut(self, name: str, kind: str, more: int) -> None:
        """Remember that the list in a file goes on elsewhere; of any kinds, where it is one of several and torn."""
        self._is_torn |= more == TORN
        if section := BY_KIND.get(kind):
            self._taken.note_cut(section.section, name, more)

    def __bool__(self) -> bool:
        return bool(self._taken or self._owners)

    @property
    def unknown(self) -> str:
        """The kinds that none of the facts is made of."""
        return ", ".join(sorted(self._unknown)) if self._unknown else "an empty list"

    @property
    def facts(self) -> Snapshot:
        """All that was taken."""
        sections = self._taken.sections
        found: dict[str, Any] = {**sections, "left_out": self._taken.left_out}
        found |= {"custom_owners": tuple(self._owners)} if self._owners else {}
        for section in API_SECTIONS:
            absent = Missing(f"not in {self._name}", f"kubectl get {section.plural} -A -o json")
            found.setdefault(section.section, absent)
        found["namespace_pods"] = found["pods"]
        if "pods" in sections and not self._is_whole:
            reason = f"{self._name} may not hold the pods of all namespaces"
            found["pods"] = Missing(reason, "kubectl get pods -A -o json")
        found |= without_cut(found, self._taken.cuts, self._name)
        if set(sections) == {"events"}:
            found |= _told_by(sections["events"])
        found["taken_at"] = latest_moment(found)
        return Snapshot(**found)

    def _is_new(self, kind: str, value: Any) -> bool:
        if self._known is None or kind == "Event":
            return True
        place = (kind, value.namespace, value.name)
        is_new = place not in self._known
        self._known.add(place)
        return is_new


def _owner(name: str, raw: bytes) -> list[Workload]:
    """An object of another kind counts where a pod template lies in it."""
    owner = parse_owner(name, untyped(name, raw))
    return [owner] if owner.spec.template.spec.containers else []


def _told_by(events: Events) -> dict[str, Any]:
    """What a list of events alone tells of the objects that they are about."""
    told = told_by(tuple(sorted(events, key=lambda event: in_zone(event.last_seen))))
    about = {"namespace_pods": told.namespace_pods} | {s.section: getattr(told, s.section) for s in API_SECTIONS}
    return {name: each for name, each in about.items() if not isinstance(each, Missing)}
