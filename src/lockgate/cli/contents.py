"""What lies in a bundle, folder or archive: files by area, what its manifest says of gaps, bounds and redaction."""

from collections import Counter
from pathlib import Path
from typing import Any

import msgspec

from lockgate.collect.folder import is_wanted
from lockgate.collect.members import members
from lockgate.model import names

_MANIFEST = "manifest.json"


class Area(msgspec.Struct, frozen=True, rename="camel"):
    """One section or node: how many objects or files, and their size; `missing` says why there are none."""

    name: str
    count: int = 0
    size: int = 0
    missing: str = ""
    how: str = ""


class Contents(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """The whole view; without a manifest nothing is known of gaps and redaction."""

    path: str
    taken_at: str = ""
    tool: str = ""
    complete: bool | None = None
    sections: tuple[Area, ...] = ()
    logs: Area = Area("logs")
    nodes: tuple[Area, ...] = ()
    left_out: tuple[str, ...] = ()
    redacted: dict[str, int] = {}
    ignored: tuple[str, ...] = ()

    @property
    def exit_code(self) -> int:
        """0 all is there, 4 something is lacking or nothing is known of what lacks."""
        lacking = any(a.missing for a in (*self.sections, *self.nodes))
        return 4 if lacking or self.left_out or self.complete is not True else 0


def contents(path: str) -> Contents:
    """Look into a bundle; raises InputError where it is none."""
    sizes, ignored = _sizes(path)
    manifest = _manifest(path)
    told: dict[str, Any] = manifest.get("sections", {})
    found = {name: _section(name, sizes, told.get(name, {})) for name in _section_names(sizes, told)}
    tool = manifest.get("tool", {})
    return Contents(
        path=path,
        taken_at=str(manifest.get("takenAt", "")),
        tool=f"{tool.get('name', '')} {tool.get('version', '')}".strip(),
        complete=manifest.get("complete"),
        sections=tuple(found[name] for name in sorted(found)),
        logs=_area("logs", {p: s for p, s in sizes.items() if p.startswith("logs/")}),
        nodes=_nodes(sizes, manifest.get("nodes", {})),
        left_out=tuple(manifest.get("leftOut", ())),
        redacted=manifest.get("redacted", {}),
        ignored=tuple(sorted(ignored)),
    )


def _sizes(path: str) -> tuple[dict[str, int], list[str]]:
    """The size of each file that is read, by its path without folders above; and what is not read."""
    ignored: list[str] = []

    def wanted(inner: str) -> bool:
        if is_wanted(inner):
            return True
        ignored.append(inner)
        return False

    found = {_inner(m.path): len(m.data) for m in members(Path(path), wanted)}
    return found, ignored


def _inner(path: str) -> str:
    """Without the folder that an archive puts above everything."""
    parts = path.split("/")
    starts = [i for i, part in enumerate(parts[:3]) if part in ("cluster", "logs", "nodes", _MANIFEST)]
    return "/".join(parts[starts[0] :]) if starts else path


def _manifest(path: str) -> dict[str, Any]:
    for member in members(Path(path), lambda inner: _inner(inner) == _MANIFEST):
        try:
            document: dict[str, Any] = msgspec.json.decode(member.data, type=dict[str, Any])
            return document
        except msgspec.MsgspecError:
            return {}
    return {}


def _section_names(sizes: dict[str, int], told: dict[str, Any]) -> set[str]:
    return {p.split("/")[1].partition(".")[0] for p in sizes if p.startswith("cluster/")} | set(told)


def _section(name: str, sizes: dict[str, int], told: dict[str, Any]) -> Area:
    size = sum(s for p, s in sizes.items() if p.startswith(f"cluster/{name}."))
    missing = str(told.get("missing") or told.get("notServed", ""))
    return Area(name, int(told.get("count", 0)), size, missing, str(told.get("how", "")))


def _nodes(sizes: dict[str, int], told: dict[str, Any]) -> tuple[Area, ...]:
    counts: Counter[str] = Counter()
    for path in sizes:
        if path.startswith("nodes/"):
            counts[path.split("/")[1]] += 1
    every = sorted({*counts, *told})
    return tuple(
        Area(
            node,
            counts[node],
            sum(s for p, s in sizes.items() if p.startswith(f"nodes/{node}/")),
            str(told.get(node, {}).get("missing", "")),
        )
        for node in every
    )


def _area(name: str, sizes: dict[str, int]) -> Area:
    return Area(name, len(sizes), sum(sizes.values()))


def as_dict(seen: Contents) -> dict[str, Any]:
    """One document with a version."""
    body: dict[str, Any] = msgspec.to_builtins(seen)
    return {"apiVersion": names.API_VERSION, "kind": "BundleContents"} | body
