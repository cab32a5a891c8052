"""Settings as NVIDIA's programs read them: command line, then environment, then configuration file, then default."""

import argparse
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final, NoReturn

import msgspec


class SettingsError(Exception):
    """A setting that cannot be used; the text names it, what was given and what is expected."""


class Option(msgspec.Struct, frozen=True, kw_only=True):
    """One setting: `flags` without dashes, `env` in order of precedence, `path` in the configuration file."""

    name: str
    help: str = ""
    flags: tuple[str, ...] = ()
    env: tuple[str, ...] = ()
    path: tuple[str, ...] = ()
    default: Any = None
    parse: Callable[[Any], Any] = str
    empty_counts: bool = False  # an empty variable is a value, not "unset"


_TRUE: Final = frozenset(("1", "t", "true"))
_FALSE: Final = frozenset(("0", "f", "false", ""))


def parse_bool(value: object) -> bool:
    """Go's booleans: 1, t, true, 0, f, false in any case."""
    text = str(value).strip().lower()
    if text not in _TRUE | _FALSE:
        raise ValueError("expected true or false")
    return text in _TRUE


_UNITS: Final = {"h": 3600.0, "m": 60.0, "s": 1.0, "ms": 1e-3, "us": 1e-6, "ns": 1e-9}
_DURATION: Final = re.compile(r"(\d+\.?\d*|\.\d+)(ms|us|ns|h|m|s)")


def parse_duration(value: object) -> float:
    """A Go duration (`1m30s`, `500ms`) in seconds."""
    text = str(value).strip()
    parts = _DURATION.findall(text)
    if not parts or "".join(number + unit for number, unit in parts) != text:
        raise ValueError("expected a duration such as 60s or 1m30s")
    return sum(float(number) * _UNITS[unit] for number, unit in parts)


def one_of(*allowed: str) -> Callable[[Any], str]:
    """A parser that takes only these words."""

    def parse(value: object) -> str:
        if value not in allowed:
            raise ValueError(f"expected one of {', '.join(allowed)}")
        return str(value)

    return parse


def read_options(
    options: Sequence[Option], argv: Sequence[str], environ: Mapping[str, str], file: Mapping[str, Any]
) -> dict[str, Any]:
    """Each option's value by name; raises SettingsError for the first that cannot be used."""
    given = _parse_command_line(options, argv)
    return {option.name: _value(option, given, environ, file) for option in options}


def _parse_command_line(options: Sequence[Option], argv: Sequence[str]) -> dict[str, Any]:
    parser = _Parser(add_help=True, allow_abbrev=False)
    for option in options:
        if option.flags:
            optional = {"nargs": "?", "const": "true"} if option.parse is parse_bool else {}
            names = [f"--{flag}" for flag in option.flags]
            parser.add_argument(*names, dest=option.name, default=None, help=option.help, **optional)  # type: ignore[arg-type]
    return vars(parser.parse_args(argv))


class _Parser(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:  # type: ignore[explicit-override]  # typing.override is 3.12
        raise SettingsError(message)


def _value(option: Option, given: Mapping[str, Any], environ: Mapping[str, str], file: Mapping[str, Any]) -> Any:
    if given.get(option.name) is not None:
        return _parsed(option, given[option.name], f"--{option.flags[0]}")
    for variable in option.env:
        if variable in environ and (environ[variable] or option.empty_counts):
            return _parsed(option, environ[variable], variable)
    found = _lookup(file, option.path) if option.path else None
    if found is not None:
        return _parsed(option, found, f"configuration file, {'.'.join(option.path)}")
    return option.default


def _parsed(option: Option, value: Any, where: str) -> Any:
    try:
        return option.parse(value)
    except (TypeError, ValueError) as error:
        raise SettingsError(f"{where}: {value!r} cannot be used: {error}") from error


def _lookup(file: Mapping[str, Any], path: tuple[str, ...]) -> Any:
    value: Any = file
    for key in path:
        if not isinstance(value, Mapping):
            return None
        value = value.get(key)
    return value
