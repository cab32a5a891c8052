"""What is linted: the files of one node by their path there, the release that reads them, and views for the rules."""

import datetime as dt
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from posixpath import dirname

from lockgate.cdi.registry import DEFAULT_DIRECTORIES, EXTENSIONS, Directory, Registry, Unreadable, load
from lockgate.containerd.document import parse_document
from lockgate.containerd.effective import Effective, resolve
from lockgate.containerd.imports import File, Files
from lockgate.containerd.load import ConfigError
from lockgate.containerd.releases import Release
from lockgate.containerd.toml_text import TomlError
from lockgate.containerd.values import Origin, Table, leaves
from lockgate.lint.cluster_facts import ClusterFacts
from lockgate.lint.manifests import Manifests
from lockgate.lint.statements import Statement, statements
from lockgate.model.facts import Missing


@dataclass(frozen=True)
class HandedOut:
    """The CDI names that a device plugin answers with: its kind, and the devices where they are known."""

    kind: str
    devices: tuple[str, ...] = ()


@dataclass(frozen=True)
class NodeFacts:
    """What is known of a node besides its files: the handlers that its runtime has loaded and those that RuntimeClasses
    name, since when its containerd runs and when its files were written, which CDI names its plugin hands out.

    `loaded`, `started` and `hands_out` are None where nothing tells; `needed` maps a RuntimeClass to its handler.
    """

    loaded: tuple[str, ...] | None = None
    needed: Mapping[str, str] = field(default_factory=dict)
    started: dt.datetime | None = None
    modified: Mapping[str, dt.datetime] = field(default_factory=dict)
    hands_out: HandedOut | None = None


@dataclass(frozen=True)
class Subject:
    """One node's files. `root` is the top-level configuration ("" when there is none), `shown` how paths are printed.

    `presence` says for a path whether the node has it; a path that is not in it is not known. `lists_cdi`: the CDI
    directories were looked at, so that where no specification is among the files there is none; `withheld` are those
    that were too long to be published. `serves_cri`: the runtime answers the kubelet, whatever the files say.
    `holds_manifests`: the files are Kubernetes manifests and nothing of a node;
    `cluster` is what they are judged against, where that is known; `unread` says why files beside them were not read.
    `first_object` is the number of the first object, where others of the file are left out.
    """

    files: Mapping[str, File]
    root: str = ""
    release: Release | None = None
    name: str = ""
    presence: Mapping[str, bool] = field(default_factory=dict)
    shown: Mapping[str, str] = field(default_factory=dict)
    node: NodeFacts | None = None
    lists_cdi: bool = False
    withheld: tuple[str, ...] = ()
    serves_cri: bool = False
    holds_manifests: bool = False
    cluster: ClusterFacts | None = None
    unread: Mapping[str, Missing] = field(default_factory=dict)
    first_object: int = 0

    def show(self, path: str) -> str:
        """A path as it is printed: as it was given, or with its node's name."""
        return self.shown.get(path) or (f"{self.name}:{path}" if self.name else path)

    def text(self, path: str) -> str:
        """The text of a file, "" where there is none."""
        return text_of(self.files.get(path))

    def line(self, path: str, number: int) -> str:
        """One line of a file, "" where there is none."""
        lines = self.text(path).split("\n")
        return lines[number - 1].rstrip("\r") if 0 < number <= len(lines) else ""

    def edited(self, edits: Mapping[str, str]) -> "Subject":
        """The same node with some files written anew."""
        return replace(self, files={**self.files, **edits})

    @cached_property
    def effective(self) -> Effective | ConfigError | None:
        """What the configuration amounts to; None where there is none, or its release is not known."""
        if not self.root or self.release is None:
            return None
        return resolve(Files(self.files), self.root, self.release)

    @cached_property
    def manifests(self) -> Manifests:
        """The files read as Kubernetes manifests."""
        return Manifests({path: self.text(path) for path in self.files}, self.first_object, self.cluster)

    @cached_property
    def settings(self) -> Mapping[tuple[str, ...], object] | None:
        """Everything that the files amount to, by path; None where they are refused, or nothing is known.

        An edit may change what it means to change and nothing else. Empty and absent are one.
        """
        if self.holds_manifests:
            return None if self.manifests.read[1] else dict(self.manifests.leaves())
        effective = self.effective
        if not isinstance(effective, Effective):
            return None
        return {path: leaf.value for path, leaf in leaves(effective.document) if leaf.value}

    def view(self, name: str) -> object | None:
        """What a rule's parameter stands for; None when this subject has no such thing."""
        effective = self.effective
        match name:
            case "config" if isinstance(effective, Effective):
                return Config(self, effective)
            case "refusal" if isinstance(effective, ConfigError):
                return Refusal(self, effective)
            case "sources" if self.root and self.release is not None:
                return Sources(self, self.release)
            case "manifests":
                return self.manifests if self.holds_manifests else None
            case "cluster":
                return self.cluster
            case "cdi":
                return CdiFiles(self) if self.lists_cdi or _spec_paths(self) else None
            case "presence":
                return self.presence
            case "node":
                return self.node
            case _:
                return None


