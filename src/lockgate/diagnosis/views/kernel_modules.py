"""The kernel's modules on a node, from a copy of /proc/modules or the output of lsmod."""

import re

import msgspec

# /proc/modules: `nvidia 56049664 3 nvidia_uvm,nvidia_modeset, Live 0xffffffffc0a00000 (POE)` (proc(5)); lsmod prints
# its first four columns below a heading. `-` stands where nobody uses it.
_ROW = re.compile(r"^(?P<name>\w+)\s+\d+\s+(?P<users>-?\d+)\s*(?P<by>[\w,-]*)\s*(?P<state>Live|Loading|Unloading)?")


class Module(msgspec.Struct, frozen=True):
    """A loaded module: how many hold it, the modules among those, its state ("" where lsmod does not tell)."""

    name: str
    users: int
    used_by: tuple[str, ...] = ()
    state: str = ""
    line: str = ""


def parse_modules(text: str) -> dict[str, Module]:
    """The modules by name; lines that are none (the heading) are passed over."""
    rows = (found for line in text.splitlines() if (found := _ROW.match(line.strip())))
    return {row["name"]: _module(row) for row in rows}


def _module(row: re.Match[str]) -> Module:
    by = tuple(name for name in row["by"].split(",") if name not in ("", "-"))
    return Module(row["name"], int(row["users"]), by, row["state"] or "", row.string.strip())
