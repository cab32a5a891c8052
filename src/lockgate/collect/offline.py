"""`--from PATH`: a folder, an archive of one, one file of `kubectl get -o json|yaml`, or pasted text; `-` is stdin."""

from collections.abc import Iterable
from pathlib import Path
from typing import Any, BinaryIO

from lockgate.collect.bounds import MAX_FILE, too_large
from lockgate.collect.decode import any_objects, text_of, typed
from lockgate.collect.describe import looks_described, parse_described
from lockgate.collect.errors import InputError
from lockgate.collect.folder import from_folder, latest_moment
from lockgate.collect.members import is_archive, read_file, read_head
from lockgate.model.facts import API_SECTIONS, BY_KIND, Missing, Snapshot

STDIN = "-"


def from_path(path: str, stdin: BinaryIO) -> Snapshot:
    """The facts of whatever lies at a path; raises InputError with one line that says what is wrong with it."""
    if path == STDIN:
        return from_bytes("standard input", _read_stdin(stdin))
    root = Path(path)
    try:
        if root.is_dir():
            return from_folder(root)
        head = read_head(root)
    except OSError as error:
        raise InputError(f"{path}: {_reason(error)}") from None
    except ValueError as error:  # a NUL in the path
        raise InputError(f"{path!r}: {error}") from None
    return from_folder(root) if is_archive(head) else from_bytes(path, read_file(root))


def from_bytes(name: str, data: bytes) -> Snapshot:
    """The facts of one file: objects of any kind as JSON or YAML, or the text of `kubectl describe pod`."""
    if is_archive(data[:512]):
        raise InputError(f"{name}: an archive has to be given by its path")
    if data[:1] in (b"{", b"["):
        return _of_objects(name, any_objects(name, data))
    text = text_of(name, data)
    if looks_described(text):
        return parse_described(name, text)
    return _of_objects(name, any_objects(name, data))


def _read_stdin(stdin: BinaryIO) -> bytes:
    data = stdin.read(MAX_FILE + 1)
    if len(data) > MAX_FILE:
        raise too_large("standard input", len(data), MAX_FILE)
    return data


def _of_objects(name: str, objects: Iterable[tuple[str, bytes]]) -> Snapshot:
    sections: dict[str, list[Any]] = {}
    unknown: set[str] = set()
    for kind, raw in objects:
        if kind not in BY_KIND:
            unknown.add(kind or "object without a kind")
            continue
        section = BY_KIND[kind]
        sections.setdefault(section.section, []).append(typed(name, raw, section))
    if not sections:
        raise InputError(
            f"{name}: holds {_listed(unknown)}; expected a Pod, a List of pods or another kind that is read"
        )
    return _snapshot(name, sections)


def _snapshot(name: str, sections: dict[str, list[Any]]) -> Snapshot:
    found: dict[str, Any] = {section: tuple(objects) for section, objects in sections.items()}
    for section in API_SECTIONS:
        absent = Missing(f"not in {name}", f"kubectl get {section.plural} -A -o json")
        found.setdefault(section.section, absent)
    if "pods" in sections and not _is_whole_cluster(sections):
        # One pod, or one namespace's pods: what other pods hold on the nodes is not known.
        found["namespace_pods"] = found["pods"]
        found["pods"] = Missing(f"{name} may not hold the pods of all namespaces", "kubectl get pods -A -o json")
    else:
        found["namespace_pods"] = found["pods"]
    found["taken_at"] = latest_moment(found)
    return Snapshot(**found)


def _is_whole_cluster(sections: dict[str, list[Any]]) -> bool:
    return len({pod.namespace for pod in sections["pods"]}) > 1


def _listed(kinds: set[str]) -> str:
    return ", ".join(sorted(kinds)) if kinds else "an empty list"


def _reason(error: OSError) -> str:
    return "there is no such file or folder" if isinstance(error, FileNotFoundError) else str(error.strerror or error)
