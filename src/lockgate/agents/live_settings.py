"""Settings that follow their configuration file: an edited ConfigMap reaches a pod without any signal.

The file is compared by content (gpu-operator#1144: NVIDIA's programs go on with the old one).
"""

import logging
from collections.abc import Callable
from pathlib import Path
from typing import Generic, Protocol, TypeVar

from lockgate.agents.options import SettingsError

_log = logging.getLogger("lockgate.settings")


class FromFile(Protocol):
    """Settings that may come from a file, with warnings on what in them has no effect."""

    @property
    def config_file(self) -> Path | None: ...

    @property
    def warnings(self) -> tuple[str, ...]: ...


S = TypeVar("S", bound=FromFile)


class LiveSettings(Generic[S]):
    """`read` makes the settings anew; `current` are the last that could be used. Raises SettingsError when made."""

    def __init__(self, read: Callable[[], S]) -> None:
        self._read = read
        self._asked = False
        self._content = b""
        self.current = self._take()

    def ask(self) -> None:
        """Read again at the next chance, changed or not."""
        self._asked = True

    def changed(self) -> S | None:
        """The new settings; None while nothing changed, or while they cannot be used: then the old ones stay."""
        if not self._asked and self._text() == self._content:
            return None
        self._asked = False
        try:
            self.current = self._take()
        except SettingsError as error:
            self._content = self._text()
            _log.error("%s; the former configuration stays in force", error)
            return None
        _log.info("configuration changed: applying it")
        return self.current

    def _take(self) -> S:
        settings = self._read()
        for warning in settings.warnings:
            _log.warning("%s", warning)
        self._path = settings.config_file
        self._content = self._text()
        return settings

    def _text(self) -> bytes:
        try:
            return self._path.read_bytes() if self._path else b""
        except OSError:
            return self._content  # gone for a moment, as when a ConfigMap's link is renewed
