"""A value is decoded once, found again however it is said, and forgotten where there is no room."""

from typing import Any

import msgspec
import pytest

from lockgate.collect.copies import Copies, Room

Value = dict[str, int]


def copies(most: int = 1000) -> tuple[Room, Copies]:
    room = Room(most)
    return room, room.copies(Value, msgspec.Raw)


def said(text: bytes) -> Any:
    """As it stands in some page, which is not to be kept."""
    return msgspec.json.decode(text, type=msgspec.Raw)


def test_what_is_said_again_is_the_same_value() -> None:
    room, every = copies()
    first = [every.of(said(b'{"a":1}'), "x") for _ in range(4)]
    assert first[0] == {"a": 1}
    assert len({id(each) for each in (*first, every.of(said(b'{"a":1}'), "y"))}) == 1
    assert room.used == len(b'{"a":1}')


def test_who_says_something_else_is_not_taken_at_his_last_word() -> None:
    _, every = copies()
    found = [every.of(said(b'{"a":%d}' % (n % 2)), "x") for n in range(8)]
    assert found == [{"a": n % 2} for n in range(8)]
    assert len(set(map(id, found))) == 2


def test_all_copies_of_a_room_are_forgotten_together() -> None:
    room = Room(10)
    some, others = room.copies(Value, msgspec.Raw), room.copies(Value, msgspec.Raw)
    first = others.of(said(b'{"a":1}'), "x")
    assert some.of(said(b'{"a":2}'), "x") == {"a": 2}
    assert room.used == 0
    again = others.of(said(b'{"a":1}'), "x")
    assert again == first
    assert again is not first


def test_a_value_of_another_type_is_told() -> None:
    with pytest.raises(msgspec.ValidationError, match=r"Expected `int`, got `str` - at `\$\[\.\.\.\]`"):
        copies()[1].of(said(b'{"a":"b"}'), "x")
