"""Lint over generated configurations: it never raises, what a fix names is healed, a second --fix writes nothing."""

import tomllib
from collections.abc import Iterator

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lockgate.cli.render.effective_toml import render_toml
from lockgate.containerd import ConfigError, Effective, Plan, Release, Wanted, plan_dropin
from lockgate.containerd.values import Plain, plain_table
from lockgate.lint import all_rules
from lockgate.lint.engine import fix_all, lint
from lockgate.lint.subject import Subject
from tests.truth.containerd.grammar import TOP_LEVEL, generate

RULES = all_rules()
RELEASES = ("1.6.20", "1.7.24", "2.0.0", "2.1.9", "2.2.1", "2.3.4", "2.3.7", "2.4.2")
DROPIN = "/ROOT/conf.d/99-nvidia.toml"


def _subject(seed: int, release: str) -> Subject:
    files = generate(f"lint-{seed}")
    return Subject(files, TOP_LEVEL, Release.parse(release))


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 10**9), st.sampled_from(RELEASES))
def test_lint_judges_every_set_and_its_fixes_are_stable(seed: int, release: str) -> None:
    subject = _subject(seed, release)
    every = frozenset(subject.files)
    before = lint(subject, RULES)
    fixed = fix_all(subject, RULES, every)
    after = subject.edited(fixed)
    left = lint(after, RULES)
    assert bool(fixed) == any(f.fix for f in before.findings)
    assert {(f.id, f.key) for f in left.findings} <= {(f.id, f.key) for f in before.findings}
    assert fix_all(after, RULES, every) == {}


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 10**9), st.sampled_from(RELEASES))
def test_a_fix_never_makes_containerd_refuse_what_it_took(seed: int, release: str) -> None:
    subject = _subject(seed, release)
    after = subject.edited(fix_all(subject, RULES, frozenset(subject.files)))
    assert not (isinstance(subject.effective, Effective) and isinstance(after.effective, ConfigError))


def _ordinary_roots() -> Iterator[tuple[str, str]]:
    for release in RELEASES:
        newest = Release.parse(release).family.config_version
        yield release, ""
        for version in range(2, newest + 1):
            name = "io.containerd.grpc.v1.cri" if version == 2 else "io.containerd.cri.v1.runtime"
            runc = f'plugins."{name}".containerd.runtimes.runc'
            yield release, f"version = {version}\n"
            yield (
                release,
                f'version = {version}\nimports = ["/ROOT/conf.d/*.toml"]\n[{runc}]\nruntime_type = '
                f'"io.containerd.runc.v2"\n[{runc}.options]\nSystemdCgroup = true\n',
            )


@pytest.mark.parametrize(("release", "root"), list(_ordinary_roots()))
@pytest.mark.parametrize("default", [None, "nvidia"])
def test_what_our_own_toolkit_writes_is_silent(release: str, root: str, default: str | None) -> None:
    wanted = Wanted(enable_cdi=True, default=default)
    plan = plan_dropin({TOP_LEVEL: root}, TOP_LEVEL, Release.parse(release), wanted, DROPIN)
    assert isinstance(plan, Plan), plan
    files = {TOP_LEVEL: root} | {path: text for path, text in plan.files.items() if text is not None}
    report = lint(Subject(files, TOP_LEVEL, Release.parse(release)), RULES)
    assert [f.summary for f in report.findings] == []


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 10**9), st.sampled_from(RELEASES))
def test_the_effective_configuration_is_printed_as_toml_that_means_the_same(seed: int, release: str) -> None:
    effective = _subject(seed, release).effective
    if isinstance(effective, Effective):
        expected = _without_null(plain_table(effective.document))
        assert tomllib.loads(render_toml(effective)) == expected
        assert tomllib.loads(render_toml(effective, lambda path: path)) == expected


def _without_null(data: Plain) -> object:
    """TOML has no null; in an array it is printed as an empty string."""
    if isinstance(data, dict):
        return {name: _without_null(item) for name, item in data.items() if item is not None}
    return data
