"""A function that is asked once for each value, and for equal values that are not the same one again."""

from lockgate.kit import by_identity as module
from lockgate.kit.by_identity import by_identity


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
