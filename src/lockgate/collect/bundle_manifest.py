"""A bundle's `manifest.json`: what was gathered, of whose pods, what lacks and why. Written by `collect` alone."""

import datetime as dt

import msgspec

from lockgate import __version__
from lockgate.model import names
from lockgate.model.narrowing import WHOLE, Narrowing

INTERRUPTED = "the collection was interrupted before it"


class Part(msgspec.Struct, frozen=True, kw_only=True, rename="camel", omit_defaults=True):
    """A section or a node: how many objects or files; why it is missing, or why only one namespace's could be read."""

    count: int = 0
    missing: str = ""
    not_served: str = ""
    only: str = ""
    others: str = ""
    how: str = ""

    @property
    def lacking(self) -> str:
        """What of it is not there although the cluster has it, and why; "" where it is whole."""
        return self.missing or (f"only of namespace {self.only}: {self.others}" if self.only else "")


class Tool(msgspec.Struct, frozen=True):
    """The program that wrote it."""

    name: str = "lockgate"
    version: str = __version__


class BundleManifest(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """The whole; `logs_left_out` counts runs of containers beyond their bound, `left_out` says what did not fit."""

    api_version: str = names.API_VERSION
    kind: str = "BundleManifest"
    taken_at: dt.datetime
    tool: Tool = Tool()
    complete: bool = False
    narrowed: Narrowing = WHOLE
    sections: dict[str, Part] = {}
    logs: int = 0
    logs_left_out: int = 0
    nodes: dict[str, Part] = {}
    left_out: tuple[str, ...] = ()
    redacted: dict[str, int] = {}

    @property
    def lacking(self) -> tuple[str, ...]:
        """The sections and nodes of which something lacks."""
        return tuple(name for name, part in (*self.sections.items(), *self.nodes.items()) if part.lacking)


def parse_bundle_manifest(data: bytes) -> BundleManifest | None:
    """The manifest; None for another program's, or a broken one, which tells nothing."""
    try:
        return msgspec.json.decode(data, type=BundleManifest)
    except msgspec.MsgspecError:
        return None
