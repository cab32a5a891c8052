"""Starts a real containerd on a set of files, in namespaces of its own, and reads from its log what it made of them.

`python -m tests.truth.containerd.daemon --sets N --seed S --binaries FILE...` compares with the model: whether it
starts and how it fails, whether the CRI plugin loads, why not, and which handlers it has. Needs root; 0.2 s a start.
"""

import argparse
import json
import re
import subprocess
import sys
import tempfile
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from lockgate.containerd import ConfigError, Effective, cri_problems, resolve
from tests.truth.containerd.grammar import ROOT, TOP_LEVEL, Files, generate
from tests.truth.containerd.oracle import Binary

# Its own mounts over everything that a containerd writes to; ended as soon as it has booted or died.
_SCRIPT = """
mount --make-rprivate /
for folder in /run /var/lib /opt; do mount -t tmpfs tmpfs $folder; done
ip link set lo up
timeout -k 1 10 "$1" --config "$2" >/run/log 2>&1 & pid=$!
for i in $(seq 100); do
  grep -q "successfully booted" /run/log && break
  kill -0 $pid 2>/dev/null || break
  sleep 0.05
done
kill -9 $pid 2>/dev/null; wait $pid 2>/dev/null
cat /run/log
"""
_PROBLEM = re.compile(r'error="(?:invalid plugin config|invalid cri image config): ((?:[^"\\]|\\.)*)"')
_CONFIG_2X = re.compile(r'msg="starting cri plugin" config="((?:[^"\\]|\\.)*)"')
_FROM_FILES = ("TOML", "toml:", f"open {ROOT}", "config version", "is a directory", "syntax error in pattern")


@dataclass(frozen=True)
class Start:
    """What a start showed."""

    log: str

    @property
    def booted(self) -> bool:
        """True when it says so."""
        return "successfully booted" in self.log

    @property
    def crashed(self) -> bool:
        """True when it ended with a Go panic."""
        return "goroutine " in self.log and "panic" in self.log

    @property
    def refusal(self) -> str:
        """The line with which it gave up, if it did."""
        lines = [line for line in self.log.splitlines() if line.startswith("containerd: ")]
        return lines[-1] if lines else ""

    @property
    def problems(self) -> set[str]:
        """Why the CRI plugin did not load, as far as its configuration is to blame."""
        return {found.encode().decode("unicode_escape") for found in _PROBLEM.findall(self.log)}

    @property
    def runtimes(self) -> dict[str, Any] | None:
        """The handlers as loaded (2.x tells them), by name."""
        found = _CONFIG_2X.search(self.log)
        if not found:
            return None
        config = json.loads(found.group(1).encode().decode("unicode_escape"))
        return dict(config["containerd"]["runtimes"])


def start(binary: Binary, files: Files) -> Start:
    """Lay out the files, start, wait for the boot message or the end, and stop."""
    with tempfile.TemporaryDirectory(prefix="lockgate-truth-") as folder:
        for path, text in files.items():
            target = Path(folder) / path.removeprefix(f"{ROOT}/")
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(text.replace(ROOT, folder).encode())
        namespaces = ["unshare", "--mount", "--net", "--pid", "--fork", "--kill-child", "--mount-proc"]
        command = [*namespaces, "bash", "-c", _SCRIPT, "start", str(binary.path), TOP_LEVEL.replace(ROOT, folder)]
        done = subprocess.run(command, capture_output=True, text=True, cwd="/", timeout=60)
        return Start(done.stdout.replace(folder, ROOT))


def differences(binary: Binary, files: Files, counts: Counter[str]) -> list[str]:
    """Where the daemon and the model disagree; empty when they agree."""
    real, ours = start(binary, files), resolve(files, TOP_LEVEL, binary.release, defaults=binary.defaults)
    counts["booted"] += real.booted
    counts["crashed"] += real.crashed
    counts["CRI plugin refused"] += bool(real.problems)
    counts["handlers compared"] += real.runtimes is not None
    if isinstance(ours, ConfigError):
        refused = real.crashed if ours.panics else bool(real.refusal)
        return [] if refused else [f"model refuses: {ours}", f"containerd: {real.refusal or real.log[-300:]}"]
    if not real.booted:
        blamed = real.crashed or any(text in real.refusal for text in _FROM_FILES)
        return [f"model loads, containerd: {real.refusal or real.log[-600:]}"] if blamed else []
    return [] if ours.up_to_chance else [*_cri(real, ours), *_runtimes(real, ours)]


def _cri(real: Start, ours: Effective) -> list[str]:
    mine = {problem.message for problem in cri_problems(ours)}
    if ours.cri_disabled:
        return []  # what is left of the CRI plugins says nothing about a node
    wrong = [f"containerd: {text} | model: {mine or 'loads'}" for text in real.problems - mine]
    if mine and not real.problems and not _blocked(real):
        wrong.append(f"model: {mine} | containerd loads it")
    return wrong


def _blocked(real: Start) -> bool:
    """True when the CRI plugin failed before its configuration was looked at."""
    return "failed to load plugin" in real.log and "starting cri plugin" not in real.log.lower()


def _runtimes(real: Start, ours: Effective) -> list[str]:
    if real.runtimes is None:
        return []
    theirs = {
        name: (table.get("runtimeType"), bool((table.get("options") or {}).get("SystemdCgroup")))
        for name, table in real.runtimes.items()
    }
    mine = {name: (handler.runtime_type, handler.systemd_cgroup) for name, handler in ours.handlers.items()}
    return [] if theirs == mine else [f"handlers: containerd {theirs} | model {mine}"]


def main(argv: list[str] | None = None) -> int:
    """Compare starts, report, and tell by the exit code whether the model was right."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sets", type=int, default=50)
    parser.add_argument("--seed", default="1")
    parser.add_argument("--binaries", type=Path, nargs="+", required=True)
    options = parser.parse_args(argv)
    counts: Counter[str] = Counter()
    for at in range(options.sets):
        files = generate(f"{options.seed}:{at}")
        for binary in map(Binary, options.binaries):
            counts["starts"] += 1
            counts[str(binary.release)] += 1
            if wrong := differences(binary, files, counts):
                counts["mismatches"] += 1
                print(f"--- {options.seed}:{at} on {binary.release}", *wrong, json.dumps(files), sep="\n", flush=True)
    summary = ", ".join(f"{name} {number}" for name, number in counts.items())
    print(f"containerd daemons: seed {options.seed}, mismatches {counts['mismatches']}, {summary}")
    return 1 if counts["mismatches"] else 0


if __name__ == "__main__":
    sys.exit(main())
