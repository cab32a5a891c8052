"""The least that reading all pods can cost in Python: http.client, pages of 500, the model's typed Structs, none kept.

`python -m bench.floor URL` is run by `bench.why_scale` as a process of its own.
"""

import gc
import http.client
import sys
from urllib.parse import quote, urlsplit

import msgspec

from lockgate.model.objects import Pod


class _ListMeta(msgspec.Struct):
    next: str = msgspec.field(default="", name="continue")


class _Page(msgspec.Struct):
    metadata: _ListMeta
    items: list[Pod]


def count(url: str) -> int:
    """How many pods the server has."""
    at, decoder = urlsplit(url), msgspec.json.Decoder(_Page)
    connection = http.client.HTTPConnection(at.hostname or "", at.port)
    found, more = 0, ""
    while True:
        connection.request("GET", f"/api/v1/pods?limit=500&continue={quote(more)}")
        page = decoder.decode(connection.getresponse().read())
        found, more = found + len(page.items), page.metadata.next
        if not more:
            return found


if __name__ == "__main__":
    gc.freeze()
    gc.set_threshold(100_000, 50, 100)
    print(count(sys.argv[1]))
