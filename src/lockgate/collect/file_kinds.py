"""What a file is, by what it says and where it stands: a manifest, a CDI specification, containerd's configuration."""

import re
from pathlib import Path
from typing import Final

from lockgate.collect.node_tree import CDI_DIRECTORIES, TOP_LEVELS

SUFFIXES: Final = (".yaml", ".yml", ".json")
SPECIFICATIONS: Final = (".yaml", ".json")  # what a runtime reads of a CDI directory
# A key at the left edge, or in brackets: what a manifest carries as text inside of it is indented.
_TOP: Final = r"""(?:^(?:- )?|[{{,]\s*)["']?{key}["']?\s*:"""
_OBJECT: Final = re.compile(
    r"""^[ \t]*+(?:- )?["']?apiVersion["']?\s*:|[{,]\s*["']?apiVersion["']?\s*:""", re.MULTILINE
)
_OWN_OBJECT: Final = re.compile(_TOP.format(key="apiVersion"), re.MULTILINE)
_SPECIFICATION: Final = re.compile(_TOP.format(key="cdiVersion"), re.MULTILINE)
# The top-level keys that no other program's TOML has; `config.Config` of containerd's `cmd/containerd/server`.
_PLUGINS: Final = re.compile(
    r"^[ \t]*+\[*+[ \t]*+[\"']?(?:plugins|proxy_plugins|stream_processors)[\"']?[ \t]*+[].]"
    r"|^[ \t]*+(?:imports|disabled_plugins|required_plugins|plugin_dir|oom_score)[ \t]*+=",
    re.MULTILINE,
)
_VERSION: Final = re.compile(r"^[ \t]*+version[ \t]*+=[ \t]*+\d*[ \t\r]*+(?:#.*)?$", re.MULTILINE)
_TABLE: Final = re.compile(r"^[ \t]*+\[\[?[ \t]*+[\"']?(?P<name>[^].\"'\s]+)", re.MULTILINE)
_TABLES: Final = frozenset(("plugins", "grpc", "ttrpc", "debug", "metrics", "cgroup", "timeouts", "proxy_plugins"))


def is_object(text: str) -> bool:
    """Whether a text of YAML or JSON has a Kubernetes object in it, or could be rendered to one."""
    return _OBJECT.search(text) is not None and not _says_cdi(text)


def is_specification(path: Path, text: str) -> bool:
    """Whether a file is a CDI specification: it says so, or stands where a runtime reads nothing else."""
    return path.suffix in SPECIFICATIONS and (_says_cdi(text) or is_cdi_directory(path.parent))


def is_cdi_directory(path: Path) -> bool:
    """Whether a runtime reads specifications there: `/etc/cdi`, `/var/run/cdi`, or a copy of such a folder."""
    return str(path.absolute()).endswith(CDI_DIRECTORIES) or path.absolute().name == "cdi"


def is_containerd(path: Path, text: str) -> bool:
    """Whether a file is a part of containerd's configuration, by its place or by its keys."""
    if path.suffix in SUFFIXES:
        return False
    return _is_containerds_place(path) or is_containerd_text(text, named=path.suffix == ".toml")


def is_containerd_text(text: str, *, named: bool) -> bool:
    """Whether a text has keys of containerd's, broken or not; `named` as TOML, `version = 2` alone or nothing is one.

    A table that containerd has not, or a version in a file that is no TOML by its name, is another program's.
    """
    if _PLUGINS.search(text):
        return True
    tables = {found["name"] for found in _TABLE.finditer(text)}
    return named and tables <= _TABLES and (bool(_VERSION.search(text)) or _is_empty(text))


def _is_empty(text: str) -> bool:
    return all(line.strip()[:1] in ("", "#") for line in text.splitlines())


def _is_containerds_place(path: Path) -> bool:
    """A top-level file of a distribution, or a drop-in: a file in a folder `*.d` beside a configuration."""
    place = path.absolute()
    if str(place).endswith(TOP_LEVELS) or (place.suffix == ".toml" and place.parent.name == "containerd"):
        return True
    return place.suffix == ".toml" and place.parent.name.endswith(".d") and (place.parents[1] / "config.toml").is_file()


def _says_cdi(text: str) -> bool:
    return _SPECIFICATION.search(text) is not None and not _OWN_OBJECT.search(text)
