"""The entry point of `lockgate` and `kubectl-gpu`: parses the verb, imports it, runs it, turns errors into exit codes.

Exit codes, the same for every verb: 0 nothing wrong, 1 the tool or the cluster failed, 2 bad usage or input, 3 a
finding of severity error or blocker, 4 only warnings, or something that could change the verdict could not be checked.
"""

import argparse
import importlib
import io
import re
import sys
import textwrap
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import NoReturn, TextIO, cast

from lockgate import __version__
from lockgate.cli.forms import add_forms, run_in_form
from lockgate.cli.plain_stream import PlainStream, drop_rest
from lockgate.kit.garbage import collect_seldom

# Every verb with its line of help; what a verb needs is imported only when it runs.
VERBS = {
    "why": "say why a GPU pod or workload does not run, with evidence",
    "survey": "show every GPU node, both gates, operands, versions and findings in one view",
    "collect": "write the facts of this cluster into one file for --from, without secrets",
    "bundle": "show what is in a bundle and what lacks, or compare two",
    "smoke": "run `nvidia-smi -L` in a short-lived pod on each GPU node, and say which gate stops it",
    "explain": "explain a finding, a code, a topic, or a pasted error text",
    "capacity": "show GPUs as the scheduler counts them: requested, headroom, locked",
    "fit": "say whether pods fit, where, and what would make room",
    "lint": "say what is wrong with containerd's files and CDI specifications, and mend it",
    "effective": "print the configuration that containerd really has, and where it comes from",
    "what-if": "think a drain, slices or a new node through; changes nothing",
    "completion": "print a completion script for bash, zsh or fish",
}
_EXAMPLES = """examples:
  {prog} why pod/train -n ml              why does this pod not run?
  {prog} why deploy/infer                 the same for a workload, also where it has no pods
  {prog} why                              what is wrong in this cluster, worst first
  {prog} why pod/train --from bundle.tgz  the same from files, without a cluster
"""

_WIDTH = 100
_UNHEARD = 141  # as a shell has it of a program that SIGPIPE ended


