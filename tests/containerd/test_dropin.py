"""The drop-in adds our handlers to any node, changes nothing else, and goes away without a trace."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lockgate.containerd import (
    HANDLERS,
    ConfigError,
    Effective,
    File,
    Files,
    Loss,
    Plan,
    Refusal,
    Release,
    Wanted,
    plan_dropin,
    plan_removal,
    resolve,
)
from lockgate.containerd.values import leaves
from tests.truth.containerd.grammar import TOP_LEVEL, generate

ROOT = "/etc/containerd/config.toml"
DROPIN = "/etc/containerd/conf.d/99-nvidia.toml"
RELEASES = ("1.6.20", "1.6.36", "1.7.12", "1.7.24", "2.0.0", "2.0.13", "2.1.9", "2.2.1", "2.3.4", "2.3.7", "2.4.2")
CRI_V2 = 'plugins."io.containerd.grpc.v1.cri"'
V2_WITH_SYSTEMD = f"""\
# the site's own file
version = 2 # of the format
imports = ["/etc/containerd/conf.d/*.toml"]

[{CRI_V2}]
  sandbox_image = "registry.local/pause:3.9" # mirrored
[{CRI_V2}.containerd.runtimes.runc]
  runtime_type = "io.containerd.runc.v2"
[{CRI_V2}.containerd.runtimes.runc.options]
  BinaryName = "/usr/local/sbin/runc"
  SystemdCgroup = true
