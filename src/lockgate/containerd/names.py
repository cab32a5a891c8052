"""The check of config version and plugin names that ends loading."""

from __future__ import annotations

from lockgate.containerd.refusals import ConfigError, Refused
from lockgate.containerd.releases import Family, NameCheck, VersionCheck
from lockgate.containerd.top_level import config_version, line_of, listed
from lockgate.containerd.values import Table


def validate_document(document: Table, last: str, family: Family) -> None:
    """Refuse what containerd refuses once all files are merged; it names the file that it read last."""
    message = _version_error(config_version(document), family) or _name_error(document, family)
    if message:
        line = line_of(document, "version")
        raise Refused(ConfigError(f"failed to load TOML from {last}: {message}", last, line))


def _version_error(version: int, family: Family) -> str:
    if version <= family.config_version or family.versions is VersionCheck.IGNORED:
        return ""
    if family.versions is VersionCheck.UNSUPPORTED:
        return f"unsupported config version `{version}`"
    limit = family.config_version
    return f"expected containerd config version equal to or less than `{limit}`, got `{version}`"


def _name_error(document: Table, family: Family) -> str:
    if family.names is not NameCheck.LISTED_DOTTED and config_version(document) < 2:
        return ""
    for kind in ("disabled", "required"):
        for name in listed(document, f"{kind}_plugins"):
            if not _good_name(name, family):
                return f'invalid {kind} plugin URI "{name}" expect io.containerd.x.vx'
    plugins = document.get("plugins")
    if family.names is not NameCheck.LISTED_DOTTED and isinstance(plugins, Table):
        for name in plugins:
            if not _good_name(name, family):
                return f'invalid plugin key URI "{name}" expect io.containerd.x.vx'
    return ""


def _good_name(name: str, family: Family) -> bool:
    match family.names:
        case NameCheck.LISTED_DOTTED:
            return "." in name
        case NameCheck.FOUR_PARTS:
            return name.count(".") >= 3
        case NameCheck.PREFIXED:
            return name.startswith("io.containerd.") and name.count(".") >= 3
