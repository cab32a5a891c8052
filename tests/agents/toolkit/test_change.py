"""What the toolkit does to a node's containerd, and what it leaves when something stands in its way.

The stand-in answers as containerd does; the same on real ones is tests/cluster/e2e.
"""

import asyncio
import errno
import os
import signal
import threading

import pytest
from msgspec.structs import replace

from lockgate.agents.toolkit.change import (
    CONFIGURED,
    REFUSED,
    REMOVED,
    ROLLED_BACK,
    UNREACHABLE,
    Outcome,
    configure,
    remove,
)
from lockgate.apply.journal import Journal, read_journal
from lockgate.containerd import HANDLERS, Wanted
from lockgate.host.cri import Loaded, UnreachableError, ask_loaded
from tests.agents.toolkit.conftest import CONFIG
from tests.agents.toolkit.supervised import Runtime, killed_at

every_release = pytest.mark.parametrize("runtime", CONFIG, indirect=True)


def run(runtime: Runtime, **fields: object) -> Outcome:
    return asyncio.run(configure(runtime.node(**fields)))


def loaded(runtime: Runtime) -> Loaded:
    return asyncio.run(ask_loaded(runtime.socket))


def has_handlers(runtime: Runtime) -> bool:
    return set(HANDLERS) <= set(loaded(runtime).containerd.runtimes)


def snapshot(runtime: Runtime) -> dict[str, bytes]:
    """Every file of the person's folder."""
    root = runtime.root / "etc"
    return {str(path.relative_to(root)): path.read_bytes() for path in root.rglob("*") if path.is_file()}


@every_release
def test_the_handlers_are_loaded_and_cdi_is_on(runtime: Runtime) -> None:
    assert run(runtime) == Outcome(CONFIGURED)
    assert has_handlers(runtime)
    assert "runc" in loaded(runtime).containerd.runtimes
    assert loaded(runtime).enable_cdi is not False
    assert "# mine" in runtime.config.read_text() or "# mine" not in CONFIG["2.4.2"]


@every_release
def test_a_second_run_writes_nothing_and_restarts_nothing(runtime: Runtime) -> None:
    run(runtime)
    files, process = snapshot(runtime), runtime.server()
    assert run(runtime) == Outcome(CONFIGURED)
    assert (snapshot(runtime), runtime.server()) == (files, process)


@every_release
def test_removal_gives_every_file_back_byte_for_byte(runtime: Runtime) -> None:
    before = snapshot(runtime)
    run(runtime)
    assert asyncio.run(remove(runtime.node())) == Outcome(REMOVED)
    assert snapshot(runtime) == before
    assert not has_handlers(runtime)


def test_removal_from_a_node_that_was_never_configured_restarts_nothing(runtime: Runtime) -> None:
    process = runtime.server()
    assert asyncio.run(remove(runtime.node())) == Outcome(REMOVED)
    assert runtime.server() == process


def test_removal_keeps_what_the_person_edited_since(runtime: Runtime) -> None:
    run(runtime)
    runtime.config.write_text(runtime.config.read_text() + "  max_concurrent_downloads = 7\n")
    asyncio.run(remove(runtime.node()))
    assert runtime.config.read_text() == CONFIG["1.7.24"] + "  max_concurrent_downloads = 7\n"


def test_files_written_without_a_restart_are_loaded_by_the_next_run(runtime: Runtime) -> None:
    node = runtime.node()
    quiet = runtime.node(service=replace(node.service, mode="none"))
    outcome = asyncio.run(configure(quiet))
    assert outcome.phase == CONFIGURED
    assert "restart mode is none" in outcome.message
    assert not has_handlers(runtime)
    assert asyncio.run(configure(node)) == Outcome(CONFIGURED)
    assert has_handlers(runtime)


def test_what_was_loaded_counts_and_not_what_was_written(runtime: Runtime) -> None:
    before = snapshot(runtime)
    (runtime.root / "other").touch()  # a containerd that does not do what its files say
    outcome = run(runtime)
    assert outcome.phase == ROLLED_BACK
    assert 'containerd has not loaded handler "nvidia"' in outcome.message
    assert snapshot(runtime) == before


def test_a_change_that_failed_is_not_tried_again_until_something_is_new(runtime: Runtime) -> None:
    (runtime.root / "other").touch()
    first = run(runtime)
    starts = (runtime.root / "starts").read_text()
    assert run(runtime) == first
    assert (runtime.root / "starts").read_text() == starts
    (runtime.root / "other").unlink()
    runtime.config.write_text(CONFIG["1.7.24"] + "# mended\n")
    runtime.restart_by_hand()
    assert run(runtime) == Outcome(CONFIGURED)


def test_files_that_containerd_would_refuse_are_left_alone(runtime: Runtime) -> None:
    process = runtime.server()
    runtime.config.write_text("version = 2\nthis is no toml\n")
    outcome = run(runtime)
    assert outcome.phase == REFUSED
    assert "refuses the node's own files" in outcome.message
    assert runtime.config.read_text() == "version = 2\nthis is no toml\n"
    assert runtime.server() == process


