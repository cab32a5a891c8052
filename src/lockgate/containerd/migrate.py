"""Carries settings of older config versions over to the newest, as containerd 2.x does at load.

Each step is the Go migration of one plugin; the quirks are containerd's own and are kept: what it loses, we lose.
Source: v1Migrate and serviceMigrate in cmd/containerd/server/config, `ConfigMigration` of each plugin.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from lockgate.containerd.decode import WrongTypeError
from lockgate.containerd.releases import Family
from lockgate.containerd.values import BUILT_IN, Leaf, Node, Origin, Table

CRI = "io.containerd.grpc.v1.cri"
CRI_RUNTIME = "io.containerd.cri.v1.runtime"
CRI_IMAGES = "io.containerd.cri.v1.images"
SHIM_MANAGER = "io.containerd.shim.v1.manager"
_CGROUPS = ("io.containerd.monitor.v1.cgroups", "io.containerd.monitor.task.v1.cgroups")
_RESTART = ("io.containerd.internal.v1.restart", "io.containerd.monitor.container.v1.restart")
DEFAULT_REGISTRY_PATH = "/etc/containerd/certs.d:/etc/docker/certs.d"

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
_IMAGE_KEYS = (
    "registry",
    "image_decryption",
    "max_concurrent_downloads",
    "image_pull_progress_timeout",
    "image_pull_with_sync_fs",
    "stats_collect_period",
)
_SNAPSHOT_KEYS = ("snapshotter", "disable_snapshot_annotations", "discard_unpacked_layers")
_SERVER_KEYS = (
    "disable_tcp_service",
    "stream_server_address",
    "stream_server_port",
    "stream_idle_timeout",
    "enable_tls_streaming",
    "x509_key_pair_streaming",
)


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


def _images(plugins: Table, family: Family) -> None:
    source = _crash_unless_table(plugins.get(CRI), CRI)
    if source is None:
        return
    target = _crash_unless_table(plugins.get(CRI_IMAGES), CRI_IMAGES) or Table(origin=source.origin)
    plugins[CRI_IMAGES] = target
    pinned = _crash_unless_table(target.get("pinned_images"), "pinned_images") or Table(origin=source.origin)
    if "sandbox_image" in source:
        _move(source["sandbox_image"], pinned, "sandbox")
    if pinned:
        target["pinned_images"] = pinned
    for key in _IMAGE_KEYS:
        if key in source:
            _move(source[key], target, key)
    if family.fills_registry_path:
        _fill_registry_path(target)
    containerd = _crash_unless_table(source.get("containerd"), "containerd")
    runtimes = _crash_unless_table(containerd.get("runtimes"), "runtimes") if containerd is not None else None
    if containerd is None or runtimes is None:
        return  # without runtimes the snapshotter settings are lost; so says the Go code
    for key in _SNAPSHOT_KEYS:
        if key in containerd:
            _move(containerd[key], target, key)
    _runtime_platforms(runtimes, target)


def _runtime_platforms(runtimes: Table, target: Table) -> None:
    # the Go code writes `runtime_platform`, a key that nothing reads (the one read is `runtime_platforms`)
    platforms = _crash_unless_table(target.get("runtime_platform"), "runtime_platform") or Table(origin=BUILT_IN)
    for name, runtime in runtimes.items():
        runtime_table = _crash_unless_table(runtime, name)
        snapshot = runtime_table.get("snapshot") if runtime_table is not None else None
        if isinstance(snapshot, Leaf) and snapshot.value != "":
            entry = Table({"snapshotter": snapshot, "platform": Leaf("linux/amd64", snapshot.origin)}, snapshot.origin)
            platforms[name] = entry
    if platforms:
        target["runtime_platform"] = platforms


def _fill_registry_path(target: Table) -> None:
    registry = _crash_unless_table(target.get("registry"), "registry")
    path = registry.get("config_path") if registry is not None else None
    if registry is not None and isinstance(path, Leaf) and path.value == "":
        registry["config_path"] = Leaf(DEFAULT_REGISTRY_PATH).over(path)


def _runtime(plugins: Table, family: Family) -> None:
    source = plugins.get(CRI)
    if not isinstance(source, Table):
        return
    found = plugins.get(CRI_RUNTIME)
    target = found if isinstance(found, Table) else Table(origin=source.origin)
    plugins[CRI_RUNTIME] = target
    skipped = {"containerd", "sandbox_image", *_IMAGE_KEYS, *_SERVER_KEYS}
    skipped |= {"cni"} if family.moves_cni_bin_dir else set()
    skipped |= {"enable_cdi"} if not family.cdi_switch else set()
    for key, node in source.items():
        if key not in skipped:
            target.setdefault(key, node)
    if family.moves_cni_bin_dir:
        _cni(source.get("cni"), target)
    _containerd(source.get("containerd"), target)


def _cni(source: Node | None, target: Table) -> None:
    if not isinstance(source, Table):
        return
    found = target.get("cni")
    cni = found if isinstance(found, Table) else Table(origin=source.origin)
    for key, node in source.items():
        if key == "bin_dir":
            if not isinstance(node, Leaf) or not isinstance(node.value, str):
                raise _crash("cni.bin_dir", node.origin)
            _move(node.with_value([node.value]), cni, "bin_dirs")
        else:
            cni.setdefault(key, node)
    target["cni"] = cni


def _containerd(source: Node | None, target: Table) -> None:
    if not isinstance(source, Table):
        return
    found = target.get("containerd")
    containerd = found if isinstance(found, Table) else Table(origin=source.origin)
    for key, node in source.items():
        if key not in _SNAPSHOT_KEYS:
            containerd.setdefault(key, node)
    target["containerd"] = containerd
    for name, runtime in (_crash_unless_table(containerd.get("runtimes"), "runtimes") or Table()).items():
        table = _crash_unless_table(runtime, name)
        if table is not None and "sandbox_mode" in table and "sandboxer" not in table:
            table["sandboxer"] = table.pop("sandbox_mode")


def _server(plugins: Table, family: Family) -> None:
    source = plugins.get(CRI)
    if isinstance(source, Table):
        plugins[CRI] = Table({key: source[key] for key in _SERVER_KEYS if key in source}, source.origin)


def _shim_manager(plugins: Table, family: Family) -> None:
    source = _crash_unless_table(plugins.get("io.containerd.runtime.v2.task"), "io.containerd.runtime.v2.task")
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
    (CRI_IMAGES, _images),
    (CRI_RUNTIME, _runtime),
    (CRI, _server),
    (SHIM_MANAGER, _shim_manager),
    (_CGROUPS[1], _rename(_CGROUPS)),
    (_RESTART[1], _rename(_RESTART)),
)


def _move(node: Node, target: Table, name: str) -> None:
    earlier = target.get(name)
    target[name] = node.over(earlier) if isinstance(node, Leaf) and isinstance(earlier, Leaf) else node


def _crash_unless_table(node: Node | None, name: str) -> Table | None:
    if node is None or isinstance(node, Table):
        return node
    raise _crash(name, node.origin)


def _crash(name: str, origin: Origin) -> WrongTypeError:
    return WrongTypeError(f"{name}: containerd crashes while it migrates this value", origin, panics=True)
