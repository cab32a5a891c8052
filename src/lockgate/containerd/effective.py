"""What a set of configuration files amounts to on one release: every value, its place, and what it overrode."""

from __future__ import annotations

from collections.abc import Mapping, MutableMapping
from dataclasses import dataclass
from functools import cached_property
from typing import TypeAlias, Union

from lockgate.containerd.baselines import baseline
from lockgate.containerd.imports import File, Files
from lockgate.containerd.load import View, load, migrate_merged
from lockgate.containerd.migrate import Collision
from lockgate.containerd.migrate_cri import CRI
from lockgate.containerd.refusals import ConfigError, Refused
from lockgate.containerd.releases import Release
from lockgate.containerd.sections import decode_sections
from lockgate.containerd.values import Leaf, Node, Origin, Plain, Table, find, leaves, plain

Result: TypeAlias = Union["Effective", ConfigError]
Cache: TypeAlias = MutableMapping[object, Result]

RUNC_V2 = "io.containerd.runc.v2"


@dataclass(frozen=True, slots=True)
class Handler:
    """One runtime handler as it will be used: the name pods ask for, and its table."""

    name: str
    table: Table

    @property
    def runtime_type(self) -> str:
        """The shim, `io.containerd.runc.v2`; empty when the files do not say (containerd then fails to start pods)."""
        return str(_value(self.table, "runtime_type") or "")

    @property
    def options(self) -> dict[str, Plain]:
        """The options passed to the shim, as bare data."""
        options = self.table.get("options")
        data = plain(options) if options is not None else None
        return data if isinstance(data, dict) else {}

    @property
    def binary_name(self) -> str:
        """The OCI runtime's path; empty means `runc` from PATH."""
        return str(self.options.get("BinaryName") or "")

    @property
    def systemd_cgroup(self) -> bool:
        """True when the shim asks systemd for cgroups."""
        return bool(self.options.get("SystemdCgroup"))

    @property
    def origin(self) -> Origin:
        """The place that defines it: its first value from a file, else its table."""
        places = (leaf.origin for _, leaf in leaves(self.table) if not leaf.origin.is_built_in)
        return next(places, self.table.origin)


