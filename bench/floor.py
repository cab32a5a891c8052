"""The least that reading all pods and nodes can cost in Python: http.client, pages of 500, typed Structs, none kept.

Both, since every command that looks at a whole cluster needs both. `python -m bench.floor URL` is run by
`bench.why_scale` as a process of its own.
"""

import http.client
import sys
from typing import Generic, TypeVar
from urllib.parse import quote, urlsplit

import msgspec

from lockgate.kit.garbage import collect_seldom
from lockgate.model.objects import Node, Pod


class _ListMeta(msgspec.Struct):
    next: str = msgspec.field(default="", name="continue")


T = TypeVar("T")


class _Page(msgspec.Struct, Generic[T]):
    metadata: _ListMeta
    items: list[T]


def count(url: str) -> tuple[int, int]:
    """How many pods and nodes the server has."""
    at = urlsplit(url)
    connection = http.client.HTTPConnection(at.hostname or "", at.port)
    pods = _counted(connection, "pods", msgspec.json.Decoder(_Page[Pod]))
    return pods, _counted(connection, "nodes", msgspec.json.Decoder(_Page[Node]))


def _counted(connection: http.client.HTTPConnection, plural: str, decoder: msgspec.json.Decoder[_Page[T]]) -> int:
    found, more = 0, ""
    while True:
        connection.request("GET", f"/api/v1/{plural}?limit=500&continue={quote(more)}")
        page = decoder.decode(connection.getresponse().read())
        found, more = found + len(page.items), page.metadata.next
        if not more:
            return found


if __name__ == "__main__":
    collect_seldom()
    print(*count(sys.argv[1]))
