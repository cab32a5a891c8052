"""What one look at a cluster returns is handed over as it is."""

from pathlib import Path

import lockgate.collect
from lockgate.collect.once import run_once


class Facts:
    """Facts whose text would be larger than memory."""

    def __repr__(self) -> str:  # type: ignore[explicit-override]  # typing.override is 3.12
        raise AssertionError("nobody may ask for the text of all facts")


async def look() -> Facts:
    return Facts()


def test_the_facts_are_not_turned_into_text() -> None:
    assert isinstance(run_once(look()), Facts)


def test_every_look_that_returns_facts_goes_this_way() -> None:
    modules = Path(lockgate.collect.__file__).parent.glob("*.py")
    assert [m.name for m in modules if "return asyncio.run(" in m.read_text()] == []