def test_a_later_drop_in_that_would_win_is_told_with_its_line(runtime: Runtime) -> None:
    text = CONFIG["1.7.24"].replace("\n", f'\nimports = ["{runtime.root}/etc/conf.d/*.toml"]\n', 1)
    runtime.config.write_text(text)
    (runtime.root / "etc/conf.d/99-zz.toml").write_text('version = 2\n[plugins."io.containerd.grpc.v1.cri"]\n')
    outcome = run(runtime)
    assert outcome.phase == REFUSED
    assert "99-zz.toml:2" in outcome.message


def test_a_containerd_that_does_not_end_is_not_killed(runtime: Runtime) -> None:
    (runtime.root / "hang").touch()
    runtime_process = runtime.server()
    os.kill(runtime_process.pid, signal.SIGHUP)  # loads the wish to hang with its next start
    while runtime.server() == runtime_process:
        pass
    before, hanging = snapshot(runtime), runtime.server()
    outcome = run(runtime)
    assert outcome.phase == UNREACHABLE
    assert "has not ended within 3 s of SIGHUP" in outcome.message
    assert snapshot(runtime) == before, "the files are those that it runs with"
    assert runtime.server() == hanging


def test_a_containerd_that_is_slow_to_come_back_is_waited_for_after_taking_back(runtime: Runtime) -> None:
    (runtime.root / "slow").touch()
    before = snapshot(runtime)
    outcome = run(runtime)
    assert outcome.phase in (ROLLED_BACK, UNREACHABLE)
    assert "has not come back within 5 s" in outcome.message
    assert snapshot(runtime) == before
    (runtime.root / "slow").unlink()
    assert runtime.server()
    assert run(runtime).phase in (ROLLED_BACK, CONFIGURED)


def test_what_is_loaded_after_taking_back_are_the_former_files_even_when_the_start_was_under_way(
    runtime: Runtime,
) -> None:
    (runtime.root / "late").touch()
    before = snapshot(runtime)
    service = replace(runtime.node().service, back_within=4.0)
    outcome = run(runtime, service=service)
    assert outcome.phase == ROLLED_BACK
    assert "has not come back within 4 s" in outcome.message
    assert snapshot(runtime) == before
    assert set(loaded(runtime).containerd.runtimes) == {"runc"}


def stop_after_the_signal(runtime: Runtime) -> Outcome:
    """Somebody stops containerd just when it was signalled."""

    def stop(point: str) -> None:
        if point == "after signalling" and runtime.drop_in.exists():
            runtime.stop()

    service = replace(runtime.node().service, back_within=1.0)
    return asyncio.run(configure(runtime.node(service=service), checkpoint=stop))


def test_a_containerd_that_somebody_stopped_meanwhile_is_configured_when_it_is_back(runtime: Runtime) -> None:
    before = snapshot(runtime)
    outcome = stop_after_the_signal(runtime)
    assert outcome.phase == UNREACHABLE
    assert "but then containerd has not come back within 1 s" in outcome.message
    assert snapshot(runtime) == before
    runtime.start()
    assert run(runtime) == Outcome(CONFIGURED)


def test_a_containerd_that_twice_did_not_come_back_is_left_alone(runtime: Runtime) -> None:
    for _ in range(2):
        assert stop_after_the_signal(runtime).phase == UNREACHABLE
        runtime.start()
    process, before = runtime.server(), snapshot(runtime)
    outcome = run(runtime)
    assert outcome.phase == ROLLED_BACK
    assert "has not come back within 1 s" in outcome.message
    process = runtime.server()
    assert run(runtime) == outcome
    assert (runtime.server(), snapshot(runtime)) == (process, before)


def test_a_folder_that_cannot_be_written_to_changes_nothing_and_restarts_nothing(runtime: Runtime) -> None:
    process, before = runtime.server(), snapshot(runtime)
    blocked = runtime.root / "blocked"
    blocked.write_text("a file where a folder should be")
    node = runtime.node()
    here = {**node.here, node.drop_in: blocked / "99-nvidia.toml"}
    outcome = asyncio.run(configure(runtime.node(here=here)))
    assert outcome.phase == ROLLED_BACK
    assert "Not a directory" in outcome.message
    assert (runtime.server(), snapshot(runtime)) == (process, before)
    assert run(runtime) == Outcome(CONFIGURED), "it is tried again when the folder is right"


def test_a_change_that_cannot_be_noted_down_is_not_begun(runtime: Runtime) -> None:
    process, before = runtime.server(), snapshot(runtime)
    blocked = runtime.root / "blocked"
    blocked.write_text("a file where a folder should be")
    outcome = run(runtime, journal=blocked / "journal.json")
    assert outcome.phase == REFUSED
    assert "nothing was changed, since the change could not be noted down first" in outcome.message
    assert "blocked" in outcome.message
    assert (runtime.server(), snapshot(runtime)) == (process, before)
    blocked.unlink()
    assert run(runtime, journal=blocked / "journal.json") == Outcome(CONFIGURED)


