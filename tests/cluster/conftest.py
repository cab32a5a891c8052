"""Keeps a bundle of the cluster whenever a test that uses one fails, and says in the report where it is."""

import re
from collections.abc import Generator

import pytest

from tests.cluster import Cluster, bundle


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item, call: pytest.CallInfo[None]
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Add the bundle's path to the report of a failed test."""
    report = yield
    if report.failed and call.when != "teardown":
        name = re.sub(r"[^A-Za-z0-9]+", "-", item.nodeid.rpartition("/")[2].replace(".py", ""))
        values = getattr(item, "funcargs", {}).values()
        for cluster in {id(value): value for value in values if isinstance(value, Cluster)}.values():
            report.sections.append(("bundle", bundle.keep(cluster, name)))
    return report
