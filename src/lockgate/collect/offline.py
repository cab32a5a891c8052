"""`--from PATH`: a folder, an archive of one, one file of `kubectl get -o json|yaml`, or pasted text; `-` is stdin."""

import re
from collections.abc import Iterable
from pathlib import Path
from typing import Any, BinaryIO

import msgspec

from lockgate.collect.bounds import MAX_FILE, MAX_TEXT, too_large
from lockgate.collect.custom_owner import parse_owner
from lockgate.collect.decode import any_objects, text_of, typed
from lockgate.collect.errors import InputError
from lockgate.collect.folder import from_folder, latest_moment
from lockgate.collect.members import is_archive, read_file, read_head
from lockgate.collect.pasted import looks_pasted, parse_pasted
from lockgate.collect.unwrapped import unwrapped
from lockgate.model.facts import API_SECTIONS, BY_KIND, Missing, Snapshot
from lockgate.model.objects import Workload

STDIN = "-"
# What every object says of itself, in JSON or YAML.
_OBJECT = re.compile(r"""(?m)^[ \t{\[-]*["']?(?:apiVersion|kind|items)["']?\s*:|^[ \t]*[{\[]""")


def from_path(path: str, stdin: BinaryIO, namespace: str = "", pod: str = "") -> Snapshot:
    """The facts of whatever lies at a path; raises InputError with one line that says what is wrong with it.

    `namespace` and `pod` are those of pasted text that does not show whose events it holds.
    """
    if path == STDIN:
        return from_bytes("standard input", _read_stdin(stdin), namespace, pod)
    root = Path(path)
    try:
        is_whole = root.is_dir() or is_archive(read_head(root))
    except OSError as error:
        raise InputError(f"{path}: {_reason(error)}") from None
    except InputError:
        raise
    except ValueError as error:  # a NUL in the path
        raise InputError(f"{path!r}: {error}") from None
    return from_folder(root) if is_whole else from_bytes(path, read_file(root), namespace, pod)


def from_bytes(name: str, data: bytes, namespace: str = "", pod: str = "") -> Snapshot:
    """The facts of one file: objects of any kind as JSON or YAML, or text that was pasted."""
    if is_archive(data[:512]):
        raise InputError(f"{name}: an archive has to be given by its path")
    # JSON may be UTF-16 too, behind a redirect of PowerShell.
    if data[:1] in (b"{", b"[") or (text := text_of(name, data)).lstrip()[:1] in ("{", "["):
        return _of_objects(name, any_objects(name, data))
    if len(data) > MAX_TEXT:
        raise too_large(name, len(data), MAX_TEXT)
    text = unwrapped(text)
    if looks_pasted(text):
        return parse_pasted(name, text, namespace, pod)
    if text.strip() and not _OBJECT.search(text):
        raise InputError(
            f"{name}: is neither JSON nor YAML of objects (kubectl get -o json|yaml), nor text of kubectl describe "
            "pod|node or of kubectl get events; what an error text means, kubectl gpu explain says"
        )
    return _of_objects(name, any_objects(name, text.encode()))


def _read_stdin(stdin: BinaryIO) -> bytes:
    data = stdin.read(MAX_FILE + 1)
    if len(data) > MAX_FILE:
        raise too_large("standard input", len(data), MAX_FILE)
    return data


def _of_objects(name: str, objects: Iterable[tuple[str, bytes]]) -> Snapshot:
    sections: dict[str, list[Any]] = {}
    owners: list[Workload] = []
    unknown: set[str] = set()
    for kind, raw in objects:
        if kind not in BY_KIND:
            unknown.add(kind or "object without a kind")
            owners += _owner(name, raw)
            continue
        section = BY_KIND[kind]
        sections.setdefault(section.section, []).append(typed(name, raw, section))
    if not (sections or owners):
        raise InputError(
            f"{name}: holds {_listed(unknown)}; expected a Pod, a List of pods or another kind that is read"
        )
    return _snapshot(name, sections, tuple(owners))


def _owner(name: str, raw: bytes) -> list[Workload]:
    """An object of another kind counts where a pod template lies in it."""
    owner = parse_owner(name, msgspec.json.decode(raw))
    return [owner] if owner.spec.template.spec.containers else []


def _snapshot(name: str, sections: dict[str, list[Any]], owners: tuple[Workload, ...]) -> Snapshot:
    found: dict[str, Any] = {section: tuple(objects) for section, objects in sections.items()}
    found |= {"custom_owners": owners} if owners else {}
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
