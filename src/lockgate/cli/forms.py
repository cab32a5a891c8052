"""What every verb can print: `--no-color`, and YAML and Markdown wherever there is JSON, even if it knows neither."""

import argparse
import sys
from collections.abc import Callable

Run = Callable[[argparse.Namespace], int]


def add_forms(parser: argparse.ArgumentParser) -> None:
    """Add what a verb's own arguments lack."""
    parser.set_defaults(own_forms=(), text_form="")
    known = parser._option_string_actions
    if "--no-color" not in known:
        parser.add_argument("--no-color", action="store_true", help="plain text, which this verb always prints")
    output = known.get("--output")
    own = tuple(output.choices or ()) if output else ()
    if output and "json" in own:
        parser.set_defaults(own_forms=own, text_form=output.default)
        output.choices = tuple(dict.fromkeys((*own, *_ADDED)))


def run_in_form(run: Run, options: argparse.Namespace) -> int:
    """Run a verb, in the form that is asked for; `options.streams` says whether what it prints appears at once."""
    form = getattr(options, "output", "") or ""
    added = _ADDED.get(form) if options.own_forms and form not in options.own_forms else None
    options.streams = added is None
    return added(run, options) if added else int(run(options))


def _in_yaml(run: Run, options: argparse.Namespace) -> int:
    """A verb's JSON as YAML: the same fields in the same order."""
    code, report = _printed(run, options, "json")
    if report:
        from lockgate.cli.render.yaml import as_yaml

        sys.stdout.write(as_yaml(report))
    return code


def _in_markdown(run: Run, options: argparse.Namespace) -> int:
    """The text of a verb that has no Markdown of its own, as a block that an issue keeps as it is."""
    code, text = _printed(run, options, options.text_form)
    if text:
        language = "" if options.text_form == "text" else options.text_form
        sys.stdout.write(f"```{language}\n{text.rstrip()}\n```\n")
    return code


def _printed(run: Run, options: argparse.Namespace, form: str) -> tuple[int, str]:
    """What a verb prints in one of its own forms, and its exit code."""
    from contextlib import redirect_stdout
    from io import StringIO

    options.output = form
    with redirect_stdout(StringIO()) as printed:
        code = int(run(options))
    return code, printed.getvalue()


# Forms that every verb with JSON has, be it that it does not know them itself.
_ADDED: dict[str, Callable[[Run, argparse.Namespace], int]] = {"yaml": _in_yaml, "markdown": _in_markdown}
