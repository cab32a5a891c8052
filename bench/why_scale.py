"""`kubectl gpu why` and `survey` on 5,000 nodes and 100,000 pods against `kubectl get pods -A -o json`.

One run, `python -m bench.why_scale`: one server of prepared bytes (pods of about 5.8 KB, nodes of about 18 KB, in pages
as they are asked for), each command a process of its own (kubectl one, of others the least CPU and the most memory of
three), its CPU seconds and peak memory as the kernel counts them.
Goals: everything read at least 10x faster and 20x leaner than kubectl, under 200 MB, and within twice the CPU seconds
of the floor (`bench.floor`: all pods and nodes, counted); `why pod/x` of a placed pod asks for a handful of things.
"""

import multiprocessing
import sys
import tempfile
from dataclasses import dataclass, replace
from pathlib import Path
from urllib.request import urlopen

from bench.estate import serve
from bench.process import run
from deploy.cache import cache_folder

FASTER, LEANER, MOST_MB, FLOORS = 10, 20, 200, 2
_RUNS = 3
_GPU = str(Path(sys.executable).with_name("kubectl-gpu"))


def main() -> int:
    """Measure each command and print the ratios; 1 when a goal is missed."""
    here, there = multiprocessing.Pipe()
    server = multiprocessing.get_context("spawn").Process(target=serve, args=(there,), daemon=True)
    server.start()
    try:
        with tempfile.TemporaryDirectory(prefix="lockgate-bench-") as folder:
            return _report(here.recv(), Path(folder))
    finally:
        server.terminate()


def _report(url: str, folder: Path) -> int:
    config = folder / "config"
    config.write_text(_KUBECONFIG.format(url=url))
    theirs = _run([str(_kubectl()), "get", "pods", "-A", "-o", "json"], url, config)
    floor = _least([sys.executable, "-m", "bench.floor", url], url, config)
    print(f"{'command':<36}{'CPU s':>8}{'peak MB':>9}{'requests':>10}{'faster':>9}{'leaner':>9}{'of the floor':>14}")
    _line("kubectl get pods -A -o json", theirs, theirs, floor)
    missed = False
    for arguments in (["why"], ["survey"], ["capacity"], ["why", "pod/wants-one", "-n", "team-0"]):
        ours = _least([_GPU, *arguments], url, config)
        _line(" ".join(["kubectl gpu", *arguments]), ours, theirs, floor)
        slow = theirs.cpu < FASTER * ours.cpu or theirs.megabytes < LEANER * ours.megabytes
        missed = missed or slow or ours.megabytes > MOST_MB or ours.cpu > FLOORS * floor.cpu
    _line("kubectl gpu why pod/w77-77 (placed)", _least(_placed(), url, config), theirs, floor)
    _line("the floor: pods and nodes, typed", floor, theirs, floor)
    return int(missed)


def _placed() -> list[str]:
    return [_GPU, "why", "pod/w77-77", "-n", "team-17"]


@dataclass(frozen=True)
class Asked:
    """What one process used, and how often it asked the server."""

    cpu: float
    megabytes: float
    requests: int


def _least(command: list[str], url: str, config: Path) -> Asked:
    """The run of three that used least CPU: what else the machine does adds to it, and takes nothing away."""
    runs = [_run(command, url, config) for _ in range(_RUNS)]
    most = max(run.megabytes for run in runs)
    return replace(min(runs, key=lambda run: run.cpu), megabytes=most)


def _run(command: list[str], url: str, config: Path) -> Asked:
    """Run to the end; raises RuntimeError when the command itself failed (exit status 1 or 2)."""
    before = _asked(url)
    spent = run(command, {"KUBECONFIG": str(config)})
    if spent.code in (1, 2):
        raise RuntimeError(f"{' '.join(command)}: exit status {spent.code}: {spent.said[-500:]}")
    return Asked(spent.cpu, spent.megabytes, _asked(url) - before - 1)


def _asked(url: str) -> int:
    with urlopen(f"{url}/asked") as answer:
        return int(answer.read())


def _kubectl() -> Path:
    found = sorted((cache_folder() / "programs").glob("kubernetes-*/kubectl"))
    if not found:
        raise SystemExit("no kubectl in the cache: run `make cluster` or `python -m tests.cluster build` first")
    return found[-1]


def _line(what: str, spent: Asked, theirs: Asked, floor: Asked) -> None:
    faster, leaner = theirs.cpu / spent.cpu, theirs.megabytes / spent.megabytes
    print(
        f"{what:<36}{spent.cpu:8.2f}{spent.megabytes:9.0f}{spent.requests:10}{faster:8.1f}x{leaner:8.1f}x"
        f"{spent.cpu / floor.cpu:13.1f}x",
        flush=True,
    )


_KUBECONFIG = """\
apiVersion: v1
kind: Config
current-context: bench
clusters: [{{name: bench, cluster: {{server: "{url}"}}}}]
contexts: [{{name: bench, context: {{cluster: bench, user: bench}}}}]
users: [{{name: bench, user: {{}}}}]
"""


if __name__ == "__main__":
    raise SystemExit(main())
