"""Configurations that load and leave the node without CRI are told, in containerd's words and with the line."""

import pytest

from lockgate.containerd import CriProblem, Effective, Origin, Release, cri_problems, resolve

ROOT = "/etc/containerd/config.toml"
CRI = 'plugins."io.containerd.grpc.v1.cri"'
RUNC = 'runtime_type = "io.containerd.runc.v2"'


def problems(text: str, release: str) -> tuple[CriProblem, ...]:
    found = resolve({ROOT: f"version = 2\n{text}"}, ROOT, Release.parse(release))
    assert isinstance(found, Effective), found
    return cri_problems(found)


@pytest.mark.parametrize("release", ["1.6.20", "1.7.24", "2.0.6", "2.1.9", "2.3.7", "2.4.2"])
def test_the_built_in_configuration_has_none(release: str) -> None:
    assert problems("", release) == ()


@pytest.mark.parametrize("release", ["1.7.24", "2.1.9"])
def test_a_default_runtime_that_is_not_configured(release: str) -> None:
    (problem,) = problems(f'[{CRI}.containerd]\ndefault_runtime_name = "nvidia"', release)
    assert problem.message.endswith('for `containerd` `default_runtime_name = "nvidia"')
    assert problem.origin == Origin(ROOT, 3)


def test_on_1x_naming_one_handler_takes_the_built_in_default_away() -> None:
    text = f"[{CRI}.containerd.runtimes.nvidia]\n{RUNC}"
    (problem,) = problems(text, "1.7.24")
    assert problem.message.endswith('`default_runtime_name = "runc"')
    assert problem.origin == Origin(ROOT, 2)
    assert problems(text, "2.1.9") == ()


@pytest.mark.parametrize("release", ["1.7.24", "2.1.9", "2.4.2"])
def test_mirrors_beside_a_registry_folder(release: str) -> None:
    mirrors = f'[{CRI}.registry.mirrors."docker.io"]\nendpoint = ["http://x"]'
    (problem,) = problems(f'[{CRI}.registry]\nconfig_path = "/c"\n{mirrors}', release)
    assert problem == CriProblem("`mirrors` cannot be set when `config_path` is provided", Origin(ROOT, 4))


def test_legacy_runtime_options_on_1x_only() -> None:
    text = f'[{CRI}.containerd.runtimes.runc]\n{RUNC}\nruntime_root = "/run/x"'
    (problem,) = problems(text, "1.7.24")
    assert problem.message == "`runtime_root` only works for runtime io.containerd.runtime.v1.linux"
    assert problems(text, "2.1.9") == ()


def test_a_duration_without_unit() -> None:
    (problem,) = problems(f'[{CRI}]\nstream_idle_timeout = "5"', "1.7.24")
    assert problem.message == 'invalid stream idle timeout: time: missing unit in duration "5"'


def test_two_spellings_of_the_cni_folder_on_2_1() -> None:
    name = '[plugins."io.containerd.cri.v1.runtime".cni]\nbin_dir = "/a"\nbin_dirs = ["/b"]'
    found = resolve({ROOT: f"version = 3\n{name}"}, ROOT, Release.parse("2.1.9"))
    assert isinstance(found, Effective)
    (problem,) = cri_problems(found)
    assert problem == CriProblem("`cni.bin_dir` and `cni.bin_dirs` cannot be set at the same time", Origin(ROOT, 4))


def test_a_disabled_plugin_has_no_problem_of_its_own() -> None:
    assert problems('disabled_plugins = ["io.containerd.grpc.v1.cri"]', "1.7.24") == ()
