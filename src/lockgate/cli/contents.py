"""What lies in a bundle, folder or archive: files by area, what its manifest says of gaps, bounds and redaction."""

from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import msgspec

from lockgate.collect import loose, must_gather
from lockgate.collect.bounds import MAX_TEXT
from lockgate.collect.bundle_manifest import BundleManifest, Part, parse_bundle_manifest
from lockgate.collect.folder import is_wanted
from lockgate.collect.left_members import LeftMembers
from lockgate.collect.members import Wanted, members
from lockgate.model import names

_MANIFEST = "manifest.json"
_MUST_GATHER = ("must-gather", must_gather.is_wanted)
_LOOSE = ("files", loose.is_wanted)


class Area(msgspec.Struct, frozen=True, rename="camel"):
    """One section or node: how many objects or files, and their size.

    `missing` says why there are none or not all, `not_served` that the cluster has nothing of the kind, `only` the
    namespace of those that could be read.
    """

    name: str
    count: int = 0
    size: int = 0
    missing: str = ""
    how: str = ""
    not_served: str = ""
    only: str = ""


class Contents(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """The whole view; without a manifest nothing is known of gaps and redaction.

    `narrowed` says of whose pods alone there are events and logs, `logs_left_out` counts those beyond the bound.
    """

    path: str
    taken_at: str = ""
    tool: str = ""
    complete: bool | None = None
    narrowed: str = ""
    sections: tuple[Area, ...] = ()
    logs: Area = Area("logs")
    logs_left_out: int = 0
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
    left = LeftMembers()
    sizes, ignored, manifest = _read(path, is_wanted, left)
    if not sizes and (other := _other_layout(path, ignored)):
        return other
    told = manifest.sections if manifest else {}
    found = {name: _section(name, sizes, told.get(name, Part())) for name in _section_names(sizes, told)}
    seen = Contents(
        path=path,
        sections=tuple(found[name] for name in sorted(found)),
        logs=_area("logs", {p: s for p, s in sizes.items() if p.startswith("logs/")}),
        nodes=_nodes(sizes, manifest.nodes if manifest else {}),
        left_out=tuple(f"{inner} {why}" for inner, why in left),
        ignored=tuple(sorted(ignored)),
    )
    return _with_manifest(seen, manifest) if manifest else seen


def _other_layout(path: str, names_: list[str]) -> Contents | None:
    """A folder that is none of ours and is read all the same: NVIDIA's must-gather, or files under any names."""
    layout, wanted = _MUST_GATHER if must_gather.is_must_gather(names_) else _LOOSE
    if not any(map(wanted, names_)):
        return None
    left = LeftMembers()
    sizes, ignored, _ = _read(path, wanted, left)
    return Contents(
        path=path,
        sections=(_area(layout, sizes),),
        left_out=tuple(f"{inner} {why}" for inner, why in left),
        ignored=tuple(sorted(ignored)),
    )


def _with_manifest(seen: Contents, manifest: BundleManifest) -> Contents:
    return msgspec.structs.replace(
        seen,
        taken_at=manifest.taken_at.strftime("%Y-%m-%dT%H:%M:%SZ"),
        tool=f"{manifest.tool.name} {manifest.tool.version}".strip(),
        complete=manifest.complete,
        narrowed="" if manifest.narrowed.is_whole else manifest.narrowed.text,
        logs_left_out=manifest.logs_left_out,
        left_out=(*seen.left_out, *manifest.left_out),
        redacted=manifest.redacted,
    )


def _read(path: str, is_wanted: Wanted, left: LeftMembers) -> tuple[dict[str, int], list[str], BundleManifest | None]:
    """The size of each file that is read, by its path without folders above; what is not read; and the manifest."""
    ignored: list[str] = []

    def wanted(inner: str) -> bool:
        if is_wanted(inner):
            return True
        ignored.append(inner)
        return False

    sizes, manifest = dict[str, int](), None
    for member in members(Path(path), wanted, left.add):
        inner = _inner(member.path)
        if inner == _MANIFEST and inner not in sizes:
            manifest = parse_bundle_manifest(member.read(MAX_TEXT))
        sizes[inner] = member.size
    return sizes, ignored, manifest


def _inner(path: str) -> str:
    """Without the folder that an archive puts above everything."""
    parts = path.split("/")
    starts = [i for i, part in enumerate(parts[:3]) if part in ("cluster", "logs", "nodes", _MANIFEST)]
    return "/".join(parts[starts[0] :]) if starts else path


def _section_names(sizes: dict[str, int], told: Mapping[str, Part]) -> set[str]:
    return {p.split("/")[1].partition(".")[0] for p in sizes if p.startswith("cluster/")} | set(told)


def _section(name: str, sizes: dict[str, int], told: Part) -> Area:
    size = sum(s for p, s in sizes.items() if p.startswith(f"cluster/{name}."))
    return Area(name, told.count, size, told.lacking, told.how, told.not_served, told.only)


def _nodes(sizes: dict[str, int], told: Mapping[str, Part]) -> tuple[Area, ...]:
    counts = Counter(path.split("/")[1] for path in sizes if path.startswith("nodes/"))
    return tuple(
        Area(
            node,
            counts[node],
            sum(s for p, s in sizes.items() if p.startswith(f"nodes/{node}/")),
            told.get(node, Part()).missing,
        )
        for node in sorted({*counts, *told})
    )


def _area(name: str, sizes: dict[str, int]) -> Area:
    return Area(name, len(sizes), sum(sizes.values()))


def as_dict(seen: Contents) -> dict[str, Any]:
    """One document with a version."""
    body: dict[str, Any] = msgspec.to_builtins(seen)
    return {"apiVersion": names.API_VERSION, "kind": "BundleContents"} | body
