"""Releases are read from what programs print and belong to one family."""

import pytest

from lockgate.containerd import FAMILIES, Release
from lockgate.containerd.baselines import baseline


@pytest.mark.parametrize(
    ("text", "release"),
    [
        ("containerd github.com/containerd/containerd v1.7.24 88bf19b2105c8b17560993bee28a01ddc2f97182", "1.7.24"),
        ("containerd github.com/containerd/containerd 1.7.24~ds1 1.7.24~ds1-6+deb13u1", "1.7.24"),
        ("containerd github.com/containerd/containerd/v2 2.1.9+unknown ", "2.1.9"),
        ("containerd github.com/containerd/containerd/v2 v2.4.2 ", "2.4.2"),
        ("containerd github.com/k3s-io/containerd v1.7.22-k3s1", "1.7.22"),
        ("containerd://2.0.5", "2.0.5"),
        ("2.4.0-beta.0", "2.4.0-beta.0"),
        ("v2.3.0-rc.1", "2.3.0-rc.1"),
    ],
)
def test_a_release_is_read_from_what_programs_print(text: str, release: str) -> None:
    assert str(Release.parse(text)) == release


def test_text_without_a_release_is_refused_with_what_was_expected() -> None:
    with pytest.raises(ValueError, match="no containerd release in 'containerd unknown', expected something like"):
        Release.parse("containerd unknown")


@pytest.mark.parametrize(
    ("release", "family"),
    [
        ("1.6.20", "1.6"),
        ("1.6.36", "1.6 (late)"),
        ("1.7.15", "1.7"),
        ("1.7.24", "1.7 (late)"),
        ("2.0.0", "2.0 (early)"),
        ("2.0.6", "2.0"),
        ("2.1.9", "2.1"),
        ("2.2.1", "2.2"),
        ("2.3.4", "2.3 (early)"),
        ("2.3.5", "2.3"),
        ("2.4.0-beta.0", "2.4 (beta)"),
        ("2.4.0", "2.4"),
        ("2.9.0", "2.4"),
    ],
)
def test_a_release_belongs_to_the_last_family_not_newer_than_it(release: str, family: str) -> None:
    assert Release.parse(release).family.name == family


def test_an_unknown_minor_release_says_so() -> None:
    assert Release.parse("2.4.9").is_known
    assert not Release.parse("2.9.0").is_known
    with pytest.raises(ValueError, match="older than the oldest family known"):
        _ = Release.parse("1.5.0").family


def test_releases_compare_as_releases_do() -> None:
    order = ["1.7.9", "1.7.24", "2.4.0-alpha.1", "2.4.0-beta.0", "2.4.0-rc.2", "2.4.0", "2.4.1"]
    assert sorted(map(Release.parse, reversed(order))) == [Release.parse(text) for text in order]


@pytest.mark.parametrize("family", FAMILIES, ids=lambda family: family.name)
def test_every_family_has_built_in_values(family: object) -> None:
    built_in = baseline(family.baseline)  # type: ignore[attr-defined]
    assert {"version", "root", "plugins"} <= built_in.keys()


def test_a_release_that_can_be_judged_is_found_in_a_text() -> None:
    assert Release.found_in("containerd github.com/containerd/containerd v1.7.24 88bf19b") == Release.parse("1.7.24")
    assert Release.found_in("1.2.0") is None
    assert Release.found_in("cri-o") is None


def test_a_release_older_than_every_family_is_refused_with_its_name() -> None:
    with pytest.raises(ValueError, match=r"containerd 1\.2\.0 is older than the oldest family known"):
        Release.judged("1.2.0")
