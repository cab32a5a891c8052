"""Ids of rules that come near what somebody typed."""

import difflib
from collections.abc import Iterable


def near_ids(asked: str, ids: Iterable[str]) -> tuple[str, ...]:
    """The nearest ids, best first: a whole id, or what stands behind its area."""
    short = {each.rpartition("/")[2]: each for each in ids}
    near = difflib.get_close_matches(asked.lower(), [*short.values(), *short], n=3)
    return tuple(dict.fromkeys(short.get(n, n) for n in near))


def meant(asked: str, ids: Iterable[str]) -> str:
    """A hint at what may be meant by an id that no rule has."""
    near = near_ids(asked, ids)
    return f"did you mean {' or '.join(near)}?" if near else "`explain` alone lists what there is"
