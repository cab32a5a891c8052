"""The containerd releases, one row a family: a row names behaviours, and every other module asks the row.

Sources: containerd's `cmd/containerd/server/config` (2.x) and `services/server/config` (1.x) at the tags named in each
row, and the recorded truth in tests/truth. To add a family, add a row and record truth from its real binary.
"""

from __future__ import annotations

import re
from contextlib import suppress
from dataclasses import dataclass, replace
from enum import Enum
from functools import total_ordering

from lockgate.containerd.toml_dialect import GO_TOML_1, GO_TOML_1_4, GO_TOML_2, GO_TOML_2_3, GO_TOML_2_4, Dialect


class PluginMerge(Enum):
    """What a later file does to a plugin table that an earlier one wrote."""

    REPLACE = "replaces the whole table"
    DEEP = "merges key by key"


class ListMerge(Enum):
    """What a later file does to `disabled_plugins` and `required_plugins`."""

    APPEND = "appends, duplicates kept"
    UNION = "appends what is new"


class Migration(Enum):
    """When settings of an older config version are carried over to the newest."""

    NONE = "never"
    MERGED = "once, after all files are merged, from the version of the last file that has one"
    EACH_FILE = "each file alone, before it is merged"


class NameCheck(Enum):
    """Which plugin names are refused once the configuration is loaded."""

    FOUR_PARTS = "all names need four dot-separated parts"
    PREFIXED = "all names need four dot-separated parts and the prefix io.containerd."
    LISTED_DOTTED = "only disabled_plugins and required_plugins are checked, for a dot"


class VersionCheck(Enum):
    """What a config version that is too new leads to."""

    IGNORED = "it is treated like the newest known"
    UNSUPPORTED = "unsupported config version"
    EXPECTED_AT_MOST = "expected containerd config version equal to or less than"


@dataclass(frozen=True, slots=True, kw_only=True)
class CriNames:
    """Where the CRI settings stand in a configuration of the family's newest version."""

    runtime: str
    images: str
    sandbox_image: tuple[str, ...]

    @property
    def registry_config_path(self) -> tuple[str, ...]:
        """Path of the registry directory setting."""
        return (self.images, "registry", "config_path")