@dataclass(frozen=True)
class Refusal:
    """Files that the release does not load, and its words."""

    subject: Subject
    error: ConfigError


@dataclass(frozen=True)
class Sources:
    """The texts of the configuration, whether they load or not."""

    subject: Subject
    release: Release

    def statements(self, path: str) -> tuple[Statement, ...]:
        """What a file says, statement by statement; nothing where it is no TOML."""
        try:
            return statements(self.subject.text(path), self.release.family.toml)
        except TomlError:
            return ()

    @property
    def paths(self) -> tuple[str, ...]:
        """The files that are part of the configuration as far as can be told: the loaded ones, else the root alone."""
        effective = self.subject.effective
        if isinstance(effective, Effective):
            return effective.loaded
        blamed = (effective.file,) if isinstance(effective, ConfigError) and effective.file else ()
        nearby = (p for p in sorted(self.subject.files) if p.endswith(".toml") and _is_dropin_of(p, self.subject.root))
        return tuple(dict.fromkeys((self.subject.root, *blamed, *nearby)))


@dataclass(frozen=True)
class Config:
    """A configuration that loads: what it amounts to, and the files that it is made of."""

    subject: Subject
    effective: Effective

    @property
    def release(self) -> Release:
        return self.effective.release

    @property
    def runtime(self) -> str:
        """The plugin that holds the CRI runtime settings on this release."""
        return self.release.family.cri.runtime

    def show(self, origin: Origin) -> str:
        """A place as it is printed."""
        return f"{self.subject.show(origin.file)}:{origin.line}" if origin.file else "built-in default"

    @cached_property
    def documents(self) -> dict[str, Table]:
        """Each loaded file's tables, in the order of loading."""
        files, dialect = Files(self.subject.files), self.release.family.toml
        texts = {path: files.read(path) for path in self.effective.loaded}
        return {p: parse_document(t, p, dialect) for p, t in texts.items() if isinstance(t, str | bytes)}

    def statements(self, path: str) -> tuple[Statement, ...]:
        """What a loaded file says, statement by statement."""
        return statements(self.subject.text(path), self.release.family.toml)


@dataclass(frozen=True)
class CdiFiles:
    """The CDI specifications that are known of a node, read as the runtime would from the directories it reads."""

    subject: Subject

    @property
    def effective(self) -> Effective | None:
        """The configuration, where it is known and loads."""
        found = self.subject.effective
        return found if isinstance(found, Effective) else None

    @property
    def directories(self) -> tuple[str, ...]:
        """The directories that the runtime reads, the lowest priority first; the usual two where that is not known."""
        dirs = self.effective.cdi_spec_dirs if self.effective else None
        return DEFAULT_DIRECTORIES if dirs is None else dirs

    @property
    def paths(self) -> tuple[str, ...]:
        """Every specification file that is known, read by the runtime or not."""
        return _spec_paths(self.subject)

    @cached_property
    def registry(self) -> Registry:
        """The specifications that the runtime reads."""
        return load([self._directory(path) for path in self.directories])

    def _directory(self, path: str) -> Directory:
        inside = {p: self.subject.files[p] for p in self.paths if plain_directory(dirname(p)) == plain_directory(path)}
        base = next((dirname(p) for p in inside), path)
        return Directory(path=base, files={p.rpartition("/")[2]: _content(file) for p, file in inside.items()})


def plain_directory(path: str) -> str:
    """A directory's one name: `/var/run` is a link to `/run` on every node."""
    return "/run/" + path.removeprefix("/var/run/").strip("/") if path.startswith("/var/run/") else path.rstrip("/")


def text_of(file: File | None) -> str:
    """A file's text, "" for what is no readable file."""
    if isinstance(file, bytes):
        return file.decode("utf-8", "replace")
    return file if isinstance(file, str) else ""


def _content(file: File) -> bytes | Unreadable:
    if isinstance(file, bytes):
        return file
    return file.encode("utf-8", "surrogateescape") if isinstance(file, str) else Unreadable(reason="is unreadable")


def _spec_paths(subject: Subject) -> tuple[str, ...]:
    return tuple(sorted(_specs(subject)))


def _specs(subject: Subject) -> Iterator[str]:
    """Files that are specifications by name and place: `cdi` is a part of every directory that people use."""
    if subject.holds_manifests:
        return
    effective = subject.effective
    dirs = effective.cdi_spec_dirs if isinstance(effective, Effective) else None
    configured = {plain_directory(path) for path in dirs or ()}
    for path, file in subject.files.items():
        if path.endswith(EXTENSIONS) and isinstance(file, str | bytes):
            folder = plain_directory(dirname(path))
            if folder in configured or folder.rpartition("/")[2] == "cdi":
                yield path


def _is_dropin_of(path: str, root: str) -> bool:
    parent = dirname(path)
    return dirname(parent) == dirname(root) and parent.endswith(".d") and not parent.endswith("certs.d")
