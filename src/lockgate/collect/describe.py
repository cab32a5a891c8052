"""Text pasted from `kubectl describe pod`: the pod's essentials and its events, as far as the text shows them."""

import datetime as dt
import re
from collections.abc import Iterator

from lockgate.collect.describe_containers import NONE, blocks, containers, inner
from lockgate.collect.describe_events import events_about
from lockgate.collect.describe_lines import whole_lines
from lockgate.collect.errors import InputError
from lockgate.collect.quantities import check_quantities
from lockgate.model.facts import API_SECTIONS, Missing, Snapshot
from lockgate.model.objects import (
    Condition,
    Event,
    Metadata,
    ObjectReference,
    OwnerReference,
    PersistentVolumeClaimSource,
    Pod,
    PodSpec,
    PodStatus,
    Toleration,
    Volume,
)
from lockgate.model.told import Part, ToldPod

_FIELD = re.compile(r"^(?P<key>[A-Z][\w .\-/()]*?):(?:\s+(?P<value>(?s:.*)))?$")
# k8s.io/kubectl v0.37 pkg/describe printTolerationsMultilineWithIndent.
_TOLERATION = re.compile(
    r"^(?P<key>(?:(?!op=\w+(?: |$))[^=:\s]+)?)(?:=(?P<value>[^:\s]*))?(?::(?P<effect>\w+))?"
    r"(?: *\bop=(?P<op>\w+))?(?: for (?P<seconds>-?\d{1,18})s)?$"
)


# A pod that is being deleted: `Terminating (lasts 40m)`. When it should be gone is not told as a moment.
_GOING = "Terminating"
_SOME_TIME = dt.datetime(1970, 1, 1, tzinfo=dt.UTC)


def looks_described(text: str) -> bool:
    """Whether a text begins like `kubectl describe pod`."""
    return re.match(r"\s*Name:[ \t]+\S+\s*\n(?:.*\n){0,12}?(?:Namespace|Priority|Status|Node):", text) is not None


def parse_described(name: str, text: str) -> Snapshot:
    """The pod and the events of a description; everything that it does not show is Missing."""
    fields = dict(sections(text.replace("\r\n", "\n").strip("\n")))
    if "Containers" not in fields:
        raise InputError(f"{name}: looks like kubectl describe, and is no description of a pod (no Containers)")
    pod = _pod(fields)
    check_quantities(name, pod)
    absent = {
        s.section: Missing("a description does not show it", f"kubectl get {s.plural} -A -o json") for s in API_SECTIONS
    }
    found = absent | {"namespace_pods": (pod,), "events": tuple(_events(pod, fields.get("Events", [])))}
    return Snapshot(**found)  # type: ignore[arg-type]


def sections(text: str) -> Iterator[tuple[str, list[str]]]:
    """Each top-level field with its own line's value first and the indented lines below it."""
    key, lines = "", list[str]()
    for line in whole_lines(text):
        field = None if line[:1] in (" ", "\t") else _FIELD.match(line)
        if field is not None:
            if key:
                yield key, lines
            key, lines = field["key"], [field["value"] or ""]
        elif key:
            lines.append(line)
    if key:
        yield key, lines


def first(fields: dict[str, list[str]], key: str) -> str:
    """A field's value on its own line; "" where it is absent or kubectl's word for nothing."""
    value = fields.get(key, [""])[0].strip()
    return "" if value in NONE else value


def _pod(fields: dict[str, list[str]]) -> Pod:
    own, statuses = containers(fields["Containers"])
    init, init_statuses = containers(fields.get("Init Containers", []))
    kind, _, owner = first(fields, "Controlled By").partition("/")
    phase = first(fields, "Status").partition(" ")[0]
    return ToldPod(
        metadata=Metadata(
            name=first(fields, "Name"),
            namespace=first(fields, "Namespace") or "default",
            deletion_timestamp=_SOME_TIME if phase == _GOING else None,
            labels=dict(pairs(fields.get("Labels", []))),
            owner_references=(OwnerReference(kind=kind, name=owner, controller=True),) if owner else (),
        ),
        spec=PodSpec(
            node_name=first(fields, "Node").partition("/")[0],
            runtime_class_name=first(fields, "Runtime Class Name") or None,
            node_selector=dict(pairs(fields.get("Node-Selectors", []))),
            tolerations=tuple(_tolerations(fields.get("Tolerations", []))),
            containers=own,
            init_containers=init,
            volumes=tuple(_volumes(fields.get("Volumes", []))),
        ),
        status=PodStatus(
            phase="" if phase == _GOING else phase,
            reason=first(fields, "Reason"),
            message=first(fields, "Message"),
            conditions=tuple(_conditions(fields.get("Conditions", []))),
            container_statuses=statuses,
            init_container_statuses=init_statuses,
        ),
        # Older kubectls leave the line out, newer ones write it where there is a class.
        unseen=(Part.HOST_USERS, Part.FINALIZERS, *(() if "Runtime Class Name" in fields else (Part.RUNTIME_CLASS,))),
    )


def pairs(lines: list[str]) -> Iterator[tuple[str, str]]:
    """The `key=value` of a field's lines."""
    for line in (line.strip() for line in lines):
        key, equals, value = line.partition("=")
        if equals and line not in NONE:
            yield key, value


def _tolerations(lines: list[str]) -> Iterator[Toleration]:
    """`key=value:Effect`, `key:Effect op=Exists`, `:Effect op=Exists` or `op=Exists` for any, with `for 300s` behind.

    Only newer kubectls write ` op=Exists`; of one that never does, a key without a value may mean that.
    """
    found = [match for line in lines if line.strip() not in NONE and (match := _TOLERATION.match(line.strip()))]
    says_exists = any(match["op"] for match in found)
    for match in found:
        exists = "" if says_exists or match["value"] else "Exists"
        yield Toleration(
            key=match["key"],
            operator=match["op"] or exists or "Equal",
            value=match["value"] or "",
            effect=match["effect"] or "",
            toleration_seconds=int(match["seconds"]) if match["seconds"] else None,
        )


def _volumes(lines: list[str]) -> Iterator[Volume]:
    """Of the volumes only the claims matter."""
    for name, own in blocks(lines[1:]):
        if claim := inner(own, "ClaimName"):
            yield Volume(name=name, persistent_volume_claim=PersistentVolumeClaimSource(claim_name=claim))


def _conditions(lines: list[str]) -> Iterator[Condition]:
    for line in lines:
        words = line.split()
        if len(words) == 2 and words[1] in ("True", "False", "Unknown"):
            yield Condition(type=words[0], status=words[1])


def _events(pod: Pod, lines: list[str]) -> Iterator[Event]:
    return events_about(ObjectReference(kind="Pod", namespace=pod.namespace, name=pod.name), lines)
