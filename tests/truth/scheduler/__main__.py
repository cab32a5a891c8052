"""`python -m tests.truth.scheduler --pods 1000 --seed 1`: compare, print the tally, exit 1 on a difference."""

import argparse
import json
import sys
from functools import partial
from pathlib import Path

from tests.truth.scheduler.compare import Tally, prepare, run
from tests.truth.scheduler.control_plane import control_plane


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.truth.scheduler", description=__doc__)
    parser.add_argument("--pods", type=int, default=400, help="pods to try; each is held against 3 to 12 nodes")
    parser.add_argument("--seed", type=int, default=1, help="the same seed gives the same nodes and pods")
    parser.add_argument("--unequal", type=float, default=0.25, help="share of worlds whose pods evict one another")
    parser.add_argument("--save", type=Path, help="write every difference to this file, one JSON document a line")
    options = parser.parse_args()
    with control_plane() as client:
        prepare(client)
        say = partial(print, file=sys.stderr, flush=True)
        tally = run(client, options.seed, options.pods, say, options.unequal)
    print(report(options.seed, tally))
    if options.save:
        options.save.write_text("".join(json.dumps(vars_of(d)) + "\n" for d in tally.differences))
    return 1 if tally.differences else 0


def vars_of(difference: object) -> dict[str, object]:
    names = ("seed", "pod", "scheduler", "model", "nodes", "pods")
    return {name: getattr(difference, name) for name in names}


def report(seed: int, tally: Tally) -> str:
    lines = [
        f"seed {seed}: {tally.pods} pods, {tally.pairs} node/pod pairs: {tally.bound} bound, {tally.unschedulable} "
        f"unschedulable ({tally.preempting} of them evict others), {tally.refused} refused by the API server, "
        f"{len(tally.differences)} differences"
    ]
    lines += [f"  {count:7} {reason}" for reason, count in tally.reasons]
    for difference in tally.differences[:5]:
        spec = json.dumps(difference.pod["spec"])
        lines += [f"pod {spec}", f"  scheduler {difference.scheduler}", f"  model     {difference.model}"]
    return "\n".join(lines)


if __name__ == "__main__":
    sys.exit(main())
