"""Completion offers every verb, flag and kind in the real shells; kubectl is told the names of the cluster as well."""

import asyncio
import os
import pty
import select
import shutil
import subprocess
import sys
import time
from pathlib import Path

import pytest

from lockgate.cli.completing import verbs
from lockgate.cli.main import VERBS
from tests.cli.test_collect import NOBODY, config
from tests.cli.test_why import BUNDLES, run
from tests.collect.test_live import Recorded
from tests.kube.fake_server import fake_server


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


def in_fish(typed: str, folder: Path) -> list[str]:
    """What fish would offer for a command line."""
    script = folder / "lockgate.fish"
    script.write_text(run("completion", "fish").stdout)
    asked = f"source {script}; complete -C '{typed}'"
    home = {**os.environ, "HOME": str(folder), "XDG_CONFIG_HOME": str(folder)}
    result = subprocess.run(["fish", "-c", asked], capture_output=True, text=True, timeout=30, check=False, env=home)
    assert result.stderr == ""
    return [line.partition("\t")[0] for line in result.stdout.splitlines()]


@pytest.mark.skipif(not shutil.which("fish"), reason="fish is not installed")
def test_fish_offers_verbs_flags_values_and_kinds(tmp_path: Path) -> None:
    assert {"why", "what-if"} <= set(in_fish("lockgate wh", tmp_path))
    assert "node/" in in_fish("lockgate why no", tmp_path)
    assert "--kubeconfig" in in_fish("lockgate collect --kube", tmp_path)
    assert in_fish("lockgate why -o js", tmp_path) == ["json"]
    assert in_fish("lockgate bundle sh", tmp_path) == ["show"]


def in_zsh(typed: str, folder: Path) -> str:
    """What zsh shows on its terminal when Tab is pressed twice behind a command line."""
    script = folder / "_lockgate"
    script.write_text(run("completion", "zsh").stdout)
    process, terminal = pty.fork()
    if not process:
        os.environ.update(HOME=str(folder), TERM="dumb", ZDOTDIR=str(folder))
        os.execvp("zsh", ["zsh", "-f", "-i"])
    try:
        begin = f"PROMPT='> '; autoload -U compinit; compinit -u -d {folder}/dump; source {script}; echo BE''GIN\n"
        os.write(terminal, begin.encode())
        _until(terminal, "BEGIN")
        os.write(terminal, f"{typed}\t\t".encode())
        return _until(terminal, "", seconds=3)
    finally:
        os.close(terminal)
        os.waitpid(process, 0)


def _until(terminal: int, words: str, seconds: float = 20) -> str:
    """What the terminal shows until these words come, or for so long."""
    shown, end = "", time.monotonic() + seconds
    while time.monotonic() < end and not (words and words in shown):
        if select.select([terminal], [], [], 0.2)[0]:
            shown += os.read(terminal, 65536).decode(errors="replace")
    return shown


@pytest.mark.skipif(not shutil.which("zsh"), reason="zsh is not installed")
def test_zsh_offers_verbs_flags_values_and_kinds(tmp_path: Path) -> None:
    shown = in_zsh("lockgate wh", tmp_path)
    assert "why" in shown and "what-if" in shown, shown
    assert "node/" in in_zsh("lockgate why no", tmp_path)
    assert "json" in in_zsh("lockgate why -o js", tmp_path)
    assert "--kubeconfig" in in_zsh("lockgate collect --kubec", tmp_path)


# --- kubectl


def for_kubectl(*words: str) -> tuple[list[str], int]:
    """What kubectl would read: the suggestions and the directive."""
    command = [sys.executable, "-m", "lockgate.cli.kubectl_complete", *words]
    result = subprocess.run(command, capture_output=True, text=True, timeout=30, check=False)
    assert (result.returncode, result.stderr) == (0, "")
    *found, directive = result.stdout.splitlines()
    return [line.partition("\t")[0] for line in found], int(directive.removeprefix(":"))


def test_kubectl_is_told_verbs_flags_values_and_kinds() -> None:
    assert for_kubectl("wh") == (["why", "what-if"], 4)
    assert for_kubectl("why", "no") == (["node/"], 6)
    assert for_kubectl("why", "-o", "js") == (["json"], 4)
    assert "--kubeconfig" in for_kubectl("collect", "--")[0]
    assert for_kubectl("why", "--from", "")[1] == 0  # file names
    assert for_kubectl("nonsense", "") == ([], 4)
    assert set(for_kubectl("")[0]) == set(VERBS)


def test_kubectl_is_told_the_names_of_the_cluster(tmp_path: Path) -> None:
    async def asked(*words: str) -> list[str]:
        async with fake_server(Recorded(BUNDLES / "all-held.tgz", NOBODY)) as server:
            where = ("--kubeconfig", str(config(tmp_path, server.url)))
            return (await asyncio.to_thread(for_kubectl, words[0], *where, *words[1:]))[0]

    assert "pod/late" in asyncio.run(asked("why", "-n", "default", "pod/"))
    assert asyncio.run(asked("why", "node/")) == ["node/node-a", "node/node-b"]
    assert "operand/device-plugin" in asyncio.run(asked("why", "operand/dev"))
    assert asyncio.run(asked("collect", "-n", "def")) == ["default"]
    assert asyncio.run(asked("what-if", "--drain", "node-")) == ["node-a", "node-b"]


def test_a_cluster_that_does_not_answer_costs_no_error(tmp_path: Path) -> None:
    where = ("--kubeconfig", str(config(tmp_path, "http://127.0.0.1:9")))
    assert for_kubectl("why", *where, "pod/") == ([], 4)
