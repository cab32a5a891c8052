"""Settings are read as NVIDIA's programs read them, and the validator's findings below the environment."""

from pathlib import Path

import pytest

from lockgate.agents.driver_ready import read_driver_ready
from lockgate.agents.options import Option, SettingsError, parse_bool, parse_duration, read_options

OPTIONS = (
    Option(name="root", flags=("driver-root", "nvidia-driver-root"), env=("NVIDIA_DRIVER_ROOT",), default="/"),
    Option(name="fail", flags=("fail",), env=("FIRST_FAIL", "FAIL"), path=("flags", "fail"), parse=parse_bool),
    Option(name="socket", env=("SOCKET",), default="default", empty_counts=True),
)


def test_an_alias_of_a_flag_is_the_same_flag() -> None:
    assert read_options(OPTIONS, ("--nvidia-driver-root=/run",), {"NVIDIA_DRIVER_ROOT": "/x"}, {})["root"] == "/run"


def test_the_first_of_two_variables_wins() -> None:
    assert read_options(OPTIONS, (), {"FIRST_FAIL": "true", "FAIL": "false"}, {})["fail"] is True


def test_an_empty_variable_is_unset_unless_it_means_something() -> None:
    values = read_options(OPTIONS, (), {"NVIDIA_DRIVER_ROOT": "", "SOCKET": ""}, {})
    assert (values["root"], values["socket"]) == ("/", "")


def test_a_value_of_the_file_that_is_no_object_is_passed_over() -> None:
    assert read_options(OPTIONS, (), {}, {"flags": "text"})["fail"] is None


def test_a_bad_value_is_named_with_its_place() -> None:
    with pytest.raises(SettingsError, match=r"configuration file, flags\.fail: 'maybe' cannot be used"):
        read_options(OPTIONS, (), {}, {"flags": {"fail": "maybe"}})


def test_an_unknown_flag_is_refused() -> None:
    with pytest.raises(SettingsError, match="--no-such-flag"):
        read_options(OPTIONS, ("--no-such-flag",), {}, {})


@pytest.mark.parametrize(
    ("text", "seconds"), [("60s", 60), ("1m30s", 90), ("250ms", 0.25), ("1h", 3600), ("1.5s", 1.5)]
)
def test_durations_are_gos(text: str, seconds: float) -> None:
    assert parse_duration(text) == pytest.approx(seconds)


@pytest.mark.parametrize("text", ["", "60", "s", "1m 30s", "-1s"])
def test_other_durations_are_refused(text: str) -> None:
    with pytest.raises(ValueError, match="expected a duration"):
        parse_duration(text)


def test_where_the_driver_is_comes_from_the_validators_file(tmp_path: Path) -> None:
    ready = tmp_path / "driver-ready"
    ready.write_text(
        "IS_HOST_DRIVER=false\nNVIDIA_DRIVER_ROOT=/run/nvidia/driver\nexport DRIVER_ROOT_CTR_PATH='/driver-root'\n"
        'NVIDIA_DEV_ROOT="/"\nnonsense\nPATH=/evil\n'
    )
    assert read_driver_ready(ready) == {
        "NVIDIA_DRIVER_ROOT": "/run/nvidia/driver",
        "DRIVER_ROOT_CTR_PATH": "/driver-root",
        "NVIDIA_DEV_ROOT": "/",
    }


def test_without_that_file_nothing_is_known(tmp_path: Path) -> None:
    assert read_driver_ready(tmp_path / "absent") == {}
