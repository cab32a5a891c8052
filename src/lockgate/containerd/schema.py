"""The shape of containerd's configuration: which keys a release reads, and of which type.

Keys that `containerd config default` prints tell their own type; this module adds what the defaults cannot show: maps
whose entries a person names, keys that are left out while empty, and durations. Source: the Go structs of each family.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum
from typing import TypeAlias

from lockgate.containerd.values import Leaf, Node, Table


class Scalar(Enum):
    """A value that is not made of others."""

    STRING = "string"
    INTEGER = "int"
    FLOAT = "float64"
    BOOLEAN = "bool"
    DURATION = "duration"


@dataclass(frozen=True, slots=True)
class Struct:
    """A table with known keys; others are ignored. `embedded` names those that Go embeds in the struct."""

    fields: Mapping[str, Type]
    embedded: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class MapOf:
    """A table whose keys a person chooses."""

    of: Type


@dataclass(frozen=True, slots=True)
class ListOf:
    """An array."""

    of: Type


class Anything(Enum):
    """A value or table that is kept as it is."""

    ANY = "any"
    SECTION = "toml.Tree"  # 1.x wants a table here, 2.x takes anything


ANY, SECTION = Anything
Type: TypeAlias = Scalar | Struct | MapOf | ListOf | Anything

STRING, INTEGER, FLOAT, BOOLEAN, DURATION = Scalar
STRINGS = ListOf(STRING)


def _strings(*names: str) -> dict[str, Type]:
    return dict.fromkeys(names, STRING)


_AUTH = Struct(_strings("username", "password", "auth", "identitytoken"))
_TLS = Struct({"insecure_skip_verify": BOOLEAN, **_strings("ca_file", "cert_file", "key_file")})
_REGISTRY: dict[str, Type] = {
    "mirrors": MapOf(Struct({"endpoint": STRINGS})),
    "configs": MapOf(Struct({"auth": _AUTH, "tls": _TLS})),
    "auths": MapOf(_AUTH),
    "headers": MapOf(STRINGS),
}
_SOCKET: dict[str, Type] = {"address": STRING, "uid": INTEGER, "gid": INTEGER}
# The daemon's own sections; from config version 4 on they are only read to be migrated, and no default shows them.
_SERVER: dict[str, Type] = {
    "grpc": Struct(
        {
            **_SOCKET,
            **_strings("tcp_address", "tcp_tls_ca", "tcp_tls_cert", "tcp_tls_key", "tcp_tls_common_name"),
            "max_recv_message_size": INTEGER,
            "max_send_message_size": INTEGER,
        }
    ),
    "ttrpc": Struct(_SOCKET),
    "debug": Struct({**_SOCKET, "level": STRING, "format": STRING, "log_trace_id": BOOLEAN}),
    "metrics": Struct({"address": STRING, "grpc_histogram": BOOLEAN}),
}
_PROXY = _strings("type", "address")
_PROXY_LATER: dict[str, Type] = {"platform": STRING, "exports": MapOf(STRING), "capabilities": STRINGS}
_TOP: dict[str, Type] = {
    "version": INTEGER,
    **_strings("root", "state", "temp"),
    "disabled_plugins": STRINGS,
    "required_plugins": STRINGS,
    "plugins": MapOf(SECTION),
    "oom_score": INTEGER,
    "cgroup": Struct({"path": STRING}),
    "timeouts": MapOf(STRING),
    "imports": STRINGS,
    "stream_processors": MapOf(
        Struct({"accepts": STRINGS, "returns": STRING, "path": STRING, "args": STRINGS, "env": STRINGS})
    ),
}

_DURATIONS = frozenset(
    {
        "schedule_delay",
        "startup_delay",
        "interval",
        "plugin_registration_timeout",
        "plugin_request_timeout",
        "per_verifier_timeout",
    }
)
_UNPACK = _strings("platform", "snapshotter", "differ")
_UNPACK_LATER: dict[str, Type] = {"config_type": STRING, "layer_types": STRINGS, "optional": BOOLEAN}  # since 2.1
_EMBEDDED = frozenset({"containerd", "cni", "registry", "image_decryption", "x509_key_pair_streaming"})
# Keys of a plugin that its printed defaults leave out.
_HIDDEN: dict[str, dict[str, Type]] = {
    "io.containerd.cri.v1.images": {
        "runtime_platforms": MapOf(Struct(_strings("platform", "snapshotter"))),
        # 2.x dropped the TLS settings of `configs`
        "registry": Struct({"config_path": STRING, **_REGISTRY, "configs": MapOf(Struct({"auth": _AUTH}))}),
    },
    "io.containerd.tracing.processor.v1.otlp": {
        "endpoint": STRING,
        "protocol": STRING,
        "insecure": BOOLEAN,
    },
    "io.containerd.internal.v1.tracing": {"sampling_ratio": FLOAT, "service_name": STRING},
}


def top_level(defaults: Table, *, proxy_exports: bool) -> Struct:
    """The type of a whole file of a release, plugin sections left as they are."""
    proxy = {**_PROXY, **_PROXY_LATER} if proxy_exports else _PROXY
    own: dict[str, Type] = {"proxy_plugins": MapOf(Struct(proxy))}
    if "plugin_dir" in defaults:
        own["plugin_dir"] = STRING
    if "grpc" not in defaults:
        return Struct({**_TOP, **own, **_SERVER})
    sections = {name: _struct(node) for name in _SERVER if isinstance(node := defaults[name], Table)}
    return Struct({**_TOP, **own, **sections})


def plugin_type(name: str, defaults: Table) -> Struct:
    """The type of a plugin's section, from its printed defaults and what they leave out."""
    fields = {**_struct(defaults).fields, **_HIDDEN.get(name, {})}
    if name == "io.containerd.transfer.v1.local":
        later = _UNPACK_LATER if "concurrent_layer_fetch_buffer" in defaults else {}
        fields["unpack_config"] = ListOf(Struct({**_UNPACK, **later}))
    return Struct(fields, _EMBEDDED & fields.keys())


def _struct(table: Table) -> Struct:
    return Struct({name: _type(name, node) for name, node in table.items()})


def _type(name: str, node: Node) -> Type:
    if isinstance(node, Leaf):
        return _leaf_type(name, node)
    match name:
        case "runtimes":
            return MapOf(_runtime(next(iter(node.values()))))
        case "registry":
            return Struct({**_struct(node).fields, **_REGISTRY})
        case "pinned_images":
            return MapOf(STRING)
        case "default_runtime" | "untrusted_workload_runtime":
            return _runtime(node)
        case _:
            return _struct(node)


def _runtime(node: Node) -> Type:
    fields = _struct(node).fields if isinstance(node, Table) else {}
    return Struct({**fields, "options": ANY})


def _leaf_type(name: str, leaf: Leaf) -> Type:
    match leaf.value:
        case bool():
            return BOOLEAN
        case int():
            return INTEGER
        case float():
            return FLOAT
        case list():
            return STRINGS
        case _:
            return DURATION if name in _DURATIONS else STRING
