"""Keeps a bundle of the cluster whenever a test that uses one fails, and says in the report where it is."""

import os
import re
from collections.abc import Generator
from pathlib import Path

import pytest

from tests.cluster import Cluster

# CI may choose a folder that it keeps.
ARTIFACTS = Path(os.environ.get("LOCKGATE_ARTIFACTS") or Path(__file__).parents[2] / "artifacts")


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item, call: pytest.CallInfo[None]
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Add the bundle's path to the report of a failed test."""
    report = yield
    if report.failed and call.when != "teardown":
        values = getattr(item, "funcargs", {}).values()
        for cluster in {id(value): value for value in values if isinstance(value, Cluster)}.values():
            report.sections.append(("bundle", keep_bundle(cluster, item.nodeid)))
    return report


def keep_bundle(cluster: Cluster, nodeid: str) -> str:
    """Save the bundle and say where; a cluster too broken to be read is said, and does not hide the test's failure."""
    path = ARTIFACTS / f"{re.sub(r'[^A-Za-z0-9.-]+', '-', nodeid.rpartition('/')[2])}.tgz"
    try:
        cluster.save_bundle(path)
    except (OSError, RuntimeError, ValueError, KeyError) as error:
        return f"could not be saved: {error!r}"
    return f"saved: kubectl gpu why --from {path}"
