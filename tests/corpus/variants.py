"""The same facts told otherwise: with noise around them, by another release of Kubernetes, or not in full.

A variant changes the objects as an API server gives them (or the files beside them); the answer must stay what it was.
Where a variant takes facts away, saying less, or that it is not known, is right as well.
"""

import copy
import datetime as dt
import random
import re
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from typing import Any

import msgspec

from lockgate.model.facts import Snapshot
from tests.corpus.folder import through_folder
from tests.rules.world import beside, objects, snapshot_of

Objects = dict[str, list[dict[str, Any]]]
_NOW = dt.datetime(2026, 11, 29, 12, tzinfo=dt.UTC)


class World(msgspec.Struct):
    """The objects of a case by section, and what it gives beside them."""

    objects: Objects
    beside: dict[str, Any]


Change = Callable[[World, random.Random], bool]  # False: it does not apply


class Variant(msgspec.Struct, frozen=True):
    """Changes of a world by name, how it is read then, and whether they take facts away from it."""

    changes: Callable[[World], Mapping[str, Change]]
    read: Callable[[World], Snapshot] = lambda world: snapshot_of(world.objects, world.beside)
    takes_away: Callable[[World], bool] = lambda _world: False


def _always(_world: World) -> bool:
    return True


def _one(change: Change) -> Callable[[World], Mapping[str, Change]]:
    return lambda _world: {"": change}


def world(facts: dict[str, Any]) -> World:
    """The world that a case describes; it may be changed."""
    return World(objects(facts), copy.deepcopy(beside(facts)))


# --- noise

_CHATTER = (
    ("Normal", "Scheduled", "Successfully assigned web/{name} to cpu-1"),
    ("Normal", "Pulled", 'Container image "web:1" already present on machine'),
    ("Normal", "Killing", "Stopping container main"),
    ("Warning", "Unhealthy", "Readiness probe failed: HTTP probe failed with statuscode: 503"),
    ("Warning", "BackOff", "Back-off restarting failed container main in pod {name}_web"),
    ("Warning", "FailedScheduling", "0/3 nodes are available: 3 Insufficient cpu."),
    ("Warning", "FailedMount", 'MountVolume.SetUp failed for volume "config" : configmap "web" not found'),
    ("Warning", "Failed", 'Failed to pull image "web:2": rpc error: code = NotFound desc = web:2: not found'),
    ("Warning", "FailedCreatePodSandBox", "Failed to create pod sandbox: rpc error: code = DeadlineExceeded"),
    ("Warning", "Evicted", "The node was low on resource: ephemeral-storage."),
)


def _noise(world: World, dice: random.Random) -> bool:
    """Two hundred events about other pods, as a busy namespace has them, and those pods."""
    for number in range(200):
        kind, reason, text = dice.choice(_CHATTER)
        name = f"web-{number % 40}"
        world.objects["events"].append(
            {
                "metadata": {"name": f"{name}.{dice.getrandbits(40):x}", "namespace": "web"},
                "type": kind,
                "reason": reason,
                "message": text.format(name=name),
                "involvedObject": {"kind": "Pod", "namespace": "web", "name": name},
                "lastTimestamp": (_NOW - dt.timedelta(seconds=dice.randrange(86400))).isoformat(),
                "count": dice.randrange(1, 900),
            }
        )
    dice.shuffle(world.objects["events"])
    for number in range(40):
        spec = {"containers": [{"name": "main", "image": "web:1"}], "nodeName": "cpu-1"}
        pod = {"metadata": {"name": f"web-{number}", "namespace": "web"}, "spec": spec, "status": {"phase": "Running"}}
        world.objects["pods"].insert(dice.randrange(len(world.objects["pods"]) + 1), pod)
    return True


# --- another API for events


def _events_k8s_io(world: World, _dice: random.Random) -> bool:
    """The same events as `events.k8s.io/v1` gives them."""
    world.objects["events"] = [_event_k8s_io(event) for event in world.objects["events"]]
    return bool(world.objects["events"])


def _event_k8s_io(event: dict[str, Any]) -> dict[str, Any]:
    names = {
        "involvedObject": "regarding",
        "message": "note",
        "count": "deprecatedCount",
        "firstTimestamp": "deprecatedFirstTimestamp",
        "lastTimestamp": "deprecatedLastTimestamp",
        "source": "deprecatedSource",
    }
    return {names.get(key, key): value for key, value in event.items()} | {"eventTime": None}


