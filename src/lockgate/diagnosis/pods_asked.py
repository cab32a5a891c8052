"""The pods that are asked about by their namespace or labels, and why they cannot be told."""

from lockgate.diagnosis.target import Target, TargetMissingError, UnreadTargetError
from lockgate.kit.near import did_you_mean, near
from lockgate.model.facts import Missing, Pods, Snapshot
from lockgate.model.label_query import parse_query


def check_pods(snapshot: Snapshot, text: str, namespace: str) -> None:
    """Raises UnreadTargetError where no list of the pods that are asked about could be read."""
    lists = (snapshot.namespace_pods, snapshot.pods) if namespace else (snapshot.pods,)
    unread = [pods for pods in lists if isinstance(pods, Missing)]
    if len(unread) == len(lists):
        told = next((pods for pods in unread if pods.refused), unread[-1])
        raise UnreadTargetError(f"{text} cannot be looked up: pods: {told.text}")


def pods_of(snapshot: Snapshot, target: Target) -> Pods:
    """The pods of a namespace, or those with the labels that are asked for."""
    if target.kind == "Namespace":
        return tuple(p for p in snapshot.known_pods if p.namespace == target.name)
    fits = parse_query(target.name)
    return tuple(p for p in snapshot.known_pods if target.namespace in ("", p.namespace) and fits(p.metadata.labels))


def check_namespace(snapshot: Snapshot, name: str) -> None:
    """Raises TargetMissingError where a namespace is not there, UnreadTargetError where that is not known."""
    listed = snapshot.namespaces
    named = () if isinstance(listed, Missing) else (n.name for n in listed)
    spaces = {*named, *(p.namespace for p in snapshot.known_pods)}
    if name in spaces:
        return
    meant = near(name, spaces)
    if isinstance(listed, Missing):
        why = f"no pod of it is known, and namespaces: {listed.text}{did_you_mean(meant)}"
        raise UnreadTargetError(f"namespace/{name} cannot be looked up: {why}", meant)
    raise TargetMissingError(f"namespace/{name} is not there{did_you_mean(meant)}", meant)