"""


def planned(files: dict[str, File], release: str, wanted: Wanted | None = None) -> Plan:
    answer = plan_dropin(files, ROOT, Release.parse(release), wanted or Wanted(), DROPIN)
    assert isinstance(answer, Plan), answer
    return answer


def refused(files: dict[str, File], release: str, wanted: Wanted | None = None) -> Refusal:
    answer = plan_dropin(files, ROOT, Release.parse(release), wanted or Wanted(), DROPIN)
    assert isinstance(answer, Refusal), answer
    return answer


def written(files: Files | dict[str, File], plan: Plan) -> Files:
    tree = files if isinstance(files, Files) else Files(files)
    for path, text in plan.files.items():
        tree = tree.with_file(path, text)
    return tree


@pytest.mark.parametrize("release", RELEASES)
def test_the_handlers_are_aliases_of_the_nodes_own_runc(release: str) -> None:
    plan = planned({ROOT: V2_WITH_SYSTEMD}, release)
    runc = plan.expected.handlers["runc"]
    for name in HANDLERS:
        handler = plan.expected.handlers[name]
        assert (handler.runtime_type, handler.binary_name, handler.systemd_cgroup) == (
            "io.containerd.runc.v2",
            "/usr/local/sbin/runc",
            True,
        )
    assert runc.systemd_cgroup
    assert plan.expected.sandbox_image == "registry.local/pause:3.9"
    assert list(plan.files) == [DROPIN]


@pytest.mark.parametrize("release", RELEASES)
def test_a_node_without_any_configuration_gets_a_top_level_file_that_imports_the_drop_in(release: str) -> None:
    plan = planned({}, release)
    assert list(plan.files) == [DROPIN, ROOT]
    assert 'imports = ["/etc/containerd/conf.d/*.toml"]' in (plan.files[ROOT] or "")
    assert set(HANDLERS) | {"runc"} == set(plan.expected.handlers)


@pytest.mark.parametrize("release", RELEASES)
def test_the_drop_in_has_the_version_of_the_top_level_file(release: str) -> None:
    assert "\nversion = 2\n" in (planned({ROOT: V2_WITH_SYSTEMD}, release).files[DROPIN] or "")


def test_a_version_3_file_gets_the_version_3_names() -> None:
    text = planned({ROOT: "version = 3\n"}, "2.1.9").files[DROPIN] or ""
    assert 'version = 3\n\n[plugins."io.containerd.cri.v1.runtime".containerd.runtimes.nvidia]' in text


def test_only_the_import_line_is_added_to_the_persons_file() -> None:
    text = V2_WITH_SYSTEMD.replace('imports = ["/etc/containerd/conf.d/*.toml"]\n', "")
    plan = planned({ROOT: text}, "1.7.24")
    new = (plan.files[ROOT] or "").splitlines()
    assert new[2] == 'imports = ["/etc/containerd/conf.d/*.toml"]'
    assert new[:2] + new[3:] == text.splitlines()


def test_an_entry_is_added_to_an_import_list_that_is_there() -> None:
    text = 'version = 2\nimports = [\n  "/opt/site/*.toml", # ours\n]\n'
    assert planned({ROOT: text}, "2.4.2").files[ROOT] == (
        'version = 2\nimports = [\n  "/opt/site/*.toml", "/etc/containerd/conf.d/*.toml", # ours\n]\n'
    )


def test_files_that_were_not_read_so_far_stay_unread() -> None:
    files: dict[str, File] = {
        ROOT: "version = 2\n",
        "/etc/containerd/conf.d/old.toml": f'version = 2\n[{CRI_V2}]\nsandbox_image = "old"\n',
    }
    plan = planned(files, "2.1.9")
    assert 'imports = ["/etc/containerd/conf.d/99-nvidia*.toml"]' in (plan.files[ROOT] or "")
    assert plan.expected.sandbox_image == plan.before.sandbox_image


def test_1x_repeats_the_persons_cri_table_and_runc() -> None:
    files: dict[str, File] = {
        ROOT: 'version = 2\nimports = ["/etc/containerd/conf.d/*.toml"]\n',
        "/etc/containerd/conf.d/10-registry.toml": f'version = 2\n[{CRI_V2}.registry]\nconfig_path = "/c"\n',
    }
    plan = planned(files, "1.7.24")
    assert plan.expected.registry_config_path == "/c"
    assert set(plan.expected.handlers) == {"runc", *HANDLERS}


def test_an_edit_of_the_repeated_table_is_noticed() -> None:
    before: dict[str, File] = {ROOT: V2_WITH_SYSTEMD}
    node = written(before, planned(before, "1.7.24"))
    edited = node.with_file(ROOT, V2_WITH_SYSTEMD.replace("pause:3.9", "pause:3.10"))
    assert list(planned(dict(edited.entries), "1.7.24").files) == [DROPIN]
    assert planned(dict(node.entries), "1.7.24").files == {}


def test_the_trap_of_1x_is_refused_with_the_file_that_wins() -> None:
    files: dict[str, File] = {
        ROOT: 'version = 2\nimports = ["/etc/containerd/conf.d/*.toml"]\n',
        "/etc/containerd/conf.d/zz-registry.toml": f'version = 2\n\n[{CRI_V2}.registry]\n  config_path = "/c"\n',
    }
    refusal = refused(files, "1.7.24")
    assert refusal.id == "containerd/dropin-overridden"
    assert refusal.lost[0].loss is Loss.TABLE_REPLACED
    assert str(refusal.lost[0].winner) == "/etc/containerd/conf.d/zz-registry.toml:3"
    assert set(HANDLERS) < set(planned(files, "2.1.9").expected.handlers)


def test_a_node_whose_files_containerd_refuses_is_left_alone() -> None:
    refusal = refused({ROOT: "version = 3\n"}, "1.7.24")
    assert refusal.id == "containerd/config-refused"
    assert "unsupported config version `3`" in refusal.message


@pytest.mark.parametrize("release", ["1.7.24", "2.4.2"])
def test_a_node_without_the_cri_plugin_is_left_alone(release: str) -> None:
    refusal = refused({ROOT: 'version = 2\ndisabled_plugins = ["io.containerd.grpc.v1.cri"]\n'}, release)
    assert refusal.id == "containerd/cri-disabled"
    assert f"({ROOT}:2)" in refusal.message


def test_cdi_is_switched_on_where_there_is_a_switch() -> None:
    assert planned({ROOT: "version = 2\n"}, "1.7.24").expected.enable_cdi is True
    off = f"version = 2\n[{CRI_V2}]\nenable_cdi = false\n"
    assert planned({ROOT: off}, "2.1.9").expected.enable_cdi is True
    assert "enable_cdi" not in (planned({ROOT: "version = 2\n"}, "2.1.9").files[DROPIN] or "")
    old = planned({ROOT: "version = 2\n"}, "1.6.20")
    assert old.expected.enable_cdi is None
    assert "has no CDI" in old.notes[0]


def test_a_default_handler_is_set_only_when_wanted() -> None:
    assert planned({}, "2.4.2").expected.default_runtime_name == "runc"
    assert planned({}, "2.4.2", Wanted(default="nvidia")).expected.default_runtime_name == "nvidia"


def test_a_runc_without_a_type_still_lends_its_options() -> None:
    text = f"version = 2\n[{CRI_V2}.containerd.runtimes.runc.options]\nSystemdCgroup = true\n"
    handler = planned({ROOT: text}, "1.7.24").expected.handlers["nvidia"]
    assert (handler.runtime_type, handler.systemd_cgroup) == ("io.containerd.runc.v2", True)


def test_nvidias_own_drop_in_is_replaced() -> None:
    theirs = (
        f'version = 2\n[{CRI_V2}.containerd.runtimes.nvidia.options]\nBinaryName = "/usr/bin/nvidia-container-runtime"'
    )
    plan = planned({ROOT: V2_WITH_SYSTEMD, DROPIN: theirs}, "1.7.24")
    assert plan.expected.handlers["nvidia"].binary_name == "/usr/local/sbin/runc"


@pytest.mark.parametrize("release", RELEASES)
@pytest.mark.parametrize(
    "files",
    [
        {},
        {ROOT: ""},
        {ROOT: V2_WITH_SYSTEMD},
        {ROOT: "version = 2\r\n# end"},
        {ROOT: 'imports = ["/x/*.toml"]\nversion = 2'},
    ],
    ids=["no file", "empty", "imported", "crlf", "other imports"],
)
def test_removal_restores_every_byte(files: dict[str, File], release: str) -> None:
    node = written(files, planned(files, release))
    removal = plan_removal(node, ROOT, Release.parse(release), DROPIN)
    assert isinstance(removal, Plan)
    assert written(node, removal).entries == files


def test_removal_keeps_what_a_person_has_added_since() -> None:
    node = written({ROOT: "version = 2\n"}, planned({ROOT: "version = 2\n"}, "2.4.2"))
    edited = node.with_file(ROOT, f"{node.read(ROOT)}root = '/data'\n")
    removal = plan_removal(edited, ROOT, Release.parse("2.4.2"), DROPIN)
    assert isinstance(removal, Plan)
    assert written(edited, removal).entries == {ROOT: "version = 2\nroot = '/data'\n"}


def test_removal_leaves_a_top_level_file_alone_that_is_no_toml_any_more() -> None:
    node = written({ROOT: "version = 2\n"}, planned({ROOT: "version = 2\n"}, "2.4.2"))
    broken = node.with_file(ROOT, "version = [")
    refusal = plan_removal(broken, ROOT, Release.parse("2.4.2"), DROPIN)
    assert isinstance(refusal, Refusal)
    assert "without our drop-in containerd would not start" in refusal.message


def said(found: Effective) -> dict[tuple[str, ...], object]:
    return {path: leaf.value for path, leaf in leaves(found.document) if leaf.value and path[0] != "imports"}


@settings(max_examples=150, deadline=None)
@given(seed=st.integers(0, 10**9), release=st.sampled_from(RELEASES))
def test_whatever_a_node_has_the_plan_changes_nothing_else_and_can_be_undone(seed: int, release: str) -> None:
    files, at = Files(generate(f"dropin:{seed}")), Release.parse(release)
    dropin = "/ROOT/conf.d/zzz-lockgate.toml"
    before = resolve(files.with_file(TOP_LEVEL, files.read(TOP_LEVEL) or ""), TOP_LEVEL, at)
    answer = plan_dropin(files, TOP_LEVEL, at, Wanted(), dropin)
    if isinstance(answer, Refusal):
        assert answer.message
        return
    assert isinstance(before, Effective)
    after_files = written(files, answer)
    after = resolve(after_files, TOP_LEVEL, at)
    assert isinstance(after, Effective)
    assert set(HANDLERS) <= set(after.handlers)
    old, new = said(before), said(after)
    changed = {path for path in old.keys() | new.keys() if old.get(path) != new.get(path)}
    assert all(set(path) & {*HANDLERS, "enable_cdi"} or path[1] not in read_sections(after) for path in changed), (
        changed
    )
    again = plan_dropin(after_files, TOP_LEVEL, at, Wanted(), dropin)
    assert isinstance(again, Plan)
    assert again.files == {}
    removal = plan_removal(after_files, TOP_LEVEL, at, dropin)
    assert isinstance(removal, Plan)
    assert written(after_files, removal).entries == files.entries


def read_sections(found: Effective) -> set[str]:
    cri = found.release.family.cri
    return {cri.runtime, cri.images, "io.containerd.grpc.v1.cri"}


def test_refusals_are_not_the_rule() -> None:
    outcomes = [
        isinstance(
            plan_dropin(generate(f"share:{n}"), TOP_LEVEL, Release.parse("2.1.9"), Wanted(), "/ROOT/conf.d/zzz.toml"),
            Plan,
        )
        for n in range(200)
    ]
    healthy = [
        not isinstance(resolve(generate(f"share:{n}"), TOP_LEVEL, Release.parse("2.1.9")), ConfigError)
        for n in range(200)
    ]
    assert sum(outcomes) > 0.9 * sum(healthy)
