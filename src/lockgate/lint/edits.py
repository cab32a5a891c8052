"""Edits that several rules offer, as whole new texts; each may be refused by the simulation that follows."""

from collections.abc import Iterable, Mapping

from lockgate.containerd.releases import PluginMerge
from lockgate.containerd.toml_text import TomlError
from lockgate.containerd.values import Origin, Plain
from lockgate.lint.rule import Fix, Path
from lockgate.lint.statements import Kind, Statement, statements, with_pair, with_value, without
from lockgate.lint.subject import Config


def pairs_at(config: Config, origin: Origin) -> tuple[Statement, ...]:
    """The `key = value` statements on a line."""
    row = config.statements(origin.file) if origin.file else ()
    return tuple(s for s in row if s.kind is Kind.PAIR and s.line == origin.line)


def set_at(config: Config, origin: Origin, value: Plain, text: str, *intends: Path) -> tuple[Fix, ...]:
    """Another value on the line of an origin, where that line holds one plain key."""
    pairs = pairs_at(config, origin)
    if len(pairs) != 1:
        return ()
    new = with_value(config.subject.text(origin.file), pairs[0], value)
    return (Fix(text, {origin.file: new}, intends),)


def drop_lines(config: Config, origins: Iterable[Origin], text: str, *intends: Path) -> tuple[Fix, ...]:
    """The lines of some keys taken out."""
    by_file: dict[str, list[Statement]] = {}
    for origin in origins:
        pairs = pairs_at(config, origin)
        if len(pairs) != 1:
            return ()
        by_file.setdefault(origin.file, []).extend(pairs)
    files = {path: without(config.subject.text(path), gone) for path, gone in by_file.items()}
    return (Fix(text, files, intends),) if files else ()


def add_pairs(config: Config, file: str, pairs: Mapping[Path, Plain]) -> str | None:
    """A file's text with more keys, each by its full path; None where one cannot be written there."""
    text: str | None = config.subject.text(file)
    for path, value in pairs.items():
        if text is None:
            return None
        try:
            row = statements(text, config.release.family.toml)
        except TomlError:
            return None
        text = with_pair(text, row, path[:-1], path[-1], value)
    return text


def with_runtimes(config: Config, intends: Iterable[Path]) -> tuple[Path, ...]:
    """What an edit means to change; where a list of runtimes replaces the built-in one, all of the list is meant."""
    meant = dict.fromkeys(intends)
    runtimes = ("plugins", config.runtime, "containerd", "runtimes")
    if config.release.family.plugins is PluginMerge.REPLACE and any(path[:4] == runtimes for path in meant):
        meant[runtimes] = None
    return tuple(meant)


def put(config: Config, file: str, pairs: Mapping[Path, Plain], text: str, *intends: Path) -> tuple[Fix, ...]:
    """More keys in a file."""
    new = add_pairs(config, file, pairs)
    return () if new is None else (Fix(text, {file: new}, intends),)
