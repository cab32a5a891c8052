"""kubectl's own complaint in the place of a list: the section was not read, for the reason that it gives."""

import io
from pathlib import Path

import pytest

from lockgate.collect.errors import InputError
from lockgate.collect.offline import from_path
from lockgate.collect.other_texts import complaint
from lockgate.model.facts import Missing, Snapshot

FORBIDDEN = 'Error from server (Forbidden): nodes is forbidden: User "dev" cannot list resource "nodes" in API group ""'
NO_KIND = 'error: the server doesn\'t have a resource type "clusterpolicies"'
POD = '{"kind": "List", "items": [{"kind": "Pod", "metadata": {"name": "x", "namespace": "ml"}}]}'


def facts(folder: Path, **files: str) -> Snapshot:
    (folder / "cluster").mkdir()
    for plural, text in files.items():
        (folder / "cluster" / f"{plural}.json").write_text(text)
    return from_path(str(folder), io.BytesIO())


def test_a_list_that_was_refused_is_unread_and_the_others_are_read(tmp_path: Path) -> None:
    seen = facts(tmp_path, nodes=FORBIDDEN + "\n", pods=POD)
    assert [p.name for p in seen.known_pods] == ["x"]
    assert isinstance(seen.nodes, Missing)
    assert seen.nodes.reason == f"cluster/nodes.json: {FORBIDDEN}"
    assert (seen.nodes.refused, seen.nodes.unserved) == (True, False)


def test_a_kind_that_the_cluster_does_not_have_has_no_objects(tmp_path: Path) -> None:
    seen = facts(tmp_path, clusterpolicies=NO_KIND, pods=POD)
    assert isinstance(seen.cluster_policies, Missing)
    assert seen.cluster_policies.unserved


def test_a_file_that_is_broken_is_still_told(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"cluster/nodes\.json"):
        facts(tmp_path, nodes='{"kind": "List", "items": [', pods=POD)


@pytest.mark.parametrize("text", [POD, "", "kind: Pod\nmetadata: {name: x}\n# error: none\n"])
def test_objects_are_no_complaint(text: str) -> None:
    assert complaint(text) == ""
