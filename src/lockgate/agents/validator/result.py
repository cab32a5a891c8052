"""What a step of the validator ends in, and the files by which the node's other pods know of it.

`<step>-ready` is NVIDIA's: a file whose presence opens the next door. `.lockgate/<step>.json` beside it keeps what was
found, so that each step, a process of its own, can publish the state of all.
"""

from pathlib import Path

import msgspec

from lockgate.agents.validator.settings import COMPONENTS
from lockgate.apply.files import remove_file, write_file
from lockgate.model.node_state import DriverState, Validation, ValidationState


class NotReadyError(Exception):
    """The step did not pass; the text names the object, what was seen and what was expected."""


class Passed(msgspec.Struct, frozen=True, kw_only=True):
    """The step passed: what was proved, what goes into the status file, and for the driver what it is."""

    message: str
    content: str = ""
    driver: DriverState | None = None


class Record(msgspec.Struct, frozen=True, omit_defaults=True):
    """What is known of a step, kept on the node."""

    ready: bool = False
    message: str = ""
    driver: DriverState | None = None


class Results:
    """The validation folder of a node."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def clear(self, step: str) -> None:
        """Close a door: remove a step's status file, which may be stale."""
        remove_file(self._folder / f"{step}-ready")

    def clear_all(self) -> None:
        """Close every door."""
        for path in self._folder.glob("*-ready"):
            path.unlink(missing_ok=True)

    def fail(self, step: str, message: str, driver: DriverState | None = None) -> None:
        """Keep why a step has not passed."""
        self.clear(step)
        self._keep(step, Record(message=message, driver=driver))

    def succeed(self, step: str, passed: Passed) -> None:
        """Keep what was proved, then open the door."""
        self._keep(step, Record(ready=True, message=passed.message, driver=passed.driver))
        write_file(self._folder / f"{step}-ready", passed.content.encode())

    def _keep(self, step: str, record: Record) -> None:
        write_file(self._path(step), msgspec.json.encode(record))

    def _path(self, step: str) -> Path:
        return self._folder / ".lockgate" / f"{step}.json"

    def _record(self, step: str) -> Record | None:
        try:
            return msgspec.json.decode(self._path(step).read_bytes(), type=Record)
        except (FileNotFoundError, msgspec.MsgspecError):
            return None

    def state(self) -> tuple[ValidationState, DriverState | None]:
        """Every step that has run on this node. A step is ready while its door is open."""
        records = {step: record for step in COMPONENTS if (record := self._record(step))}
        steps = tuple(
            Validation(name=step, ready=(self._folder / f"{step}-ready").exists(), message=record.message)
            for step, record in records.items()
        )
        driver = records.get("driver")
        return ValidationState(steps=steps), driver.driver if driver else None
