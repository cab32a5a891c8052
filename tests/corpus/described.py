"""The pods of a case as `kubectl describe pod` prints them, for asking the same question of pasted text.

Columns are aligned as Go's text/tabwriter does it (Init(0, 8, 2, ' ', 0)): a column is as wide as its widest cell in a
run of lines, so that a text with a newline ends the run, as in kubectl. Source: k8s.io/kubectl v0.37 pkg/describe.
"""

from collections.abc import Iterable, Iterator, Mapping
from itertools import chain, takewhile
from typing import Any


def describe(pod: Mapping[str, Any], events: Iterable[Mapping[str, Any]]) -> str:
    """One pod with its events."""
    text = "\n".join(chain(_pod(pod), _events(list(events))))
    return "".join(f"{line}\n" for line in _aligned(text.split("\n")))


def _pod(pod: Mapping[str, Any]) -> Iterator[str]:
    meta, spec, status = pod["metadata"], pod.get("spec", {}), pod.get("status", {})
    yield f"Name:\t{meta['name']}"
    yield f"Namespace:\t{meta.get('namespace', 'default')}"
    if spec.get("runtimeClassName"):
        yield f"Runtime Class Name:\t{spec['runtimeClassName']}"
    yield f"Node:\t{spec['nodeName'] + '/10.0.0.7' if spec.get('nodeName') else '<none>'}"
    yield from _pairs("Labels", meta.get("labels", {}))
    going = "deletionTimestamp" in meta and status.get("phase") not in ("Failed", "Succeeded")
    yield f"Status:\t{'Terminating (lasts 40m)' if going else status.get('phase', '')}"
    for key in ("reason", "message"):
        if status.get(key):
            yield f"{key.capitalize()}:\t{status[key]}"
    yield "IP:\t"
    for owner in meta.get("ownerReferences", ()):
        yield f"Controlled By:\t{owner['kind']}/{owner['name']}"
    for title, of, states in (
        ("Init Containers", "initContainers", "initContainerStatuses"),
        ("Containers", "containers", "containerStatuses"),
    ):
        if spec.get(of):
            yield f"{title}:"
            known = {each["name"]: each for each in status.get(states, ())}
            for container in spec[of]:
                yield from _container(container, known.get(container["name"]))
    yield "Conditions:\n  Type\tStatus"
    yield from (f"  {c['type']} \t{c['status']} " for c in status.get("conditions", ()))
    yield from _volumes(spec.get("volumes", ()))
    yield from _pairs("Node-Selectors", spec.get("nodeSelector", {}))
    yield from _column("Tolerations", [_toleration(t) for t in spec.get("tolerations", ())])


def _container(container: Mapping[str, Any], status: Mapping[str, Any] | None) -> Iterator[str]:
    yield f"  {container['name']}:"
    yield f"    Image:\t{container.get('image', '')}"
    for key in ("command", "args"):
        if container.get(key):
            yield f"    {key.capitalize()}:"
            yield from (f"      {line}" for text in container[key] for line in str(text).split("\n"))
    if status is not None:
        yield from _state("State", status.get("state", {}))
        if status.get("lastState"):
            yield from _state("Last State", status["lastState"])
        yield f"    Ready:\t{bool(status.get('ready'))}"
        yield f"    Restart Count:\t{status.get('restartCount', 0)}"
    for key in ("limits", "requests"):
        if found := container.get("resources", {}).get(key):
            yield f"    {key.capitalize()}:"
            yield from (f"      {name}:\t{amount}" for name, amount in sorted(found.items()))
    yield "    Environment:" if container.get("env") else "    Environment:\t<none>"
    for each in container.get("env", ()):
        yield f"      {each['name']}:\t{each.get('value', '<set by the kubelet>')}"


def _state(title: str, state: Mapping[str, Any]) -> Iterator[str]:
    if ended := state.get("terminated"):
        yield f"    {title}:\tTerminated"
        for key in ("reason", "message"):
            if ended.get(key):
                yield f"      {key.capitalize()}:\t{ended[key]}"
        yield f"      Exit Code:\t{ended.get('exitCode', 0)}"
    elif "running" in state:
        yield f"    {title}:\tRunning"
    else:
        yield f"    {title}:\tWaiting"
        if reason := state.get("waiting", {}).get("reason"):
            yield f"      Reason:\t{reason}"


def _volumes(volumes: Iterable[Mapping[str, Any]]) -> Iterator[str]:
    volumes = list(volumes)
    yield "Volumes:" if volumes else "Volumes:\t<none>"
    for volume in volumes:
        yield f"  {volume['name']}:"
        if claim := volume.get("persistentVolumeClaim"):
            yield f"    ClaimName:\t{claim['claimName']}"


def _pairs(title: str, found: Mapping[str, str]) -> Iterator[str]:
    return _column(title, [f"{key}={value}" for key, value in sorted(found.items())])


def _column(title: str, lines: list[str]) -> Iterator[str]:
    yield f"{title}:\t{lines[0] if lines else '<none>'}"
    yield from (f"\t{line}" for line in lines[1:])


def _toleration(toleration: Mapping[str, Any]) -> str:
    value, effect = toleration.get("value"), toleration.get("effect")
    text = str(toleration.get("key", "")) + (f"={value}" if value else "") + (f":{effect}" if effect else "")
    if toleration.get("operator") == "Exists" and not value:
        text = f"{text} op=Exists".strip()
    seconds = toleration.get("tolerationSeconds")
    return f"{text} for {seconds}s" if seconds else text


def _events(events: list[Mapping[str, Any]]) -> Iterator[str]:
    if not events:
        yield "Events:\t<none>"
        return
    yield "Events:\n  Type\tReason\tAge\tFrom\tMessage"
    yield "  ----\t------\t----\t----\t-------"
    for event in events:
        source = event.get("source", {}).get("component") or event.get("reportingComponent") or "kubelet"
        place = event["involvedObject"].get("fieldPath", "")
        message = (f"{place}: " if place else "") + event.get("message", "").strip()
        yield f"  {event.get('type', 'Warning')}\t{event.get('reason', '')}\t3s (x9 over 2m)\t{source}\t{message}"


def _aligned(lines: list[str]) -> Iterator[str]:
    cells = [line.split("\t") for line in lines]
    for at, row in enumerate(cells):
        yield "".join(cell.ljust(_width(cells, at, column)) for column, cell in enumerate(row[:-1])) + row[-1]


def _width(cells: list[list[str]], at: int, column: int) -> int:
    """Of the widest cell of a column in the run of lines around one that all have it, and the padding."""
    above = takewhile(lambda row: len(row) > column + 1, reversed(cells[:at]))
    below = takewhile(lambda row: len(row) > column + 1, cells[at:])
    return max(len(row[column]) for row in (*above, *below)) + 2
