"""Qualified names to what they add to a container, or to why they do not resolve and what exists instead.

Source: `Cache.InjectDevices` of the reference library v1.1.2: a document's own edits come once, before its devices'.
"""

from collections.abc import Iterable
from dataclasses import dataclass

from lockgate.cdi.names import InvalidNameError, parse_qualified
from lockgate.cdi.registry import Registry
from lockgate.cdi.spec import Edits


@dataclass(frozen=True, slots=True, kw_only=True)
class Unresolved:
    """A name that no file defines: why, and the nearest names that are defined."""

    name: str
    reason: str
    instead: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Resolution:
    """What a container gets; with anything unresolved it gets nothing, and does not start."""

    edits: Edits
    unresolved: tuple[Unresolved, ...]

    @property
    def error(self) -> str:
        """The runtime's text, "" when every name resolves."""
        names = ", ".join(one.name for one in self.unresolved)
        return f"unresolvable CDI devices {names}" if names else ""


def resolve(registry: Registry, names: Iterable[str]) -> Resolution:
    """Resolve the names that a container asks for, in their order."""
    edits, unresolved = Edits(), []
    specs: set[str] = set()
    for name in names:
        found = registry.devices.get(name)
        if found is None:
            unresolved.append(_explain(registry, name))
            continue
        if found.file.path not in specs:
            specs.add(found.file.path)
            edits = _append(edits, found.file.spec.container_edits)
        edits = _append(edits, found.device.container_edits)
    if unresolved:
        return Resolution(edits=Edits(), unresolved=tuple(unresolved))
    return Resolution(edits=edits, unresolved=())


def _append(edits: Edits, more: Edits) -> Edits:
    return Edits(
        env=edits.env + more.env,
        device_nodes=edits.device_nodes + more.device_nodes,
        net_devices=edits.net_devices + more.net_devices,
        hooks=edits.hooks + more.hooks,
        mounts=edits.mounts + more.mounts,
        intel_rdt=more.intel_rdt or edits.intel_rdt,
        additional_gids=edits.additional_gids + more.additional_gids,
    )


def _explain(registry: Registry, name: str) -> Unresolved:
    try:
        wanted = parse_qualified(name)
    except InvalidNameError as error:
        return Unresolved(name=name, reason=str(error))
    if name in registry.conflicts:
        return Unresolved(name=name, reason="two files of one directory define it, so it is dropped")
    same_kind = sorted(known for known in registry.devices if known.startswith(f"{wanted.kind}="))
    if same_kind:
        reason = f"kind {wanted.kind} is defined, but has no device {wanted.device}"
        return Unresolved(name=name, reason=reason, instead=tuple(same_kind))
    same_device = sorted(known for known in registry.devices if known.endswith(f"={wanted.device}"))
    reason = f"no file defines kind {wanted.kind}{_broken(registry, wanted.kind)}"
    return Unresolved(name=name, reason=reason, instead=tuple(same_device))


def _broken(registry: Registry, kind: str) -> str:
    """Names the unusable files that were probably meant to define a kind, by their file name."""
    stem = kind.replace("/", "-")
    paths = [path for path in registry.troubles if path.rpartition("/")[2].startswith(stem)]
    return f"; {', '.join(paths)} cannot be used" if paths else ""
