"""Lists of which a person has a part: what is not in them was not read, and is never taken for absent.

The API server cuts a list at `limit` and says so in its metadata; `kubectl get` goes on to the end, `kubectl get --raw`
and other clients do not. A file that was half written ends within its list. Pods of one namespace say nothing of
themselves; there DaemonSets tell of pods that lack.
"""

from collections.abc import Callable, Mapping
from typing import Any, Final

import msgspec

from lockgate.model.facts import API_SECTIONS, LeftOut, Missing

OnCut = Callable[[str, int], None]
"""Called with the kind of a list that is cut ("" where it is a `List`), and how many more there are (0: not told, TORN:
the file ends in it).
"""
TORN: Final = -1

_PLURALS: Final = {s.section: s.plural for s in API_SECTIONS}


class ListMeta(msgspec.Struct):
    """What a list says of itself: `rest` is the token for what follows."""

    rest: str = msgspec.field(name="continue", default="")
    remaining: int = msgspec.field(name="remainingItemCount", default=0)


def cut(name: str, section: str, more: int) -> Missing:
    """That a list in a file is cut."""
    told = f"its metadata says that {f'{more:,} more follow' if more else 'more follows'}"
    reason = f"{name} holds a part of the list: {'the file ends within it' if more == TORN else told}"
    return Missing(reason, f"kubectl get {_PLURALS[section]} -A -o json")


def without_cut(found: Mapping[str, Any], cuts: Mapping[str, Missing], told: str = "") -> dict[str, Any]:
    """The sections that change where lists are cut: unread, but for events, which tell what they tell.

    Of pods the part stays as `namespace_pods`, of nodes as `some_nodes`: what each of them says holds, what others
    hold is not known. `told` is what the pods come from, where DaemonSets may tell that some lack.
    """
    lacking = _pods_lack(told, found) if told and "pods" not in cuts else None
    cuts = {**cuts, **({"pods": lacking} if lacking else {})}
    kept = (LeftOut(s, cuts[s].reason, cuts[s].how, decides=s == "events") for s in ("pods", "events") if s in cuts)
    unread = {section: missing for section, missing in cuts.items() if section != "events"}
    some = {"some_nodes": found["nodes"]} if "nodes" in cuts else {}
    return {**unread, **some, "left_out": (*found["left_out"], *kept)}


def _pods_lack(name: str, found: Mapping[str, Any]) -> Missing | None:
    """That pods are those of some namespaces alone, by a DaemonSet with ready pods in one of which there is none."""
    pods, sets = found["pods"], found["daemon_sets"]
    if isinstance(pods, Missing) or isinstance(sets, Missing):
        return None
    there = {pod.namespace for pod in pods}
    lacking = next((ds for ds in sets if ds.status.number_ready and ds.namespace not in there), None)
    if lacking is None:
        return None
    reason = (
        f"{name} holds no pod of namespace {lacking.namespace}, where DaemonSet {lacking.name} counts "
        f"{lacking.status.number_ready} ready: it is not of all namespaces"
    )
    return Missing(reason, f"kubectl get {_PLURALS['pods']} -A -o json")
