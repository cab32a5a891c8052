"""`survey`: one look at the whole GPU estate: both gates of every node, operands, versions, findings. It only looks."""

import argparse
import sys

from lockgate.cli.sources import FactsError, add_source_arguments, complain, read_everything
from lockgate.cli.waivers import add_waiver_arguments, waivers_today

DESCRIPTION = "Show the whole GPU estate at once: both gates of every node, operands, sharing, versions, what is wrong."
EXAMPLES = """examples:
  {prog} survey
  {prog} survey --from bundle.tgz -o json

exit codes: as `why` without a target: 0 nothing wrong, 1 the tool or the cluster failed, 2 bad usage or input,
            3 a finding of severity error or blocker, 4 only warnings, or something decisive not checked
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The form, and where the facts come from."""
    parser.add_argument(
        "-o", "--output", choices=("text", "json", "yaml"), default="text", help="text (default), json or yaml"
    )
    add_waiver_arguments(parser)
    add_source_arguments(parser)


def run(options: argparse.Namespace) -> int:
    """Read, survey, render; returns the exit code."""
    from lockgate.capacity.overview import UnreadableError
    from lockgate.cli.render.survey import as_json, as_text
    from lockgate.cli.surveying import survey
    from lockgate.collect.errors import InputError

    try:
        waivers = waivers_today(options)
        seen = survey(read_everything(options), waivers)
    except FactsError as error:
        return complain(str(error), error.code)
    except InputError as error:
        return complain(str(error), 2)
    except UnreadableError as error:
        return complain(str(error), 1 if options.source is None else 2)
    if options.output == "yaml":
        from lockgate.cli.render.yaml import as_yaml

        sys.stdout.write(as_yaml(as_json(seen)))
    else:
        sys.stdout.write(as_json(seen) if options.output == "json" else as_text(seen))
    return int(seen.diagnosis.exit_code)
