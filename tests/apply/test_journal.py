from pathlib import Path

import pytest

from lockgate.apply.journal import (
    EditedError,
    FileChange,
    Journal,
    apply_changes,
    read_journal,
    take_back,
    write_journal,
)


def change(path: str, before: bytes | None, after: bytes | None) -> FileChange:
    return FileChange(path=path, before=before, seen=before, after=after)


def test_a_journal_is_kept_and_an_empty_one_leaves_no_file(tmp_path: Path) -> None:
    path = tmp_path / "sub/journal.json"
    journal = Journal(open=(change("/a", None, b"\xff new"),), failed="mark", message="why")
    write_journal(path, journal)
    assert read_journal(path) == journal
    write_journal(path, Journal())
    assert not path.exists()
    assert read_journal(path) == Journal()


def test_half_a_journal_is_none(tmp_path: Path) -> None:
    path = tmp_path / "journal.json"
    path.write_bytes(b'{"open": [{"path"')
    assert read_journal(path) == Journal()


def test_changes_are_made_and_taken_back(tmp_path: Path) -> None:
    here = {"/a": tmp_path / "a", "/b": tmp_path / "b", "/c": tmp_path / "c"}
    here["/b"].write_bytes(b"old")
    here["/c"].write_bytes(b"goes")
    changes = [change("/a", None, b"new"), change("/b", b"old", b"new"), change("/c", b"goes", None)]
    apply_changes(changes, here)
    assert [path.read_bytes() if path.exists() else None for path in here.values()] == [b"new", b"new", None]
    assert take_back(changes, here) == ()
    assert [path.read_bytes() if path.exists() else None for path in here.values()] == [None, b"old", b"goes"]


def test_what_someone_else_has_edited_is_neither_overwritten_nor_taken_back(tmp_path: Path) -> None:
    here = {"/a": tmp_path / "a"}
    here["/a"].write_bytes(b"edited")
    with pytest.raises(EditedError, match="/a was edited by someone else"):
        apply_changes([change("/a", b"old", b"new")], here)
    assert take_back([change("/a", b"old", b"new")], here) == ("/a",)
    assert here["/a"].read_bytes() == b"edited"


def test_the_work_of_an_interrupted_change_is_taken_back_to_what_was_before_it(tmp_path: Path) -> None:
    here = {"/a": tmp_path / "a"}
    here["/a"].write_bytes(b"half")
    resumed = FileChange(path="/a", before=b"old", seen=b"half", after=b"new")
    apply_changes([resumed], here)
    assert here["/a"].read_bytes() == b"new"
    here["/a"].write_bytes(b"half")
    assert take_back([resumed], here) == ()
    assert here["/a"].read_bytes() == b"old"
