"""Quantities read as the API server reads them."""

from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lockgate.kit.quantity import binary_size, parse_quantity, whole


@pytest.mark.parametrize(
    ("text", "value"),
    [("1", "1"), ("500m", "0.5"), ("1Gi", "1073741824"), ("1e3", "1000"), (".5", "0.5"), ("2.", "2"), ("12E", "12e18")],
)
def test_a_quantity_is_exact(text: str, value: str) -> None:
    assert parse_quantity(text) == Decimal(value)


@pytest.mark.parametrize("text", ["", "one", "1 Gi", "1gi", "0x10", "1e", "--1", "1e99999"])
def test_what_kubernetes_refuses_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="not a Kubernetes quantity"):
        parse_quantity(text)


def test_parts_of_a_device_are_rounded_up_as_the_scheduler_does() -> None:
    assert (whole("1500m"), whole("100u"), whole("1.0001")) == (2, 1, 2)


@given(st.integers(min_value=0, max_value=10**15))
def test_whole_numbers_stay_themselves(count: int) -> None:
    assert whole(str(count)) == count == whole(count)


def test_sizes_read_at_a_glance() -> None:
    assert [binary_size(n) for n in (0, 512, 42949672960, 14710 * 2**20)] == ["0 B", "512 B", "40 GiB", "14.4 GiB"]
