"""Turns loaded files into the whole document: plugin sections over their defaults, proxies and timeouts added."""

from __future__ import annotations

from lockgate.containerd.decode import Decoder, WrongTypeError
from lockgate.containerd.load import Loaded
from lockgate.containerd.proxies import register_proxies
from lockgate.containerd.refusals import ConfigError, Refused
from lockgate.containerd.releases import Family
from lockgate.containerd.schema import plugin_type
from lockgate.containerd.top_level import config_version, listed
from lockgate.containerd.values import BUILT_IN, Leaf, Node, Table


def decode_sections(loaded: Loaded, family: Family, built_in: Table) -> Table:
    """The whole document: each plugin that is not disabled over its defaults, as the family prints it."""
    document = loaded.document
    _register_proxies(document, family)
    sections, defaults = document["plugins"], built_in["plugins"]
    assert isinstance(sections, Table)  # the loader made it one
    assert isinstance(defaults, Table)  # the baseline has plugins
    by_id = family.plugin_by_id and config_version(document) in (0, 1)
    disabled = set(listed(document, "disabled_plugins"))
    plugins = Table(origin=sections.origin) if family.plugin_by_id else Table(dict(sections), sections.origin)
    for name, default in defaults.items():
        if (plugin_id(name) if by_id else name) in disabled or not isinstance(default, Table):
            continue
        data = sections.get(plugin_id(name) if by_id else name)
        plugins[name] = default if data is None else _plugin(name, data, default, family)
    document["plugins"] = plugins
    document["version"] = Leaf(family.config_version, BUILT_IN)
    _fill_timeouts(document, built_in)
    if family.plugin_by_id:
        document["imports"] = Leaf(list(loaded.paths))
    return document


def _plugin(name: str, data: Node, default: Table, family: Family) -> Node:
    try:
        return Decoder(family.toml, sorts_keys=True).decode(plugin_type(name, default), data, default, (name,))
    except WrongTypeError as error:
        message = f"plugin {name}: {error.message}"
        raise Refused(ConfigError(message, error.origin.file, error.origin.line, error.panics)) from None


def _register_proxies(document: Table, family: Family) -> None:
    try:
        register_proxies(document, family)
    except WrongTypeError as error:
        raise Refused(ConfigError(error.message, error.origin.file, error.origin.line, error.panics)) from None


def plugin_id(name: str) -> str:
    """The short id of a plugin: `cri` of `io.containerd.grpc.v1.cri`."""
    return name.rsplit(".", 1)[-1]


def _fill_timeouts(document: Table, built_in: Table) -> None:
    timeouts, defaults = document.get("timeouts"), built_in.get("timeouts")
    if isinstance(timeouts, Table) and isinstance(defaults, Table):
        for name, default in defaults.items():
            said = timeouts.get(name)
            if not isinstance(said, Leaf) or said.value == "":
                timeouts[name] = default
