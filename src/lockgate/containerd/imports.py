"""Which files a configuration is made of: the files at hand, Go's path and glob rules, a file's imports resolved."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from posixpath import dirname, isabs, normpath
from typing import TypeAlias


@dataclass(frozen=True, slots=True)
class Directory:
    """A path that is a directory (directories that hold a known file need not be named)."""


@dataclass(frozen=True, slots=True)
class Unreadable:
    """A file that is there but could not be read; the reason as the system words it, `permission denied`."""

    reason: str = "permission denied"


File: TypeAlias = str | bytes | Directory | Unreadable


class Files:
    """A folder tree as plain data: absolute path to content."""

    def __init__(self, entries: Mapping[str, File]) -> None:
        self.entries = dict(entries)
        self._children: dict[str, set[str]] = {}
        for path in self.entries:
            self._add(path)

    def _add(self, path: str) -> None:
        while path != "/" and path:
            parent = dirname(path)
            names = self._children.setdefault(parent, set())
            name = path[len(parent) :].lstrip("/")
            if name in names:
                return
            names.add(name)
            path = parent

    def read(self, path: str) -> File | None:
        """What stands at a path; None when nothing does."""
        path = normpath(path)
        entry = self.entries.get(path)
        return Directory() if entry is None and path in self._children else entry

    def names(self, directory: str) -> list[str]:
        """The names in a directory in Go's order (bytes), hidden ones included."""
        return sorted(self._children.get(directory, ()), key=lambda name: name.encode())

    def with_file(self, path: str, content: File | None) -> Files:
        """The tree with one file written, or removed when the content is None."""
        entries = {p: c for p, c in self.entries.items() if p != path}
        return Files(entries if content is None else {**entries, path: content})


class BadPatternError(ValueError):
    """A glob that Go calls `syntax error in pattern`."""


def resolve_imports(parent: str, imports: Iterable[str], files: Files, *, globs_from_cwd: bool) -> Iterator[str]:
    """The paths that a file's `imports` name, in the order containerd queues them.

    An entry is cleaned and made absolute against the importing file; only one that has a `*` is a pattern (a `?` or
    `[a]` alone is taken literally). With `globs_from_cwd` a relative pattern starts at the daemon's working directory,
    which a service manager makes `/`. Source: resolveImports in containerd's server config.
    """
    for entry in imports:
        path = clean(entry)
        if globs_from_cwd and "*" in entry:
            path = clean(f"/{entry}")
        if not isabs(path):
            path = clean(f"{dirname(parent)}/{path}")
        if "*" in path:
            yield from glob(path, files)
        else:
            yield path


def clean(path: str) -> str:
    """Go's filepath.Clean: like normpath, but two leading slashes become one and an empty path is `.`."""
    path = normpath(path)
    return path[1:] if path.startswith("//") else path


def glob(pattern: str, files: Files) -> list[str]:
    """Go's filepath.Glob: each path element matched alone, names in byte order, hidden files included."""
    matcher(pattern)
    if not any(c in pattern for c in "*?[\\"):
        return [pattern] if files.read(pattern) is not None else []
    head, tail = dirname(pattern), pattern.rsplit("/", 1)[-1]
    parents = glob(head, files) if any(c in head for c in "*?[\\") else [head]
    matches = matcher(tail)
    return [
        f"{parent.rstrip('/')}/{name}" for parent in parents for name in files.names(parent) if matches.fullmatch(name)
    ]


_TOKEN = re.compile(r"\*|\?|\\(.)|\[(\^?)((?:\\.|[^\]\\])+)\]|[^\\\[]", re.DOTALL)


def matcher(pattern: str) -> re.Pattern[str]:
    """A regular expression for Go's filepath.Match; raises BadPatternError where Go does."""
    out, at = [], 0
    while at < len(pattern):
        token = _TOKEN.match(pattern, at)
        if not token:
            raise BadPatternError("syntax error in pattern")
        out.append(_token_regex(token))
        at = token.end()
    return re.compile("".join(out), re.DOTALL)


def _token_regex(token: re.Match[str]) -> str:
    text, escaped, negated, body = token.group(), token.group(1), token.group(2), token.group(3)
    if text == "*":
        return "[^/]*"
    if text == "?":
        return "[^/]"
    if escaped is not None:
        return re.escape(escaped)
    if body is not None:
        return f"[{'^' if negated else ''}{_class(body)}]"
    return re.escape(text)


def _class(body: str) -> str:
    out, chars = [], [c[-1] for c in re.findall(r"\\.|.", body, re.DOTALL)]
    at = 0
    while at < len(chars):
        if at + 2 < len(chars) and chars[at + 1] == "-":
            low, high = chars[at], chars[at + 2]
            if low <= high:
                out.append(f"{re.escape(low)}-{re.escape(high)}")
            at += 3
        else:
            out.append(re.escape(chars[at]))
            at += 1
    return "".join(out) or "^\\s\\S"
