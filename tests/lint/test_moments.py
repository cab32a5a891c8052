"""Moments in the words of systemctl, stat and ls; one without a zone is not known."""

import datetime as dt

import pytest

from lockgate.lint.moments import parse_moment, parse_written

AT = dt.datetime(2026, 11, 29, 20, 0, 0, tzinfo=dt.UTC)


@pytest.mark.parametrize(
    "text",
    [
        "ActiveEnterTimestamp=Sun 2026-11-29 20:00:00 UTC\n",
        "ActiveEnterTimestamp=@1795982400\n",
        "2026-11-29T20:00:00Z",
        "2026-11-29T21:00:00.5+01:00",
        "2026-11-29 15:00:00.123456789 -0500",
    ],
)
def test_a_moment_with_a_zone_is_known(text: str) -> None:
    assert parse_moment(text) == AT


@pytest.mark.parametrize(
    "text",
    ["", "Sun Nov 29 20:00:00 2026", "2026-11-29 20:00:00", "2026-11-29 20:00:00 CET", "2026-13-41 29:00:00 UTC"],
)
def test_a_moment_without_a_zone_is_not_known(text: str) -> None:
    assert parse_moment(text) is None


def test_listings_of_stat_and_ls_give_a_moment_for_each_path() -> None:
    stat = "2026-11-29 20:00:00.120000000 +0000 /etc/containerd/config.toml\n"
    ls = "total 4\n-rw-r--r-- 1 root root 93 2026-11-29 20:00:00.120000000 +0000 /etc/containerd/conf.d/a b.toml\n"
    assert parse_written(stat + ls) == {"/etc/containerd/config.toml": AT, "/etc/containerd/conf.d/a b.toml": AT}
    assert parse_written("Nov 29 20:00 /etc/containerd/config.toml\n") == {}