# --- other releases

_NEW_IN_PODS = ("schedulingGates", "resourceClaims")
_NEW_IN_STATUS = ("allocatedResources", "resources", "observedGeneration", "resourceClaimStatuses")
# What a release writes where another one writes something else, old and new (pkg/kubelet, pkg/scheduler).
_TEXTS = (
    ("Pod Allocate failed", "Pod was rejected: Allocate failed"),
    ("preemption: 0/", "no new claims to deallocate, preemption: 0/"),
)
_TAINT = re.compile(r"untolerated taint \{[^}]*\}")


def _release_1_25(world: World, _dice: random.Random) -> bool:
    """Objects without the fields that came later, and the words of that time."""
    for pod in world.objects["pods"]:
        if any(key in pod.get("spec", {}) for key in _NEW_IN_PODS):
            return False  # there was no such thing
        _without(pod.get("status", {}), _NEW_IN_STATUS)
        for status in pod.get("status", {}).get("containerStatuses", ()):
            _without(status, _NEW_IN_STATUS)
    for node in world.objects["nodes"]:
        _without(node.get("status", {}), ("runtimeHandlers", "features", "declaredFeatures"))
        info = node.setdefault("status", {}).setdefault("nodeInfo", {})
        info["kubeletVersion"] = "v1.25.16" + re.sub(r"^v[\d.]+", "", info.get("kubeletVersion", ""))
    _reword(world, [(re.compile(re.escape(new)), old) for old, new in _TEXTS])
    return True


def _release_1_37(world: World, _dice: random.Random) -> bool:
    """The words of 1.37: refusals have a prefix, the scheduler speaks of claims and no longer of a taint's value."""
    _reword(world, [(re.compile(f"(?<!deallocate, )(?<!rejected: ){re.escape(old)}"), new) for old, new in _TEXTS])
    _reword(world, [(_TAINT, "untolerated taint(s)")])
    return True


def _hides_taints(world: World) -> bool:
    """Whether the scheduler's words alone named a taint: a control plane's is told from a GPU node's by its key."""
    return "nodes" in world.beside.get("missing", ()) and any(_TAINT.search(t["message"]) for t in messages(world))


def _without(value: dict[str, Any], keys: tuple[str, ...]) -> None:
    for key in keys:
        value.pop(key, None)


def _reword(world: World, texts: list[tuple[re.Pattern[str], str]]) -> None:
    for text in messages(world):
        for pattern, other in texts:
            text["message"] = pattern.sub(other, text["message"])


def messages(world: World) -> Iterator[dict[str, Any]]:
    """Everything that the scheduler or a kubelet worded."""
    yield from (e for e in world.objects["events"] if "message" in e)
    for pod in world.objects["pods"]:
        status = pod.get("status", {})
        yield from (s for s in (status, *status.get("conditions", ())) if "message" in s)


# --- less

_MAY_LACK = (
    "logs",
    "node_files",
    "events",
    "daemon_sets",
    "config_maps",
    "cluster_policies",
    "node_states",
    "runtime_classes",
    "resource_quotas",
    "pods",
    "nodes",
)


def _each_section_missing(world: World) -> Mapping[str, Change]:
    """Of the sections that have something to say each in turn may not be read."""
    told = [s for s in _MAY_LACK if world.objects.get(s) or world.beside.get({"node_files": "files"}.get(s, s))]
    return {section.replace("_", " "): partial(_without_section, section) for section in told}


def _without_section(section: str, world: World, _dice: random.Random) -> bool:
    world.beside["missing"] = [*world.beside.get("missing", ()), section]
    return True


def _unchanged(_world: World, _dice: random.Random) -> bool:
    return True


VARIANTS: dict[str, Variant] = {
    "200 unrelated events": Variant(_one(_noise)),
    "events.k8s.io": Variant(_one(_events_k8s_io)),
    "Kubernetes 1.25": Variant(_one(_release_1_25), takes_away=_always),
    "Kubernetes 1.37": Variant(_one(_release_1_37), takes_away=_hides_taints),
    "an input folder": Variant(_one(_unchanged), read=lambda world: through_folder(world.objects, world.beside)),
    "one section missing": Variant(_each_section_missing, takes_away=_always),
}
