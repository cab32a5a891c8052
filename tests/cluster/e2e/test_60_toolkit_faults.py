"""What stands in the toolkit's way on a real node is told, changes nothing, and is over when its cause is gone."""

import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager

import pytest

from lockgate.agents.toolkit.change import CONFIGURED, REMOVED, ROLLED_BACK, UNREACHABLE
from lockgate.containerd import HANDLERS
from tests.cluster import Cluster, Node
from tests.cluster.toolkit_process import DROP_IN, Toolkit
from tests.cluster.toolkit_worker import Ended

pytestmark = pytest.mark.e2e

HOLD = "/run/hold-the-toolkit"
OLD, NEW = {"runc"}, {"runc", *HANDLERS}


@pytest.fixture(scope="module")
def node_toolkit() -> Iterator[Toolkit]:
    """A node of containerd 1.7."""
    nodes = [Node("gpu-a", containerd="1.7", gpus="2xA100-40GB")]
    with Cluster(nodes) as cluster, Toolkit(cluster.nodes["gpu-a"]) as toolkit:
        yield toolkit


@pytest.fixture
def toolkit(node_toolkit: Toolkit) -> Iterator[Toolkit]:
    """Each test begins without handlers, and must end so that the toolkit gets to work and leaves as it came."""
    stock = node_toolkit.files()
    yield node_toolkit
    assert node_toolkit.run("configure").phase == CONFIGURED
    assert node_toolkit.handlers() == NEW
    assert node_toolkit.run("clean").phase == REMOVED
    assert (node_toolkit.files(), node_toolkit.handlers()) == (stock, OLD)
    assert node_toolkit.leftovers() == []


@contextmanager
def mounted(toolkit: Toolkit, path: str, *commands: str) -> Iterator[None]:
    """Something is mounted over a folder of the node for a while."""
    toolkit.node.exec(["sh", "-ec", "; ".join(commands)])
    try:
        yield
    finally:
        toolkit.node.exec(["umount", path])


def starts(toolkit: Toolkit) -> int:
    return toolkit.node.supervisor.status()["containerd"].starts


def untouched(toolkit: Toolkit, run: Callable[[], Ended]) -> Ended:
    """The run changes no file and restarts nothing."""
    before = toolkit.files(), starts(toolkit)
    ended = run()
    assert (toolkit.files(), starts(toolkit)) == before, ended
    return ended


def test_a_full_disk(toolkit: Toolkit) -> None:
    folder = "/etc/containerd/conf.d"
    full = (f"mount -t tmpfs -o size=4k tmpfs {folder}", f"head -c 4096 /dev/zero > {folder}/full")
    with mounted(toolkit, folder, *full):
        ended = untouched(toolkit, lambda: toolkit.run("configure"))
    assert ended.phase == ROLLED_BACK
    assert "No space left on device" in ended.message
    assert ended.published[-1] == (ended.phase, ended.message)


def test_a_node_that_is_configured_already_needs_no_writable_folder(toolkit: Toolkit) -> None:
    assert toolkit.run("configure").phase == CONFIGURED
    folder = "/usr/local/nvidia"
    with mounted(toolkit, folder, f"mount --bind {folder} {folder}", f"mount -o remount,ro,bind {folder}"):
        ended = untouched(toolkit, lambda: toolkit.run("configure"))
    assert ended.phase == CONFIGURED


def test_a_read_only_folder(toolkit: Toolkit) -> None:
    folder = "/etc/containerd"
    with mounted(toolkit, folder, f"mount --bind {folder} {folder}", f"mount -o remount,ro,bind {folder}"):
        ended = untouched(toolkit, lambda: toolkit.run("configure"))
    assert ended.phase == ROLLED_BACK
    assert "Read-only file system" in ended.message
    assert ended.published[-1] == (ended.phase, ended.message)


def meanwhile(toolkit: Toolkit, act: Callable[[], None], **fields: object) -> Ended:
    """A run during which something is done to containerd when the drop-in is written, just before it is restarted."""
    hold = toolkit.node.files / HOLD.lstrip("/")
    hold.touch()
    with ThreadPoolExecutor(1) as pool:
        run = pool.submit(toolkit.run, "configure", patience=2.0, holds=HOLD, **fields)
        try:
            wait_for((toolkit.node.files / DROP_IN).exists, "the drop-in is written")
            act()
        finally:
            hold.unlink()
        return run.result()


def wait_for(holds: Callable[[], object], what: str) -> None:
    until = time.monotonic() + 120
    while not holds():
        assert time.monotonic() < until, f"not within 120 s: {what}"
        time.sleep(0.01)


@contextmanager
def given_up(toolkit: Toolkit, run: Callable[[], Ended], ended: list[Ended]) -> Iterator[None]:
    """The block begins when the run says that it cannot reach containerd, and in it the run may go on."""
    before = len(toolkit.node.log("toolkit"))
    with ThreadPoolExecutor(1) as pool:
        going = pool.submit(run)
        wait_for(lambda: f"containerd: {UNREACHABLE}" in toolkit.node.log("toolkit")[before:], "the run gives up")
        yield
        ended.append(going.result())


def test_a_containerd_that_somebody_stops_at_that_moment(toolkit: Toolkit) -> None:
    stock, ended = toolkit.files(), list[Ended]()
    supervisor = toolkit.node.supervisor
    # It comes back neither within 2 s, nor with its former files within another 2 s.
    with given_up(toolkit, lambda: meanwhile(toolkit, lambda: supervisor.stop("containerd")), ended):
        assert toolkit.files() == stock, "the files are the former ones while nobody runs"
        supervisor.start("containerd")
    (phase, text), *_, last = ended[0].published
    assert phase == UNREACHABLE
    assert "the change was taken back: containerd has not come back within 2 s" in text
    assert last == (CONFIGURED, "")


def test_a_containerd_that_hangs_before_anything_was_done(toolkit: Toolkit) -> None:
    before, ended = (toolkit.files(), starts(toolkit)), list[Ended]()
    toolkit.node.supervisor.freeze("containerd")
    with given_up(toolkit, lambda: toolkit.run("configure"), ended):
        assert (toolkit.files(), starts(toolkit)) == before
        toolkit.node.supervisor.thaw("containerd")
    assert [phase for phase, _ in ended[0].published] == [UNREACHABLE, CONFIGURED]
    assert "DEADLINE_EXCEEDED" in ended[0].published[0][1]


def test_a_containerd_that_hangs_when_it_is_restarted(toolkit: Toolkit) -> None:
    stock, ended = toolkit.files(), list[Ended]()
    with given_up(toolkit, lambda: toolkit.run("configure", patience=2.0, freeze=True), ended):
        assert toolkit.files() == stock, "the files are those that it runs with"
        toolkit.node.supervisor.thaw("containerd")
    phase, text = ended[0].published[0]
    assert phase == UNREACHABLE
    assert "has not ended within 2 s of SIGHUP" in text
    assert ended[0].published[-1] == (CONFIGURED, "")


def test_a_containerd_that_comes_back_as_another_release(toolkit: Toolkit) -> None:
    """What was planned for one release is not what another makes of it: it is planned anew at the next look."""
    ended = meanwhile(toolkit, lambda: toolkit.node.swap_containerd("2.4"))
    assert ended.phase == ROLLED_BACK
    assert "containerd was 1.7.24 and came back as 2.4.2" in ended.message
    assert toolkit.handlers() == OLD
