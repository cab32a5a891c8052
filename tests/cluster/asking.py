"""Asks `kubectl gpu why` as a user does, of the live cluster and of a bundle saved at that moment."""

import json
import os
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.cluster import Cluster

# Bundles of the cases are kept in this folder when it is set: `LOCKGATE_RECORD=tests/bundles make e2e`.
RECORD = os.environ.get("LOCKGATE_RECORD")
_LOOKS = 5


@dataclass(frozen=True, slots=True)
class Answer:
    """What `why` said: its exit code, its JSON, and the text that a person reads."""

    code: int
    report: dict[str, Any]
    text: str

    @property
    def ids(self) -> list[str]:
        """The findings, in the order in which they are told."""
        return [finding["id"] for finding in self.report["findings"]]

    @property
    def causes(self) -> list[str]:
        """Those that are blamed: no follower of another."""
        return [finding["id"] for finding in self.report["findings"] if not finding["follows"]]

    def evidence(self, finding: str) -> str:
        """All that one finding shows, as text to search in."""
        return json.dumps([found for found in self.report["findings"] if found["id"] == finding])


def why(target: str, *where: str) -> Answer:
    """Ask; `where` are further arguments: `--kubeconfig PATH`, `--from PATH`, `-n NAMESPACE`.

    The two forms are two looks at a cluster that moves: when they differ, both look again.
    """
    for _ in range(_LOOKS):
        asked = _run(target, *where, "-o", "json")
        if asked.returncode not in (0, 3, 4):
            raise RuntimeError(f"why {target}: exit {asked.returncode}: {asked.stderr}")
        shown = _run(target, *where)
        if shown.returncode == asked.returncode:
            break
    assert shown.returncode == asked.returncode, "text and JSON must agree on the exit code"
    return Answer(asked.returncode, json.loads(asked.stdout), shown.stdout)


def _run(target: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    return ask("why", target, *arguments)


def why_live_and_saved(cluster: Cluster, target: str, case: str, namespace: str = "default") -> tuple[Answer, Answer]:
    """The answer from the live cluster and the one from a bundle saved right after it."""
    live = why(target, "--kubeconfig", str(cluster.kubeconfig), "-n", namespace)
    with tempfile.TemporaryDirectory() as folder:
        bundle = cluster.save_bundle(Path(RECORD or folder) / f"{case}.tgz")
        saved = why(target, "--from", str(bundle), "-n", namespace)
    return live, saved


def ask(*arguments: object) -> subprocess.CompletedProcess[str]:
    """`kubectl gpu ARGUMENTS` as a user types it: `lint --node gpu-b --kubeconfig PATH`."""
    command = [str(Path(sys.executable).with_name("kubectl-gpu")), *map(str, arguments)]
    environment = {**os.environ, "COLUMNS": "100", "NO_COLOR": "1"}
    return subprocess.run(command, env=environment, capture_output=True, text=True, timeout=180, check=False)
