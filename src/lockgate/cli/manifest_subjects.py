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


def is_manifest(path: str) -> bool:
    """Whether what was typed is standard input, a manifest, a folder of them, or a workload of the cluster."""
    from lockgate.collect.manifest_files import is_manifest_file, is_manifest_folder

    place = Path(path)
    return path == STDIN or _is_target(path) or is_manifest_file(place) or is_manifest_folder(place)


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
        raise FactsError(f"{error.filename or paths[0]}: cannot be read ({error.strerror or error})", 1) from None


def _is_target(path: str) -> bool:
    """`pod/x`, and not a file of that name."""
    from lockgate.diagnosis.owners import SECTION_OF
    from lockgate.diagnosis.target import ALIASES

    kind, slash, name = path.partition("/")
    words = {word for known in ("Pod", *SECTION_OF) for word in ALIASES[known]}
    return bool(slash and name) and "/" not in name and kind.lower() in words and not Path(path).exists()


def _files(path: str, cluster: "ClusterFacts | None") -> Iterator[Looked]:
    from lockgate.collect.manifest_files import ManifestFiles, read_manifests
    from lockgate.lint.subject import Subject

    if path == STDIN:
        text = sys.stdin.buffer.read().decode("utf-8", "replace")
        yield Looked(Subject({STDIN: text}, holds_manifests=True, cluster=cluster, shown={STDIN: "stdin"}), {})
        return
    read: ManifestFiles = read_manifests(Path(path))
    for name, text in read.texts.items():
        yield Looked(
            Subject({name: text}, holds_manifests=True, cluster=cluster, shown={name: name}), {name: Path(name)}
        )
    if read.unread:
        yield Looked(Subject({}, holds_manifests=True, unread=read.unread), {})


def _live(text: str, options: argparse.Namespace) -> Looked:
    """One workload of the cluster, as `kubectl get -o yaml` shows it."""
    from lockgate.cli.cluster_side import cluster_facts
    from lockgate.collect.live_workload import read_workload
    from lockgate.diagnosis.target import parse_target
    from lockgate.lint.subject import Subject

    target = parse_target(text, options.namespace)
    manifest, against = read_workload(access_of(options), target.kind, target.namespace, target.name)
    name = f"{target.text}.yaml"
    shown = {name: f"{target.text} -n {manifest['metadata'].get('namespace', '')}".removesuffix(" -n ")}
    return Looked(
        Subject({name: _yaml(manifest)}, holds_manifests=True, cluster=cluster_facts(against), shown=shown), {}
    )


def _yaml(manifest: dict[str, Any]) -> str:
    import yaml

    text: str = yaml.safe_dump(manifest, sort_keys=False, allow_unicode=True, width=1000)
    return text


def _cluster(options: argparse.Namespace) -> "ClusterFacts":
    from lockgate.cli.cluster_side import cluster_facts
    from lockgate.collect.live_workload import read_against

    return cluster_facts(read_against(access_of(options)))
