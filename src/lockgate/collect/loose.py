"""A folder or archive of kubectl's output under whatever names: `kubectl cluster-info dump`, `oc adm must-gather`, or
what somebody wrote file by file.

Every JSON and YAML file that holds objects counts, text of describe and of event lists, and the logs of a dump. One
object in several files is one. Who holds what on the nodes is known where one file has pods of several namespaces.
"""

import re
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Final

import msgspec

from lockgate.collect.any_kinds import AnyKinds
from lockgate.collect.bounds import MAX_LOG, MAX_TEXT
from lockgate.collect.decode import lenient_text, objects_in, text_of
from lockgate.collect.errors import InputError
from lockgate.collect.event_places import homes, placed, unplaced
from lockgate.collect.left_members import LeftMembers
from lockgate.collect.members import Member, members
from lockgate.collect.other_texts import complaint, known_as
from lockgate.collect.pasted import joined, looks_pasted, parse_pasted
from lockgate.collect.unwrapped import unwrapped
from lockgate.kit.counted import few
from lockgate.model.facts import SECTIONS, LeftOut, Log, Missing, Snapshot

_OBJECTS: Final = (".json", ".yaml", ".yml")
_TEXTS: Final = (".txt", ".log", ".md", ".out", ".descr", ".describe")
_MOST: Final = 20_000  # files
_DEEPEST: Final = 8  # folders
_NAMED: Final = 3  # of the files that were not understood
_SAYS: Final = re.compile(rb"apiVersion")
_OF_DUMP: Final = re.compile(
    r"^==== START logs for container (?P<container>\S+) of pod (?P<namespace>[^/\s]+)/(?P<pod>\S+) ====$\n?",
    re.MULTILINE,
)
_END: Final = re.compile(r"^==== END logs.*$", re.MULTILINE)


def from_loose(root: Path, namespace: str = "", pod: str = "") -> Snapshot | None:
    """The facts of such a folder, None where there are none; raises InputError where a file of objects is broken, or
    none can be read.

    `namespace` and `pod` are those of text that does not show whose events it holds.
    """
    objects, told, logs, passed = AnyKinds(str(root), pod, once=True), list[Snapshot](), list[Log](), list[str]()
    left, useless = LeftMembers(), list[str]()
    for number, member in enumerate(members(root, is_wanted, left.add)):
        if number == _MOST:
            raise InputError(
                f"{root}: holds more than {_MOST} files of JSON, YAML and text; give the folder of one look"
            )
        if member.path.endswith(_OBJECTS):
            start = member.stream.peek(1)
            if _SAYS.search(start.replace(b"\0", b"")):
                note = partial(objects.note_cut, member.path)
                objects.add(member.path, objects_in(member.path, member.stream, note))
            elif said := complaint(lenient_text(start)):
                useless.append(f"{member.path}: {said}")
            continue
        text = _text(member)
        if found := tuple(_logs(text)):
            logs += found
        elif looks_pasted(text):
            told.append(parse_pasted(member.path, text, namespace, pod))
        elif said := complaint(text):
            useless.append(f"{member.path}: {said}")
        elif known := known_as(text):
            useless.append(f"{member.path} {known}")
        else:
            passed.append(member.path)
    unread = (*left.told(), *(LeftOut("files", said) for said in _few(useless)))
    if not (objects or told):
        for part in unread:
            raise InputError(f"{root}: holds no other files of a cluster; {Missing(part.reason, part.how).text}")
        return None
    return _with(objects.facts, told, tuple(logs), (*unread, *_unread(passed)))


def _few(texts: list[str]) -> Iterator[str]:
    yield from texts[:_NAMED]
    if len(texts) > _NAMED:
        yield f"{len(texts) - _NAMED} more files hold no objects"


def _text(member: Member) -> str:
    """A text out of what it was copied into; of a log the end, "" of what is too long to be one of kubectl's."""
    if member.size > MAX_TEXT and not member.path.endswith(".log"):
        return ""
    data = member.tail(MAX_LOG if member.path.endswith(".log") else MAX_TEXT)
    try:
        return unwrapped(text_of(member.path, data))
    except InputError:
        return unwrapped(lenient_text(data))


def is_wanted(path: str) -> bool:
    """Whether a file under any name is looked into."""
    parts = path.split("/")
    return path.endswith((*_OBJECTS, *_TEXTS)) and len(parts) <= _DEEPEST and not any(p.startswith(".") for p in parts)


def _logs(text: str) -> Iterator[Log]:
    """The logs of one pod's containers, as `kubectl cluster-info dump` writes them into one file."""
    heads = [*_OF_DUMP.finditer(text)]
    ends = [*(head.start() for head in heads[1:]), len(text)]
    for head, end in zip(heads, ends, strict=False):
        own = _END.split(text[head.end() : end])[0]
        yield Log(head["namespace"], head["pod"], head["container"], own[-MAX_LOG:])


def _with(facts: Snapshot, told: list[Snapshot], logs: tuple[Log, ...], unread: tuple[LeftOut, ...]) -> Snapshot:
    """What texts tell counts where no object does; events of both are kept."""
    if told:
        words = joined(told)
        both = {s: getattr(words, s) for s in SECTIONS if isinstance(getattr(facts, s), Missing)}
        events = () if isinstance(words.events, Missing) else placed(words.events, homes((facts,)))
        if events:
            both["events"] = events if isinstance(facts.events, Missing) else (*facts.events, *events)
        others = (*(part for part in words.left_out if part.section != "namespace"), *unplaced(events))
        facts = msgspec.structs.replace(facts, left_out=(*facts.left_out, *others), **both)
    if logs:
        facts = msgspec.structs.replace(facts, logs=logs)
    return msgspec.structs.replace(facts, left_out=(*facts.left_out, *unread))


def _unread(passed: list[str]) -> Iterator[LeftOut]:
    """That some texts were not understood: a log that nobody names tells of no pod."""
    if passed:
        how = "put logs into logs/NAMESPACE/POD/CONTAINER.log, files of a node into nodes/NODE/, the rest into cluster/"
        yield LeftOut("files", f"not read, as nothing says what they are about: {few(passed, _NAMED)}", how)
