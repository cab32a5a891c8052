"""What lint's edits amount to, asked of real containerd binaries: the fault is there before, and gone after."""

from collections.abc import Iterator
from typing import Any

import pytest
import yaml

from lockgate.containerd import Release
from lockgate.lint import all_rules
from lockgate.lint.engine import fix_all
from lockgate.lint.lost_settings import LostSetting, lost_settings
from lockgate.lint.subject import Config, Subject
from tests.lint.test_rules import PACKAGE
from tests.truth.containerd.grammar import ROOT, TOP_LEVEL
from tests.truth.containerd.oracle import Answer, Binary
from tests.truth.containerd.programs import ready

pytestmark = pytest.mark.truth

RULES = all_rules()
IDS = ("dropin-overridden", "settings-lost", "section-not-read", "config-refused", "folder-not-imported", "runc-lost")
CRI = {False: "io.containerd.cri.v1.runtime", True: "io.containerd.grpc.v1.cri"}


@pytest.fixture(scope="module")
def binaries() -> dict[tuple[int, int], list[Binary]]:
    found: dict[tuple[int, int], list[Binary]] = {}
    for binary in ready(build=False):
        found.setdefault((binary.release.major, binary.release.minor), []).append(binary)
    return found


def _cases() -> Iterator[Any]:
    for rule in IDS:
        path = PACKAGE / "containerd" / f"{rule.replace('-', '_')}.yaml"
        for case in yaml.safe_load(path.read_text())["cases"]:
            for release in case["releases"] if case.get("fixed") else ():
                yield pytest.param(rule, case["files"], str(release), id=f"{rule} {release}: {case['case']}")


def _handlers(answer: Answer, release: Release) -> set[str]:
    assert answer.document is not None, answer.error
    section = answer.document["plugins"][CRI[release.family.plugin_by_id]]
    return set(section["containerd"]["runtimes"])


@pytest.mark.parametrize(("rule", "files", "release"), list(_cases()))
def test_a_fix_gives_a_real_containerd_what_the_files_say(
    rule: str, files: dict[str, str], release: str, binaries: dict[tuple[int, int], list[Binary]]
) -> None:
    wanted = Release.parse(release)
    near = [b for b in binaries.get((wanted.major, wanted.minor), ()) if b.release.family.name == wanted.family.name]
    if not near:
        pytest.skip(f"no containerd of the family {wanted.family.name} in the cache")
    placed = {
        path.replace("/etc/containerd", ROOT): text.replace("/etc/containerd/conf", f"{ROOT}/conf")
        for path, text in files.items()
    }
    subject = Subject(placed, TOP_LEVEL, near[-1].release)
    fixed = {**placed, **fix_all(subject, RULES, frozenset(placed))}
    before, after = near[-1].dump(placed), near[-1].dump(fixed)
    if rule == "config-refused":
        assert before.document is None
        assert after.document is not None, after.error
    elif rule in ("folder-not-imported", "runc-lost"):
        assert _handlers(after, wanted) | {"runc"} >= _handlers(before, wanted)
        assert before.document != after.document
    else:
        lost = {one.path: one.leaf.value for one in _lost(subject)}
        assert lost
        assert [path for path, value in lost.items() if _at(before, path) == value] == []
        assert [path for path, value in lost.items() if _at(after, path) != value] == []


def _lost(subject: Subject) -> tuple[LostSetting, ...]:
    config = subject.view("config")
    assert isinstance(config, Config)
    return lost_settings(config)


def _at(answer: Answer, path: tuple[str, ...]) -> Any:
    """What the program prints at a path, None where it prints nothing."""
    found: Any = answer.document
    for name in path:
        found = found.get(name) if isinstance(found, dict) else None
    return found