@pytest.mark.parametrize("file", ["99-nvidia.toml", "config.toml"])
def test_a_full_disk_changes_nothing_and_restarts_nothing(runtime: Runtime, file: str) -> None:
    process, before = runtime.server(), snapshot(runtime)

    def full(point: str) -> None:
        if point == f"before flushing {file}":
            raise OSError(errno.ENOSPC, "No space left on device")

    outcome = asyncio.run(configure(runtime.node(), checkpoint=full))
    assert outcome.phase == ROLLED_BACK
    assert "No space left on device" in outcome.message
    assert (runtime.server(), snapshot(runtime)) == (process, before)
    assert run(runtime) == Outcome(CONFIGURED), "it is tried again when there is space"


def test_a_file_that_is_edited_at_the_same_moment_is_not_overwritten(runtime: Runtime) -> None:
    def edit(point: str) -> None:
        if point == "before writing 99-nvidia.toml":
            runtime.config.write_text("version = 2\n# edited just now\n")

    outcome = asyncio.run(configure(runtime.node(), checkpoint=edit))
    assert outcome.phase == ROLLED_BACK
    assert "was edited by someone else just now" in outcome.message
    assert runtime.config.read_text() == "version = 2\n# edited just now\n"
    assert not runtime.drop_in.exists()
    assert run(runtime) == Outcome(CONFIGURED)
    assert "# edited just now\n" in runtime.config.read_text()


def test_a_configuration_that_is_a_link_to_elsewhere_is_not_touched(runtime: Runtime) -> None:
    elsewhere = runtime.root / "elsewhere.toml"
    runtime.config.rename(elsewhere)
    runtime.config.symlink_to(elsewhere)
    outcome = run(runtime)
    assert outcome.phase == REFUSED
    assert f"is a link to {elsewhere}" in outcome.message
    assert runtime.config.is_symlink()


def test_a_top_level_file_that_others_write_is_not_edited(runtime: Runtime) -> None:
    process, before = runtime.server(), snapshot(runtime)
    assert run(runtime, fixed="it is written by K3s") == Outcome(REFUSED, "it is written by K3s")
    assert (runtime.server(), snapshot(runtime)) == (process, before)


@pytest.mark.parametrize("runtime", ["1.7.24"], indirect=True)
def test_a_file_that_others_write_and_that_imports_the_folder_needs_no_edit(runtime: Runtime) -> None:
    imports = f'version = 2\nimports = ["{runtime.drop_in.parent}/*.toml"]\n'
    runtime.config.write_text(CONFIG["1.7.24"].replace("version = 2\n", imports))
    runtime.restart_by_hand()
    assert run(runtime, fixed="it is written by K3s") == Outcome(CONFIGURED)
    assert has_handlers(runtime)


def test_nobody_serves_the_socket(runtime: Runtime) -> None:
    runtime.stop()
    runtime.manager = None
    with pytest.raises(UnreachableError):
        run(runtime)


def test_a_default_handler_of_ours_is_loaded_when_it_is_wanted(runtime: Runtime) -> None:
    assert run(runtime, wanted=Wanted(default="nvidia")) == Outcome(CONFIGURED)
    assert loaded(runtime).containerd.default_runtime_name == "nvidia"


# Every third point here, to be quick; all of them on a real containerd in tests/cluster/e2e.
@pytest.mark.parametrize(("runtime", "first"), [("1.7.24", 0), ("1.7.24", 1), ("2.4.2", 2)], indirect=["runtime"])
def test_killed_anywhere_the_node_works_and_the_next_run_finishes(runtime: Runtime, first: int) -> None:
    before, point = snapshot(runtime), 0
    for point in range(first, 40, 3):
        killed, points = killed_at(runtime.root, "configure", point)
        if not killed:
            break
        assert loaded_once_settled(runtime), points
        assert run(runtime) == Outcome(CONFIGURED), points
        assert has_handlers(runtime)
        assert read_journal(runtime.journal) == Journal()
        assert asyncio.run(remove(runtime.node())) == Outcome(REMOVED)
        assert snapshot(runtime) == before, points
    else:
        raise AssertionError("more points than expected")
    assert point >= 12, "journal, two files, restart, journal"


def test_killed_anywhere_in_removal_the_next_removal_finishes(runtime: Runtime) -> None:
    before, point = snapshot(runtime), 0
    for point in range(0, 40, 3):
        assert run(runtime) == Outcome(CONFIGURED)
        killed, points = killed_at(runtime.root, "remove", point)
        assert loaded_once_settled(runtime), points
        assert asyncio.run(remove(runtime.node())) == Outcome(REMOVED), points
        assert snapshot(runtime) == before, points
        if not killed:
            break
    assert point >= 8


def loaded_once_settled(runtime: Runtime) -> Loaded:
    """What is loaded after a kill, which may have come while the runtime was down."""
    runtime.server()
    for _ in range(50):
        try:
            return loaded(runtime)
        except UnreachableError:
            threading.Event().wait(0.1)
    raise AssertionError("the runtime does not answer")
