import os
from pathlib import Path

import pytest

from lockgate.host.rooted import Root


@pytest.fixture
def root(tmp_path: Path) -> Root:
    inside = tmp_path / "root"
    (inside / "usr/lib").mkdir(parents=True)
    (inside / "usr/lib/libc.so").write_text("c")
    (inside / "lib").symlink_to("usr/lib")
    (tmp_path / "secret").write_text("outside")
    return Root(inside)


@pytest.mark.parametrize(
    ("link", "resolved"),
    [
        ("/usr/lib/libc.so", "/usr/lib/libc.so"),
        ("../lib/libc.so", "/usr/lib/libc.so"),
        ("../../../../../../usr/lib/libc.so", "/usr/lib/libc.so"),
        ("libc.so", "/usr/lib/libc.so"),
        ("../../../secret", None),
        ("/secret", None),
        ("x", None),  # itself
        ("gone", None),
        ("libc.so/deeper", None),
    ],
)
def test_a_link_is_followed_as_by_a_process_inside(root: Root, link: str, resolved: str | None) -> None:
    (root.path / "usr/lib/x").symlink_to(link)
    assert root.resolve("/lib/x") == resolved


def test_dots_stop_at_the_root(root: Root) -> None:
    assert root.resolve("/../../../lib/libc.so") == "/usr/lib/libc.so"
    assert root.resolve("/") == "/"


def test_names_of_a_directory_behind_a_link(root: Root) -> None:
    assert list(root.names("/lib")) == ["libc.so"]
    assert list(root.names("/no/such")) == []
    assert list(root.names("/usr/lib/libc.so")) == []


def test_only_the_kind_that_was_asked_for_is_found(root: Root) -> None:
    os.mkfifo(root.path / "usr/lib/pipe")
    assert root.find("/lib", "libc.so") == "/usr/lib/libc.so"
    assert root.find("/lib", "pipe") is None
    assert root.find("/lib", "pipe", None) == "/usr/lib/pipe"
