"""Settings come from the command line, then the environment, then the file, in NVIDIA's spelling."""

from pathlib import Path

import pytest

from lockgate.agents.device_plugin.settings import Settings, read_settings
from lockgate.agents.options import SettingsError
from lockgate.agents.sharing import Replicated

# What NVIDIA's operator sets on the DaemonSet under the chart's default policy.
OPERATOR = {
    "CDI_ANNOTATION_PREFIX": "cdi.k8s.io/",
    "CDI_ENABLED": "true",
    "DEVICE_ID_STRATEGY": "uuid",
    "DEVICE_LIST_STRATEGY": "cdi-annotations,cdi-cri",
    "FAIL_ON_INIT_ERROR": "true",
    "MIG_STRATEGY": "single",
    "MPS_ROOT": "/run/nvidia/mps",
    "NVIDIA_CDI_HOOK_PATH": "/usr/local/nvidia/toolkit/nvidia-cdi-hook",
    "NVIDIA_MIG_MONITOR_DEVICES": "all",
    "NVIDIA_VISIBLE_DEVICES": "all",
    "PASS_DEVICE_SPECS": "true",
}


def _with_file(folder: Path, text: str, argv: tuple[str, ...] = (), **environ: str) -> Settings:
    path = folder / "config.yaml"
    path.write_text(text)
    return read_settings(argv, {"CONFIG_FILE": str(path), **environ})


def test_without_anything_the_defaults_are_nvidias() -> None:
    settings = read_settings((), {})
    assert (settings.mig_strategy, settings.list_strategies, settings.fail_on_init_error) == ("none", ("envvar",), True)
    assert settings.kubelet_socket == Path("/var/lib/kubelet/device-plugins/kubelet.sock")
    assert settings.driver_root_ctr == Path("/driver-root")


def test_the_operators_environment_is_read_whole_and_without_complaint() -> None:
    settings = read_settings((), OPERATOR)
    assert settings.list_strategies == ("cdi-annotations", "cdi-cri")
    assert (settings.mig_strategy, settings.pass_device_specs, settings.uses_cdi) == ("single", True, True)
    assert settings.warnings == ()


def test_the_command_line_wins_over_the_environment_and_that_over_the_file(tmp_path: Path) -> None:
    text = "flags: {migStrategy: mixed, plugin: {deviceIDStrategy: index, passDeviceSpecs: true}}"
    settings = _with_file(tmp_path, text, ("--mig-strategy=none",), MIG_STRATEGY="single", DEVICE_ID_STRATEGY="uuid")
    assert (settings.mig_strategy, settings.id_strategy, settings.pass_device_specs) == ("none", "uuid", True)


def test_an_empty_kubelet_socket_means_never_to_register() -> None:
    assert read_settings((), {"KUBELET_SOCKET": ""}).kubelet_socket is None


def test_a_boolean_flag_needs_no_value() -> None:
    assert read_settings(("--pass-device-specs",), {}).pass_device_specs


@pytest.mark.parametrize(
    ("environ", "message"),
    [
        ({"MIG_STRATEGY": "double"}, "MIG_STRATEGY: 'double' cannot be used: expected one of none, single, mixed"),
        ({"DEVICE_LIST_STRATEGY": "cdi-cri,cdi"}, "invalid strategy: cdi"),
        ({"FAIL_ON_INIT_ERROR": "perhaps"}, "FAIL_ON_INIT_ERROR: 'perhaps' cannot be used"),
        ({"CONFIG_FILE": "/nowhere/config.yaml"}, "configuration file /nowhere/config.yaml: No such file"),
    ],
)
def test_a_value_that_cannot_be_used_is_named(environ: dict[str, str], message: str) -> None:
    with pytest.raises(SettingsError) as error:
        read_settings((), environ)
    assert message in str(error.value)


def test_time_slicing_is_read_with_nvidias_renaming(tmp_path: Path) -> None:
    settings = _with_file(
        tmp_path,
        """
        version: v1
        sharing:
          timeSlicing:
            renameByDefault: true
            failRequestsGreaterThanOne: true
            resources:
            - {name: nvidia.com/gpu, replicas: 4}
            - {name: mig-1g.5gb, replicas: 2, rename: mine}
        """,
    )
    assert settings.sharing.resources == {
        "nvidia.com/gpu": Replicated(4, "nvidia.com/gpu.shared"),
        "nvidia.com/mig-1g.5gb": Replicated(2, "nvidia.com/mig-1g.5gb.shared"),
    }
    assert settings.sharing.one_per_request
    assert any("'mine' is not used" in warning for warning in settings.warnings)


@pytest.mark.parametrize(
    ("block", "message"),
    [
        ("{}", "no resources specified"),
        ("{resources: []}", "no resources specified"),
        ("{resources: [{replicas: 2}]}", "no resource name specified"),
        ("{resources: [{name: nvidia.com/gpu}]}", "no replicas specified"),
        ("{resources: [{name: nvidia.com/gpu, replicas: 1}]}", "number of replicas must be >= 2"),
        ("{resources: [{name: nvidia.com/gpu, replicas: '4'}]}", "number of replicas must be >= 2"),
        ("[1]", "expected an object, found list"),
    ],
)
def test_a_sharing_block_that_cannot_work_is_refused(tmp_path: Path, block: str, message: str) -> None:
    with pytest.raises(SettingsError, match=message):
        _with_file(tmp_path, f"sharing: {{timeSlicing: {block}}}")


def test_a_misplaced_key_is_named_with_its_place(tmp_path: Path) -> None:
    settings = _with_file(tmp_path, "flags: {renameByDefault: true, nonsense: 1}")
    assert len(settings.warnings) == 2
    assert (
        "key flags.renameByDefault means nothing and is ignored; its place is sharing.timeSlicing.renameByDefault"
        in (settings.warnings[0])
    )
    assert settings.warnings[1].endswith("key flags.nonsense means nothing and is ignored")


@pytest.mark.parametrize("text", ["version: v2", "a: [", "- 1", "\x00"])
def test_a_file_that_is_no_configuration_is_refused_in_one_line(tmp_path: Path, text: str) -> None:
    with pytest.raises(SettingsError) as error:
        _with_file(tmp_path, text)
    assert "\n" not in str(error.value)


def test_an_empty_file_is_an_empty_configuration(tmp_path: Path) -> None:
    assert _with_file(tmp_path, "").sharing.resources == {}
