"""Help shows examples first-hand, costs no heavy import, and a slip of the finger is answered with what was meant."""

import json
import subprocess
import sys

import pytest
import yaml

from lockgate.cli.main import VERBS
from tests.cli.test_why import BUNDLES, run

HEAVY = {"asyncio", "ssl", "yaml", "rich", "httpx2", "jinja2"}


@pytest.mark.parametrize("verb", VERBS)
def test_every_verb_has_examples_and_loads_nothing_for_its_help(verb: str) -> None:
    code = f"import sys; from lockgate.cli.main import main\ntry: main(['{verb}', '--help'])\nexcept SystemExit: pass\n"
    code += f"print(sorted({HEAVY!r} & set(sys.modules)), file=sys.stderr)"
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=False)
    assert (result.returncode, result.stderr.strip()) == (0, "[]")
    assert "examples:" in result.stdout
    assert f"lockgate {verb}" in result.stdout


@pytest.mark.parametrize("words", [(), *((verb,) for verb in VERBS)], ids=" ".join)
def test_help_shows_usage_and_purpose_and_then_examples_before_any_option(words: tuple[str, ...]) -> None:
    usage, purpose, examples, *rest = run(*words, "--help").stdout.split("\n\n")
    assert usage.startswith(f"usage: {' '.join(('lockgate', *words))} ")
    assert "\n" not in usage
    assert purpose.count(". ") == 0
    assert purpose.endswith(".")
    assert max(map(len, purpose.splitlines())) <= 100
    wide = [line for part in (examples, *rest) for line in part.splitlines() if len(line) > 100]
    assert wide == []
    assert examples.startswith("examples:\n  ")
    assert "lockgate" in examples
    assert sum(part.startswith("options:") for part in rest) == 1
    assert not words or rest[-1].startswith("exit codes:") or words == ("completion",)


def test_the_usage_line_names_what_has_to_be_given() -> None:
    lines = {verb: run(verb, "--help").stdout.partition("\n")[0].removeprefix("usage: lockgate ") for verb in VERBS}
    assert lines["why"] == "why [TARGET] [options]"
    assert lines["collect"] == "collect -o FILE [options]"
    assert lines["fit"] == "fit (-f FILE | --gpus N | --mig PROFILE) [options]"
    assert lines["completion"] == "completion {bash,zsh,fish} [options]"


@pytest.mark.parametrize(
    ("words", "meant"),
    [
        (("wyh",), '"why"'),
        (("survye",), '"survey"'),
        (("why", "--namespce", "x"), '"--namespace"'),
        (("why", "x", "-o", "jsno"), '"json"'),
        (("bundle", "dif", "a", "b"), '"diff"'),
        (("completion", "zhs"), '"zsh"'),
        (("why", "deplyo/x"), '"deploy"'),
        (("explain", "all-hled"), "scheduling/all-held"),
    ],
)
def test_what_was_mistyped_is_answered_with_what_was_meant(words: tuple[str, ...], meant: str) -> None:
    result = run(*words)
    assert (result.returncode, result.stdout) == (2, "")
    assert f"did you mean {meant}?" in result.stderr, result.stderr
    assert result.stderr.count("\n") == 1


FROM = ("--from", str(BUNDLES / "all-held.tgz"))
JSON = {
    "why": FROM,
    "survey": FROM,
    "capacity": FROM,
    "fit": ("--gpus", "1", *FROM),
    "what-if": ("--cordon", "node-a", *FROM),
    "explain": ("grace",),
    "bundle": ("show", FROM[1]),
    "lint": (str(BUNDLES / "unhealthy.tgz"), "--node", "gpu-a"),
    "effective": (str(BUNDLES / "unhealthy.tgz"), "--node", "gpu-a"),
}


@pytest.mark.parametrize("verb", JSON)
def test_yaml_says_what_json_says_and_no_verb_refuses_no_color(verb: str) -> None:
    report, same = (run(verb, *JSON[verb], "-o", form, "--no-color") for form in ("json", "yaml"))
    assert (same.returncode, same.stderr) == (report.returncode, report.stderr)
    ours, theirs = json.loads(report.stdout), yaml.safe_load(same.stdout.replace("generatedAt", "'generatedAt'"))
    for document in (ours, theirs, ours.get("diagnosis", {}), theirs.get("diagnosis", {})):
        document.pop("generatedAt", None)
    assert ours == theirs
    assert "\x1b" not in report.stdout


@pytest.mark.parametrize("verb", JSON)
def test_every_verb_with_json_has_markdown(verb: str) -> None:
    result = run(verb, *JSON[verb], "-o", "markdown")
    assert (result.returncode, result.stderr) == (run(verb, *JSON[verb]).returncode, "")
    assert result.stdout.count("```") % 2 == 0
    assert result.stdout.startswith(("**", "#", "|", "```", "Verdict"))


def test_what_comes_near_nothing_gets_no_hint() -> None:
    assert "did you mean" not in run("why", "--xyzzy-plugh").stderr


@pytest.mark.parametrize(("called", "threshold"), [("main()", 100_000), ("main(sys.argv[1:])", 700)])
def test_the_garbage_collector_is_set_for_large_lists_where_the_process_is_ours(called: str, threshold: int) -> None:
    code = (
        f"import gc, sys; from lockgate.cli.main import main; {called}; print(gc.get_threshold()[0], file=sys.stderr)"
    )
    asked = [sys.executable, "-c", code, "explain", "grace"]
    assert int(subprocess.run(asked, capture_output=True, text=True, timeout=60, check=True).stderr) == threshold