class _Parser(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:  # type: ignore[explicit-override]
        """One message, and exit 2; usage is one `--help` away."""
        from lockgate.cli.sources import tell

        tell(f"{self.prog}: {message}{_near(message, self._words())} (see {self.prog} --help)")
        raise SystemExit(2)

    def format_help(self) -> str:  # type: ignore[explicit-override]
        """Usage, purpose in a sentence, examples; then what else there is to say, the options, and exit codes."""
        purpose, _, more = (self.description or "").partition(". ")
        examples, _, rest = (self.epilog or "").partition("\n\n")
        formatter = self._get_formatter()
        formatter.add_usage(self.usage or self._usage(), self._actions, self._mutually_exclusive_groups)
        for text in (f"{purpose.rstrip('.')}.", examples, more):
            formatter.add_text(text if text is examples else textwrap.fill(text, _WIDTH, break_on_hyphens=False))
        for group in self._action_groups:
            formatter.start_section(group.title)
            formatter.add_text(group.description)
            formatter.add_arguments(group._group_actions)
            formatter.end_section()
        for text in rest.split("\n\n"):
            formatter.add_text(_filled(text) if text.startswith("exit codes:") else text)
        return formatter.format_help()

    def _usage(self) -> str:
        """One line: what has to be given and what is asked about, each flag below."""
        either = [a for g in self._mutually_exclusive_groups if g.required for a in g._group_actions]
        named = [a for a in self._actions if a.required or not a.option_strings or a in either]
        formatter = argparse.HelpFormatter(prog="%(prog)s", width=10 * _WIDTH)
        formatter.add_usage(None, named, self._mutually_exclusive_groups, prefix="")
        return f"{formatter.format_help().strip()} [options]"

    def _words(self) -> list[str]:
        """Everything that may be typed: flags, and the values that they know."""
        values = (str(choice) for action in self._actions for choice in action.choices or ())
        return [*self._option_string_actions, *values]


def _filled(codes: str) -> str:
    """Exit codes in lines of at most WIDTH columns; a code stays with the word that follows it."""
    glued = re.sub(r"(\d) ", r"\1\0", " ".join(codes.split()))
    lines = textwrap.wrap(glued, _WIDTH, subsequent_indent="            ", break_on_hyphens=False)
    return "\n".join(lines).replace("\0", " ")


def _near(message: str, words: Sequence[str]) -> str:
    """A hint at what was meant by a flag or value that argparse does not know."""
    import difflib

    slip = re.search(r"unrecognized arguments: (?P<flag>--?[^\s=]+)|invalid choice: '(?P<value>[^']*)'", message)
    near = difflib.get_close_matches(slip["flag"] or slip["value"], words, n=1) if slip else []
    return f', did you mean "{near[0]}"?' if near else ""


def main(argv: Sequence[str] | None = None) -> int:
    """Run a verb; returns the exit code. Without `argv` the process is ours, and its garbage collector is set."""
    if argv is None:
        collect_seldom()
    arguments = list(sys.argv[1:] if argv is None else argv)
    prog = "kubectl gpu" if sys.argv[0].endswith("kubectl-gpu") else "lockgate"
    parser = _parser(prog)
    verb = arguments[0] if arguments else ""
    if verb not in VERBS:
        return _without_verb(parser, arguments)
    return _run(prog, verb, arguments[1:])


def _parser(prog: str) -> argparse.ArgumentParser:
    parser = _Parser(
        prog=prog,
        description="A GPU operator for Kubernetes that explains itself.",
        epilog=_EXAMPLES.format(prog=prog),
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--version", action="version", version=f"lockgate {__version__}")
    verbs = parser.add_argument_group("verbs (VERB --help says more)")
    for name, text in VERBS.items():
        verbs.add_argument(name, help=text, nargs="?")
    parser.usage = f"{prog} VERB [options]"
    return parser


def _without_verb(parser: argparse.ArgumentParser, arguments: list[str]) -> int:
    if not arguments:
        parser.print_help(sys.stderr)
        return 2
    if arguments[0].startswith("-"):
        parser.parse_args(arguments[:1])
        parser.error("give a verb")
    import difflib

    near = difflib.get_close_matches(arguments[0], VERBS, n=1)
    hint = f', did you mean "{near[0]}"?' if near else f" (there is: {', '.join(VERBS)})"
    return parser.error(f'"{arguments[0]}" is no verb{hint}')


def parser_of(prog: str, verb: str) -> argparse.ArgumentParser:
    """A verb's parser, with what every verb has: `--no-color`, and YAML and Markdown where there is JSON."""
    command = importlib.import_module(_module(verb))
    parser = _Parser(
        prog=f"{prog} {verb}",
        description=command.DESCRIPTION,
        epilog=command.EXAMPLES.format(prog=prog),
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    command.add_arguments(parser)
    add_forms(parser)
    return parser


def _module(verb: str) -> str:
    return f"lockgate.cli.commands.{verb.replace('-', '_')}"


def _run(prog: str, verb: str, arguments: list[str]) -> int:
    options = parser_of(prog, verb).parse_args(arguments)
    command = importlib.import_module(_module(verb))
    try:
        with _plain(endless=bool(getattr(options, "watch", None))):
            return run_in_form(command.run, options)
    except KeyboardInterrupt:
        return 130
    except BrokenPipeError:
        drop_rest(sys.stdout)
        return _UNHEARD


@contextmanager
def _plain(*, endless: bool) -> Iterator[None]:
    """What is printed is text, whatever a cluster's names and logs hold, and whatever the terminal can show."""
    before = sys.stdout
    if isinstance(before, io.TextIOWrapper):
        before.reconfigure(errors="backslashreplace")
    sys.stdout = cast("TextIO", PlainStream(before, endless=endless))
    try:
        yield
        sys.stdout.flush()
    finally:
        sys.stdout = before


def entry() -> NoReturn:
    """`python -m lockgate.cli.main`."""
    raise SystemExit(main())


if __name__ == "__main__":
    entry()
