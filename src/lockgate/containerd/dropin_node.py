"""The person's configuration without our drop-in, what we want of it, and what our drop-in remembers in its header."""

from __future__ import annotations

import json
from dataclasses import dataclass
from hashlib import sha256

from lockgate.containerd.effective import Effective
from lockgate.containerd.imports import Files
from lockgate.containerd.releases import Release
from lockgate.containerd.values import Table

HANDLERS = ("nvidia", "nvidia-cdi", "nvidia-legacy")
_RECORD = "# lockgate: "


@dataclass(frozen=True, slots=True, kw_only=True)
class Wanted:
    """What the handlers should be: names, CDI, and which of them pods get that name none."""

    handlers: tuple[str, ...] = HANDLERS
    enable_cdi: bool = True
    default: str | None = None


@dataclass(frozen=True, slots=True)
class Record:
    """What the drop-in remembers in its header: our edit of the top-level file, to undo it later."""

    pattern: str = ""
    before: str = ""
    after: str = ""
    created: bool = False  # the file is ours
    line: bool = False  # the `imports` line is ours
    prefix: str = ""  # what we put before a blank file's text

    def dump(self, copied: str) -> str:
        """The header line; `copied` is the digest of a table that the drop-in repeats."""
        data = {"import": self.pattern, "before": self.before, "after": self.after, "created": self.created}
        data |= {"line": self.line, "prefix": self.prefix}
        return _RECORD + json.dumps({**data, "copied": copied} if copied else data)


@dataclass(frozen=True, slots=True)
class Node:
    """The person's configuration: all files but our drop-in, and what they amount to."""

    files: Files
    root: str
    release: Release
    dropin: str
    before: Effective
    record: Record
    defaults: Table
    has_root: bool

    @property
    def root_text(self) -> str:
        """The text of the top-level file."""
        text = self.files.read(self.root)
        return text.decode() if isinstance(text, bytes) else text if isinstance(text, str) else ""


def read_record(tree: Files, dropin: str) -> Record:
    """What the drop-in at a path remembers; an empty record where there is none of ours."""
    text = tree.read(dropin)
    if isinstance(text, bytes):
        text = text.decode(errors="replace")
    lines = text.splitlines() if isinstance(text, str) else []
    for line in lines:
        if line.startswith(_RECORD):
            try:
                data = json.loads(line.removeprefix(_RECORD))
                keys = ("import", "before", "after", "created", "line", "prefix")
                return Record(*(data[key] for key in keys))
            except (ValueError, KeyError, TypeError):
                return Record()
    return Record()


def text_hash(text: str) -> str:
    """A digest that tells whether a text is still the one that was written."""
    return sha256(text.encode()).hexdigest()
