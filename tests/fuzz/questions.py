"""What is asked about a spoilt input: every verb that reads it, in each of its forms."""

import random
from collections.abc import Callable
from pathlib import Path
from typing import Final

from tests.fuzz.samples import Kind, Sample, good

Question = tuple[list[str], Path | None]  # the arguments, and what stands on standard input
_WHY: Final = ("text", "json", "yaml", "markdown", "html")
_PLAIN: Final = ("text", "json", "yaml", "markdown")
_RELEASES: Final = ("1.6.20", "1.7.24", "2.0.2", "2.1.4", "2.2.0")


def question(sample: Sample, path: Path, dice: random.Random) -> Question:
    """One question about what lies at a path."""
    return dice.choice(_OF[sample.kind])(sample, str(path), dice)


def _form(dice: random.Random, forms: tuple[str, ...]) -> list[str]:
    return ["-o", dice.choice(forms)]


def _why(sample: Sample, path: str, dice: random.Random) -> Question:
    ask = dice.choice(
        (*sample.asks, "", "node/gpu-a", "operand/device-plugin", "namespace/default", "deploy/x", "pod/x")
    )
    return ["why", *([ask] if ask else []), "--from", path, *_form(dice, _WHY)], None


def _why_selected(sample: Sample, path: str, dice: random.Random) -> Question:
    return ["why", "-l", dice.choice(("app=train", "!app", "a in (b)")), "-A", "--from", path], None


def _survey(sample: Sample, path: str, dice: random.Random) -> Question:
    return ["survey", "--from", path, *_form(dice, _WHY)], None


def _capacity(sample: Sample, path: str, dice: random.Random) -> Question:
    return ["capacity", "--from", path, *_form(dice, (*_PLAIN, "prometheus"))], None


def _fit(sample: Sample, path: str, dice: random.Random) -> Question:
    asked = dice.choice((["--gpus", "1"], ["--gpus", "9", "--copies", "3"], ["--mig", "1g.5gb"]))
    return ["fit", *asked, "--from", path, *_form(dice, _PLAIN)], None


def _what_if(sample: Sample, path: str, dice: random.Random) -> Question:
    action = dice.choice((["--drain", "gpu-a"], ["--replicas", "node-a=4"], ["--lose-gpu", "gpu-a:1"]))
    return ["what-if", *action, "--from", path, *_form(dice, _PLAIN)], None


def _explain(sample: Sample, path: str, dice: random.Random) -> Question:
    return [
        "explain",
        dice.choice(("capacity", "two-gates", "xid/off-the-bus")),
        "--from",
        path,
        *_form(dice, _PLAIN),
    ], None


def _show(sample: Sample, path: str, dice: random.Random) -> Question:
    return ["bundle", "show", path, *_form(dice, _PLAIN)], None


def _diff(sample: Sample, path: str, dice: random.Random) -> Question:
    both = [path, str(good())]
    dice.shuffle(both)
    return ["bundle", "diff", *both, *_form(dice, _PLAIN)], None


def _lint(sample: Sample, path: str, dice: random.Random) -> Question:
    release = dice.choice(([], ["--release", dice.choice(_RELEASES)]))
    form = dice.choice((["--diff"], _form(dice, ("text", "json", "sarif", "junit", "yaml", "markdown"))))
    return ["lint", path, *release, *form], None


def _lint_inside(sample: Sample, path: str, dice: random.Random) -> Question:
    """One of the files of a folder."""
    files = [str(file) for file in Path(path).rglob("*") if Path(path).is_dir()]
    return _lint(sample, dice.choice(sorted(files) or [path]), dice)


def _effective(sample: Sample, path: str, dice: random.Random) -> Question:
    more = dice.choice(([], ["--provenance"], ["--node", "gpu-a"]))
    return ["effective", path, "--release", dice.choice(_RELEASES), *more, *_form(dice, ("toml", "json", "yaml"))], None


def _piped(*verb: str) -> Callable[[Sample, str, random.Random], Question]:
    def asked(sample: Sample, path: str, dice: random.Random) -> Question:
        target = [t for t in [dice.choice(sample.asks)] if t and verb[0] == "why"]
        file = Path(path) if Path(path).is_file() else None
        return [verb[0], *target, *verb[1:]], file

    return asked


def _explain_text(sample: Sample, path: str, dice: random.Random) -> Question:
    """A text as an argument: what a shell can hand over."""
    text = next(iter(sample.files.values())).decode("utf-8", "surrogateescape").replace("\0", "")
    at = dice.randrange(len(text) + 1)
    return ["explain", text[at : at + dice.choice((10, 300, 20_000))] or "x", *_form(dice, _PLAIN)], None


def _fit_file(sample: Sample, path: str, dice: random.Random) -> Question:
    return ["fit", "-f", path, "--from", str(good()), *_form(dice, _PLAIN)], None


def _waived(verb: list[str]) -> Callable[[Sample, str, random.Random], Question]:
    return lambda sample, path, dice: ([*verb, str(good()), "--waivers", path, *_form(dice, ("text", "json"))], None)


def _live(sample: Sample, path: str, dice: random.Random) -> Question:
    verb = dice.choice((["why", "pod/x"], ["survey"], ["capacity"], ["lint", "pod/x"], ["lint", "--node", "n"]))
    context = dice.choice(([], ["--context", "two"], ["--as", "x"]))
    return [*verb, "--kubeconfig", path, "--request-timeout", "1s", *context], None


_ABOUT_FACTS: Final = (*(_why,) * 4, _why_selected, *(_survey,) * 2, _capacity, _fit, _what_if, _explain, _show, _diff)
_OF: Final[dict[Kind, tuple[Callable[[Sample, str, random.Random], Question], ...]]] = {
    Kind.FACTS: (*_ABOUT_FACTS, _lint, _effective),
    Kind.OBJECTS: (*_ABOUT_FACTS, _lint, _fit_file, _piped("why", "--from", "-"), _piped("survey", "--from", "-")),
    Kind.TEXT: (_why, _why, _survey, _piped("why", "--from", "-"), _explain_text, _lint, _diff, _fit_file),
    Kind.NODE: (_lint, _lint, _lint_inside, _effective),
    Kind.MANIFESTS: (
        _lint,
        _lint,
        _fit_file,
        _why,
        _piped("lint", "-"),
        _piped("fit", "-f", "-", "--from", str(good())),
    ),
    Kind.WAIVERS: (_waived(["why", "--from"]), _waived(["survey", "--from"]), _waived(["lint"])),
    Kind.KUBECONFIG: (_live,),
}
