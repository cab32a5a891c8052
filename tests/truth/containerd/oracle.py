"""Asks a real containerd what a set of files amounts to: `containerd --config FILE config dump` in its own folder."""

import subprocess
import tempfile
import tomllib
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from lockgate.containerd import Release, Table
from lockgate.containerd.baselines import parse_baseline
from tests.truth.containerd.grammar import ROOT, TOP_LEVEL, Files


@dataclass(frozen=True)
class Answer:
    """What the program said: the whole document, or why it failed."""

    document: dict[str, Any] | None
    error: str = ""

    @property
    def crashed(self) -> bool:
        """True when it failed with a Go panic."""
        return "goroutine " in self.error or "panic:" in self.error


@dataclass(frozen=True)
class Binary:
    """One real containerd."""

    path: Path

    @cached_property
    def release(self) -> Release:
        """The release it says it is."""
        return Release.parse(self._version)

    @property
    def is_upstream(self) -> bool:
        """False for a distribution's build, whose libraries are not the ones that the release pins."""
        return not self.release.is_debian

    @cached_property
    def _version(self) -> str:
        return self._run("--version").stdout

    @cached_property
    def defaults(self) -> Table:
        """What it does when no file says otherwise."""
        return parse_baseline(self.default_text)

    @cached_property
    def default_text(self) -> str:
        """The text of `config default`."""
        return self._run("config", "default").stdout

    def dump(self, files: Files) -> Answer:
        """Lay the files out in a fresh folder and dump."""
        with tempfile.TemporaryDirectory(prefix="lockgate-truth-") as folder:
            for path, text in files.items():
                target = Path(folder) / path.removeprefix(f"{ROOT}/")
                target.parent.mkdir(parents=True, exist_ok=True)
                target.write_bytes(text.replace(ROOT, folder).encode())
            done = self._run("--config", TOP_LEVEL.replace(ROOT, folder), "config", "dump")
            out, err = done.stdout.replace(folder, ROOT), done.stderr.replace(folder, ROOT)
        if done.returncode != 0:
            return Answer(None, err)
        return Answer(tomllib.loads(out))

    def _run(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        # a service manager starts the daemon in /, from where early 1.x releases resolve relative patterns
        return subprocess.run([str(self.path), *arguments], capture_output=True, text=True, cwd="/", timeout=60)
