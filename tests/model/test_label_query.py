"""Label selectors as kubectl reads them."""

import pytest

from lockgate.model.label_query import LabelQueryError, parse_query

LABELS = {"app": "train", "tier": "batch", "nvidia.com/gpu.product": "A100", "empty": ""}


@pytest.mark.parametrize(
    ("query", "fits"),
    [
        ("app=train", True),
        ("app==train,tier!=test", True),
        ("app = train , tier", True),
        ("app=infer", False),
        ("other!=x", True),  # an absent label is unlike any value
        ("tier in (batch, test),app notin (a,b)", True),
        ("tier in (a,b)", False),
        ("other notin (a)", True),
        ("!other", True),
        ("!app", False),
        ("nvidia.com/gpu.product=A100", True),
        ("empty=", True),
        ("empty", True),
        ("app,other", False),
    ],
)
def test_a_query_asks_labels(query: str, fits: bool) -> None:
    assert parse_query(query)(LABELS) is fits


@pytest.mark.parametrize("query", ["", ",", "app=train,", "=x", "app in a", "app>3", "a b", "in (a)"])
def test_what_is_no_query_is_refused(query: str) -> None:
    with pytest.raises(LabelQueryError, match="is no label selector"):
        parse_query(query)
