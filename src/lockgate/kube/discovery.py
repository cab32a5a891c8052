"""Which kind of the cluster a person means by a word: its kind, plural, singular or short name, `plural.group` too.

The server's aggregated discovery tells every kind in two answers (Kubernetes 1.27 and later); an older server is asked
group by group.
"""

import asyncio
from collections.abc import Iterable, Iterator
from typing import Any, Final

from lockgate.kube.reader import Reader
from lockgate.kube.resources import Resource
from lockgate.model import objects as model

_AGGREGATED: Final = (
    "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList,"
    "application/json;g=apidiscovery.k8s.io;v=v2beta1;as=APIGroupDiscoveryList,application/json"
)


class Kinds:
    """Every kind that the server has."""

    def __init__(self, rows: Iterable[tuple[Resource[Any], frozenset[str]]]) -> None:
        self._rows = tuple(rows)

    def find(self, word: str, version: str = "") -> Resource[Any] | None:
        """The kind that a word means, in its preferred version or the one that is given; None when there is none."""
        fitting = (k for k, names in self._rows if word.lower() in names and version in ("", k.api_version))
        return next(fitting, None)


async def discover(api: Reader) -> Kinds:
    """Ask the server for its kinds; anyone who may log in may ask."""
    core, groups = await asyncio.gather(api.read("/api", accept=_AGGREGATED), api.read("/apis", accept=_AGGREGATED))
    if groups.get("kind") == "APIGroupDiscoveryList":
        return Kinds([*_aggregated(core), *_aggregated(groups)])
    versions = ["v1", *(g["preferredVersion"]["groupVersion"] for g in groups.get("groups", ()))]
    answers = await asyncio.gather(*(api.read(f"/{'apis' if '/' in v else 'api'}/{v}") for v in versions))
    return Kinds(one for version, answer in zip(versions, answers, strict=True) for one in _listed(version, answer))


def _aggregated(document: dict[str, Any]) -> Iterator[tuple[Resource[Any], frozenset[str]]]:
    """Of a group the first version is the preferred one."""
    for group in document.get("items", ()):
        name = group.get("metadata", {}).get("name", "")
        for version in group.get("versions", ()):
            for each in version.get("resources", ()):
                kind = each.get("responseKind", {}).get("kind", "")
                namespaced = each.get("scope") == "Namespaced"
                names = (each["resource"], each.get("singularResource", ""), *each.get("shortNames", ()))
                yield _row(name, version["version"], each["resource"], kind, namespaced, names)


def _listed(version: str, document: dict[str, Any]) -> Iterator[tuple[Resource[Any], frozenset[str]]]:
    group, _, bare = version.rpartition("/")
    for each in document.get("resources", ()):
        if "/" not in each["name"]:
            names = (each["name"], each.get("singularName", ""), *each.get("shortNames", ()))
            yield _row(group, bare, each["name"], each["kind"], each["namespaced"], names)


def _row(
    group: str, version: str, plural: str, kind: str, namespaced: bool, names: Iterable[str]
) -> tuple[Resource[Any], frozenset[str]]:
    spelt = frozenset((kind.lower(), *names)) - {""}
    full = {f"{name}.{group}" for name in spelt} if group else set()
    return Resource(group, version, plural, kind, namespaced, model.Resource), spelt | full
