"""Kubernetes manifests as the rules see them: objects, and every pod template in them, whatever kind it belongs to."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Final

from lockgate.kit.quantity import parse_quantity
from lockgate.lint.cluster_facts import ClusterFacts
from lockgate.lint.rule import Mark
from lockgate.lint.yaml_items import Item, YamlError, documents
from lockgate.model import objects as model
from lockgate.model.names import is_gpu_resource
from lockgate.scheduling.requests import spec_requests

_SCHEMAS: Final = "CustomResourceDefinition"
_LISTS: Final = ("containers", "initContainers")
_ALWAYS: Final = "Always"


@dataclass(frozen=True, slots=True, eq=False)
class Container:
    """A container of a pod template; `sidecar` is an init container that goes on running."""

    item: Item
    file: str
    name: str
    init: bool
    sidecar: bool

    def resources(self, part: str) -> Iterator[tuple[str, Item]]:
        """The GPU resources in `limits` or `requests`, by name."""
        found = self.item.get("resources", part)
        yield from ((name, item) for name, item in (found.pairs() if found else ()) if is_gpu_resource(name))

    @property
    def gpus(self) -> dict[str, int]:
        """How many GPUs it gets, by resource name; amounts that are none are left out."""
        asked = {**dict(self.resources("requests")), **dict(self.resources("limits"))}
        return {name: count for name, item in asked.items() if (count := amount_of(item))}

    @property
    def is_whole(self) -> bool:
        """Whether it is no patch of another file, which says only what differs."""
        return bool(self.item.text("image"))

    @property
    def asks(self) -> bool:
        """Whether it names a GPU resource, whatever the amount."""
        return any(True for part in ("limits", "requests") for _ in self.resources(part))

    def env(self, name: str) -> Item | None:
        """The entry of an environment variable."""
        return next((entry for entry in self.item.items("env") if entry.text("name") == name), None)


@dataclass(frozen=True, eq=False)
class PodTemplate:
    """A pod's spec in an object: a Pod itself, or the template of a workload of any kind."""

    document: "Document"
    spec: Item
    number: int

    @cached_property
    def containers(self) -> tuple[Container, ...]:
        """Init containers first."""
        parts = [(part, item) for part in reversed(_LISTS) for item in self.spec.items(part)]
        return tuple(
            Container(item, self.document.file, item.text("name"), part == "initContainers", _is_sidecar(part, item))
            for part, item in parts
        )

    @property
    def gpus(self) -> dict[str, int]:
        """What the scheduler counts, by resource: the most of all containers together and of any init container."""
        return requests_of(self.containers)

    @property
    def asks(self) -> bool:
        """Whether it asks for a GPU in any way, by claims too; an amount that cannot be read asks all the same."""
        return any(container.asks for container in self.containers) or bool(self.spec.items("resourceClaims"))

    @property
    def is_operand(self) -> bool:
        """Whether it belongs beside every user of a node: such pods reach devices without asking for one."""
        owners = self.document.item.items("metadata", "ownerReferences")
        return "DaemonSet" in (self.document.kind, *(owner.text("kind") for owner in owners))

    def mark(self, item: Item, note: str = "", needle: str = "") -> Mark:
        """The line of a value."""
        return Mark(self.document.file, item.line, note, needle)

    @property
    def name(self) -> str:
        """As it is named in messages: `Deployment infer`."""
        return f"{self.document.kind} {self.document.name}".strip()

    def key(self, *parts: str) -> str:
        """What tells a problem of this pod from others, while lines move."""
        which = [str(self.number)] if self.number else []
        namespace = self.document.item.text("metadata", "namespace")
        return "/".join([self.document.kind, namespace, self.document.name, *which, *parts])


@dataclass(frozen=True, slots=True, eq=False)
class Document:
    """One object of a manifest. `live`: it has been in a cluster, so the scheduler and others have written into it."""

    file: str
    item: Item

    @property
    def kind(self) -> str:
        return self.item.text("kind")

    @property
    def name(self) -> str:
        return self.item.text("metadata", "name") or self.item.text("metadata", "generateName")

    @property
    def live(self) -> bool:
        return self.item.get("metadata", "uid") is not None or self.item.get("status", "phase") is not None

    def templates(self) -> Iterator[PodTemplate]:
        """Every pod template, found by its shape: custom kinds have them in places of their own."""
        found = () if self.kind == _SCHEMAS else _pod_specs(self.item)
        for number, spec in enumerate(found):
            yield PodTemplate(self, spec, number)

    def mark(self, item: Item, note: str = "", needle: str = "") -> Mark:
        """The line of a value."""
        return Mark(self.file, item.line, note, needle)


