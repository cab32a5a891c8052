"""Configurations that load and yet leave the node without a runtime: the daemon runs, its CRI plugin does not.

containerd logs `failed to load plugin ... invalid plugin config: <message>` and goes on; the kubelet then reports the
container runtime as down. Source: ValidatePluginConfig (1.x), ValidateRuntimeConfig and ValidateImageConfig (2.x).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from lockgate.containerd.effective import Effective, Handler
from lockgate.containerd.go_values import DurationError, parse_duration
from lockgate.containerd.values import BUILT_IN, Leaf, Node, Origin, Table

LINUX_V1 = "io.containerd.runtime.v1.linux"


@dataclass(frozen=True, slots=True)
class CriProblem:
    """Why the CRI plugin does not load: containerd's own words, and the line to change."""

    message: str
    origin: Origin


def cri_problems(effective: Effective) -> tuple[CriProblem, ...]:
    """Everything in a loaded configuration that keeps the CRI plugin from loading; empty when it loads."""
    if effective.cri_disabled:
        return ()
    return tuple(problem for check in _CHECKS for problem in check(effective))


def _default_runtime(effective: Effective) -> Iterator[CriProblem]:
    if effective.release.family.plugin_by_id and "default" in dict(_legacy_handlers(effective)):
        return
    name, node = effective.default_runtime_name, effective.cri("containerd", "default_runtime_name")
    origin = _place(node)
    if not name:
        yield CriProblem("`default_runtime_name` is empty", origin)
    elif name not in effective.handlers:
        message = (
            "no corresponding runtime configured in `containerd.runtimes` for `containerd` `default_runtime_name = "
        )
        runtimes = _place(effective.cri("containerd", "runtimes"))
        yield CriProblem(f'{message}"{name}"', runtimes if origin.is_built_in else origin)


def _legacy_handlers(effective: Effective) -> Iterator[tuple[str, Handler]]:
    """The handlers `default` and `untrusted` of two old tables; the first is then the default runtime, named or not."""
    for key, name in (("default_runtime", "default"), ("untrusted_workload_runtime", "untrusted")):
        table = effective.cri("containerd", key)
        if isinstance(table, Table) and _is_set(table.get("runtime_type")):
            yield name, Handler(name, table)


def _legacy_options(effective: Effective) -> Iterator[CriProblem]:
    if not effective.release.family.plugin_by_id:
        return
    handlers = {**effective.handlers, **dict(_legacy_handlers(effective))}
    for name in ("runtime_engine", "runtime_root"):
        for handler in handlers.values():
            node = handler.table.get(name)
            if _is_set(node) and handler.runtime_type != LINUX_V1:
                yield CriProblem(f"`{name}` only works for runtime {LINUX_V1}", _place(node))
    default = handlers.get("default", handlers.get(effective.default_runtime_name or ""))
    for path, name in ((("systemd_cgroup",), "systemd_cgroup"), (("containerd", "no_pivot"), "no_pivot")):
        node = effective.cri(*path)
        if _is_set(node) and default is not None and default.runtime_type != LINUX_V1:
            yield CriProblem(f"`{name}` only works for runtime {LINUX_V1}", _place(node))


def _untrusted(effective: Effective) -> Iterator[CriProblem]:
    legacy = dict(_legacy_handlers(effective)).get("untrusted")
    if effective.release.family.plugin_by_id and legacy is not None and "untrusted" in effective.handlers:
        message = "conflicting definitions: configuration includes both `untrusted_workload_runtime` and "
        yield CriProblem(f'{message}`runtimes["untrusted"]`', legacy.origin)


def _privileges(effective: Effective) -> Iterator[CriProblem]:
    if effective.release.family.baseline == "1.6":
        return
    for handler in effective.handlers.values():
        allowed = handler.table.get("privileged_without_host_devices_all_devices_allowed")
        if _is_set(allowed) and not _is_set(handler.table.get("privileged_without_host_devices")):
            message = "`privileged_without_host_devices_all_devices_allowed` requires "
            yield CriProblem(f"{message}`privileged_without_host_devices` to be enabled", _place(allowed))
        yield from _io_type(handler)


def _io_type(handler: Handler) -> Iterator[CriProblem]:
    node = handler.table.get("io_type")
    if isinstance(node, Leaf) and node.value not in ("", "fifo", "streaming"):
        yield CriProblem("`io_type` can only be `streaming` or `named_pipe`", node.origin)


def _registry(effective: Effective) -> Iterator[CriProblem]:
    section = effective.get("plugins", effective.release.family.cri.images, "registry")
    if not isinstance(section, Table) or not effective.registry_config_path:
        return
    if effective.registry_mirrors:
        yield CriProblem("`mirrors` cannot be set when `config_path` is provided", _place(section.get("mirrors")))
    configs = section.get("configs")
    for config in configs.values() if isinstance(configs, Table) else ():
        if isinstance(config, Table) and "tls" in config:
            yield CriProblem("`configs.tls` cannot be set when `config_path` is provided", _place(config["tls"]))


def _cni_folders(effective: Effective) -> Iterator[CriProblem]:
    """2.1 brought `bin_dirs` beside `bin_dir`; a `bin_dirs` equal to the built-in one counts as not set."""
    one, many = effective.cri("cni", "bin_dir"), effective.cri("cni", "bin_dirs")
    if not _is_set(one) or not isinstance(many, Leaf) or not many.value or many.origin.is_built_in:
        return
    built_in = many.overrode[-1].value if many.overrode else None
    if many.value != built_in:
        yield CriProblem("`cni.bin_dir` and `cni.bin_dirs` cannot be set at the same time", many.origin)


def _durations(effective: Effective) -> Iterator[CriProblem]:
    names = effective.release.family.cri
    for section, key, text in (
        ("io.containerd.grpc.v1.cri", "stream_idle_timeout", "invalid stream idle timeout"),
        (names.images, "image_pull_progress_timeout", "invalid image pull progress timeout"),
        (names.runtime, "drain_exec_sync_io_timeout", "invalid `drain_exec_sync_io_timeout`"),
        (names.runtime, "stats_retention_period", "invalid `stats_retention_period`"),
    ):
        node = effective.get("plugins", section, key)
        if isinstance(node, Leaf) and isinstance(node.value, str) and node.value:
            try:
                parse_duration(node.value)
            except DurationError as error:
                yield CriProblem(f"{text}: {error}", node.origin)


def _is_set(node: Node | None) -> bool:
    return isinstance(node, Leaf) and bool(node.value)


def _place(node: Node | None) -> Origin:
    return node.origin if node is not None else BUILT_IN


_CHECKS: tuple[Callable[[Effective], Iterator[CriProblem]], ...] = (
    _untrusted,
    _default_runtime,
    _legacy_options,
    _cni_folders,
    _privileges,
    _registry,
    _durations,
)
