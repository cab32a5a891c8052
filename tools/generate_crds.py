"""CustomResourceDefinitions, from the types that read them: `deploy/crds/*.yaml`, and the chart's copies."""

from collections.abc import Callable
from typing import Any

import msgspec
import msgspec.inspect as look
import yaml

from lockgate.model.node_state import NodeStateStatus
from lockgate.model.policy import PolicySpec

FOLDERS = ("deploy/crds", "deploy/chart/crds")
Schema = dict[str, Any]
_CONDITION: Schema = {
    "type": "object",
    "description": "One thing that holds or does not hold (metav1.Condition)",
    "required": ["lastTransitionTime", "message", "reason", "status", "type"],
    "properties": {
        "lastTransitionTime": {"type": "string", "format": "date-time"},
        "message": {"type": "string", "maxLength": 32768},
        "observedGeneration": {"type": "integer", "format": "int64", "minimum": 0},
        "reason": {
            "type": "string",
            "minLength": 1,
            "maxLength": 1024,
            "pattern": "^[A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_])?$",
        },
        "status": {"type": "string", "enum": ["True", "False", "Unknown"]},
        "type": {
            "type": "string",
            "maxLength": 316,
            "pattern": r"^([a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*/)?"
            r"(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])$",
        },
    },
}
_POLICY_STATUS: Schema = {
    "type": "object",
    "description": "What became of the policy",
    "required": ["state"],
    "properties": {
        "state": {
            "type": "string",
            "enum": ["ignored", "ready", "notReady"],
            "description": "ready when each operand that should run does run on each node that should have it",
        },
        "namespace": {"type": "string", "description": "Namespace of the operator"},
        "conditions": {
            "type": "array",
            "items": _CONDITION,
            "x-kubernetes-list-type": "map",
            "x-kubernetes-list-map-keys": ["type"],
        },
    },
}


def generated() -> dict[str, str]:
    """Path -> YAML of each CustomResourceDefinition."""
    texts = {
        "nvidia.com_clusterpolicies.yaml": _text(cluster_policy()),
        "lockgate.dev_gpunodestates.yaml": _text(gpu_node_state()),
    }
    return {f"{folder}/{name}": text for folder in FOLDERS for name, text in texts.items()}


def cluster_policy() -> Schema:
    """NVIDIA's ClusterPolicy, `nvidia.com/v1`."""
    version = {
        "name": "v1",
        "served": True,
        "storage": True,
        "subresources": {"status": {}},
        "additionalPrinterColumns": [
            {"name": "Status", "type": "string", "jsonPath": ".status.state"},
            {
                "name": "Reason",
                "type": "string",
                "jsonPath": '.status.conditions[?(@.type=="Ready")].message',
                "priority": 1,
            },
            {"name": "Age", "type": "string", "jsonPath": ".metadata.creationTimestamp"},
        ],
        "schema": {
            "openAPIV3Schema": _root(
                "What turns machines with NVIDIA GPUs into nodes that run GPU pods",
                spec=schema_of(look.type_info(PolicySpec)),
                status=_POLICY_STATUS,
            )
        },
    }
    return _definition("nvidia.com", "ClusterPolicy", "clusterpolicies", "clusterpolicy", version)


def gpu_node_state() -> Schema:
    """Lockgate's GPUNodeState. No status subresource: its whole body is written by the node's agents."""
    version = {
        "name": "v1alpha1",
        "served": True,
        "storage": True,
        "additionalPrinterColumns": [
            {"name": "Runtime", "type": "string", "jsonPath": ".status.runtime.release"},
            {"name": "Phase", "type": "string", "jsonPath": ".status.runtime.phase"},
            {"name": "Driver", "type": "string", "jsonPath": ".status.driver.version"},
            {"name": "Registered", "type": "boolean", "jsonPath": ".status.devices.registered"},
            {"name": "Age", "type": "date", "jsonPath": ".metadata.creationTimestamp"},
        ],
        "schema": {
            "openAPIV3Schema": _root(
                "What a node's agents know of its runtime, devices and driver; written only when it changes",
                status=schema_of(look.type_info(NodeStateStatus)),
            )
        },
    }
    return _definition("lockgate.dev", "GPUNodeState", "gpunodestates", "gpunodestate", version)


