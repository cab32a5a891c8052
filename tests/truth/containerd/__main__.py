"""`python -m tests.truth.containerd --pairs N --seed S --binaries FILE...`: the model against real containerd binaries.

Each generated set of files is given to every binary; whole dumps are compared. A mismatch is shrunk and written to
`--found` as a case for the recorded truth. Exit code 1 when there was one.
"""

import argparse
import json
import sys
import time
from collections import Counter
from pathlib import Path

from tests.truth.containerd.compare import compare, normal
from tests.truth.containerd.grammar import Files, generate
from tests.truth.containerd.oracle import Binary
from tests.truth.containerd.shrink import shrink


def main(argv: list[str] | None = None) -> int:
    """Compare, report, and tell by the exit code whether the model was right."""
    options = _options(argv)
    binaries = [Binary(path) for path in options.binaries]
    counts: Counter[str] = Counter()
    started = time.monotonic()
    for at in range(options.first, options.first + -(-options.pairs // len(binaries))):
        for binary in binaries:
            _pair(f"{options.seed}:{at}", binary, options, counts)
        if counts["mismatches"] >= options.stop_after:
            break
    took = time.monotonic() - started
    summary = ", ".join(f"{name} {number}" for name, number in sorted(counts.items()))
    print(f"containerd truth: seed {options.seed}, {summary}, {took:.0f} s", flush=True)
    return 1 if counts["mismatches"] else 0


def _options(argv: list[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tests.truth.containerd", description=__doc__)
    parser.add_argument("--pairs", type=int, default=600, help="set-release pairs to compare")
    parser.add_argument("--seed", default="1", help="the same seed gives the same sets")
    parser.add_argument("--first", type=int, default=0, help="number of the first set (to go on where a run ended)")
    parser.add_argument("--binaries", type=Path, nargs="+", required=True, help="containerd executables")
    parser.add_argument("--found", type=Path, help="append shrunk mismatches to this file")
    parser.add_argument("--stop-after", type=int, default=20, help="stop after so many mismatches")
    parser.add_argument("--texts", action="store_true", help="also show where only the error text differs")
    return parser.parse_args(argv)


def _pair(seed: str, binary: Binary, options: argparse.Namespace, counts: Counter[str]) -> None:
    files = generate(seed)
    outcome = compare(binary, files)
    counts["pairs"] += 1
    counts["refused"] += outcome.failed
    counts["varying"] += outcome.varies
    counts["error texts that differ"] += not outcome.error_text_agreed
    if options.texts and not outcome.error_text_agreed:
        print(f"{seed} on {binary.release}: {outcome.differences[0]}", flush=True)
    if not outcome.agreed:
        counts["mismatches"] += 1
        _report(seed, binary, files, options)


def _report(seed: str, binary: Binary, files: Files, options: argparse.Namespace) -> None:
    small = shrink(files, lambda candidate: not compare(binary, candidate).agreed)
    outcome, real = compare(binary, small), binary.dump(small)
    print(f"--- {seed} on {binary.release}", *outcome.differences[:6], json.dumps(small), sep="\n", flush=True)
    truth = {"error": real.error[-400:]} if real.document is None else {"document": normal(real.document)}
    row = {"id": seed, "files": small, "truth": {str(binary.release): truth}}
    if options.found:
        with options.found.open("a") as out:
            out.write(json.dumps(row, default=str) + "\n")


if __name__ == "__main__":
    sys.exit(main())
