"""MIG capability minors are read as the driver lists them."""

from pathlib import Path

from lockgate.gpu.caps import read_mig_minors


def test_each_capability_has_its_minor(tmp_path: Path) -> None:
    listing = tmp_path / "mig-minors"
    listing.write_text("config 1\nmonitor 2\ngpu0/gi0/access 3\ngpu0/gi0/ci0/access 4\n\nbroken\n")
    assert read_mig_minors(listing) == {
        "config": 1,
        "monitor": 2,
        "gpu0/gi0/access": 3,
        "gpu0/gi0/ci0/access": 4,
    }


def test_without_a_list_there_are_none(tmp_path: Path) -> None:
    assert read_mig_minors(tmp_path / "absent") == {}