@dataclass(frozen=True)
class Effective:
    """A loaded configuration. `document` is the whole of it, with the release's newest plugin names."""

    release: Release
    root: str
    document: Table
    loaded: tuple[str, ...]
    missing_import: str | None = None
    up_to_chance: tuple[Collision, ...] = ()

    def get(self, *path: str) -> Node | None:
        """The node at a path of names."""
        return find(self.document, *path)

    def leaf(self, *path: str) -> Leaf | None:
        """The value at a path of names, with its provenance."""
        node = self.get(*path)
        return node if isinstance(node, Leaf) else None

    def provenance(self, *path: str) -> Origin | None:
        """The place that says a value or opened a table."""
        node = self.get(*path)
        return node.origin if node is not None else None

    def cri(self, *path: str) -> Node | None:
        """A node of the CRI runtime section."""
        return self.get("plugins", self.release.family.cri.runtime, *path)

    @cached_property
    def handlers(self) -> dict[str, Handler]:
        """The runtime handlers by name; empty when the CRI plugin is disabled."""
        runtimes = self.cri("containerd", "runtimes")
        if not isinstance(runtimes, Table):
            return {}
        return {name: Handler(name, table) for name, table in runtimes.items() if isinstance(table, Table)}

    @property
    def cri_disabled(self) -> bool:
        """True when the CRI plugin is switched off (a 2.x dump still shows its runtime section then)."""
        names = {CRI, self.release.family.cri.runtime} | ({"cri"} if self.release.family.plugin_by_id else set())
        return self.cri() is None or bool(names & set(self.disabled_plugins))

    @property
    def default_runtime_name(self) -> str | None:
        """The handler of pods that name none; None when the CRI plugin is disabled."""
        value = _plain_or_none(self.cri("containerd", "default_runtime_name"))
        return value if isinstance(value, str) else None

    @property
    def enable_cdi(self) -> bool | None:
        """Whether CDI devices are injected; None where the release has no switch (1.6: never, 2.4: always)."""
        value = _plain_or_none(self.cri("enable_cdi"))
        return value if isinstance(value, bool) else None

    @property
    def injects_cdi(self) -> bool:
        """Whether CDI devices that a pod asks for are injected, switch or none."""
        return self.enable_cdi if self.enable_cdi is not None else self.cdi_spec_dirs is not None

    @property
    def cdi_spec_dirs(self) -> tuple[str, ...] | None:
        """The directories searched for CDI specifications; None on releases without CDI."""
        value = _plain_or_none(self.cri("cdi_spec_dirs"))
        return tuple(str(item) for item in value) if isinstance(value, list) else None

    @property
    def registry_config_path(self) -> str | None:
        """The registry host directories, colon-separated; empty when unset."""
        value = _plain_or_none(self.get("plugins", *self.release.family.cri.registry_config_path))
        return value if isinstance(value, str) else None

    @property
    def registry_mirrors(self) -> dict[str, Table]:
        """Mirrors set in the configuration itself (deprecated; not allowed beside a registry_config_path)."""
        mirrors = self.get("plugins", self.release.family.cri.images, "registry", "mirrors")
        return {k: v for k, v in mirrors.items() if isinstance(v, Table)} if isinstance(mirrors, Table) else {}

    @property
    def sandbox_image(self) -> str | None:
        """The pause image."""
        value = _plain_or_none(self.get("plugins", *self.release.family.cri.sandbox_image))
        return value if isinstance(value, str) else None

    @property
    def disabled_plugins(self) -> tuple[str, ...]:
        """Plugins that are switched off."""
        value = _plain_or_none(self.get("disabled_plugins"))
        return tuple(str(item) for item in value) if isinstance(value, list) else ()

    @property
    def imports(self) -> tuple[str, ...]:
        """What the dump shows as `imports`: on 1.x the files loaded, on 2.x the patterns of all files."""
        value = _plain_or_none(self.get("imports"))
        return tuple(str(item) for item in value) if isinstance(value, list) else ()


class _Same:
    """A key that is equal for one and the same object only, and keeps it alive."""

    def __init__(self, thing: object) -> None:
        self.thing = thing

    def __eq__(self, other: object) -> bool:  # type: ignore[explicit-override]  # typing.override is 3.12
        return isinstance(other, _Same) and other.thing is self.thing

    def __hash__(self) -> int:  # type: ignore[explicit-override]  # typing.override is 3.12
        return id(self.thing)


def resolve(
    files: Files | Mapping[str, File],
    root: str,
    release: Release,
    *,
    view: View = View.DAEMON,
    defaults: Table | None = None,
    cache: Cache | None = None,
) -> Result:
    """The effective configuration of a root file and all it imports, or the error with which the release refuses it.

    `files` maps absolute paths to text; `root` is one of them, as given to `containerd --config`. `defaults` is what
    the node's own binary prints for `config default` (see `baselines.parse_baseline`); the family's when absent. A
    `cache` makes equal content resolve once.
    """
    tree = files if isinstance(files, Files) else Files(files)
    if cache is None:
        return _resolve(tree, root, release, view, defaults)
    key = (release, root, view, _Same(defaults), frozenset(tree.entries.items()))
    found = cache.get(key)
    if found is None:
        found = cache[key] = _resolve(tree, root, release, view, defaults)
    return found


def _resolve(files: Files, root: str, release: Release, view: View, defaults: Table | None) -> Result:
    family = release.family
    built_in = defaults if defaults is not None else baseline(family.baseline)
    try:
        loaded = load(files, root, family, view, built_in)
        migrate_merged(loaded.document, family, view)
        document = decode_sections(loaded, family, built_in)
    except Refused as refused:
        return refused.error
    return Effective(release, root, document, tuple(loaded.paths), loaded.missing, tuple(loaded.collisions))


def _plain_or_none(node: Node | None) -> Plain:
    return plain(node) if node is not None else None


def _value(table: Table, name: str) -> Plain:
    node = table.get(name)
    return node.value if isinstance(node, Leaf) else None
