"""`survey`: one look at the whole GPU estate: both gates of every node, operands, versions, findings. It only looks."""

import argparse
import sys
from typing import TYPE_CHECKING

from lockgate.cli.scoping import add_namespace_arguments, add_selector_argument, nodes_wanted, pods_wanted
from lockgate.cli.sources import FactsError, add_source_arguments, complain, read_everything
from lockgate.cli.waivers import add_waiver_arguments, waivers_today

if TYPE_CHECKING:
    from lockgate.cli.surveying import Survey

DESCRIPTION = "Show the whole GPU estate at once: both gates of every node, operands, sharing, versions, what is wrong."
EXAMPLES = """examples:
  {prog} survey
  {prog} survey -l pool=a100                      some nodes; findings of the whole cluster
  {prog} survey -n ml                             every node; findings of one namespace
  {prog} survey --from bundle.tgz -o json
  {prog} survey -o html > survey.html             one file, to be sent on

exit codes: as `why` without a target: 0 nothing wrong, 1 the tool or the cluster failed, 2 bad usage or input,
            3 a finding of severity error or blocker, 4 only warnings, or something decisive not checked
"""


_FORMATS = ("text", "json", "markdown", "html")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The form, and where the facts come from."""
    parser.add_argument("-o", "--output", choices=_FORMATS, default="text", help="text (default); html is one file")
    add_namespace_arguments(parser, "what is wrong with pods and workloads")
    add_selector_argument(parser, "nodes with these labels")
    add_waiver_arguments(parser)
    add_source_arguments(parser)


def run(options: argparse.Namespace) -> int:
    """Read, survey, render; returns the exit code."""
    from lockgate.capacity.overview import UnreadableError
    from lockgate.cli.surveying import survey
    from lockgate.collect.errors import InputError
    from lockgate.diagnosis.target import TargetMissingError

    try:
        waivers, snapshot = waivers_today(options), read_everything(options)
        wanted = nodes_wanted(options, snapshot)
        seen = stamped(survey(snapshot, waivers, pods_wanted(options, snapshot), wanted), options)
    except FactsError as error:
        return complain(str(error), error.code)
    except (InputError, TargetMissingError) as error:
        return complain(str(error), 2)
    except UnreadableError as error:
        return complain(str(error), 1 if options.source is None else 2)
    _render(seen, options)
    return int(seen.diagnosis.exit_code)


def stamped(seen: "Survey", options: argparse.Namespace) -> "Survey":
    """With when and by whom it was made, and from what."""
    import datetime as dt

    import msgspec

    from lockgate import __version__
    from lockgate.model.finding import Source, Tool

    diagnosis = msgspec.structs.replace(
        seen.diagnosis,
        generated_at=dt.datetime.now(dt.UTC).replace(microsecond=0),
        tool=Tool(version=__version__),
        source=Source(kind="live" if options.source is None else "files", name=options.source or options.context or ""),
    )
    return msgspec.structs.replace(seen, diagnosis=diagnosis)


def _render(seen: "Survey", options: argparse.Namespace) -> None:
    match options.output:
        case "json":
            from lockgate.cli.render.survey import as_json

            sys.stdout.write(as_json(seen))
        case "markdown":
            from lockgate.cli.render.survey_markdown import as_markdown

            sys.stdout.write(as_markdown(seen))
        case "html":
            from lockgate.cli.render.html import render_survey

            sys.stdout.write(render_survey(seen))
        case _:
            from lockgate.cli.render.survey import as_text

            sys.stdout.write(as_text(seen))
