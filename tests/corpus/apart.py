"""Two faults in one cluster, each in a place of its own: asked about either, its own cause is the answer.

The second case is moved away: its nodes and namespaces get other names. So that the two stay apart, pods of each case
that have no node yet select the nodes of their own case. Cases that say something of the whole cluster (its policy, its
classes, that nothing is installed) can share it only with a case that says the same.
"""

import re
from typing import Any

from tests.corpus.written import Case
from tests.rules.operator_estate import NAMESPACE, with_operator
from tests.rules.world import PODS

_POOL = "corpus.lockgate.dev/case"
_WIDE = {"node", "operand"}
_NO_NODE = ("discovery/", "autoscaling/")
_SPACES = {"default": "other"}
_SHARED_NAMESPACES = (NAMESPACE, "kube-system", "nvidia-device-plugin")


def together(first: Case, second: Case) -> dict[str, Any] | None:
    """The facts of both, or None where they cannot share a cluster."""
    if not (_is_local(first) and _is_local(second)):
        return None
    return _both(_fenced(_whole(first.facts), "first"), _fenced(moved(_whole(second.facts)), "second"))


def moved(facts: dict[str, Any]) -> dict[str, Any]:
    """The same facts somewhere else: every node, and every namespace that is not the operator's, has another name."""
    nodes = sorted({*facts.get("nodes", {}), *facts.get("files", {}), *facts.get("node_states", {})}, key=len)
    pattern = re.compile("|".join(rf"(?<![\w.]){re.escape(n)}(?![\w.])" for n in reversed(nodes)) or "(?!)")
    return _renamed(facts, pattern)


def moved_ask(ask: str) -> str:
    """The question about the moved case; its namespace moved with it."""
    kind, _, rest = ask.rpartition("/")
    if kind == "namespace":
        return f"{kind}/{_SPACES.get(rest, rest)}"
    return f"other/{kind or 'pod'}/{rest}" if ask.count("/") < 2 else ask.replace("default/", "other/", 1)


def _renamed(value: Any, nodes: re.Pattern[str]) -> Any:
    match value:
        case str():
            return nodes.sub(lambda m: f"far-{m[0]}", re.sub(r"(?<![\w-])default/", "other/", value))
        case dict():
            return {_renamed(k, nodes): _renamed(v, nodes) for k, v in value.items()}
        case list():
            return [_renamed(v, nodes) for v in value]
        case _:
            return value


def _whole(facts: dict[str, Any]) -> dict[str, Any]:
    """Everything spelt out that has a place: an operator's objects, and the node of pods that have one by default."""
    whole = with_operator(facts) if "operator" in facts else dict(facts)
    pods = {name: _placed(dict(pod or {})) for name, pod in whole.get("pods", {}).items()}
    return {**whole, **({"pods": pods} if pods else {})}


def _placed(pod: dict[str, Any]) -> dict[str, Any]:
    node = PODS[pod.get("like", "pending")]["spec"].get("nodeName")
    return _merged({"spec": {"nodeName": node}}, pod) if node else pod


def _fenced(facts: dict[str, Any], pool: str) -> dict[str, Any]:
    """Nodes of this pool, and pods without a node that select it."""
    nodes = {
        name: _merged(node or {}, {"metadata": {"labels": {_POOL: pool}}}) for name, node in facts["nodes"].items()
    }
    pods = {name: _select(name, pod or {}, pool) for name, pod in facts.get("pods", {}).items()}
    return {**facts, "nodes": nodes, **({"pods": pods} if pods else {})}


def _select(name: str, pod: dict[str, Any], pool: str) -> dict[str, Any]:
    placed = pod.get("like", "pending") != "pending" or pod.get("spec", {}).get("nodeName")
    return (
        pod
        if placed or name.startswith(_SHARED_NAMESPACES)
        else _merged(pod, {"spec": {"nodeSelector": {_POOL: pool}}})
    )


def _merged(value: Any, more: Any) -> Any:
    if not (isinstance(value, dict) and isinstance(more, dict)):
        return more
    return {**value, **{k: _merged(value[k], v) if k in value else v for k, v in more.items()}}


def _is_local(case: Case) -> bool:
    """Whether it is asked of a pod or workload, with all sections known, and there are nodes to tell it from.

    That no node has a GPU, or none is free, cannot be said where another case brings one; what is said of a DaemonSet
    is said of both.
    """
    known = bool(case.facts.get("nodes")) and "missing" not in case.facts
    of_all = case.name.startswith(_NO_NODE) or any(e["about"].startswith("ds/") for e in case.facts.get("said", ()))
    return known and not of_all and all(_WIDE.isdisjoint(ask.split("/")) and ask for ask in case.asks)


_OF_ALL = {"daemon_sets", "runtime_classes", "cluster_policies", "device_classes", "storage_classes", "namespaces"}


def _both(one: dict[str, Any], other: dict[str, Any]) -> dict[str, Any] | None:
    both: dict[str, Any] = {}
    for section in {*one, *other}:
        mine, theirs = one.get(section), other.get(section)
        if section in _OF_ALL and mine != theirs:
            return None
        if mine is None or theirs is None:
            both[section] = mine if theirs is None else theirs
        elif isinstance(mine, dict) and isinstance(theirs, dict):
            if any(mine[k] != theirs[k] for k in mine.keys() & theirs.keys()):
                return None
            both[section] = {**mine, **theirs}
        elif isinstance(mine, list) and isinstance(theirs, list):
            both[section] = [*mine, *theirs]
        else:
            return None
    return both
