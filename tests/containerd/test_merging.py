"""What several files amount to, family by family: the rules that people trip over, each with the value's provenance."""

import time
from typing import Any

import pytest

from lockgate.containerd import ConfigError, Effective, Origin, Release, View, resolve
from lockgate.containerd.effective import Cache
from lockgate.containerd.values import Leaf, plain

ROOT = "/etc/containerd/config.toml"
A, B = "/etc/containerd/conf.d/a.toml", "/etc/containerd/conf.d/b.toml"
CRI = 'plugins."io.containerd.grpc.v1.cri"'
RUNTIME = 'plugins."io.containerd.cri.v1.runtime"'
IMAGES = 'plugins."io.containerd.cri.v1.images"'
ONE_X, TWO_X, FOUR = ("1.6.20", "1.7.24"), ("2.0.6", "2.1.9", "2.2.1"), ("2.3.4", "2.3.7", "2.4.2")


def found(release: str, root: str, a: str = "", b: str = "", view: View = View.DAEMON) -> Effective:
    answer = answered(release, root, a, b, view)
    assert isinstance(answer, Effective), answer
    return answer


def answered(release: str, root: str, a: str = "", b: str = "", view: View = View.DAEMON) -> Effective | ConfigError:
    head, _, rest = root.partition("\n")
    imports = 'imports = ["/etc/containerd/conf.d/*.toml"]'
    files = {path: text for path, text in ((ROOT, f"{head}\n{imports}\n{rest}"), (A, a), (B, b)) if text}
    return resolve(files, ROOT, Release.parse(release), view=view)


@pytest.mark.parametrize("release", ONE_X)
def test_1x_takes_the_later_plugin_table_whole(release: str) -> None:
    nvidia = f'version = 2\n[{CRI}.containerd.runtimes.nvidia]\nruntime_type = "io.containerd.runc.v2"'
    registry = f'version = 2\n[{CRI}.registry]\nconfig_path = "/c"'
    assert set(found(release, "version = 2", nvidia).handlers) == {"nvidia"}
    assert set(found(release, "version = 2", nvidia, registry).handlers) == {"runc"}
    assert set(found(release, "version = 2", nvidia, f"version = 2\n[{CRI}]").handlers) == {"runc"}


@pytest.mark.parametrize("release", TWO_X + FOUR)
def test_2x_merges_plugin_tables_and_keeps_the_built_in_runc(release: str) -> None:
    nvidia = f'version = 2\n[{CRI}.containerd.runtimes.nvidia]\nruntime_type = "io.containerd.runc.v2"'
    registry = f'version = 2\n[{CRI}.registry]\nconfig_path = "/c"'
    both = found(release, "version = 2", nvidia, registry)
    assert set(both.handlers) == {"runc", "nvidia"}
    assert both.registry_config_path == "/c"


@pytest.mark.parametrize("release", ONE_X + TWO_X + FOUR)
def test_a_value_knows_its_place_and_what_it_overrode(release: str) -> None:
    both = found(release, f'version = 2\n[{CRI}]\nsandbox_image = "x"', f'version = 2\n\n[{CRI}]\nsandbox_image = "y"')
    image = both.leaf("plugins", *both.release.family.cri.sandbox_image)
    assert image is not None
    assert (image.value, image.origin) == ("y", Origin(A, 4))
    earlier, *rest = image.overrode
    assert (earlier.value, earlier.origin) == ("x", Origin(ROOT, 4))
    assert [leaf.origin.is_built_in for leaf in rest] == [True]


@pytest.mark.parametrize("release", ONE_X + TWO_X + FOUR)
def test_an_empty_value_at_the_top_level_overrides_nothing(release: str) -> None:
    both = found(release, 'version = 2\nroot = "/data"\noom_score = 5', 'version = 2\nroot = ""\noom_score = 0')
    assert (both.leaf("root"), plain(both.document["oom_score"])) == (Leaf("/data", Origin(ROOT, 3), BUILT), 5)


BUILT = (Leaf("/var/lib/containerd"),)


@pytest.mark.parametrize("release", TWO_X + FOUR)
def test_an_empty_value_inside_a_plugin_overrides_on_2x(release: str) -> None:
    both = found(release, f"version = 2\n[{CRI}]\ncdi_spec_dirs = ['/a']", f"version = 2\n[{CRI}]\ncdi_spec_dirs = []")
    assert both.cdi_spec_dirs == ()


def test_disabled_plugins_add_up() -> None:
    name, other = "io.containerd.internal.v1.opt", "io.containerd.internal.v1.restart"
    root, a = f'version = 2\ndisabled_plugins = ["{name}"]', f'version = 2\ndisabled_plugins = ["{name}", "{other}"]'
    assert found("1.7.24", root, a).disabled_plugins == (name, name, other)
    assert found("2.1.9", root, a).disabled_plugins == (name, other)


