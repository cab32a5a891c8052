"""The toolkit on a real dockerd: runtimes are loaded without a restart, and everything is given back. Needs root."""

import asyncio
import os
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from lockgate.agents.toolkit.change import CONFIGURED, REFUSED, REMOVED, ROLLED_BACK, configure, remove
from lockgate.agents.toolkit.report import runtime_state
from lockgate.apply.journal import Journal, read_journal
from lockgate.containerd import HANDLERS, Wanted
from lockgate.host.docker import Info, ask_info
from tests.agents.toolkit.supervised import killed_at
from tests.truth.toolkit.real_docker import RealDocker, node_at

pytestmark = [
    pytest.mark.truth,
    pytest.mark.skipif(os.getuid() != 0, reason="dockerd needs root"),
]

THEIRS = '{\n    "log-level": "info",\n    "default-ulimits": {}\n}\n'


@pytest.fixture
def docker(request: pytest.FixtureRequest) -> Iterator[RealDocker]:
    """A running daemon with a person's file; the test's parameter is a flag of its command line."""
    with tempfile.TemporaryDirectory(prefix="dk-") as folder:
        made = RealDocker(Path(folder), *getattr(request, "param", ()))
        made.config.write_text(THEIRS)
        made.start()
        yield made
        made.stop()


def loaded(docker: RealDocker) -> Info:
    return asyncio.run(ask_info(docker.socket))


def test_configured_verified_left_alone_and_removed(docker: RealDocker) -> None:
    node = node_at(docker.root, Wanted(default="nvidia"))
    outcome = asyncio.run(configure(node))
    assert outcome.phase == CONFIGURED, outcome
    assert "switches CDI on when it starts: `systemctl restart docker`" in outcome.message
    assert set(HANDLERS) <= set(loaded(docker).runtimes)
    assert loaded(docker).default_runtime == "nvidia"
    assert docker.process is not None
    process, written = docker.process.pid, docker.config.stat()
    assert asyncio.run(configure(node)) == outcome
    assert docker.config.stat() == written
    assert (docker.process.poll(), docker.process.pid) == (None, process)
    assert asyncio.run(remove(node)).phase == REMOVED
    assert docker.config.read_text() == THEIRS
    assert [path.name for path in (docker.root / "install").iterdir()] == []


def test_cdi_is_on_after_a_restart_and_nothing_is_left_to_say(docker: RealDocker) -> None:
    node = node_at(docker.root)
    outcome = asyncio.run(configure(node))
    docker.stop()
    docker.start()
    assert loaded(docker).cdi_spec_dirs == ("/etc/cdi", "/var/run/cdi")
    state = asyncio.run(runtime_state(node, asyncio.run(configure(node))))
    assert (state.name, state.phase, state.message, state.cdi_enabled) == ("docker", CONFIGURED, "", True)
    assert outcome.message


def test_a_file_that_the_daemon_refuses_is_taken_back(docker: RealDocker) -> None:
    """dockerd checks more than we do: with an unknown key it keeps what it had."""
    broken = THEIRS.replace('"log-level"', '"no-such-key": 1, "log-level"')
    docker.config.write_text(broken)
    outcome = asyncio.run(configure(node_at(docker.root)))
    assert outcome.phase == ROLLED_BACK
    assert 'dockerd has not loaded runtime "nvidia"' in outcome.message
    assert docker.config.read_text() == broken
    assert asyncio.run(configure(node_at(docker.root))) == outcome, "and not tried again"


@pytest.mark.parametrize("docker", [("--default-runtime=runc",)], indirect=True)
def test_a_flag_of_the_daemon_that_clashes_is_told_and_does_clash(docker: RealDocker) -> None:
    outcome = asyncio.run(configure(node_at(docker.root, Wanted(default="nvidia"))))
    assert outcome.phase == REFUSED
    assert 'started with --default-runtime, and refuses a file that has "default-runtime" too' in outcome.message
    assert docker.config.read_text() == THEIRS
    assert asyncio.run(configure(node_at(docker.root))).phase == CONFIGURED, "our runtimes do not"
    docker.stop()
    docker.config.write_text('{"default-runtime": "runc"}')
    with pytest.raises(AssertionError, match="specified both as a flag and in the configuration file: default-runtime"):
        docker.start()


@pytest.mark.parametrize("docker", [("--add-runtime=other=runc",)], indirect=True)
def test_runtimes_of_the_command_line_would_be_lost_so_nothing_is_written(docker: RealDocker) -> None:
    outcome = asyncio.run(configure(node_at(docker.root)))
    assert outcome.phase == REFUSED
    assert "started with --add-runtime, and forgets the runtimes of its command line" in outcome.message
    assert "other" in loaded(docker).runtimes
    docker.config.write_text('{"runtimes": {"nvidia": {"path": "runc"}}}')
    docker.reload()
    assert "other" not in loaded(docker).runtimes, "the refusal is right"


def test_killed_at_every_point_the_next_run_finishes(docker: RealDocker) -> None:
    maker = "tests.truth.toolkit.real_docker:node_at"
    for what in ("configure", "remove"):
        for point in range(100):
            if what == "remove":
                assert asyncio.run(configure(node_at(docker.root))).phase == CONFIGURED
            was_killed, reached = killed_at(docker.root, what, point, maker)
            if not was_killed:
                break
            assert asyncio.run(configure(node_at(docker.root))).phase == CONFIGURED, reached
            assert set(HANDLERS) <= set(loaded(docker).runtimes)
            assert read_journal(docker.root / "install/journal.json") == Journal()
            assert asyncio.run(remove(node_at(docker.root))).phase == REMOVED, reached
            assert docker.config.read_text() == THEIRS, reached
        assert point >= 15, what
