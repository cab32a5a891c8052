"""An effective configuration as TOML that any parser reads, with the place of each value as a comment if asked for."""

from collections.abc import Callable, Iterator

from lockgate.containerd.effective import Effective
from lockgate.containerd.values import Leaf, Table
from lockgate.lint.statements import key_path, literal

Show = Callable[[str], str]


def render_toml(effective: Effective, show: Show | None = None) -> str:
    """The whole document; `show` prints a file's path, and asks for provenance."""
    return "\n".join(_table(effective.document, (), show)).strip("\n") + "\n"


def _table(table: Table, path: tuple[str, ...], show: Show | None) -> Iterator[str]:
    for name, node in table.items():
        if isinstance(node, Leaf):
            yield from _leaf(name, node, show)
    for name, node in table.items():
        if isinstance(node, Table):
            below = list(_table(node, (*path, name), show))
            if not below or any(isinstance(child, Leaf) for child in node.values()):
                yield from ("", f"[{key_path((*path, name))}]")
            yield from below


def _leaf(name: str, leaf: Leaf, show: Show | None) -> Iterator[str]:
    if leaf.value is None:
        return
    line = f"{key_path((name,))} = {literal(leaf.value)}"
    if show is None or (leaf.origin.is_built_in and not leaf.overrode):
        yield line
        return
    place = "built-in default" if leaf.origin.is_built_in else f"{show(leaf.origin.file)}:{leaf.origin.line}"
    over = [f"{show(o.origin.file)}:{o.origin.line}" for o in leaf.overrode if not o.origin.is_built_in]
    yield f"# {place}{', over ' + ', '.join(over) if over else ''}"
    yield line
