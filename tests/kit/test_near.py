"""What may have been meant by a name: a hint at the nearest ones, each once."""

from lockgate.kit.near import did_you_mean, near


def test_the_nearest_names_are_asked_for() -> None:
    assert did_you_mean(near("gpu-aa", ["gpu-a", "cpu"])) == "; did you mean gpu-a?"


def test_a_name_that_two_things_have_is_asked_for_once() -> None:
    assert did_you_mean(["device-plugin", "device-plugin"]) == "; did you mean device-plugin?"


def test_without_a_near_name_nothing_is_asked() -> None:
    assert did_you_mean(near("gpu-a", ["storage"])) == ""
