"""The toolkit on every real containerd that the cache has, each in a folder of its own under a small service manager.

Needs root. `LOCKGATE_TRUTH_CASES` chooses at how many points a run is killed (all by default).
"""

import asyncio
import os
import shutil
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from lockgate.agents.toolkit.change import CONFIGURED, REMOVED, Outcome, configure, remove
from lockgate.apply.journal import Journal, read_journal
from lockgate.containerd import HANDLERS
from lockgate.host.cri import Loaded, UnreachableError, ask_loaded
from tests.agents.toolkit.supervised import Runtime, killed_at
from tests.truth.containerd.oracle import Binary
from tests.truth.containerd.programs import ready

pytestmark = [
    pytest.mark.truth,
    pytest.mark.skipif(os.getuid() != 0, reason="containerd needs root"),
]

CRI = {2: "io.containerd.grpc.v1.cri", 3: "io.containerd.cri.v1.runtime", 4: "io.containerd.cri.v1.runtime"}
# Where a configuration of each version says which sockets to serve.
SOCKETS = {2: ("grpc", "ttrpc"), 3: ("grpc", "ttrpc")}
SOCKETS[4] = ('plugins."io.containerd.server.v1.grpc"', 'plugins."io.containerd.server.v1.ttrpc"')

# What is built is known by the version of Go; without Go, and as nobody but root, nothing of it can run.
_CAN_RUN = os.getuid() == 0 and shutil.which("go") is not None
BINARIES = {str(binary.release): binary for binary in ready(build=False)} if _CAN_RUN else {}


def person_file(root: Path, binary: Binary) -> str:
    """A configuration as a person may have it, in the release's newest version, with comments."""
    version = binary.release.family.config_version
    grpc, ttrpc = SOCKETS[version]
    return (
        f'# by hand\nversion = {version}\nroot = "{root}/c/root"\nstate = "{root}/c/state"\n'
        f'[{grpc}]\n  address = "{root}/run/c.sock" # mine\n[{ttrpc}]\n  address = "{root}/run/c.ttrpc"\n'
        f'[plugins."{CRI[version]}"]\n  restrict_oom_score_adj = true\n'
    )


@pytest.fixture(params=BINARIES)
def runtime(request: pytest.FixtureRequest) -> Iterator[Runtime]:
    binary = BINARIES[request.param]
    with tempfile.TemporaryDirectory(prefix="rc-") as folder:
        made = Runtime(Path(folder), [str(binary.path), "--config", f"{folder}/etc/config.toml"])
        (made.root / "etc/conf.d").mkdir(parents=True)
        made.config.write_text(person_file(made.root, binary))
        made.start()
        yield made
        made.stop()


def loaded(runtime: Runtime) -> Loaded:
    """What containerd has loaded, once it answers."""
    for _ in range(100):
        try:
            return asyncio.run(ask_loaded(runtime.socket))
        except UnreachableError as error:
            trouble = error
            time.sleep(0.1)
    raise AssertionError(trouble)


def run(runtime: Runtime) -> Outcome:
    return asyncio.run(configure(runtime.node(settles_within=20.0)))


def undo(runtime: Runtime) -> Outcome:
    return asyncio.run(remove(runtime.node(settles_within=20.0)))


def test_configured_verified_left_alone_and_removed(runtime: Runtime) -> None:
    before = runtime.config.read_bytes()
    loaded(runtime)
    assert run(runtime) == Outcome(CONFIGURED)
    found = loaded(runtime)
    assert {*HANDLERS, "runc"} == set(found.containerd.runtimes)
    assert found.enable_cdi is not False
    process = runtime.server()
    assert run(runtime) == Outcome(CONFIGURED)
    assert runtime.server() == process
    assert undo(runtime) == Outcome(REMOVED)
    assert runtime.config.read_bytes() == before
    assert set(loaded(runtime).containerd.runtimes) == {"runc"}


def test_killed_at_every_point_the_next_run_finishes(runtime: Runtime) -> None:
    before, points = runtime.config.read_bytes(), int(os.environ.get("LOCKGATE_TRUTH_CASES", "100"))
    loaded(runtime)
    killed = 0
    for what in ("configure", "remove"):
        for point in range(points):
            if what == "remove":
                assert run(runtime) == Outcome(CONFIGURED)
            was_killed, reached = killed_at(runtime.root, what, point)
            assert "runc" in loaded(runtime).containerd.runtimes, reached
            if not was_killed:
                break
            killed += 1
            assert run(runtime) == Outcome(CONFIGURED), reached
            assert set(HANDLERS) <= set(loaded(runtime).containerd.runtimes)
            assert read_journal(runtime.journal) == Journal()
            assert undo(runtime) == Outcome(REMOVED), reached
            assert runtime.config.read_bytes() == before, reached
    assert killed >= min(points, 20)
