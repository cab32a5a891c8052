"""Completion scripts offer every verb and flag, and the shells themselves accept them."""

import shutil
import subprocess

import pytest

from lockgate.cli.completing import verbs
from lockgate.cli.main import VERBS
from tests.cli.test_why import run


def in_bash(*words: str) -> list[str]:
    """What bash would offer for the last word."""
    typed = " ".join(f"'{word}'" for word in ("lockgate", *words))
    asked = f'COMP_WORDS=({typed}); COMP_CWORD={len(words)}; _lockgate; printf "%s\\n" "${{COMPREPLY[@]}}"'
    script = run("completion", "bash").stdout + asked
    result = subprocess.run(["bash", "-c", script], capture_output=True, text=True, timeout=30, check=False)
    assert result.stderr == ""
    return result.stdout.split()


def test_verbs_flags_values_and_kinds_are_offered() -> None:
    assert in_bash("wh") == ["why", "what-if"]
    assert in_bash("why", "no") == ["node/"]
    assert "--kubeconfig" in in_bash("collect", "--")
    assert in_bash("why", "-o", "js") == ["json"]
    assert in_bash("completion", "z") == ["zsh"]


def test_every_verb_has_its_flags() -> None:
    assert [v.name for v in verbs()] == list(VERBS)
    assert all(v.flags for v in verbs())


@pytest.mark.parametrize(("shell", "check"), [("bash", "-n"), ("zsh", "-n"), ("fish", "--no-execute")])
def test_the_shell_accepts_its_script(shell: str, check: str) -> None:
    script = run("completion", shell)
    assert (script.returncode, script.stderr) == (0, "")
    assert all(name in script.stdout for name in VERBS)
    if not shutil.which(shell):
        pytest.skip(f"{shell} is not installed")
    result = subprocess.run(
        [shell, check], input=script.stdout, capture_output=True, text=True, timeout=30, check=False
    )
    assert (result.returncode, result.stderr) == (0, "")
