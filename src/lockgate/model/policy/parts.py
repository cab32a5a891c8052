"""What the sections of a ClusterPolicy share: image, environment, resources, service monitor.

The Structs are the interface: `deploy/crds` is generated from them. A field whose default is `None`, empty text or an
empty collection has no default in the schema either; any other default is written into it, as NVIDIA's does.
"""

from typing import Annotated, Any, ClassVar

from msgspec import Meta

from lockgate.model.objects import Object

Quantity = Annotated[
    int | str,
    Meta(
        extra_json_schema={
            "pattern": r"^(\+|-)?(([0-9]+(\.[0-9]*)?)|(\.[0-9]+))"
            r"(([KMGTPE]i)|[numkMGTPE]|([eE](\+|-)?(([0-9]+(\.[0-9]*)?)|(\.[0-9]+))))?$"
        }
    ),
]
Duration = Annotated[
    str,
    Meta(
        pattern=r"^(0|(([0-9]+)y)?(([0-9]+)w)?(([0-9]+)d)?(([0-9]+)h)?(([0-9]+)m)?(([0-9]+)s)?(([0-9]+)ms)?)$",
    ),
]
Name = Annotated[str, Meta(pattern=r"[a-zA-Z0-9\-]+")]
Int32 = Annotated[int, Meta(extra_json_schema={"format": "int32"})]
Uint64 = Annotated[int, Meta(ge=0, extra_json_schema={"format": "int64"})]
Int64 = Annotated[int, Meta(extra_json_schema={"format": "int64"})]
Free = Annotated[dict[str, Any], Meta(extra_json_schema={"x-kubernetes-preserve-unknown-fields": True})]


_ACTIONS = (
    *("replace", "Replace", "keep", "Keep", "drop", "Drop", "hashmod", "HashMod", "labelmap", "LabelMap"),
    *("labeldrop", "LabelDrop", "labelkeep", "LabelKeep", "lowercase", "Lowercase", "uppercase", "Uppercase"),
    *("keepequal", "KeepEqual", "dropequal", "DropEqual"),
)


class EnvVar(Object, frozen=True):
    """A plain environment variable; `valueFrom` is not part of the interface."""

    name: Annotated[str, Meta(description="Name of the environment variable", extra={"required": True})] = ""
    value: Annotated[str, Meta(description="Value of the environment variable")] = ""


class ResourceRequirements(Object, frozen=True):
    """CPU, memory and other resources of each container of the operand."""

    limits: Annotated[dict[str, Quantity], Meta(description="The most that a container may use")] = {}
    requests: Annotated[dict[str, Quantity], Meta(description="What the scheduler reserves for a container")] = {}


class Image(Object, frozen=True):
    """Where an image comes from; all of repository, image and version, or `image` alone as a full path, or nothing."""

    repository: Annotated[str, Meta(description="Registry and path of the image")] = ""
    image: Annotated[Name, Meta(description="Name of the image, or its full path when the others are not set")] = ""
    version: Annotated[str, Meta(description="Tag of the image, or its digest (`sha256:...`)")] = ""
    image_pull_policy: Annotated[str, Meta(description="Always, Never or IfNotPresent (which is the default)")] = ""
    image_pull_secrets: Annotated[
        tuple[str, ...], Meta(description="Names of the Secrets that pull the image, in the operator's namespace")
    ] = ()


class DriverManager(Image, frozen=True):
    """The driver manager, which makes a node ready for the driver to be loaded or unloaded."""

    env: Annotated[tuple[EnvVar, ...], Meta(description="Environment variables of the driver manager")] = ()


class Program(Image, frozen=True):
    """An image with arguments and environment."""

    args: Annotated[tuple[str, ...], Meta(description="Arguments, in place of the component's own")] = ()
    env: Annotated[tuple[EnvVar, ...], Meta(description="Environment variables; they win over the operator's")] = ()


class Sidecar(Program, frozen=True):
    """What every component has: whether it runs, from which image, with which arguments and environment."""

    ON_BY_DEFAULT: ClassVar[bool] = False

    enabled: Annotated[bool | None, Meta(description="Whether this component is deployed")] = None

    @property
    def on(self) -> bool:
        """Whether the component runs: what the policy says, else the default of NVIDIA's getter."""
        return self.ON_BY_DEFAULT if self.enabled is None else self.enabled


class Component(Sidecar, frozen=True):
    """A component with pods of its own."""

    resources: Annotated[ResourceRequirements, Meta(description="Resources of the component's containers")] = (
        ResourceRequirements()
    )
    host_network: Annotated[bool | None, Meta(description="Whether the pods use the node's network")] = None


class Ref(Object, frozen=True):
    """A ConfigMap or Secret in the operator's namespace."""

    name: Annotated[str, Meta(description="Name of the object")] = ""


class Switch(Object, frozen=True):
    enabled: Annotated[bool | None, Meta(description="Whether this is switched on")] = None


class Relabeling(Object, frozen=True):
    """A relabelling step of a ServiceMonitor (monitoring.coreos.com)."""

    action: Annotated[
        str, Meta(description="What to do when the expression matches", extra_json_schema={"enum": _ACTIONS})
    ] = "replace"
    modulus: Annotated[Uint64 | None, Meta(description="Modulus of the hash")] = None
    regex: Annotated[str, Meta(description="Expression that is matched")] = ""
    replacement: Annotated[str, Meta(description="What a match is replaced by")] = ""
    separator: Annotated[str, Meta(description="Text between the values of the source labels")] = ""
    source_labels: Annotated[tuple[str, ...], Meta(description="Labels whose values are joined and matched")] = ()
    target_label: Annotated[str, Meta(description="Label that is written")] = ""


class ServiceMonitor(Object, frozen=True):
    """A Prometheus operator's ServiceMonitor."""

    enabled: Annotated[bool | None, Meta(description="Whether a ServiceMonitor is made")] = None
    interval: Annotated[Duration, Meta(description="Time between two scrapes")] = ""
    scrape_timeout: Annotated[Duration, Meta(description="Time after which a scrape fails")] = ""
    honor_labels: Annotated[bool | None, Meta(description="Whether the target's labels win over Prometheus'")] = None
    additional_labels: Annotated[dict[str, str], Meta(description="Labels of the ServiceMonitor")] = {}
    relabelings: Annotated[tuple[Relabeling, ...], Meta(description="Relabelling steps before a scrape")] = ()
