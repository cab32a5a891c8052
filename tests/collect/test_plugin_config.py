"""Of all ConfigMaps of a cluster one is read at most: the one that the ClusterPolicy names for the device plugin."""

import asyncio
from typing import Any

import pytest

from lockgate.collect.plugin_config import read_plugin_config
from lockgate.collect.reader import Reader
from lockgate.model.facts import NOT_COLLECTED, Missing
from lockgate.model.objects import ClusterPolicy, ConfigMap, DaemonSet, Metadata
from tests.kube.fake_server import Answer, fake_api, status

PLUGIN = DaemonSet(metadata=Metadata(name="nvidia-device-plugin-daemonset", namespace="gpu-operator"))
NAMED = {"config": {"name": "sharing"}}
NAMES_ONE = ClusterPolicy(spec={"devicePlugin": NAMED})
KNOWN = {"cluster_policies": (NAMES_ONE,), "daemon_sets": (PLUGIN,)}
IT = {"metadata": {"name": "sharing", "namespace": "gpu-operator"}, "data": {"any": "version: v1"}}


def _read(found: dict[str, Any], answer: Answer) -> tuple[Any, list[str]]:
    async def asked() -> tuple[Any, list[str]]:
        async with fake_api(lambda _: answer) as (server, api, _):
            return await read_plugin_config(Reader(api), found), [r.path for r in server.requests]

    return asyncio.run(asked())


def test_the_one_that_the_policy_names_is_read_by_its_name() -> None:
    section, paths = _read(KNOWN, Answer(IT))
    assert section == (
        ConfigMap(metadata=Metadata(name="sharing", namespace="gpu-operator"), data={"any": "version: v1"}),
    )
    assert paths == ["/api/v1/namespaces/gpu-operator/configmaps/sharing"]


@pytest.mark.parametrize(
    "found",
    [
        {},
        KNOWN | {"cluster_policies": ()},
        KNOWN | {"cluster_policies": (ClusterPolicy(spec={"devicePlugin": {"config": None}}),)},
        KNOWN | {"cluster_policies": Missing("refused")},
        KNOWN | {"cluster_policies": (ClusterPolicy(spec={"devicePlugin": {**NAMED, "enabled": False}}),)},
        KNOWN | {"daemon_sets": ()},
    ],
)
def test_where_none_is_named_none_is_asked_for(found: dict[str, Any]) -> None:
    assert _read(found, Answer(IT)) == (NOT_COLLECTED, [])


def test_who_may_not_read_it_is_told_the_right_that_lacks() -> None:
    section, _ = _read(KNOWN, status(403, "Forbidden", "no"))
    assert (section.refused, section.how) == (True, "RBAC: get on configmaps in namespace gpu-operator")


def test_one_that_does_not_exist_is_known_not_to() -> None:
    absent = ConfigMap(metadata=Metadata(name="sharing", namespace="gpu-operator"), is_absent=True)
    assert _read(KNOWN, status(404, "NotFound", "no"))[0] == (absent,)
