"""`python -m tests.fuzz`: what is recorded here, spoilt in every way, through the real command line.

Each input is a bundle, folder, archive, list of objects, pasted text, containerd configuration, CDI specification,
manifest, list of waivers or kubeconfig of this repository, changed in a few places and packed anew; each is asked one
question. Whatever comes must be an answer or one clear line, with a documented exit status, within bounds of time and
memory. The same seed and number give the same input. Exit 1 where anything failed.
"""

import argparse
import sys
import tempfile
import time
from pathlib import Path

from tests.fuzz.campaign import Figures, campaign


def main(arguments: list[str]) -> int:
    """Run, and print the figures."""
    options = _parser().parse_args(arguments)
    out = options.out or Path(tempfile.mkdtemp(prefix="lockgate-fuzz-failures-"))
    figures, began = Figures(), time.monotonic()
    for told in campaign(options.seed, options.first, options.inputs, out, options.jobs):
        figures.add(told)
        if told.wrong and len(figures.failures[told.wrong]) == 1:
            print(f"{told.number}: {told.wrong}", flush=True)
    _print(figures, options, time.monotonic() - began)
    if figures.failures:
        print(f"inputs: {out}/<number>/", file=sys.stderr)
    elif options.out is None:
        out.rmdir()
    return 1 if figures.failures else 0


def _print(figures: Figures, options: argparse.Namespace, seconds: float) -> None:
    last = options.first + options.inputs - 1
    print(f"seed {options.seed}, inputs {options.first} to {last}: {figures.inputs:,} in {seconds:.0f} s")
    print("of each kind: " + ", ".join(f"{name} {count:,}" for name, count in sorted(figures.kinds.items())))
    print("exit status: " + ", ".join(f"{code}: {count:,}" for code, count in sorted(figures.codes.items())))
    if figures.slowest and figures.largest:
        print(f"slowest {figures.slowest.seconds:.1f} s of CPU (input {figures.slowest.number})", end="; ")
        print(f"largest {figures.largest.megabytes} MB more than before (input {figures.largest.number})")
    print(f"failures: {sum(map(len, figures.failures.values())):,} of {len(figures.failures)} kinds")
    for wrong, numbers in sorted(figures.failures.items(), key=lambda item: -len(item[1])):
        print(f"{len(numbers):6} {wrong} (input {numbers[0]})")


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz", description=__doc__)
    parser.add_argument("--inputs", type=int, default=10_000, metavar="N", help="how many (default 10000)")
    parser.add_argument("--seed", type=int, default=1, metavar="S", help="which run (default 1)")
    parser.add_argument("--first", type=int, default=0, metavar="N", help="the number of the first input (default 0)")
    parser.add_argument("--jobs", type=int, default=1, metavar="N", help="processes at once (default 1)")
    parser.add_argument("--out", type=Path, metavar="FOLDER", help="where failing inputs go (default: a new folder)")
    return parser


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
