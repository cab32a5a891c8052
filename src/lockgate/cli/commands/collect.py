"""`collect -o FILE`: the facts of the live cluster in one file for `--from`, without secrets. It only looks."""

import argparse
import sys
from typing import TYPE_CHECKING

from lockgate.cli.sources import access_of, add_cluster_arguments, complain

if TYPE_CHECKING:
    from lockgate.collect.gather import Gathering
    from lockgate.collect.live import Access

DESCRIPTION = (
    "Collect what `why`, `survey` and `capacity` need into one file, to be read with --from elsewhere. Secrets and "
    "ConfigMaps are never read; values of variables, tokens, keys and certificates are taken out."
)
EXAMPLES = """examples:
  {prog} collect -o bundle.tgz
  {prog} collect -o bundle.tgz --redact-addresses
  {prog} why pod/train --from bundle.tgz

exit codes: 0 written, 1 the tool or the cluster failed, 2 bad usage or input, 4 written, with parts that could not be
            read or did not fit (its manifest.json says which), 130 interrupted: what was there is written
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Where to, how much, and which cluster."""
    parser.add_argument("-o", "--output", metavar="FILE", required=True, help="the bundle to write (.tgz)")
    parser.add_argument(
        "--max-size", metavar="QUANTITY", default="256Mi", help="bound on what goes in, unpacked (default 256Mi)"
    )
    parser.add_argument("--redact-addresses", action="store_true", help="take IP addresses out as well")
    parser.add_argument("-q", "--quiet", action="store_true", help="no progress on standard error")
    add_cluster_arguments(parser)


def run(options: argparse.Namespace) -> int:
    """Gather into a file; returns the exit code."""
    import datetime as dt
    from pathlib import Path

    from lockgate.collect.bundle_file import BundleFile
    from lockgate.collect.errors import InputError
    from lockgate.collect.gather import Gathering
    from lockgate.collect.redaction import Redactor
    from lockgate.kit.quantity import parse_quantity
    from lockgate.kube.errors import ApiError, Unreachable

    try:
        limit = int(parse_quantity(options.max_size))
    except ValueError:
        return complain(f'--max-size "{options.max_size}" is no quantity: expected for example 100Mi', 2)
    now = dt.datetime.now(dt.UTC).replace(microsecond=0)
    tell = (lambda line: None) if options.quiet else _tell
    try:
        with BundleFile(Path(options.output), limit, now.timestamp()) as bundle:
            gathering = Gathering(bundle, Redactor(addresses=options.redact_addresses), tell, now)
            interrupted = _gather(gathering, access_of(options))
            manifest = gathering.manifest()
            bundle.finish(manifest)
    except InputError as error:
        return complain(str(error), 2)
    except (ApiError, Unreachable) as error:
        return complain(str(error), 1)
    return _said(options.output, manifest, interrupted)


def _gather(gathering: "Gathering", access: "Access") -> bool:
    try:
        gathering.run(access)
    except KeyboardInterrupt:
        return True
    return False


def _said(path: str, manifest: dict[str, object], interrupted: bool) -> int:
    sections = manifest["sections"]
    assert isinstance(sections, dict)
    lacking = [name for name, section in sections.items() if "missing" in section]
    if interrupted:
        return complain(f"interrupted; {path} holds what was read until then (without {', '.join(lacking)})", 130)
    sys.stdout.write(f"{path}\n")
    return 4 if lacking or manifest["leftOut"] else 0


def _tell(line: str) -> None:
    sys.stderr.write(f"{line}\n")
