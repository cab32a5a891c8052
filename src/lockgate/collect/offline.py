"""`--from PATH`: a folder, an archive of one, one file of `kubectl get -o json|yaml`, or pasted text; `-` is stdin."""

import io
import re
from collections.abc import Callable, Iterable
from functools import partial
from pathlib import Path
from typing import BinaryIO

from lockgate.collect.any_kinds import AnyKinds
from lockgate.collect.bounds import MAX_TEXT
from lockgate.collect.cut_lists import OnCut
from lockgate.collect.decode import any_objects, objects_in, text_of, utf8
from lockgate.collect.errors import InputError
from lockgate.collect.event_stream import is_event_list, parse_event_stream
from lockgate.collect.folder import NoLayoutError, from_folder
from lockgate.collect.loose import from_loose
from lockgate.collect.members import is_archive, open_file, packed_alone, read_head
from lockgate.collect.other_texts import what_it_is
from lockgate.collect.pasted import looks_pasted, parse_pasted
from lockgate.collect.unwrapped import unwrapped
from lockgate.model.facts import Snapshot
from lockgate.model.told import UNSEEN_NAMESPACE

STDIN = "-"
_LONG_TEXT = (
    f"is more than the {MAX_TEXT >> 20} MiB that are read of YAML and of pasted text; kubectl get ... -o json > FILE "
    "may be of any length, and so may a list of events"
)
_JSON = re.compile(rb"[\xef\xbb\xbf\xff\xfe\0 \t\r\n]*(?:\{|\[[\0 \t\r\n]*[{\]])")
# What every object says of itself, in JSON or YAML.
_OBJECT = re.compile(r"""(?m)^[ \t{\[-]*["']?(?:apiVersion|kind|items)["']?\s*:|^[ \t]*(?:\{|\[\s*[{\]])""")


def from_path(path: str, stdin: BinaryIO, namespace: str = "", pod: str = "") -> Snapshot:
    """The facts of whatever lies at a path; raises InputError with one line that says what is wrong with it.

    `namespace` and `pod` are those of pasted text that does not show whose events it holds.
    """
    if path == STDIN:
        return from_stream("standard input", _peekable(stdin), namespace, pod)
    root = Path(path)
    try:
        is_whole = root.is_dir() or is_archive(read_head(root))
    except OSError as error:
        raise InputError(f"{path}: {_reason(error)}") from None
    except InputError:
        raise
    except ValueError as error:  # a NUL in the path
        raise InputError(f"{path!r}: {error}") from None
    if is_whole and not root.is_dir():
        with packed_alone(root) as alone:
            if alone is not None:
                return from_stream(path, alone, namespace, pod)
    if is_whole:
        return _of_folder(root, namespace, pod)
    with open_file(root) as file:
        return from_stream(path, file, namespace, pod)


def _of_folder(root: Path, namespace: str, pod: str) -> Snapshot:
    """A folder or archive in one of the layouts that are known, or of files under any names."""
    try:
        return from_folder(root, pod)
    except NoLayoutError:
        if (loose := from_loose(root, namespace, pod)) is None:
            raise
        return loose


def from_bytes(name: str, data: bytes, namespace: str = "", pod: str = "") -> Snapshot:
    """The facts of one file that is at hand."""
    return from_stream(name, _peekable(io.BytesIO(data)), namespace, pod)


def _peekable(stream: BinaryIO) -> io.BufferedReader:
    return stream if isinstance(stream, io.BufferedReader) else io.BufferedReader(io.BytesIO(stream.read()))


def from_stream(name: str, stream: io.BufferedReader, namespace: str = "", pod: str = "") -> Snapshot:
    """The facts of one file: objects of any kind as JSON or YAML, or text that was pasted. Raises InputError.

    Lists of objects and of events may be long; anything else is read whole, and bounded.
    """
    start = stream.peek(512)
    if is_archive(start[:512]):
        raise InputError(f"{name}: an archive has to be given by its path")
    if _begins_json(start):
        return _of_objects(name, lambda on_cut: objects_in(name, stream, on_cut), pod)
    plain = utf8(name, stream)
    data = plain.read(MAX_TEXT + 1)
    if not (more := plain.read(1)):
        return _of_text(name, text_of(name, data), namespace, pod)
    if not is_event_list(data):
        raise InputError(f"{name}: {_LONG_TEXT}")
    return parse_event_stream(data + more, plain, namespace or UNSEEN_NAMESPACE, pod)


def _begins_json(start: bytes) -> bool:
    """Whether a file begins as JSON does, be it UTF-16, as a redirect of PowerShell writes it."""
    return _JSON.match(start) is not None


def _of_text(name: str, text: str, namespace: str, pod: str) -> Snapshot:
    text = unwrapped(text)
    if looks_pasted(text):
        return parse_pasted(name, text, namespace, pod)
    if text.strip() and not _OBJECT.search(text):
        raise InputError(f"{name}: {what_it_is(text)}")
    return _of_objects(name, lambda on_cut: any_objects(name, text.encode(), on_cut))


def _of_objects(name: str, read: Callable[[OnCut], Iterable[tuple[str, bytes]]], asked: str = "") -> Snapshot:
    found = AnyKinds(name, asked)
    found.add(name, read(partial(found.note_cut, name)))
    if not found:
        raise InputError(f"{name}: holds {found.unknown}; expected a Pod, a List of pods or another kind that is read")
    return found.facts


def _reason(error: OSError) -> str:
    return "there is no such file or folder" if isinstance(error, FileNotFoundError) else str(error.strerror or error)
