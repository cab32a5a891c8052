"""Manifests and live workloads as subjects of `lint`: one for each file, so that an edit is simulated on it alone."""

import argparse
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from lockgate.cli.sources import FactsError, access_of
from lockgate.cli.subjects import Looked

if TYPE_CHECKING:
    from lockgate.lint.cluster_facts import ClusterFacts

STDIN: Final = "-"
_COPY: Final = "put a copy of it there, readable for you"


def is_manifest(path: str) -> bool:
    """Whether what was typed is standard input, a manifest, a folder of them, or a workload of the cluster.

    Raises FactsError where that cannot be seen.
    """
    from lockgate.collect.manifest_files import is_manifest_file, is_manifest_folder

    place = Path(path)
    try:
        return path == STDIN or _is_target(path) or is_manifest_file(place) or is_manifest_folder(place)
    except OSError as error:
        raise FactsError(f"{path}: cannot be read ({error.strerror or error})", 2) from None


def manifest_subjects(paths: list[str], options: argparse.Namespace) -> list[Looked]:
    """Everything that was typed; raises FactsError."""
    from lockgate.collect.errors import InputError
    from lockgate.kube.errors import ApiError, Unreachable

    targets = [path for path in paths if path != STDIN and _is_target(path)]
    try:
        found = [_live(target, options) for target in targets]
        rest = [path for path in paths if path not in targets]
        cluster = _cluster(options) if options.against_cluster and rest else None
        return [*found, *(one for path in rest for one in _files(path, cluster))]
    except InputError as error:
        raise FactsError(str(error), 2) from None
    except (ApiError, Unreachable) as error:
        raise FactsError(str(error), 1) from None
    except OSError as error:
        raise FactsError(f"{error.filename or paths[0]}: cannot be read ({error.strerror or error})", 2) from None


def selected_subjects(options: argparse.Namespace) -> list[Looked]:
    """The workloads of the cluster that `-l` names; raises FactsError, also where there is none."""
    from lockgate.cli.cluster_side import cluster_facts
    from lockgate.collect.live_workload import read_selected
    from lockgate.kube.errors import ApiError, Unreachable
    from lockgate.model.label_query import LabelQueryError, parse_query

    if options.paths:
        raise FactsError(f'"{options.paths[0]}" and -l: give one of them', 2)
    try:
        parse_query(options.selector)
        where = None if options.all_namespaces else options.namespace
        manifests, against = read_selected(access_of(options), options.selector, where)
    except LabelQueryError as error:
        raise FactsError(str(error), 2) from None
    except (ApiError, Unreachable) as error:
        raise FactsError(str(error), 1) from None
    if not manifests:
        place = "in any namespace" if where is None else f"in {where or 'this namespace'} (-A: in all)"
        raise FactsError(f'no workload has labels "{options.selector}" {place}', 2)
    cluster = cluster_facts(against)
    return [_looked(f"{each['kind'].lower()}/{each['metadata']['name']}", each, cluster) for each in manifests]


def _is_target(path: str) -> bool:
    """`pod/x`, and not a file of that name."""
    from lockgate.diagnosis.owners import SECTION_OF
    from lockgate.diagnosis.target import ALIASES

    kind, slash, name = path.partition("/")
    words = {word for known in ("Pod", *SECTION_OF) for word in ALIASES[known]}
    return bool(slash and name) and "/" not in name and kind.lower() in words and not Path(path).exists()


def _files(path: str, cluster: "ClusterFacts | None") -> Iterator[Looked]:
    from lockgate.collect.bounds import read_within
    from lockgate.collect.decode import text_of
    from lockgate.collect.manifest_files import ManifestFiles, read_manifests
    from lockgate.lint.engine import RENDER
    from lockgate.lint.subject import Subject
    from lockgate.model.facts import Missing

    if path == STDIN:
        text = text_of("stdin", read_within(sys.stdin.buffer, "stdin"))
        yield Looked(Subject({STDIN: text}, holds_manifests=True, cluster=cluster, shown={STDIN: "stdin"}), {})
        return
    read: ManifestFiles = read_manifests(Path(path))
    for name, text in read.texts.items():
        yield Looked(
            Subject({name: text}, holds_manifests=True, cluster=cluster, shown={name: name}), {name: Path(name)}
        )
    unread = {name: Missing(why, _COPY) for name, why in read.unread.items()}
    unread |= {chart: Missing("its templates are not rendered", RENDER) for chart in sorted(read.unrendered)}
    if unread:
        yield Looked(Subject({}, holds_manifests=True, unread=unread), {})


def _live(text: str, options: argparse.Namespace) -> Looked:
    """One workload of the cluster, as `kubectl get -o yaml` shows it."""
    from lockgate.cli.cluster_side import cluster_facts
    from lockgate.collect.live_workload import read_workload
    from lockgate.diagnosis.target import parse_target

    target = parse_target(text, options.namespace)
    manifest, against = read_workload(access_of(options), target.kind, target.namespace, target.name)
    return _looked(target.text, manifest, cluster_facts(against))


def _looked(text: str, manifest: dict[str, Any], cluster: "ClusterFacts") -> Looked:
    from lockgate.lint.subject import Subject

    name = f"{text}.yaml"
    shown = {name: f"{text} -n {manifest['metadata'].get('namespace', '')}".removesuffix(" -n ")}
    return Looked(Subject({name: _yaml(manifest)}, holds_manifests=True, cluster=cluster, shown=shown), {})


def _yaml(manifest: dict[str, Any]) -> str:
    import yaml

    text: str = yaml.safe_dump(manifest, sort_keys=False, allow_unicode=True, width=1000)
    return text


def _cluster(options: argparse.Namespace) -> "ClusterFacts":
    from lockgate.cli.cluster_side import cluster_facts
    from lockgate.collect.live_workload import read_against

    return cluster_facts(read_against(access_of(options)))
