"""Docker's `daemon.json` with our runtimes in it, and without them again, byte for byte where nobody edited since.

Docker reads one file and has no drop-ins, so what was there before is kept in a record of ours. The runtimes are
aliases of the daemon's own runc: `{"path": "runc"}`.
"""

from __future__ import annotations

import json
from typing import Any, Final

import msgspec

from lockgate.containerd import Refusal, Wanted
from lockgate.containerd.dropin_node import text_hash

ALIAS: Final = {"path": "runc"}
# What dockerd (26.1.5, measured) does with a key of the file when it was started with a flag for the same.
_CLASHES: Final = {
    "runtimes": ("--add-runtime", "forgets the runtimes of its command line once its file has some"),
    "default-runtime": ("--default-runtime", 'refuses a file that has "default-runtime" too'),
}


class Record(msgspec.Struct, frozen=True):
    """What the file was before us (None: it was not there), the runtimes that we put in, a digest of the result."""

    before: str | None = None
    names: tuple[str, ...] = ()
    after: str = ""


def parse_record(text: str | bytes | None) -> Record | None:
    """The record; None where there is none that can be read."""
    try:
        return msgspec.json.decode(text, type=Record) if text else None
    except msgspec.MsgspecError:
        return None


def with_runtimes(path: str, text: str | None, wanted: Wanted, flags: tuple[str, ...]) -> str | Refusal:
    """The file with what is wanted, its keys in the order in which they were, in its own indentation."""
    document = _document(path, text)
    if isinstance(document, Refusal):
        return document
    wrong = [key for key in ("runtimes", "features") if not isinstance(document.get(key, {}), dict)]
    if wrong:
        return Refusal("docker/config-refused", f'{path}: "{wrong[0]}" is no object: dockerd does not start with it')
    new: dict[str, Any] = {"runtimes": document.get("runtimes", {}) | dict.fromkeys(wanted.handlers, ALIAS)}
    if wanted.enable_cdi:
        new["features"] = document.get("features", {}) | {"cdi": True}
    if wanted.default:
        new["default-runtime"] = wanted.default
    for key, (flag, what) in _CLASHES.items():
        if key in new and any(word == flag or word.startswith(f"{flag}=") for word in flags):
            message = f"dockerd was started with {flag}, and {what}: move the flag into {path} and restart docker"
            return Refusal("docker/flag-conflict", message)
    return _dump(document | new, text)


def without_runtimes(path: str, text: str, record: Record) -> str | Refusal | None:
    """The file as it was before us; where a person has edited it since, their file with the former values of ours."""
    if text_hash(text) == record.after:
        return record.before
    document, former = _document(path, text), _document(path, record.before)
    if isinstance(document, Refusal):
        return document
    before = former if isinstance(former, dict) else {}
    ours = [name for name in record.names if _table(document, "runtimes").get(name) == ALIAS]
    _give_back(document, before, "runtimes", ours)
    _give_back(document, before, "features", ["cdi"])
    if document.get("default-runtime") in record.names:
        document.pop("default-runtime")
        document |= {key: before[key] for key in ("default-runtime",) if key in before}
    return _dump(document, text)


def _give_back(document: dict[str, Any], before: dict[str, Any], key: str, names: list[str]) -> None:
    """Entries of a table as they were; the table goes when nothing is left in it and it was not there."""
    now, then = _table(document, key), _table(before, key)
    left = {k: v for k, v in now.items() if k not in names} | {k: then[k] for k in names if k in then and k in now}
    if left or (key in before and key in document):
        document[key] = left
    else:
        document.pop(key, None)


def _table(document: dict[str, Any], key: str) -> dict[str, Any]:
    found = document.get(key)
    return found if isinstance(found, dict) else {}


def _document(path: str, text: str | None) -> dict[str, Any] | Refusal:
    try:
        found = json.loads(text) if text and text.strip() else {}
    except ValueError as error:
        return Refusal("docker/config-refused", f"{path}: {error}: dockerd does not start with it")
    if text and "\ufffd" in text:
        return Refusal("docker/config-refused", f"{path}: is not UTF-8, so it could not be given back as it is")
    if not isinstance(found, dict):
        return Refusal("docker/config-refused", f"{path}: is no object: dockerd does not start with it")
    return found


def _dump(document: dict[str, Any], like: str | None) -> str:
    lines = (like or "").splitlines()
    indented = next((line for line in lines if line[:1] in (" ", "\t") and line.strip()), "    ")
    indent = indented[: len(indented) - len(indented.lstrip())]
    return json.dumps(document, indent=indent, ensure_ascii=False) + ("\n" if not like or like.endswith("\n") else "")