def _definition(group: str, kind: str, plural: str, singular: str, version: Schema) -> Schema:
    names = {"kind": kind, "listKind": f"{kind}List", "plural": plural, "singular": singular}
    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": f"{plural}.{group}"},
        "spec": {"group": group, "names": names, "scope": "Cluster", "versions": [version]},
    }


def _root(description: str, **properties: Schema) -> Schema:
    fixed = {"apiVersion": {"type": "string"}, "kind": {"type": "string"}, "metadata": {"type": "object"}}
    return {"type": "object", "description": description, "properties": {**fixed, **properties}}


def schema_of(kind: look.Type) -> Schema:
    """The structural schema of a type as msgspec describes it. Raises TypeError for what an API cannot hold."""
    for shape, build in _SHAPES.items():
        if isinstance(kind, shape):
            return build(kind)
    raise TypeError(f"a CustomResourceDefinition cannot hold {kind}")


def _metadata(kind: look.Metadata) -> Schema:
    outer = kind.extra_json_schema or {}
    inner = schema_of(kind.type)
    if outer.get("x-kubernetes-preserve-unknown-fields"):
        inner = {"type": "object"}
    return {**inner, **outer}


def _union(kind: look.UnionType) -> Schema:
    members = [member for member in kind.types if not isinstance(member, look.NoneType)]
    if {type(member) for member in members} == {look.IntType, look.StrType}:
        return {"x-kubernetes-int-or-string": True, "anyOf": [{"type": "integer"}, {"type": "string"}]}
    if len(members) != 1:
        raise TypeError(f"a CustomResourceDefinition cannot hold {kind}")
    return schema_of(members[0])


def _struct(kind: look.StructType) -> Schema:
    schema: Schema = {"type": "object"}
    if kind.cls.__doc__ and kind.cls.__doc__ != kind.cls.__mro__[1].__doc__:
        schema["description"] = kind.cls.__doc__.split("\n\n")[0].replace("\n    ", " ")
    schema["properties"] = {field.encode_name: _field(field) for field in kind.fields}
    required = [field.encode_name for field in kind.fields if _is_required(field)]
    return {**schema, "required": required} if required else schema


def _field(field: look.Field) -> Schema:
    schema = schema_of(field.type)
    default = field.default
    if default in (msgspec.NODEFAULT, None, "", ()) or isinstance(default, msgspec.Struct):
        return schema
    return {**schema, "default": default}


def _is_required(field: look.Field) -> bool:
    return isinstance(field.type, look.Metadata) and bool((field.type.extra or {}).get("required"))


def _string(kind: look.StrType) -> Schema:
    return {"type": "string", "pattern": kind.pattern} if kind.pattern else {"type": "string"}


def _integer(kind: look.IntType) -> Schema:
    return {"type": "integer", "minimum": kind.ge} if kind.ge is not None else {"type": "integer"}


_SHAPES: dict[type, Callable[[Any], Schema]] = {
    look.Metadata: _metadata,
    look.UnionType: _union,
    look.StructType: _struct,
    look.StrType: _string,
    look.IntType: _integer,
    look.BoolType: lambda _: {"type": "boolean"},
    look.LiteralType: lambda kind: {"type": "string", "enum": list(kind.values)},
    look.DictType: lambda kind: {"type": "object", "additionalProperties": schema_of(kind.value_type)},
    look.VarTupleType: lambda kind: {"type": "array", "items": schema_of(kind.item_type)},
    look.AnyType: lambda _: {"x-kubernetes-preserve-unknown-fields": True},
}


def _text(definition: Schema) -> str:
    dumper = yaml.SafeDumper
    dumper.ignore_aliases = lambda self, data: True  # type: ignore[method-assign,assignment]
    head = "# Generated by `make generate` from the types in src/lockgate/model. Do not edit.\n"
    return head + yaml.dump(definition, Dumper=dumper, sort_keys=False, width=120, allow_unicode=True)
