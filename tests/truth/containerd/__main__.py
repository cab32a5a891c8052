"""`python -m tests.truth.containerd --pairs N --seed S`: the model against real containerd binaries.

Each generated set of files is given to every binary; whole dumps are compared. A mismatch is shrunk and written to
`--found` as a case for the recorded truth. Exit code 1 when there was one.
"""

import argparse
import json
import sys
import time
from collections import Counter
from pathlib import Path

from tests.truth.containerd.compare import compare
from tests.truth.containerd.grammar import Files, generate
from tests.truth.containerd.oracle import Binary
from tests.truth.containerd.programs import ready
from tests.truth.containerd.record import Row, record
from tests.truth.containerd.shrink import shrink


def main(argv: list[str] | None = None) -> int:
    """Compare, report, and tell by the exit code whether the model was right."""
    options = _options(argv)
    binaries = [Binary(path) for path in options.binaries] or ready(build=not options.no_build)
    if options.record:
        return _record(options, binaries)
    counts: Counter[str] = Counter()
    started = time.monotonic()
    for at in range(options.first, options.first + -(-options.pairs // len(binaries))):
        for binary in binaries:
            _pair(f"{options.seed}:{at}", binary, binaries, options, counts)
        if at % 500 == 499:
            print(f"{counts['pairs']} pairs, {counts['mismatches']} mismatches", file=sys.stderr, flush=True)
        if counts["mismatches"] >= options.stop_after:
            break
    took = time.monotonic() - started
    summary = ", ".join(f"{name} {number}" for name, number in sorted(counts.items()))
    print(f"containerd truth: seed {options.seed}, {summary}, {took:.0f} s", flush=True)
    return 1 if counts["mismatches"] else 0


def _record(options: argparse.Namespace, binaries: list[Binary]) -> int:
    for line in options.record.read_text().splitlines():
        row = json.loads(line)
        _append(options.found, record(row["id"], row["files"], binaries))
    return 0


def _options(argv: list[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tests.truth.containerd", description=__doc__)
    parser.add_argument("--pairs", type=int, default=600, help="set-release pairs to compare")
    parser.add_argument("--seed", default="1", help="the same seed gives the same sets")
    parser.add_argument("--first", type=int, default=0, help="number of the first set (to go on where a run ended)")
    parser.add_argument(
        "--binaries",
        type=Path,
        nargs="*",
        default=[],
        help="containerd executables (default: all releases that the cache has or can make)",
    )
    parser.add_argument("--no-build", action="store_true", help="use what the cache has, build nothing from source")
    parser.add_argument("--found", type=Path, help="append shrunk mismatches to this file")
    parser.add_argument("--record", type=Path, help="only ask the binaries about the sets of this file, into --found")
    parser.add_argument("--stop-after", type=int, default=20, help="stop after so many mismatches")
    parser.add_argument("--texts", action="store_true", help="also show where only the error text differs")
    return parser.parse_args(argv)


def _pair(seed: str, binary: Binary, binaries: list[Binary], options: argparse.Namespace, counts: Counter[str]) -> None:
    files = generate(seed)
    outcome = compare(binary, files)
    counts["pairs"] += 1
    counts["refused"] += outcome.failed
    counts["varying"] += outcome.varies
    counts["error texts that differ"] += not outcome.error_text_agreed
    counts["error lines that differ"] += not outcome.error_line_agreed
    if options.texts and not (outcome.error_text_agreed and outcome.error_line_agreed):
        print(f"{seed} on {binary.release}: {outcome.differences[0]}", flush=True)
    if not outcome.agreed:
        counts["mismatches"] += 1
        _report(seed, binary, files, binaries, options)


def _report(seed: str, binary: Binary, files: Files, binaries: list[Binary], options: argparse.Namespace) -> None:
    small = shrink(files, lambda candidate: not compare(binary, candidate).agreed)
    print(
        f"--- {seed} on {binary.release}",
        *compare(binary, small).differences[:6],
        json.dumps(small),
        sep="\n",
        flush=True,
    )
    if options.found:
        _append(options.found, record(seed, small, binaries))


def _append(path: Path, row: Row) -> None:
    with path.open("a") as out:
        out.write(json.dumps(row) + "\n")


if __name__ == "__main__":
    sys.exit(main())
