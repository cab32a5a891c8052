"""Files of a node that only count together: without one of them containerd's configuration, or the CDI specifications,
amount to something else. Where one could not be read, the others of its kind are taken for unread too.
"""

import re
from collections.abc import Iterable, Mapping
from typing import Final

from lockgate.model.facts import LeftOut

_NODE: Final = re.compile(r"^(?:[^/]+/){0,2}?nodes/(?P<node>[^/]+)(?P<path>/.+)$")
_KINDS: Final = {
    "containerd's configuration": re.compile(r"/etc/containerd/(?!certs\.d/)"),
    "CRI-O's configuration": re.compile(r"/etc/crio/"),
    "its CDI specifications": re.compile(r"/(?:etc|run)/cdi/[^/]+\.(?:json|yaml)$"),
}
_HOW: Final = "copy them as files, with cp -rL or tar -h"


class TornAreas:
    """What lacks of the nodes of one input."""

    def __init__(self) -> None:
        self._why: dict[tuple[str, str], str] = {}

    def note(self, path: str, why: str) -> bool:
        """Remember a file that could not be read; False where nothing else depends on it."""
        found = _NODE.match(path)
        kinds = [kind for kind, pattern in _KINDS.items() if found and pattern.search(found["path"])]
        if found:
            self._why |= {(found["node"], kind): f"{path} {why}" for kind in kinds}
        return bool(kinds)

    def whole(self, node: str, files: Mapping[str, str]) -> dict[str, str]:
        """The files of a node without those of which a part lacks."""
        torn = [_KINDS[kind] for of, kind in self._why if of == node]
        return {path: text for path, text in files.items() if not any(pattern.search(path) for pattern in torn)}

    def told(self) -> Iterable[LeftOut]:
        """What counts as unread for it, node by node."""
        for (node, kind), why in self._why.items():
            yield LeftOut("node_files", f"node {node}: {kind} not judged, as a part lacks: {why}", _HOW)
