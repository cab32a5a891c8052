"""Carries settings of older config versions over to the newest, as containerd 2.x does at load.

Each step is the Go migration of one plugin; the quirks are containerd's own and are kept: what it loses, we lose.
Source: v1Migrate and serviceMigrate in cmd/containerd/server/config, `ConfigMigration` of each plugin.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from lockgate.containerd.migrate_cri import (
    CRI,
    CRI_IMAGES,
    CRI_RUNTIME,
    migrate_images,
    migrate_runtime,
    migrate_server_settings,
    table_or_crash,
)
from lockgate.containerd.releases import Family
from lockgate.containerd.values import Leaf, Origin, Table

SHIM_MANAGER = "io.containerd.shim.v1.manager"
_CGROUPS = ("io.containerd.monitor.v1.cgroups", "io.containerd.monitor.task.v1.cgroups")
_RESTART = ("io.containerd.internal.v1.restart", "io.containerd.monitor.container.v1.restart")

_V1_NAMES = {
    "cri": CRI,
    "cgroups": "io.containerd.monitor.v1.cgroups",
    "linux": "io.containerd.runtime.v1.linux",
    "scheduler": "io.containerd.gc.v1.scheduler",
    "bolt": "io.containerd.metadata.v1.bolt",
    "task": "io.containerd.runtime.v2.task",
    "opt": "io.containerd.internal.v1.opt",
    "restart": "io.containerd.internal.v1.restart",
    "tracing": "io.containerd.internal.v1.tracing",
    "otlp": "io.containerd.tracing.processor.v1.otlp",
    **{n: f"io.containerd.snapshotter.v1.{n}" for n in ("aufs", "btrfs", "devmapper", "native", "overlayfs", "zfs")},
    **{n: f"io.containerd.snapshotter.v1.{n}" for n in ("windows", "windows-lcow")},
}


@dataclass(frozen=True, slots=True)
class Collision:
    """Two tables of one plugin in one version 1 file, of which containerd 2.x keeps one at random."""

    plugin: str
    kept: Origin
    dropped: Origin


def full_plugin_name(name: str) -> str:
    """The full name of a version 1 plugin id: `cri` is `io.containerd.grpc.v1.cri`."""
    if "." in name:
        return name
    if name.endswith("-service") and name not in _V1_NAMES:
        return f"io.containerd.service.v1.{name}"
    return _V1_NAMES.get(name, f"io.containerd.grpc.v1.{name}")


def migrate_names(document: Table) -> tuple[Collision, ...]:
    """Version 1 to 2: plugin ids become full names, in the plugin tables and in both lists.

    Where a file has a plugin under both names, Go's random map order decides which table stays; here it is the later
    one, and the collision is returned.
    """
    collisions = []
    if isinstance(plugins := document.get("plugins"), Table):
        renamed = Table(origin=plugins.origin)
        for name, section in plugins.items():
            if (earlier := renamed.get(full_plugin_name(name))) is not None:
                collisions.append(Collision(full_plugin_name(name), section.origin, earlier.origin))
            renamed[full_plugin_name(name)] = section
        document["plugins"] = renamed
    for name in ("disabled_plugins", "required_plugins"):
        node = document.get(name)
        if isinstance(node, Leaf) and isinstance(node.value, list):
            document[name] = node.with_value([full_plugin_name(str(item)) for item in node.value])
    return tuple(collisions)


def migrate_plugins(plugins: Table, family: Family, disabled: Iterable[str] = ()) -> None:
    """One round of the plugins' own migrations, in the order containerd loads them; disabled plugins are left out."""
    skip = set(disabled)
    for name, step in _STEPS:
        if name not in skip:
            step(plugins, family)


def _shim_manager(plugins: Table, family: Family) -> None:
    source = table_or_crash(plugins.get("io.containerd.runtime.v2.task"), "io.containerd.runtime.v2.task")
    if source is None:
        return
    target = Table(origin=source.origin)
    core = source.pop("sched_core", None)
    if isinstance(core, Leaf) and core.value is True:
        target["env"] = core.with_value(["SCHED_CORE=1"])
    plugins[SHIM_MANAGER] = target  # whatever stood there is lost


def _rename(names: tuple[str, str]) -> Callable[[Table, Family], None]:
    old, new = names

    def step(plugins: Table, family: Family) -> None:
        if old in plugins:
            plugins[new] = plugins.pop(old)

    return step


_STEPS: tuple[tuple[str, Callable[[Table, Family], None]], ...] = (
    (CRI_IMAGES, migrate_images),
    (CRI_RUNTIME, migrate_runtime),
    (CRI, migrate_server_settings),
    (SHIM_MANAGER, _shim_manager),
    (_CGROUPS[1], _rename(_CGROUPS)),
    (_RESTART[1], _rename(_RESTART)),
)
