"""Version 2 to 3 of the CRI settings: one section becomes three.

The quirks are containerd's own and are kept: what it loses, we lose. Source: `configMigration` in plugins/cri of 2.x.
"""

from __future__ import annotations

from lockgate.containerd.decode import WrongTypeError
from lockgate.containerd.releases import Family
from lockgate.containerd.values import BUILT_IN, Leaf, Node, Origin, Table

CRI = "io.containerd.grpc.v1.cri"
CRI_RUNTIME = "io.containerd.cri.v1.runtime"
CRI_IMAGES = "io.containerd.cri.v1.images"
DEFAULT_REGISTRY_PATH = "/etc/containerd/certs.d:/etc/docker/certs.d"
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


def migrate_images(plugins: Table, family: Family) -> None:
    """The settings of images, which get a plugin of their own; these overwrite what stands there already."""
    source = table_or_crash(plugins.get(CRI), CRI)
    if source is None:
        return
    target = table_or_crash(plugins.get(CRI_IMAGES), CRI_IMAGES) or Table(origin=source.origin)
    plugins[CRI_IMAGES] = target
    pinned = table_or_crash(target.get("pinned_images"), "pinned_images") or Table(origin=source.origin)
    if "sandbox_image" in source:
        _move(source["sandbox_image"], pinned, "sandbox")
    if pinned:
        target["pinned_images"] = pinned
    for key in _IMAGE_KEYS:
        if key in source:
            _move(source[key], target, key)
    if family.fills_registry_path:
        _fill_registry_path(target)
    containerd = table_or_crash(source.get("containerd"), "containerd")
    runtimes = table_or_crash(containerd.get("runtimes"), "runtimes") if containerd is not None else None
    if containerd is None or runtimes is None:
        return  # without runtimes the snapshotter settings are lost; so says the Go code
    for key in _SNAPSHOT_KEYS:
        if key in containerd:
            _move(containerd[key], target, key)
    _runtime_platforms(runtimes, target)


def _runtime_platforms(runtimes: Table, target: Table) -> None:
    # the Go code writes `runtime_platform`, a key that nothing reads (the one read is `runtime_platforms`)
    platforms = table_or_crash(target.get("runtime_platform"), "runtime_platform") or Table(origin=BUILT_IN)
    for name, runtime in runtimes.items():
        runtime_table = table_or_crash(runtime, name)
        snapshot = runtime_table.get("snapshot") if runtime_table is not None else None
        if isinstance(snapshot, Leaf) and snapshot.value != "":
            entry = Table({"snapshotter": snapshot, "platform": Leaf("linux/amd64", snapshot.origin)}, snapshot.origin)
            platforms[name] = entry
    if platforms:
        target["runtime_platform"] = platforms


def _fill_registry_path(target: Table) -> None:
    registry = table_or_crash(target.get("registry"), "registry")
    path = registry.get("config_path") if registry is not None else None
    if registry is not None and isinstance(path, Leaf) and path.value == "":
        registry["config_path"] = Leaf(DEFAULT_REGISTRY_PATH).over(path)


def migrate_runtime(plugins: Table, family: Family) -> None:
    """All else but streaming, where the new section does not say it already."""
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
    for name, runtime in (table_or_crash(containerd.get("runtimes"), "runtimes") or Table()).items():
        table = table_or_crash(runtime, name)
        if table is not None and "sandbox_mode" in table and "sandboxer" not in table:
            table["sandboxer"] = table.pop("sandbox_mode")


def migrate_server_settings(plugins: Table, family: Family) -> None:
    """The old section keeps the settings of streaming."""
    source = plugins.get(CRI)
    if isinstance(source, Table):
        plugins[CRI] = Table({key: source[key] for key in _SERVER_KEYS if key in source}, source.origin)


def _move(node: Node, target: Table, name: str) -> None:
    earlier = target.get(name)
    target[name] = node.over(earlier) if isinstance(node, Leaf) and isinstance(earlier, Leaf) else node


def table_or_crash(node: Node | None, name: str) -> Table | None:
    """The node as a table, if it is there; Go panics on anything else."""
    if node is None or isinstance(node, Table):
        return node
    raise _crash(name, node.origin)


def _crash(name: str, origin: Origin) -> WrongTypeError:
    return WrongTypeError(f"{name}: containerd crashes while it migrates this value", origin, panics=True)