_CRI = "io.containerd.grpc.v1.cri"
_ONE_PLUGIN = CriNames(runtime=_CRI, images=_CRI, sandbox_image=(_CRI, "sandbox_image"))
_SPLIT_PLUGINS = CriNames(
    runtime="io.containerd.cri.v1.runtime",
    images="io.containerd.cri.v1.images",
    sandbox_image=("io.containerd.cri.v1.images", "pinned_images", "sandbox"),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Family:
    """One family of releases and what it does with configuration files."""

    name: str
    since: str
    baseline: str
    config_version: int
    assumed_version: int
    toml: Dialect
    debian_toml: Dialect
    plugins: PluginMerge
    lists: ListMerge
    migration: Migration
    names: NameCheck
    versions: VersionCheck
    cri: CriNames
    imports_printed: str
    missing_import_ends_dump: bool
    dump_migrates_cri: bool = True
    refuses_newer_dropin: bool = False
    fills_registry_path: bool = False
    moves_cni_bin_dir: bool = True
    cdi_switch: bool = True
    globs_from_cwd: bool = False
    proxy_kinds: tuple[str, ...] = ("snapshot", "content", "diff", "sandbox")
    proxy_exports: bool = True
    default_imports: tuple[str, ...] = ()

    @property
    def plugin_by_id(self) -> bool:
        """True when version 1 files address a plugin by its short id (`cri`) and are never migrated."""
        return self.migration is Migration.NONE


_CONF_D = ("/etc/containerd/conf.d/*.toml",)
_V1: dict[str, object] = {
    "proxy_kinds": ("snapshot", "content", "diff"),
    "config_version": 2,
    "assumed_version": 1,
    "toml": GO_TOML_1,
    "debian_toml": GO_TOML_1,
    "plugins": PluginMerge.REPLACE,
    "lists": ListMerge.APPEND,
    "migration": Migration.NONE,
    "cri": _ONE_PLUGIN,
    "imports_printed": "the files loaded, in no order",
    "missing_import_ends_dump": True,
}
_V2: dict[str, object] = {
    "toml": GO_TOML_2,
    "debian_toml": GO_TOML_2_4,
    "plugins": PluginMerge.DEEP,
    "lists": ListMerge.UNION,
    "names": NameCheck.LISTED_DOTTED,
    "versions": VersionCheck.EXPECTED_AT_MOST,
    "cri": _SPLIT_PLUGINS,
    "imports_printed": "the patterns of all files",
    "missing_import_ends_dump": False,
}
_VERSION_3 = {"config_version": 3, "assumed_version": 3, "migration": Migration.MERGED}
_VERSION_4 = {
    "toml": GO_TOML_2_3,
    "config_version": 4,
    "assumed_version": 4,
    "migration": Migration.EACH_FILE,
    "default_imports": _CONF_D,
}


def _row(*shared: dict[str, object], **own: object) -> Family:
    merged: dict[str, object] = {}
    for part in (*shared, own):
        merged |= part
    return Family(**merged)  # type: ignore[arg-type]  # the rows below are checked by the dataclass itself


FAMILIES: tuple[Family, ...] = (
    _row(
        _V1,
        name="1.6",
        since="1.6.0",
        baseline="1.6",
        names=NameCheck.FOUR_PARTS,
        versions=VersionCheck.IGNORED,
        debian_toml=GO_TOML_1_4,
        globs_from_cwd=True,
        proxy_kinds=("snapshot", "content"),
        proxy_exports=False,
        cdi_switch=False,
    ),
    _row(  # the version check and globs beside the file are in v1.6.36, not in v1.6.20; none between was to be had
        _V1,
        name="1.6 (late)",
        since="1.6.32",
        baseline="1.6",
        names=NameCheck.FOUR_PARTS,
        versions=VersionCheck.UNSUPPORTED,
        cdi_switch=False,
    ),
    _row(
        _V1,
        name="1.7",
        since="1.7.0",
        baseline="1.7",
        names=NameCheck.PREFIXED,
        versions=VersionCheck.IGNORED,
        globs_from_cwd=True,
    ),
    _row(  # both changed between v1.7.15 and v1.7.18
        _V1,
        name="1.7 (late)",
        since="1.7.16",
        baseline="1.7",
        names=NameCheck.PREFIXED,
        versions=VersionCheck.UNSUPPORTED,
    ),
    _row(
        _V2,
        _VERSION_3,
        name="2.0 (early)",
        since="2.0.0",
        baseline="2.0",
        dump_migrates_cri=False,
        moves_cni_bin_dir=False,
    ),
    _row(_V2, _VERSION_3, name="2.0", since="2.0.6", baseline="2.0", moves_cni_bin_dir=False),
    _row(_V2, _VERSION_3, name="2.1", since="2.1.0", baseline="2.1"),
    _row(
        _V2,
        _VERSION_3,
        name="2.2",
        since="2.2.0",
        baseline="2.2",
        default_imports=_CONF_D,
        fills_registry_path=True,
    ),
    _row(_V2, _VERSION_4, name="2.3 (early)", since="2.3.0-beta.0", baseline="2.3", refuses_newer_dropin=True),
    _row(_V2, _VERSION_4, name="2.3", since="2.3.5", baseline="2.3"),
    _row(  # 2.4.0-beta.0 was recorded with both the old drop-in check and the CDI switch
        _V2,
        _VERSION_4,
        name="2.4 (beta)",
        since="2.4.0-alpha",
        baseline="2.3",
        refuses_newer_dropin=True,
        toml=GO_TOML_2_4,
    ),
    _row(_V2, _VERSION_4, name="2.4", since="2.4.0", baseline="2.4", cdi_switch=False, toml=GO_TOML_2_4),
)

_DEBIAN = ("+unknown", "~ds", "+ds")  # what Debian's builds add to the release in `containerd --version`
_RELEASE = re.compile(r"(?<![\d.])(\d+)\.(\d+)\.(\d+)(?:[-~](alpha|beta|rc)(?:\.?(\d+))?)?")


@total_ordering
@dataclass(frozen=True, slots=True)
class Release:
    """A containerd release, `1.7.24` or `2.4.0-beta.0`; compares as releases do."""

    major: int
    minor: int
    patch: int
    stage: str = ""
    stage_number: int = 0
    is_debian: bool = False  # built by Debian, against its own go-toml instead of the one that containerd pins

    @classmethod
    def parse(cls, text: str) -> Release:
        """A release from `1.7.24`, `v2.1.9`, or what `containerd --version` prints; ValueError where there is none."""
        match = _RELEASE.search(text)
        if not match:
            raise ValueError(f"no containerd release in {text.strip()!r}, expected something like 1.7.24")
        major, minor, patch, stage, number = match.groups()
        debian = any(mark in text for mark in _DEBIAN)
        return cls(int(major), int(minor), int(patch), stage or "", int(number or 0), debian)

    @classmethod
    def judged(cls, text: str) -> Release:
        """As `parse`, for a release of a known family; ValueError also for one that is older than all of them."""
        release = cls.parse(text)
        release.family  # noqa: B018 - raises for such a one
        return release

    @classmethod
    def found_in(cls, text: str) -> Release | None:
        """The same; None where there is none."""
        with suppress(ValueError):
            return cls.judged(text)
        return None

    @property
    def family(self) -> Family:
        """The row that this release belongs to: the last one not newer than it."""
        rows = [row for row in FAMILIES if _since(row) <= self]
        if not rows:
            raise ValueError(f"containerd {self} is older than the oldest family known, {FAMILIES[0].name}")
        return replace(rows[-1], toml=rows[-1].debian_toml) if self.is_debian else rows[-1]

    @property
    def is_known(self) -> bool:
        """False when its minor release has no row of its own: it is newer than every row, or there never was one."""
        return any((row.major, row.minor) == (self.major, self.minor) for row in map(_since, FAMILIES))

    def _order(self) -> tuple[int, int, int, str, int]:
        return (self.major, self.minor, self.patch, self.stage or "z", self.stage_number)

    def __lt__(self, other: Release) -> bool:
        return self._order() < other._order()

    def __str__(self) -> str:  # type: ignore[explicit-override]  # typing.override is 3.12
        stage = f"-{self.stage}.{self.stage_number}" if self.stage else ""
        return f"{self.major}.{self.minor}.{self.patch}{stage}"


def newest_known() -> str:
    """The newest minor release that has a row, `2.4`."""
    newest = _since(FAMILIES[-1])
    return f"{newest.major}.{newest.minor}"


def _since(row: Family) -> Release:
    return Release.parse(row.since)
