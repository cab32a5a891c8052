"""A handler that a file defines in vain is found, with the line that took it away."""

from lockgate.containerd import Effective, Loss, LostHandler, Origin, Release, lost_handlers, resolve

ROOT = "/etc/containerd/config.toml"
NVIDIA = "/etc/containerd/conf.d/99-nvidia.toml"
REGISTRY = "/etc/containerd/conf.d/zz-registry.toml"
CRI = "io.containerd.grpc.v1.cri"
IMPORTING = 'version = 2\nimports = ["/etc/containerd/conf.d/*.toml"]\n'
HANDLER = f'version = 2\n[plugins."{CRI}".containerd.runtimes.nvidia]\n  runtime_type = "io.containerd.runc.v2"\n'
THREE_LINES = f'version = 2\n[plugins."{CRI}".registry]\n  config_path = "/etc/containerd/certs.d"\n'


def lost(files: dict[str, str], release: str) -> tuple[LostHandler, ...]:
    effective = resolve(files, ROOT, Release.parse(release))
    assert isinstance(effective, Effective), effective
    return lost_handlers(effective, files)


def test_the_guides_trap_names_both_files_and_lines() -> None:
    files = {ROOT: IMPORTING, NVIDIA: HANDLER, REGISTRY: THREE_LINES}
    assert lost(files, "1.7.27") == (
        LostHandler("nvidia", CRI, Origin(NVIDIA, 2), Loss.TABLE_REPLACED, Origin(REGISTRY, 2)),
    )
    assert lost(files, "2.1.9") == ()


def test_nothing_is_lost_when_the_handler_comes_last() -> None:
    assert lost({ROOT: IMPORTING + THREE_LINES[12:], NVIDIA: HANDLER}, "1.7.27") == ()


def test_a_version_3_file_takes_the_version_2_handlers_on_2_1() -> None:
    files = {ROOT: IMPORTING + HANDLER[12:], REGISTRY: "version = 3\n"}
    assert lost(files, "2.1.9") == (
        LostHandler("nvidia", CRI, Origin(ROOT, 3), Loss.NAME_NOT_READ, Origin(REGISTRY, 1)),
    )
    assert lost(files, "2.4.2") == ()


def test_version_3_names_are_not_read_on_1_7() -> None:
    text = HANDLER.replace(CRI, "io.containerd.cri.v1.runtime")
    (found,) = lost({ROOT: IMPORTING, NVIDIA: text}, "1.7.27")
    assert (found.loss, found.winner) == (Loss.NAME_NOT_READ, None)


def test_a_file_that_nothing_imports_is_told() -> None:
    (found,) = lost({ROOT: "version = 2\n", NVIDIA: HANDLER}, "1.7.27")
    assert (found.loss, found.defined) == (Loss.FILE_NOT_LOADED, Origin(NVIDIA, 2))


def test_a_disabled_plugin_is_told() -> None:
    files = {ROOT: f'version = 2\ndisabled_plugins = ["{CRI}"]\n{HANDLER[12:]}'}
    assert lost(files, "1.7.27") == (
        LostHandler("nvidia", CRI, Origin(ROOT, 3), Loss.PLUGIN_DISABLED, Origin(ROOT, 2)),
    )
