"""One change of the node's runtime: simulate, write, restart, verify what was loaded, else put back what was there.

The journal makes it safe to be killed anywhere: it is written before the first file and removed after the last check,
and whoever starts next finishes the change or takes it back.

A change that containerd did not load is not tried again until the node's files, its containerd or Lockgate itself are
others. One that could not be written (disk full, read-only, edited at that moment) restarted nothing, so it is tried
again at every look; and so is, once, one after which containerd did not come back with its former files either.
"""

import asyncio
import hashlib
import logging
from collections.abc import Mapping
from pathlib import Path
from typing import Final

import msgspec

from lockgate import __version__
from lockgate.agents.toolkit.engines import Engine, Look, Place, Planned
from lockgate.agents.toolkit.engines.containerd import CONTAINERD
from lockgate.apply.files import Checkpoint, onward, remove_leftovers
from lockgate.apply.journal import (
    EditedError,
    FileChange,
    Journal,
    apply_changes,
    read_journal,
    take_back,
    write_journal,
)
from lockgate.apply.service import RestartError, Service, is_down, restart
from lockgate.containerd import File, Files, Refusal, Wanted
from lockgate.host.cri import UnreachableError
from lockgate.host.rooted import Root

_log = logging.getLogger("lockgate.toolkit")
CONFIGURED: Final = "Configured"
REFUSED: Final = "Refused"
ROLLED_BACK: Final = "RolledBack"
UNREACHABLE: Final = "Unreachable"
REMOVED: Final = "Removed"
_UNKNOWN: Final = "unknown"  # the mark of a failed change before the node could be looked at
_STALLS: Final = 2  # changes in a row after which a containerd that never came back is blamed on them
_PAUSE: Final = 0.3  # seconds between questions to a containerd that starts


class Node(msgspec.Struct, frozen=True, kw_only=True):
    """A node's runtime: its files by their path on the host, where each is reached from here, how it restarts."""

    host: Path
    config: str
    drop_in: str
    socket: str
    here: Mapping[str, Path]
    journal: Path
    service: Service
    wanted: Wanted
    fixed: str = ""  # why the top-level file cannot be edited, where others write it
    settles_within: float = 30.0  # seconds after a restart until the CRI plugin answers
    engine: Engine = CONTAINERD

    @property
    def place(self) -> Place:
        """Where its files are."""
        return Place(host=self.host, config=self.config, drop_in=self.drop_in)


class Outcome(msgspec.Struct, frozen=True):
    """How a change ended; the message says why, with what to look at."""

    phase: str
    message: str = ""


class _FailedError(Exception):
    """A step after the first write did not lead where it should."""


async def configure(node: Node, *, checkpoint: Checkpoint = onward) -> Outcome:
    """Make the handlers loaded; nothing is written and nothing restarts where they are.

    Safe to run again, and after a run that was killed. Raises UnreachableError when the runtime does not answer and no
    change of ours can be the reason.
    """
    seen = await _look(node, checkpoint)
    plan = seen.plan(node.wanted)
    if isinstance(plan, Refusal):
        return await _refuse(node, seen, plan, checkpoint)
    for note in plan.notes:
        _log.warning("%s", note)
    journal = read_journal(node.journal)
    if not plan.files and not await plan.wrong(node.service.socket):
        write_journal(node.journal, Journal(), checkpoint=checkpoint)
        return Outcome(CONFIGURED, await plan.later(node.service.socket))
    if not journal.open and journal.failed == fingerprint(node, seen):
        return Outcome(ROLLED_BACK, journal.message)
    if node.fixed and node.config in plan.files:
        return Outcome(REFUSED, node.fixed)
    if linked := _leads_away(node):
        return Outcome(REFUSED, linked)
    return await _change(node, seen, _changes(node, seen.files, plan, journal), plan, checkpoint)


async def remove(node: Node, *, checkpoint: Checkpoint = onward) -> Outcome:
    """Take our drop-in and our line in the top-level file away again, and restart when either was there."""
    seen = await _look(node, checkpoint)
    plan = seen.removal()
    if isinstance(plan, Refusal):
        return Outcome(REFUSED, plan.message)
    journal = read_journal(node.journal)
    if not plan.files and not journal.open:
        write_journal(node.journal, Journal(), checkpoint=checkpoint)
        return Outcome(REMOVED)
    outcome = await _change(node, seen, _changes(node, seen.files, plan, journal), plan, checkpoint)
    return Outcome(REMOVED) if outcome.phase == CONFIGURED else outcome


