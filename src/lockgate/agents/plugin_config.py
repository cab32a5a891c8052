"""The configuration file that device plugin and feature discovery share (`CONFIG_FILE`): read, and its traps named."""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from lockgate.agents.options import Option, SettingsError, read_options

LIMIT: Final = 1 << 20  # a ConfigMap holds no more
_PLUGIN_FLAGS: Final = {
    "passDeviceSpecs": None,
    "deviceListStrategy": None,
    "deviceIDStrategy": None,
    "cdiAnnotationPrefix": None,
    "nvidiaCTKPath": None,
    "containerDriverRoot": None,
    "sharedDevicesAllocationPolicy": None,
}
_GFD_FLAGS: Final = dict.fromkeys(("oneshot", "noTimestamp", "sleepInterval", "outputFile", "machineTypeFile"))
_REPLICATED: Final = dict.fromkeys(("renameByDefault", "failRequestsGreaterThanOne", "resources"))
# Every key that means something; None: what stands below is checked where it is read.
_KNOWN: Final[dict[str, Any]] = {
    "version": None,
    "flags": {
        **dict.fromkeys(("migStrategy", "failOnInitError", "mpsRoot", "nvidiaDriverRoot", "nvidiaDevRoot")),
        **dict.fromkeys(("gdrcopyEnabled", "gdsEnabled", "mofedEnabled", "useNodeFeatureAPI")),
        "deviceDiscoveryStrategy": None,
        "plugin": _PLUGIN_FLAGS,
        "gfd": _GFD_FLAGS,
    },
    "resources": None,
    "sharing": {"timeSlicing": _REPLICATED, "mps": _REPLICATED},
    "imex": dict.fromkeys(("channelIDs", "required")),
}


def read_both(
    options: Sequence[Option], argv: Sequence[str], environ: Mapping[str, str]
) -> tuple[dict[str, Any], dict[str, Any], tuple[str, ...]]:
    """The values of options that `config_file` may set as well, the file's content, and warnings about it.

    Raises SettingsError.
    """
    path = read_options(options, argv, environ, {})["config_file"]
    file, warnings = read_config(path) if path else ({}, ())
    return read_options(options, argv, environ, file), file, warnings


def read_config(path: Path) -> tuple[dict[str, Any], tuple[str, ...]]:
    """The file's content and warnings on keys that mean nothing; an empty file is an empty configuration.

    Raises SettingsError when it is missing, not YAML, or of another version.
    """
    try:
        text = path.read_bytes()[: LIMIT + 1]
    except OSError as error:
        raise SettingsError(f"configuration file {path}: {error.strerror or error}") from error
    return parse_config(text, str(path))


def parse_config(text: bytes, where: str) -> tuple[dict[str, Any], tuple[str, ...]]:
    """As `read_config`, from the text."""
    import yaml  # late: most nodes have no configuration file

    if len(text) > LIMIT:
        raise SettingsError(f"configuration file {where}: larger than {LIMIT} bytes")
    try:
        content = yaml.load(text, Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader))
    except (yaml.YAMLError, UnicodeDecodeError, RecursionError) as error:
        raise SettingsError(f"configuration file {where}: not YAML: {' '.join(str(error).split())}") from error
    if content is None:
        return {}, ()
    if not isinstance(content, dict):
        raise SettingsError(f"configuration file {where}: expected an object, found {type(content).__name__}")
    if content.get("version", "v1") not in ("v1", "", None):
        raise SettingsError(f"configuration file {where}: unknown version: {content['version']}")
    return content, tuple(f"configuration file {where}: {line}" for line in _unknown(content, _KNOWN, ""))


def _unknown(content: Mapping[Any, Any], known: Mapping[str, Any], above: str) -> Iterator[str]:
    for key, value in content.items():
        path = f"{above}{key}"
        if key not in known:
            yield f"key {path} means nothing and is ignored{_hint(str(key))}"
        elif isinstance(known[key], dict) and isinstance(value, dict):
            yield from _unknown(value, known[key], f"{path}.")


def _hint(key: str) -> str:
    """Where a misplaced key belongs."""
    places = [path for path in _paths(_KNOWN, "") if path.rpartition(".")[2] == key]
    return f"; its place is {' or '.join(places)}" if places else ""


def _paths(known: Mapping[str, Any], above: str) -> Iterator[str]:
    for key, below in known.items():
        yield f"{above}{key}"
        if isinstance(below, dict):
            yield from _paths(below, f"{above}{key}.")
