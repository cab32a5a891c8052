"""Facts to JSON and back, with a version: `load_snapshot(dump_snapshot(s)) == s`, and old dumps still load.

A section that a newer version added is Missing in an older dump, by its default; a section that this version does
not know is ignored.
"""

import msgspec

from lockgate.model.facts import Snapshot

VERSION = 1


class UnknownVersionError(ValueError):
    """The dump was written by a newer Lockgate."""


class _Dump(msgspec.Struct, frozen=True, rename="camel"):
    facts_version: int
    snapshot: msgspec.Raw


class _Written(msgspec.Struct, frozen=True, rename="camel"):
    facts_version: int
    snapshot: Snapshot


def dump_snapshot(snapshot: Snapshot) -> bytes:
    """The facts as JSON."""
    return msgspec.json.encode(_Written(facts_version=VERSION, snapshot=snapshot), order="deterministic")


def load_snapshot(data: bytes) -> Snapshot:
    """The facts of a dump; raises msgspec.DecodeError for what is none and UnknownVersionError for a newer one."""
    dump = msgspec.json.decode(data, type=_Dump)
    if dump.facts_version > VERSION:
        raise UnknownVersionError(f"facts of version {dump.facts_version}; this Lockgate reads up to {VERSION}")
    return msgspec.json.decode(bytes(dump.snapshot), type=Snapshot)