def fingerprint(node: Node, seen: Look) -> str:
    """What must differ before a change that failed is tried again. Our own drop-in does not count."""
    digest = hashlib.sha256(f"{__version__} {seen.release} {node.wanted}".encode())
    for path, content in sorted(seen.files.entries.items(), key=str):
        if path != node.drop_in:
            digest.update(f"\0{path}\0{content!r}".encode())
    return digest.hexdigest()


async def _look(node: Node, checkpoint: Checkpoint) -> Look:
    """The node, after an interrupted change has been looked after.

    One that was being taken back is taken back. One after which the runtime does not answer is the reason for that.
    """
    journal = read_journal(node.journal)
    if journal.open and not journal.failed:
        try:
            await _settled(node, checkpoint)
        except _FailedError as error:
            _log.warning("a change was interrupted, and now %s: taking the change back", error)
            journal = msgspec.structs.replace(journal, failed=_UNKNOWN, message=f"the change was taken back: {error}")
            write_journal(node.journal, journal, checkpoint=checkpoint)
    if journal.open and journal.failed:
        await _finish_taking_back(node, journal, checkpoint)
    return await node.engine.look(node.place, node.service.socket)


async def _finish_taking_back(node: Node, journal: Journal, checkpoint: Checkpoint) -> None:
    """Put the files back, load them, and remember the failure under the node as it then is."""
    take_back(journal.open, node.here, checkpoint=checkpoint)
    try:
        await restart(node.service, checkpoint=checkpoint)
    except RestartError as error:
        raise UnreachableError(f"{journal.message}; but then {error}") from error
    await _settled(node, checkpoint, UnreachableError)
    mark = journal.failed
    if mark == _UNKNOWN:
        mark = fingerprint(node, await node.engine.look(node.place, node.service.socket))
    if 0 < journal.stalls < _STALLS:
        mark = ""  # it did not come back without our change either, so that was not the reason
    write_journal(node.journal, Journal((), mark, journal.message, journal.stalls), checkpoint=checkpoint)


async def _settled(node: Node, checkpoint: Checkpoint, failure: type[Exception] = _FailedError) -> None:
    """Wait until the runtime answers. Raises `failure` when it does not."""
    problem = ""
    for _ in range(max(1, int(node.settles_within / _PAUSE))):
        checkpoint("waiting for it to answer")
        try:
            return await node.engine.answers(node.service.socket)
        except UnreachableError as error:
            problem = str(error)
            await asyncio.sleep(_PAUSE)
    raise failure(f"{node.engine.name} does not answer: {problem}")


def _leads_away(node: Node) -> str:
    """Why a file cannot be replaced: it is a link to another folder, which is not mounted here for writing."""
    for path in (node.config, node.drop_in):
        folder = path.rpartition("/")[0]
        real, beside = Root(node.host).resolve(path), Root(node.host).resolve(folder)
        if real is not None and real.rpartition("/")[0] != beside:
            return f"{path} is a link to {real}: set CONTAINERD_CONFIG to that path in the toolkit's environment"
    return ""


def _changes(node: Node, files: Files, plan: Planned, journal: Journal) -> tuple[FileChange, ...]:
    """The files to change, what they hold now, and what they should.

    What was there before an interrupted change stays what to go back to, unless someone edited the file since, or it is
    just what is wanted now. The drop-in comes first and leaves last: it remembers our edit of the top-level file.
    """
    interrupted = {change.path: change for change in journal.open}
    paths = sorted({*plan.files, *interrupted}, key=lambda path: path != node.drop_in)
    changes = [_file_change(files, path, plan, interrupted.get(path)) for path in paths]
    leaving = node.drop_in in plan.files and plan.files[node.drop_in] is None
    return tuple(reversed(changes) if leaving else changes)


def _file_change(files: Files, path: str, plan: Planned, interrupted: FileChange | None) -> FileChange:
    now = _bytes(files.read(path))
    planned = plan.files.get(path, now)
    after = planned.encode() if isinstance(planned, str) else planned
    before = now
    if interrupted is not None and now in (interrupted.before, interrupted.after) and interrupted.before != after:
        before = interrupted.before
    return FileChange(path=path, before=before, seen=now, after=after)


