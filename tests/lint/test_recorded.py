"""Manifests of recorded clusters: nothing is said of what runs well, and what is wrong in a spec is found."""

import tarfile
from pathlib import Path

import pytest

from lockgate.lint import all_rules
from lockgate.lint.engine import lint
from lockgate.lint.subject import Subject
from lockgate.model.finding import Severity

BUNDLES = Path(__file__).parents[1] / "bundles"
PLURALS = (
    "pods",
    "daemonsets",
    "deployments",
    "statefulsets",
    "jobs",
    "configmaps",
    "runtimeclasses",
    "resourcequotas",
)
EXPECTED = {
    "never-asked": {("manifest/no-gpu-asked", "Pod blind")},
    "misspelt": {("manifest/resource-misspelt", "Pod plural:")},
}


def _manifests(bundle: Path) -> dict[str, str]:
    with tarfile.open(bundle) as tar:
        names = [name for name in tar.getnames() if Path(name).stem.split(".")[0] in PLURALS and "/cluster/" in name]
        return {name: tar.extractfile(name).read().decode() for name in names}  # type: ignore[union-attr]


@pytest.mark.parametrize("bundle", sorted(BUNDLES.glob("*.tgz")), ids=lambda path: path.stem)
def test_only_what_is_wrong_is_said_of_a_recorded_cluster(bundle: Path) -> None:
    report = lint(Subject(_manifests(bundle), holds_manifests=True), all_rules())
    said = {(f.id, " ".join(f.summary.split()[:2])) for f in report.findings if f.severity is not Severity.INFO}
    assert said == EXPECTED.get(bundle.stem, set()), "a spec that is wrong on purpose goes into EXPECTED"
    assert report.not_checked == ()
