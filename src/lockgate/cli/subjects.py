"""What `lint` and `effective` look at: the flags that name it, and one subject a node or top-level file."""

import argparse
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from lockgate.cli.sources import FactsError, access_of, add_cluster_arguments

if TYPE_CHECKING:
    from lockgate.collect.node_tree import NodeTree
    from lockgate.containerd.releases import Release
    from lockgate.lint.subject import NodeFacts, Subject
    from lockgate.model.facts import Snapshot


@dataclass(frozen=True)
class Looked:
    """A subject, and where the files that may be written lie on this machine, by their path on the node."""

    subject: "Subject"
    writable: dict[str, Path]


def add_subject_arguments(parser: argparse.ArgumentParser) -> None:
    """`--release`, `--node`, `--root`, and kubectl's flags for a cluster."""
    parser.add_argument("--release", metavar="X.Y.Z", help="the containerd release; else it is found beside the files")
    parser.add_argument("--node", metavar="NAME", help="the node of a bundle, or without PATH of the live cluster")
    parser.add_argument("--root", metavar="DIR", help="the folder that stands for / of the node, to see what is there")
    add_cluster_arguments(parser)


def read_subjects(paths: list[str], options: argparse.Namespace) -> list[Looked]:
    """Everything that was named; raises FactsError."""
    from lockgate.collect.errors import InputError

    try:
        release = _release(options.release)
        if not paths:
            return _live(options, release)
        bundles = [path for path in paths if _is_bundle(path)]
        found = [one for path in bundles for one in _bundle(path, options.node, release)]
        return found + _trees([path for path in paths if path not in bundles], options, release)
    except InputError as error:
        raise FactsError(str(error), 2) from None
    except OSError as error:
        raise FactsError(f"{error.filename or paths[0]}: cannot be read ({error.strerror or error})", 2) from None


def _release(text: str | None) -> "Release | None":
    from lockgate.containerd.releases import Release

    if text is None:
        return None
    try:
        return Release.judged(text)
    except ValueError as error:
        raise FactsError(f"--release: {error}", 2) from None


def _is_bundle(path: str) -> bool:
    from lockgate.collect.node_files import is_bundle

    return Path(path).exists() and is_bundle(Path(path))


def _trees(paths: list[str], options: argparse.Namespace, release: "Release | None") -> list[Looked]:
    from lockgate.collect.node_files import node_trees
    from lockgate.collect.node_tree import presence
    from lockgate.containerd.releases import Release
    from lockgate.lint.asked_paths import asked_paths
    from lockgate.lint.subject import Subject

    if options.node and paths:
        raise FactsError(f"--node {options.node}: {paths[0]} is no bundle with nodes/<node>/", 2)
    found = []
    for tree in node_trees(paths, release, options.root):
        subject = Subject(tree.files, tree.root, release or Release.found_in(tree.version), shown=tree.places)
        there = presence(tree, asked_paths(subject))
        writable = {path: Path(tree.places[path]) for path in tree.writable}
        found.append(Looked(replace(subject, presence=there, node=_since(tree)), writable))
    return found


def _since(tree: "NodeTree") -> "NodeFacts | None":
    """Since when the containerd of a tree runs, and when its files were written; None where that is not known."""
    from lockgate.lint.moments import parse_moment, parse_written
    from lockgate.lint.subject import NodeFacts

    started = tree.started or parse_moment(tree.outputs.get("containerd-started.txt", ""))
    written = tree.modified or parse_written(tree.outputs.get("containerd-files.txt", ""))
    return NodeFacts(started=started, modified=written) if started and written else None


# --- nodes of a bundle or of the cluster


def _bundle(path: str, node: str | None, release: "Release | None") -> list[Looked]:
    import sys

    from lockgate.cli.node_subjects import other_runtime
    from lockgate.collect.offline import from_path

    facts = from_path(path, sys.stdin.buffer)
    start = f"node {node}: " if node else "node "
    if torn := [p.reason for p in facts.left_out if p.section == "node_files" and p.reason.startswith(start)]:
        raise FactsError(f"{path}: {torn[0]}", 2)
    found = _subjects(facts, release)
    names = [subject.name for subject in found]
    if node is not None and node not in names:
        if why := other_runtime(facts, node):
            raise FactsError(f"{path}: node {node}: {why}", 2)
        raise FactsError(f"{path}: holds no files of node {node} (there is: {', '.join(names) or 'none'})", 2)
    if not found:
        raise FactsError(f"{path}: holds no containerd or CDI files of any node (nodes/<node>/etc/...)", 2)
    return [Looked(subject, {}) for subject in found if node in (None, subject.name)]


def _live(options: argparse.Namespace, release: "Release | None") -> list[Looked]:
    from lockgate.cli.node_subjects import other_runtime
    from lockgate.collect.live_node import from_node
    from lockgate.kube.errors import ApiError, Unreachable
    from lockgate.model.facts import Missing

    if not options.node:
        raise FactsError("give a PATH, or --node NAME for a node of the live cluster", 2)
    try:
        snapshot = from_node(access_of(options), options.node)
    except (ApiError, Unreachable) as error:
        raise FactsError(str(error), 1) from None
    states = snapshot.node_states
    if isinstance(states, Missing):
        raise FactsError(f"node {options.node}: {states.text}", 1)
    found = _subjects(snapshot, release)
    if not found:
        text = "the toolkit agent has not published its containerd files (gpunodestates), or they were too long"
        raise FactsError(f"node {options.node}: {other_runtime(snapshot, options.node) or text}", 2)
    return [Looked(subject, {}) for subject in found]


def _subjects(snapshot: "Snapshot", release: "Release | None") -> list["Subject"]:
    """A subject for each node of which files are known; a release that was given goes before the one that is found."""
    from lockgate.cli.node_subjects import node_subjects

    found = node_subjects(snapshot)
    return [replace(subject, release=release) for subject in found] if release else found
