"""The figures: what was measured, what is committed, and what is worse than that."""

from pathlib import Path

import msgspec
import yaml

from tests.corpus.judge import Score

SHARE = 4  # the tests ask one of so many generated questions
FIGURES = Path(__file__).parent / "figures.yaml"
PAGE = Path(__file__).parent.parent.parent / "docs" / "explanation" / "accuracy.md"
_START, _END = "<!-- figures: written by `make corpus` -->", "<!-- end of figures -->"


class Figures(msgspec.Struct, frozen=True, kw_only=True):
    """How many questions, how often the cause came first, how often among three, and how many were wrongly blamed."""

    questions: int = 0
    first: int = 0
    among_three: int = 0
    wrong: int = 0

    def with_score(self, score: Score) -> "Figures":
        """These figures and one more question."""
        return Figures(
            questions=self.questions + 1,
            first=self.first + score.first,
            among_three=self.among_three + score.among_three,
            wrong=self.wrong + len(score.wrong),
        )

    def percent(self, count: int) -> float:
        """A count as a part of the questions, cut to tenths: 99.99 is not all of them."""
        return count * 1000 // self.questions / 10 if self.questions else 100.0


def load_figures(part: str = "whole") -> dict[str, Figures]:
    """The committed figures, of the whole corpus or of the sample that the tests ask."""
    return msgspec.convert(yaml.safe_load(FIGURES.read_text()), dict[str, dict[str, Figures]])[part]


def save(measured: dict[str, Figures], sample: dict[str, Figures]) -> None:
    """Commit them: the file that is compared, and the table of the page."""
    both = {"whole": measured, "sample": sample}
    FIGURES.write_text(yaml.safe_dump(msgspec.to_builtins(both), sort_keys=False, default_flow_style=None))
    before, _, rest = PAGE.read_text().partition(_START)
    PAGE.write_text(f"{before}{_START}\n{render(measured)}\n{_END}{rest.partition(_END)[2]}")


def page_is_in_step() -> bool:
    """Whether the page shows the committed figures."""
    return f"{_START}\n{render(load_figures())}\n{_END}" in PAGE.read_text()


def below(measured: dict[str, Figures], committed: dict[str, Figures]) -> list[str]:
    """What is worse than committed, a line each."""
    lines = []
    for name, now in measured.items():
        was = committed.get(name, Figures())
        for what in ("first", "among_three"):
            is_now, before = now.percent(getattr(now, what)), was.percent(getattr(was, what))
            if is_now < before:
                lines.append(f"{name}: {what.replace('_', ' ')} {is_now} %, committed {before} %")
        if now.wrong > was.wrong:
            lines.append(f"{name}: {now.wrong} wrong blockers, committed {was.wrong}")
    return lines


def render(measured: dict[str, Figures]) -> str:
    """The table, as Markdown."""
    rows = list(measured.items())
    rows.append(
        ("all", Figures(**{k: sum(getattr(f, k) for f in measured.values()) for k in Figures.__struct_fields__}))
    )
    lines = ["| group | questions | first | among three | wrong blockers |", "| --- | ---: | ---: | ---: | ---: |"]
    for name, f in rows:
        lines.append(f"| {name} | {f.questions} | {f.percent(f.first)} % | {f.percent(f.among_three)} % | {f.wrong} |")
    return "\n".join(lines)
