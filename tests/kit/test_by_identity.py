"""A function that is asked once for each value, and for equal values that are not the same one again."""

from lockgate.kit import by_identity as module
from lockgate.kit.by_identity import by_identity, by_two


def test_the_same_value_is_asked_about_once_and_an_equal_one_again() -> None:
    asked: list[list[int]] = []

    @by_identity
    def total(numbers: list[int]) -> int:
        asked.append(numbers)
        return sum(numbers)

    first, equal = [1, 2], [1, 2]
    assert [total(first), total(first), total(equal)] == [3, 3, 3]
    assert [id(n) for n in asked] == [id(first), id(equal)]


def test_an_id_that_is_used_again_belongs_to_no_remembered_value() -> None:
    sizes = by_identity(len)
    assert all(sizes([None] * n) == n for n in range(3 * module._MOST))


def test_values_that_come_together_are_asked_about_once_and_in_another_order_again() -> None:
    asked: list[tuple[list[int], list[int]]] = []

    @by_two
    def joined(one: list[int], other: list[int]) -> list[int]:
        asked.append((one, other))
        return [*one, *other]

    one, other = [1], [2]
    assert [joined(one, other), joined(one, other), joined(other, one)] == [[1, 2], [1, 2], [2, 1]]
    assert joined(one, other) is joined(one, other)
    assert joined([1], other) == [1, 2]
    assert len(asked) == 3
