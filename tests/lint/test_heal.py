"""A fix is refused when it does not heal, brings another problem, or changes a setting that it does not mean."""

import pytest

from lockgate.containerd import Release
from lockgate.lint import all_rules
from lockgate.lint.engine import fix_all, lint
from lockgate.lint.heal import heals
from lockgate.lint.problems import problems
from lockgate.lint.rule import Fix
from lockgate.lint.subject import Subject

RULES = all_rules()
TOP_LEVEL = "/etc/containerd/config.toml"
CRI = 'plugins."io.containerd.grpc.v1.cri"'
RUNC = f'[{CRI}.containerd.runtimes.runc]\nruntime_type = "io.containerd.runc.v2"\n'
BAD = f'version = 2\nroot = "/data"\n{RUNC}[{CRI}.containerd.runtimes.nvidia]\nruntime_type = ""\n'
GOOD = BAD.replace('""', '"io.containerd.runc.v2"')
MEANT = ("plugins", "io.containerd.grpc.v1.cri", "containerd", "runtimes", "nvidia", "runtime_type")


def _accepted(text: str, *intends: tuple[str, ...]) -> bool:
    subject = Subject({TOP_LEVEL: BAD}, TOP_LEVEL, Release.parse("1.7.24"))
    (seen,) = problems(subject, RULES)
    assert seen[0].id == "containerd/wrong-runtime-type"
    return heals(subject, seen, Fix("x", {TOP_LEVEL: text}, intends), RULES)


def test_an_edit_that_heals_and_changes_what_it_means_is_accepted() -> None:
    assert _accepted(GOOD, MEANT)
    assert _accepted(GOOD, ("plugins",))


@pytest.mark.parametrize(
    ("text", "why"),
    [
        (BAD, "it changes nothing"),
        (BAD.replace('""', '"no shim"'), "the problem stays"),
        (GOOD.replace('root = "/data"', 'root = "/other"'), "another setting changes"),
        (GOOD.replace('root = "/data"\n', ""), "another setting goes"),
        (GOOD + "version = 2\n[", "containerd refuses it"),
        (GOOD.replace(RUNC, ""), "runc is lost"),
        (GOOD.replace("version = 2", 'version = 2\ndisabled_plugins = ["io.containerd.grpc.v1.cri"]'), "CRI is off"),
    ],
)
def test_an_edit_is_refused(text: str, why: str) -> None:
    assert not _accepted(text, MEANT), why


def test_an_edit_that_means_nothing_is_refused() -> None:
    assert not _accepted(GOOD)


def test_only_writable_files_are_edited() -> None:
    subject = Subject({TOP_LEVEL: BAD}, TOP_LEVEL, Release.parse("1.7.24"))
    assert fix_all(subject, RULES, frozenset()) == {}
    assert fix_all(subject, RULES, frozenset({TOP_LEVEL})) == {TOP_LEVEL: GOOD}


def test_a_suppressed_finding_is_not_fixed() -> None:
    text = "# lockgate: ignore containerd/wrong-runtime-type -- a test of our own\n" + BAD
    subject = Subject({TOP_LEVEL: text}, TOP_LEVEL, Release.parse("1.7.24"))
    assert lint(subject, RULES).findings == ()
    assert fix_all(subject, RULES, frozenset({TOP_LEVEL})) == {}