def _bytes(content: File | None) -> bytes | None:
    return content.encode() if isinstance(content, str) else content if isinstance(content, bytes) else None


async def _change(
    node: Node, seen: Look, changes: tuple[FileChange, ...], plan: Planned, checkpoint: Checkpoint
) -> Outcome:
    stalls = read_journal(node.journal).stalls
    try:
        write_journal(node.journal, Journal(open=changes, stalls=stalls), checkpoint=checkpoint)
    except OSError as error:
        return Outcome(REFUSED, f"nothing was changed, since the change could not be noted down first: {error}")
    restarted = False
    try:
        _begin(node, changes, checkpoint)
        restarted = True
        if await restart(node.service, checkpoint=checkpoint) is None:
            write_journal(node.journal, Journal(), checkpoint=checkpoint)
            return Outcome(
                CONFIGURED, f"written; restart mode is none: {node.engine.name} loads it when it is restarted"
            )
        await _settled(node, checkpoint)
        if (now := await node.engine.running(node.service.socket)) != seen.release:
            raise _FailedError(f"{node.engine.name} was {seen.release} and came back as {now}")
        if wrong := await plan.wrong(node.service.socket):
            raise _FailedError("; ".join(wrong))
        later = await plan.later(node.service.socket)
    except (OSError, EditedError, RestartError, UnreachableError, _FailedError) as error:
        return await _take_back(node, seen, Journal(changes, "", str(error), stalls), restarted, checkpoint)
    write_journal(node.journal, Journal(), checkpoint=checkpoint)
    return Outcome(CONFIGURED, later)


def _begin(node: Node, changes: tuple[FileChange, ...], checkpoint: Checkpoint) -> None:
    for change in changes:
        if change.seen != change.after:
            _log.info("%s %s", "removing" if change.after is None else "writing", change.path)
    for path in (*node.here.values(), node.journal):
        remove_leftovers(path.parent)
    apply_changes(changes, node.here, checkpoint=checkpoint)


async def _take_back(node: Node, seen: Look, change: Journal, restarted: bool, checkpoint: Checkpoint) -> Outcome:
    """Put back what was there and, where the change was loaded, load that again and remember that this did not work.

    `change` is the change and, as its message, why it is taken back.
    """
    if restarted:
        _log.error("%s: putting back what was there", change.message)
    message = f"the change was taken back: {change.message}"
    try:
        foreign = take_back(change.open, node.here, checkpoint=checkpoint)
        message += "".join(f"; {path} was edited meanwhile and stays as it is" for path in foreign)
        if not restarted:
            write_journal(node.journal, Journal(), checkpoint=checkpoint)
            return Outcome(ROLLED_BACK, f"{message}; it is tried again")
        mark = fingerprint(node, seen.again())
        # Open until the former configuration is loaded: the next start goes on from here.
        failed = Journal(change.open, mark, message, change.stalls)
        write_journal(node.journal, failed, checkpoint=checkpoint)
        await _load_former(node, failed, checkpoint)
        write_journal(node.journal, Journal(failed=mark, message=message), checkpoint=checkpoint)
    except (OSError, RestartError, _FailedError) as error:
        return Outcome(UNREACHABLE, f"{message}; but then {error}")
    return Outcome(ROLLED_BACK, message)


async def _load_former(node: Node, failed: Journal, checkpoint: Checkpoint) -> None:
    """Restart with the former files, and note down when even that does not bring containerd back."""
    starting = is_down(node.service)
    try:
        await restart(node.service, checkpoint=checkpoint)
        await _settled(node, checkpoint)
        if starting:  # it may have read the files before they were put back
            await restart(node.service, checkpoint=checkpoint)
            await _settled(node, checkpoint)
    except (RestartError, _FailedError):
        write_journal(node.journal, msgspec.structs.replace(failed, stalls=failed.stalls + 1), checkpoint=checkpoint)
        raise


async def _refuse(node: Node, seen: Look, refusal: Refusal, checkpoint: Checkpoint) -> Outcome:
    """Nothing sensible can be written. An interrupted change of ours is taken back first."""
    journal = read_journal(node.journal)
    if journal.open:
        change = msgspec.structs.replace(journal, message=refusal.message)
        outcome = await _take_back(node, seen, change, True, checkpoint)
        return Outcome(REFUSED if outcome.phase == ROLLED_BACK else outcome.phase, outcome.message)
    return Outcome(REFUSED, refusal.message)