@dataclass(frozen=True, eq=False)
class Manifests:
    """Files read as manifests. `first_object` is the number of the first, where others of the file are left out;
    `cluster` is what they are judged against, where that is known.
    """

    texts: Mapping[str, str]
    first_object: int = 0
    cluster: ClusterFacts | None = None

    @cached_property
    def read(self) -> tuple[tuple[Document, ...], dict[str, str]]:
        """The objects, those of Lists one by one, and why a file cannot be read, by file."""
        found: list[Document] = []
        troubles: dict[str, str] = {}
        for path in sorted(self.texts):
            try:
                for item in documents(self.texts[path]):
                    found += [Document(path, one) for one in _objects(item)]
            except YamlError as error:
                troubles[path] = str(error)
        return tuple(found), troubles

    @property
    def documents(self) -> tuple[Document, ...]:
        return self.read[0]

    @cached_property
    def templates(self) -> tuple[PodTemplate, ...]:
        return tuple(template for document in self.documents for template in document.templates())

    def leaves(self) -> Iterator[tuple[tuple[str, ...], object]]:
        """Every value with its path: file, number of the object, keys; an empty mapping is as good as none."""
        for number, document in enumerate(self.documents, self.first_object):
            for path, value in document.item.leaves((document.file, str(number))):
                if value is not None:
                    yield path, value

    def place_of(self, item: Item, *below: str) -> tuple[str, ...]:
        """The path of a value in `leaves`, and some keys below it: what an edit there means to change."""
        for number, document in enumerate(self.documents, self.first_object):
            found = document.item.path_of(item)
            if found is not None:
                return (document.file, str(number), *found, *below)
        raise LookupError("the value is of another subject")

    def of_kind(self, kind: str) -> Iterator[Document]:
        """The objects of a kind."""
        return (document for document in self.documents if document.kind == kind)


def amount_of(item: Item) -> int:
    """A whole number of devices; 0 for what is none."""
    try:
        amount = parse_quantity(item.text())
    except ValueError:
        return 0
    return int(amount) if amount > 0 and amount == amount.to_integral_value() else 0


def is_filled_in_later(item: Item) -> bool:
    """Whether a value is a template's: `{{ .Values.gpus }}`, `$(GPUS)`, `${GPUS}`."""
    return "{{" in item.text() or "$" in item.text()


def requests_of(containers: tuple[Container, ...]) -> dict[str, int]:
    """What a pod of these containers holds of each GPU resource for its whole life, as the scheduler counts it."""
    parts = [(c.init, _counted(c)) for c in containers]
    spec = model.PodSpec(
        containers=tuple(each for init, each in parts if not init),
        init_containers=tuple(each for init, each in parts if init),
    )
    return dict(spec_requests(spec))


def _counted(container: Container) -> model.Container:
    asked = model.ResourceRequirements(requests=dict(container.gpus))
    return model.Container(resources=asked, restart_policy=_ALWAYS if container.sidecar else "")


def _objects(item: Item) -> Iterator[Item]:
    """An object, or those of a List; what is no object is nothing to judge."""
    if item.text("kind").endswith("List") and (found := item.get("items")) is not None:
        for one in found.each():
            yield from _objects(one)
    elif item.text("apiVersion") and item.text("kind"):
        yield item


def _pod_specs(item: Item) -> Iterator[Item]:
    """Each pod's spec, wherever it stands: under `template.spec`, or under `predictor` of an InferenceService."""
    if _is_pod_spec(item):
        yield item
        return
    for child in (*(item.mapping or {}).values(), *item.each()):
        yield from _pod_specs(child)


def _is_pod_spec(spec: Item) -> bool:
    found = spec.get("containers")
    return (
        found is not None and bool(found.each()) and all(c.mapping is not None and c.text("name") for c in found.each())
    )


def _is_sidecar(part: str, item: Item) -> bool:
    return part == "initContainers" and item.text("restartPolicy") == _ALWAYS
