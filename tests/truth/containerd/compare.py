"""Compares a real containerd's whole dump with the model's, after normalising both."""

import re
from dataclasses import dataclass
from typing import Any

from lockgate.containerd import ConfigError, View, resolve
from lockgate.containerd.values import plain_table
from tests.truth.containerd.grammar import TOP_LEVEL, Files
from tests.truth.containerd.oracle import Answer, Binary

_ROW = re.compile(r"failed to (?:unmarshal|load) TOML.*? row (\d+)|failed to (?:unmarshal|load) TOML.*?\((\d+), \d+\)")
_RUNS = 40  # Go walks maps in random order; a set whose answer varies is right when one of the answers is ours


@dataclass(frozen=True)
class Outcome:
    """What came of one set on one release."""

    agreed: bool
    differences: tuple[str, ...] = ()
    error_text_agreed: bool = True
    error_line_agreed: bool = True
    failed: bool = False
    varies: bool = False


def compare(binary: Binary, files: Files) -> Outcome:
    """Ask both; on a difference ask the program again a few times."""
    first = _compare(binary, files)
    if first.agreed:
        return first
    for _ in range(_RUNS):
        again = _compare(binary, files)
        if again.agreed:
            return Outcome(agreed=True, varies=True, failed=again.failed)
    return first


def _compare(binary: Binary, files: Files) -> Outcome:
    real, ours = binary.dump(files), model(binary, files)
    if real.document is None or ours.document is None:
        return _errors(real, ours)
    different = tuple(differences(normal(real.document), normal(ours.document)))
    return Outcome(agreed=not different, differences=different)


def _errors(real: Answer, ours: Answer) -> Outcome:
    if (real.document is None) != (ours.document is None):
        theirs, mine = real.error.strip()[-300:] or "loads", ours.error or "loads"
        return Outcome(agreed=False, differences=(f"containerd: {theirs} | model: {mine}",), failed=True)
    crash = real.crashed == ours.error.startswith("panic")
    text = ours.error in real.error or real.crashed
    note = () if crash and text else (f"containerd says: {real.error.strip()[-300:]} | model says: {ours.error}",)
    return Outcome(
        agreed=crash,
        differences=note,
        error_text_agreed=text,
        error_line_agreed=same_line(real.error, ours.error),
        failed=True,
    )


def same_line(real: str, ours: str) -> bool:
    """Whether two refusals name the same line of a file; true where one of them names none.

    Words differ (Go's parser has its own for each slip of the pen), the place may not. go-toml 2.3 calls the end of the
    document row 1 column 1: then it names none.
    """
    rows = [_ROW.search(text) for text in (real, ours) if "row 1 column 1:" not in text]
    told = {row[1] or row[2] for row in rows if row}
    return len(told) < 2


def model(binary: Binary, files: Files) -> Answer:
    """What our model says, with the binary's own defaults."""
    found = resolve(files, TOP_LEVEL, binary.release, view=View.DUMP, defaults=binary.defaults)
    if isinstance(found, ConfigError):
        return Answer(None, f"panic: {found.message}" if found.panics else found.message)
    return Answer(plain_table(found.document))


def normal(document: dict[str, Any]) -> dict[str, Any]:
    """The document without what is empty (an absent key is an empty one), `imports` sorted as 1.x has no order."""
    tidy = _drop_empty(document)
    if tidy.get("version") == 2:
        tidy["imports"] = sorted(tidy.get("imports", []))
    return tidy


def _drop_empty(node: Any) -> Any:
    if isinstance(node, dict):
        return {k: v for k, child in node.items() if (v := _drop_empty(child)) not in ({}, [], "", 0, None)}
    return [_drop_empty(item) for item in node] if isinstance(node, list) else node


def differences(real: Any, ours: Any, path: str = "") -> list[str]:
    """Each place where two documents differ."""
    if isinstance(real, dict) and isinstance(ours, dict):
        return [
            line
            for key in sorted(real.keys() | ours.keys())
            for line in differences(real.get(key), ours.get(key), f"{path}/{key}")
        ]
    same = (real == ours or (real != real and ours != ours)) and isinstance(real, bool) == isinstance(ours, bool)
    return [] if same else [f"{path}: containerd {real!r} | model {ours!r}"]