@pytest.mark.parametrize("release", TWO_X)
def test_2_0_to_2_2_lose_version_2_settings_to_a_later_version_3_file(release: str) -> None:
    root = f'version = 2\n[{CRI}]\nsandbox_image = "mine"'
    late = f'version = 3\n[{RUNTIME}.containerd.runtimes.nvidia]\nruntime_type = "io.containerd.runc.v2"'
    assert found(release, root).sandbox_image == "mine"
    assert found(release, root, late).sandbox_image != "mine"
    assert found(release, root, late, "version = 2").sandbox_image == "mine"


@pytest.mark.parametrize("release", TWO_X)
def test_2_0_to_2_2_lose_the_cri_settings_of_a_file_without_version(release: str) -> None:
    assert found(release, f'# no version\n[{CRI}]\nsandbox_image = "mine"').sandbox_image != "mine"
    assert found(release, f'# no version\n[{CRI}]\nsandbox_image = "mine"', "version = 2").sandbox_image == "mine"


def test_2_0_to_2_2_take_version_2_keys_only_where_the_version_3_key_is_not_set() -> None:
    root = f'version = 3\n[{RUNTIME}.containerd.runtimes.kata]\nruntime_type = "k"'
    late = f'version = 2\n[{CRI}]\nenable_selinux = true\n[{CRI}.containerd.runtimes.nvidia]\nruntime_type = "n"'
    both = found("2.1.9", root, late)
    assert set(both.handlers) == {"runc", "kata"}
    assert plain(both.cri("enable_selinux")) is True  # type: ignore[arg-type]


@pytest.mark.parametrize("release", ("2.3.7", "2.4.2"))
def test_2_3_migrates_each_file_alone_so_that_versions_mix(release: str) -> None:
    root = f'version = 2\n[{CRI}]\nsandbox_image = "mine"'
    late = f'version = 4\n[{RUNTIME}.containerd.runtimes.nvidia]\nruntime_type = "io.containerd.runc.v2"'
    both = found(release, root, late)
    assert both.sandbox_image == "mine"
    assert set(both.handlers) == {"runc", "nvidia"}


def test_2_3_0_to_2_3_4_refuse_a_drop_in_that_is_newer_than_the_top_level_file() -> None:
    refused = answered("2.3.4", "version = 2", "version = 4")
    assert isinstance(refused, ConfigError)
    assert refused.message == "drop-in config version 4 higher than root config version 2"
    assert (refused.file, refused.line) == (A, 1)


@pytest.mark.parametrize(
    ("release", "message"),
    [
        ("1.7.24", "unsupported config version `3`"),
        ("2.1.9", "expected containerd config version equal to or less than `3`, got `5`"),
        ("2.4.2", "expected containerd config version equal to or less than `4`, got `5`"),
    ],
)
def test_a_version_that_is_too_new_stops_the_daemon(release: str, message: str) -> None:
    refused = answered(release, f"version = {3 if release[0] == '1' else 5}")
    assert isinstance(refused, ConfigError)
    assert message in refused.message


@pytest.mark.parametrize("release", TWO_X + FOUR)
def test_a_version_2_snapshotter_without_runtimes_is_ignored(release: str) -> None:
    alone = f'version = 2\n[{CRI}.containerd]\nsnapshotter = "nydus"'
    assert snapshotter(found(release, alone)) == "overlayfs"
    assert snapshotter(found(release, f"{alone}\n[{CRI}.containerd.runtimes]")) == "nydus"


def snapshotter(effective: Effective) -> Any:
    node = effective.get("plugins", "io.containerd.cri.v1.images", "snapshotter")
    assert node is not None
    return plain(node)


@pytest.mark.parametrize("release", FOUR)
def test_version_4_keeps_sockets_in_plugin_sections(release: str) -> None:
    moved = found(release, 'version = 2\n[grpc]\naddress = "/run/k.sock"\nuid = 7')
    server = moved.get("plugins", "io.containerd.server.v1.grpc", "address")
    assert server is not None
    assert (plain(server), server.origin) == ("/run/k.sock", Origin(ROOT, 4))
    ttrpc = moved.get("plugins", "io.containerd.server.v1.ttrpc", "address")
    assert ttrpc is not None
    assert plain(ttrpc) == "/run/k.sock.ttrpc"


