"""Refusals: the value that says why a release does not take a set of files, in the words that the release prints."""

from __future__ import annotations

from dataclasses import dataclass

from lockgate.containerd.decode import WrongTypeError
from lockgate.containerd.releases import Family
from lockgate.containerd.toml_text import TomlError


@dataclass(frozen=True, slots=True)
class ConfigError:
    """Why a release refuses a set of files: the text it prints, and the place to blame where one is known."""

    message: str
    file: str
    line: int = 0
    panics: bool = False

    def __str__(self) -> str:  # type: ignore[explicit-override]  # typing.override is 3.12
        place = f"{self.file}:{self.line}" if self.line else self.file
        return f"{place}: {'containerd crashes: ' if self.panics else ''}{self.message}"


class Refused(Exception):  # noqa: N818 - it carries the error value out of the loading loop and never leaves this package
    """Ends loading with an error."""

    def __init__(self, error: ConfigError) -> None:
        super().__init__(str(error))
        self.error = error


def missing(path: str, family: Family) -> ConfigError:
    """A file that an import names and that is not there."""
    return ConfigError(open_failure(path, "no such file or directory", family), path)


def open_failure(path: str, reason: str, family: Family) -> str:
    """What is printed when a file cannot be opened."""
    prefix = f"failed to load TOML: {path}: " if family.toml.major == 1 else ""
    return f"{prefix}open {path}: {reason}"


def read_failure(path: str, reason: str, family: Family) -> str:
    """What is printed when a file cannot be read."""
    prefix = f"failed to load TOML: {path}: " if family.toml.major == 1 else "failed to unmarshal TOML: toml: "
    return f"{prefix}read {path}: {reason}"


def syntax(error: TomlError, path: str, family: Family) -> str:
    """What is printed when a file is not TOML."""
    if family.toml.major == 1:
        place = f"({error.line}, {error.column}): " if error.column else ""
        return f"failed to load TOML: {path}: {place}{error.message}"
    if error.structural and not family.toml.locates_structure:
        return f"failed to unmarshal TOML: {error.message}"
    return f"failed to unmarshal TOML at row {error.line} column {error.column}: {error.message}"


def wrong_type(error: WrongTypeError, path: str, family: Family) -> ConfigError:
    """A value that does not fit its key."""
    if error.panics:
        return ConfigError(error.message, error.origin.file or path, error.origin.line, panics=True)
    prefix = "failed to unmarshal TOML"
    place = f" at row {error.origin.line}" if family.toml.major == 2 else ""
    return ConfigError(f"{prefix}{place}: {error.message}", error.origin.file or path, error.origin.line)
