"""Which programs a command line starts: its first word, or the words in command position of a script of a shell."""

import re
from collections.abc import Iterator, Sequence
from itertools import dropwhile
from typing import Final

_SHELLS: Final = ("sh", "bash", "ash", "dash")
# What stands before a program and starts it, or lets the shell start it.
_LAUNCHERS: Final = ("exec", "env", "nohup", "setsid", "sudo", "tini", "dumb-init", "catatonit")
_KEYWORDS: Final = ("if", "then", "elif", "else", "while", "until", "do", "!", "{", "time")
_ASSIGNMENT: Final = re.compile(r"[A-Za-z_]\w*=")
_SCRIPT_FOLLOWS: Final = re.compile(r"-[a-z]*c$")  # -c, -ec, -xc
_CONTINUED: Final = "\\\n"
# A comment, the end of a command, or a word, of which parts may be quoted.
_TOKEN: Final = re.compile(
    r"""(?P<comment>\#[^\n]*)|(?P<end>[;&|()`\n])|(?P<word>(?:"(?:[^"\\]|\\.)*(?:"|\Z)|'[^']*(?:'|\Z)|\\.|[^\s;&|()`"'\\])+)""",
    re.DOTALL,
)


def programs(words: Sequence[str]) -> tuple[str, ...]:
    """The programs that the words of a command line start, by their names without a path."""
    first = tuple(dropwhile(_stands_before, words))
    if not first:
        return ()
    if _name(first[0]) not in _SHELLS:
        return (_name(first[0]),)
    rest = iter(first[1:])
    script = next((next(rest, "") for word in rest if _SCRIPT_FOLLOWS.match(word)), "")
    return tuple(_in_script(script.replace(_CONTINUED, " ")))


def _in_script(script: str) -> Iterator[str]:
    starts = True
    for token in _TOKEN.finditer(script):
        if token.lastgroup == "end":
            starts = True
        elif token.lastgroup == "word" and starts and not _stands_before(token["word"]):
            starts = False
            yield _name(token["word"])


def _stands_before(word: str) -> bool:
    """Whether the program comes after a word: a launcher with its options, a keyword, or an assignment."""
    return word.startswith("-") or word in _KEYWORDS or _name(word) in _LAUNCHERS or bool(_ASSIGNMENT.match(word))


def _name(word: str) -> str:
    return word.strip("\"'").rpartition("/")[2]