def test_the_first_2_0_releases_dump_less_than_they_load() -> None:
    root = f'version = 2\n[{CRI}]\nsandbox_image = "mine"'
    assert found("2.0.0", root).sandbox_image == "mine"
    assert found("2.0.0", root, view=View.DUMP).sandbox_image != "mine"
    assert found("2.0.6", root, view=View.DUMP).sandbox_image == "mine"


def test_an_unquoted_plugin_name_is_refused_by_1x_and_ignored_by_2x() -> None:
    unquoted = "version = 2\n[plugins.io.containerd.grpc.v1.cri]\nenable_cdi = true"
    refused = answered("1.7.24", unquoted)
    assert isinstance(refused, ConfigError)
    assert 'invalid plugin key URI "io" expect io.containerd.x.vx' in refused.message
    assert found("2.1.9", unquoted).loaded


def test_a_negative_version_crashes_the_2_0_to_2_2_daemon_though_the_dump_succeeds() -> None:
    refused = answered("2.1.9", "version = 2", "version = -1")
    assert isinstance(refused, ConfigError)
    assert (refused.panics, refused.file) == (True, A)
    assert found("2.1.9", "version = 2", "version = -1", view=View.DUMP).loaded


def test_two_names_of_one_plugin_are_told_since_2x_keeps_one_at_random() -> None:
    text = f'# no version\n[plugins.cri]\nsandbox_image = "a"\n[{CRI}]\nsandbox_image = "b"'
    (collision,) = found("2.4.2", text).up_to_chance
    assert (collision.plugin, collision.kept.line, collision.dropped.line) == ("io.containerd.grpc.v1.cri", 5, 3)
    assert found("1.7.24", text).up_to_chance == ()


def test_version_1_names_are_short_on_1x_and_long_ones_are_not_read() -> None:
    assert found("1.7.24", '# no version\n[plugins.cri]\nsandbox_image = "mine"').sandbox_image == "mine"
    assert found("1.7.24", f'# no version\n[{CRI}]\nsandbox_image = "mine"').sandbox_image != "mine"


def test_1x_reads_the_keys_of_an_absent_inner_table_from_the_table_around_it() -> None:
    text = f'version = 2\n[{CRI}]\ndefault_runtime_name = "kata"\nconfig_path = "/c"'
    assert found("1.7.24", text).default_runtime_name == "kata"
    assert found("1.7.24", text).registry_config_path == "/c"
    assert found("2.1.9", text).default_runtime_name == "runc"


@pytest.mark.parametrize("release", ONE_X + TWO_X + FOUR)
def test_a_value_of_the_wrong_type_names_its_key_and_line(release: str) -> None:
    refused = answered(release, f'version = 2\n[{CRI}]\nmax_container_log_line_size = "big"')
    assert isinstance(refused, ConfigError)
    assert (refused.file, refused.line) == (ROOT, 4)
    assert 'max_container_log_line_size: expected an int, found the string "big"' in refused.message


def test_a_proxy_plugin_without_a_type_crashes_containerd() -> None:
    refused = answered("2.1.9", '# none\n[proxy_plugins.nydus]\naddress = "/run/n.sock"')
    assert isinstance(refused, ConfigError)
    assert refused.panics
    assert str(refused).startswith(f"{ROOT}:3: containerd crashes: proxy plugin nydus")


def test_disabling_the_cri_plugin_is_seen_although_2x_still_shows_its_runtimes() -> None:
    text = 'version = 2\ndisabled_plugins = ["io.containerd.grpc.v1.cri"]'
    assert found("1.7.24", text).handlers == {}
    assert found("1.7.24", text).cri_disabled
    assert found("2.1.9", text).handlers
    assert found("2.1.9", text).cri_disabled


def test_one_node_is_resolved_in_under_5_ms_and_equal_nodes_once() -> None:
    full = f"version = 2\n[{CRI}]\nsandbox_image = 'x'\n" + "".join(
        f"[{CRI}.containerd.runtimes.r{n}]\nruntime_type = 'io.containerd.runc.v2'\n"
        f"[{CRI}.containerd.runtimes.r{n}.options]\nSystemdCgroup = true\n"
        for n in range(20)
    )
    files = {ROOT: full, A: full, B: full}
    release, cache = Release.parse("1.7.24"), dict[object, Any]()
    assert min(timed(files, release, None) for _ in range(20)) < 0.005
    first = resolve(dict(files), ROOT, release, cache=cache)
    assert all(resolve(dict(files), ROOT, release, cache=cache) is first for _ in range(100))
    assert len(cache) == 1


def timed(files: dict[str, str], release: Release, cache: Cache | None) -> float:
    started = time.perf_counter()
    resolve(files, ROOT, release, cache=cache)
    return time.perf_counter() - started
