"""Completion scripts, made from the verbs' own parsers, so that no flag is ever missing."""

import argparse
from collections.abc import Sequence
from dataclasses import dataclass

from lockgate.cli.main import VERBS, parser_of

_KINDS = ("pod/", "deploy/", "rs/", "sts/", "ds/", "job/", "cronjob/", "namespace/", "node/", "operand/")


@dataclass(frozen=True, slots=True, kw_only=True)
class Flag:
    """One flag: its spellings, its help, and what may follow it (`files` for a path, nothing known for None)."""

    names: tuple[str, ...]
    help: str
    takes: bool
    choices: tuple[str, ...]
    files: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Verb:
    """One verb with its flags and the words that its argument may begin with."""

    name: str
    help: str
    flags: tuple[Flag, ...]
    words: tuple[str, ...]


def verbs() -> tuple[Verb, ...]:
    """Every verb as its parser has it."""
    return tuple(_verb(name, text) for name, text in VERBS.items())


def _verb(name: str, text: str) -> Verb:
    parser = parser_of("lockgate", name)
    flags = tuple(_flag(a) for a in parser._actions if a.option_strings)
    choices = tuple(str(c) for a in parser._actions if not a.option_strings for c in a.choices or ())
    return Verb(name=name, help=text, flags=flags, words=choices or (_KINDS if name == "why" else ()))


def _flag(action: argparse.Action) -> Flag:
    metavar = str(action.metavar or "")
    return Flag(
        names=tuple(action.option_strings),
        help=" ".join((action.help or "").replace("%%", "%").split()),
        takes=action.nargs != 0,
        choices=tuple(str(c) for c in action.choices or ()),
        files=metavar in ("PATH", "FILE"),
    )


# --- bash


def bash(every: Sequence[Verb]) -> str:
    """For bash, for `lockgate`; kubectl asks its plugins by another way."""
    return (
        "# bash completion for lockgate\n_lockgate() {\n"
        '  local current="${COMP_WORDS[COMP_CWORD]}" before="${COMP_WORDS[COMP_CWORD-1]}" verb="${COMP_WORDS[1]}"\n'
        "  COMPREPLY=()\n"
        "  if [[ $COMP_CWORD -eq 1 ]]; then\n"
        f'    COMPREPLY=($(compgen -W "{" ".join(v.name for v in every)} --help --version" -- "$current"))\n'
        "    return\n  fi\n"
        '  case "$verb" in\n' + "".join(map(_bash_verb, every)) + "  esac\n"
        "  [[ ${COMPREPLY[0]} == */ ]] && compopt -o nospace 2>/dev/null\n  return 0\n}\n"
        "complete -F _lockgate lockgate\n"
    )


def _bash_verb(verb: Verb) -> str:
    values = "".join(
        f'        {"|".join(f.names)}) COMPREPLY=($(compgen {_bash_source(f)} -- "$current")); return ;;\n'
        for f in verb.flags
        if f.takes
    )
    words = " ".join((*(n for f in verb.flags for n in f.names), *verb.words))
    return (
        f'    {verb.name})\n      case "$before" in\n{values}      esac\n'
        f'      COMPREPLY=($(compgen -W "{words}" -- "$current")) ;;\n'
    )


def _bash_source(flag: Flag) -> str:
    return f'-W "{" ".join(flag.choices)}"' if flag.choices else "-f" if flag.files else '-W ""'


# --- zsh


def zsh(every: Sequence[Verb]) -> str:
    """For zsh."""
    listed = "\n".join(f"    '{v.name}:{_zsh_text(v.help)}'" for v in every)
    return (
        "#compdef lockgate\n_lockgate() {\n  local -a verbs\n  verbs=(\n" + listed + "\n  )\n"
        "  if (( CURRENT == 2 )); then\n    _describe 'verb' verbs\n    return\n  fi\n"
        '  local verb="$words[2]"\n  shift words\n  (( CURRENT-- ))\n'
        '  case "$verb" in\n' + "".join(map(_zsh_verb, every)) + "  esac\n}\n"
        'if [ "$funcstack[1]" = "_lockgate" ]; then _lockgate "$@"; else compdef _lockgate lockgate; fi\n'
    )


def _zsh_verb(verb: Verb) -> str:
    specs = [f"'{n}[{_zsh_text(f.help)}]{_zsh_value(f)}'" for f in verb.flags for n in f.names]
    words = [f"'*:argument:({' '.join(verb.words)})'"] if verb.words else ["'*:argument:_default'"]
    body = " \\\n        ".join([*specs, *words])
    return f"    {verb.name})\n      _arguments \\\n        {body} ;;\n"


def _zsh_value(flag: Flag) -> str:
    if not flag.takes:
        return ""
    return f":value:({' '.join(flag.choices)})" if flag.choices else ":file:_files" if flag.files else ":value:"


def _zsh_text(text: str) -> str:
    """A description inside single quotes and brackets."""
    return text.replace("[", "(").replace("]", ")").replace(":", ";").replace("'", "’")


# --- fish


def fish(every: Sequence[Verb]) -> str:
    """For fish."""
    names = " ".join(v.name for v in every)
    alone = f"complete -c lockgate -f -n 'not __fish_seen_subcommand_from {names}'"
    head = [f"{alone} -a {v.name} -d {_fish_text(v.help)}" for v in every]
    return "\n".join(["# fish completion for lockgate", *head, *(line for v in every for line in _fish_verb(v))]) + "\n"


def _fish_verb(verb: Verb) -> list[str]:
    when = f"complete -c lockgate -n '__fish_seen_subcommand_from {verb.name}'"
    lines = [f"{when} {_fish_flag(f)}" for f in verb.flags]
    return [*lines, *([f"{when} -f -a '{' '.join(verb.words)}'"] if verb.words else [])]


def _fish_flag(flag: Flag) -> str:
    spelt = " ".join(f"-l {n[2:]}" if n.startswith("--") else f"-s {n[1:]}" for n in flag.names)
    return f"{spelt}{_fish_value(flag) if flag.takes else ''} -d {_fish_text(flag.help)}"


def _fish_value(flag: Flag) -> str:
    return f" -x -a '{' '.join(flag.choices)}'" if flag.choices else " -r" if flag.files else " -x"


def _fish_text(text: str) -> str:
    """A text in single quotes, in which fish knows two escapes."""
    return "'" + text.replace("\\", "\\\\").replace("'", "\\'") + "'"
