"""One is one, and everything else, none too, is many."""

from lockgate.kit.counted import agreeing, counted, few


def test_only_one_is_one() -> None:
    assert [counted(n, "GPU node") for n in (0, 1, 2)] == ["0 GPU nodes", "1 GPU node", "2 GPU nodes"]
    assert [counted(n, "pod asks", "pods ask") for n in (1, 3)] == ["1 pod asks", "3 pods ask"]
    assert agreeing(1, "is", "are") == "is"


def test_of_many_the_first_are_named_and_the_others_counted() -> None:
    assert [few("abcd"[:n]) for n in range(5)] == ["", "a", "a, b", "a, b, c", "a, b, c and 1 more"]
    assert few((name for name in "abcd"), 2, "; ") == "a; b and 2 more"
