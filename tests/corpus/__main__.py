"""`python -m tests.corpus`: ask everything, and say how often the answer is right, group by group.

Exit 1 when a figure is below the committed one. `--write` commits the figures (and the page of them), `--misses` names
what was missed; the name of a group, or a part of a question's name, asks only those.
"""

import argparse
import sys

from lockgate.rules import all_rules
from tests.corpus.figures import FIGURES, SHARE, Figures, below, load_figures, render, save
from tests.corpus.groups import GROUPS


def main(arguments: list[str]) -> int:
    """Score and compare; the exit code."""
    options = _parser().parse_args(arguments)
    measured = measure(1, options.only, options.misses)
    print(render({name: f for name, f in measured.items() if f.questions}))
    if options.write:
        save(measured, measure(SHARE))
    worse = [] if options.only or options.write else below(measured, load_figures())
    for line in worse:
        print(line, file=sys.stderr)
    return 1 if worse else 0


def measure(share: int, only: str = "", misses: bool = False) -> dict[str, Figures]:
    """The figures of each group."""
    rules = tuple(all_rules())
    found = {}
    for name, group in GROUPS.items():
        figures = Figures()
        for question in group(rules, share) if only not in GROUPS or only == name else ():
            if only in (name, "") or only in question.name:
                score = question.score(rules)
                figures = figures.with_score(score)
                if misses and not score.right:
                    wrong = f"; wrong: {', '.join(score.wrong)}" if score.wrong else ""
                    print(f"{name}: {question.name}: expected {', '.join(question.expect.causes) or 'nothing'}{wrong}")
        found[name] = figures
    return found


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m tests.corpus", description=__doc__)
    parser.add_argument("only", nargs="?", default="", help="a group, or part of a question's name")
    parser.add_argument("--misses", action="store_true", help="name what was missed")
    parser.add_argument("--write", action="store_true", help=f"write {FIGURES.name} and the page of figures")
    return parser


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
