"""Links, pipes, sockets and what may not be opened are left out of a folder or archive and said; the rest is read."""

import contextlib
import io
import os
import socket
import stat
import tarfile
import tempfile
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from lockgate.collect.errors import InputError
from lockgate.collect.node_files import node_trees
from lockgate.collect.offline import from_path
from lockgate.model.facts import Missing, Snapshot
from tests.collect.test_loose import NODE, listed, pod

Make = Callable[[Path], Path]
SECRET = listed(pod("elsewhere", "ml"))
OWN = {"pods.json": listed(pod("x", "ml"), pod("y", "web")), "nodes.json": listed(NODE)}


def read(path: Path) -> Snapshot:
    return from_path(str(path), io.BytesIO(), "ml", "x")


def write(folder: Path, files: dict[str, str]) -> Path:
    for path, text in files.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text(text)
    return folder


def pods_of(facts: Snapshot) -> list[str]:
    return sorted(p.name for p in facts.known_pods)


def told(facts: Snapshot) -> str:
    assert not any(part.decides for part in facts.left_out)
    return "; ".join(part.reason for part in facts.left_out)


@contextlib.contextmanager
def nobody() -> Iterator[Path]:
    """A folder of its own, and whoever owns it without the rights of root."""
    with tempfile.TemporaryDirectory() as name:
        is_root = os.geteuid() == 0
        if is_root:
            os.chown(name, 65534, 65534)
            os.seteuid(65534)
        try:
            yield Path(name)
        finally:
            if is_root:
                os.seteuid(0)


# --- folders


@pytest.mark.parametrize("target", ["/etc/hostname", "gone.json", "odd.json", "pods.json", "/dev/zero", ".."])
def test_a_link_in_a_folder_is_not_followed_and_the_rest_is_read(target: str, tmp_path: Path) -> None:
    write(tmp_path, OWN)
    (tmp_path / "odd.json").symlink_to(target)
    facts = read(tmp_path)
    assert pods_of(facts) == ["x", "y"]
    assert told(facts) == f"not read: odd.json is a link to {target}"


def test_nothing_comes_in_through_a_link_to_a_folder(tmp_path: Path) -> None:
    write(tmp_path / "elsewhere", {"pods.json": SECRET})
    root = write(tmp_path / "own", OWN)
    (root / "more").symlink_to(tmp_path / "elsewhere")
    (root / ".git").symlink_to(tmp_path / "elsewhere")
    (root / "photo.png").symlink_to(tmp_path / "elsewhere")
    facts = read(root)
    assert pods_of(facts) == ["x", "y"]
    assert told(facts) == f"not read: more is a link to {tmp_path / 'elsewhere'}"


def test_pipes_and_sockets_do_not_hold_a_folder_up(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(write(tmp_path, OWN))  # the path of a socket has to be short
    os.mkfifo("pipe.txt")
    with socket.socket(socket.AF_UNIX) as one:
        one.bind("listening.yaml")
    facts = read(tmp_path)
    assert pods_of(facts) == ["x", "y"]
    assert told(facts) == "not read: listening.yaml is no regular file; pipe.txt is no regular file"


def test_of_many_the_first_are_named_and_the_rest_counted(tmp_path: Path) -> None:
    write(tmp_path, OWN)
    for number in range(5):
        (tmp_path / f"{number}.json").symlink_to("gone")
    assert told(read(tmp_path)).endswith("2.json is a link to gone and 2 more")


def test_what_may_not_be_opened_is_left_out() -> None:
    with nobody() as root:
        write(root, OWN | {"mine.json": SECRET, "closed/pods.json": SECRET, "listed/pods.json": SECRET})
        (root / "mine.json").chmod(0)
        (root / "closed").chmod(0)
        (root / "listed").chmod(0o444)
        facts = read(root)
        (root / "closed").chmod(0o755)
        (root / "listed").chmod(0o755)
    assert pods_of(facts) == ["x", "y"]
    assert {part.split(" ")[0] for part in told(facts).removeprefix("not read: ").split("; ")} == {
        "mine.json",
        "closed",
        "listed/pods.json",
    }


def test_a_folder_that_may_not_be_opened_says_so() -> None:
    with nobody() as root:
        root.chmod(0)
        with pytest.raises(InputError, match="cannot be read \\(Permission denied\\)"):
            read(root)
        root.chmod(0o755)


def test_where_nothing_else_is_there_the_complaint_names_what_was_left_out(tmp_path: Path) -> None:
    (tmp_path / "pods.json").symlink_to("/tmp/pods.json")
    with pytest.raises(InputError, match=r"pods\.json is a link to /tmp/pods\.json"):
        read(tmp_path)


# --- folders and archives in the layout of a bundle

LAYOUT = {
    "cluster/pods.json": listed(pod("x", "ml")),
    "logs/ml/x/main.log": "one\n",
    "nodes/a/etc/containerd/config.toml": "version = 2\n",
    "nodes/a/etc/cdi/nvidia.yaml": "cdiVersion: 0.5.0\n",
    "nodes/a/dmesg.txt": "said\n",
    "nodes/b/etc/containerd/config.toml": "version = 3\n",
}
LINKS = {
    "cluster/events.json": "/x/events.json",
    "logs/ml/x/old.log": "main.log",
    "nodes/a/etc/containerd/conf.d/9.toml": "/opt/9.toml",
}


def packed_tar(folder: Path) -> Path:
    with tarfile.open(folder / "b.tgz", "w:gz") as tar:
        for path, text in LAYOUT.items():
            info = tarfile.TarInfo(f"b/{path}")
            info.size = len(text)
            tar.addfile(info, io.BytesIO(text.encode()))
        for path, target in LINKS.items():
            info = tarfile.TarInfo(f"b/{path}")
            info.type, info.linkname = tarfile.SYMTYPE, target
            tar.addfile(info)
        device = tarfile.TarInfo("b/logs/ml/x/device.log")
        device.type = tarfile.CHRTYPE
        tar.addfile(device)
    return folder / "b.tgz"


def packed_zip(folder: Path) -> Path:
    with zipfile.ZipFile(folder / "b.zip", "w") as archive:
        for path, text in LAYOUT.items():
            archive.writestr(f"b/{path}", text)
        for path, target in LINKS.items():
            info = zipfile.ZipInfo(f"b/{path}")
            info.external_attr = (stat.S_IFLNK | 0o777) << 16
            archive.writestr(info, target)
    return folder / "b.zip"


def laid_out(folder: Path) -> Path:
    root = write(folder / "f" / "b", LAYOUT)
    for path, target in LINKS.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).symlink_to(target)
    return folder / "f"


@pytest.mark.parametrize("make", [laid_out, packed_tar, packed_zip])
def test_a_list_that_is_a_link_is_one_that_was_not_read(make: Make, tmp_path: Path) -> None:
    facts = read(make(tmp_path))
    assert isinstance(facts.events, Missing)
    assert facts.events.reason == "b/cluster/events.json is a link to /x/events.json"
    assert pods_of(facts) == ["x"]
    assert not isinstance(facts.logs, Missing)
    assert [log.container for log in facts.logs] == ["main"]
    assert "logs/ml/x/old.log is a link to main.log" in told(facts)


@pytest.mark.parametrize("make", [laid_out, packed_tar, packed_zip])
def test_a_configuration_of_which_a_part_lacks_is_not_judged(make: Make, tmp_path: Path) -> None:
    """A file of containerd that is a link may change all the others: they count as unread, on that node alone."""
    facts = read(make(tmp_path))
    assert not isinstance(facts.node_files, Missing)
    assert {folder.node: sorted(folder.files) for folder in facts.node_files} == {
        "a": ["/etc/cdi/nvidia.yaml"],
        "b": ["/etc/containerd/config.toml"],
    }
    assert "node a: containerd's configuration not judged, as a part lacks" in told(facts)


def test_what_no_runtime_reads_beside_its_files_tears_nothing(tmp_path: Path) -> None:
    root = write(tmp_path, LAYOUT)
    for path in ("nodes/a/etc/cdi/old.bak", "nodes/a/etc/containerd/certs.d/x/ca.crt"):
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).symlink_to("/srv/it")
    facts = read(root)
    assert not isinstance(facts.node_files, Missing)
    assert len(facts.node_files[0].files) == 2
    assert "nodes/a/etc/cdi/old.bak is a link to /srv/it" in told(facts)


def test_an_endless_target_is_shortened(tmp_path: Path) -> None:
    write(tmp_path, OWN)
    (tmp_path / "long.json").symlink_to("x/" * 400)
    assert len(told(read(tmp_path))) < 200


def test_a_device_in_an_archive_is_left_out(tmp_path: Path) -> None:
    assert "b/logs/ml/x/device.log is no regular file" in told(read(packed_tar(tmp_path)))


def test_a_hard_link_in_an_archive_is_left_out(tmp_path: Path) -> None:
    with tarfile.open(tmp_path / "b.tar", "w") as tar:
        tar.add(write(tmp_path / "own", OWN), "own")
        info = tarfile.TarInfo("own/again.json")
        info.type, info.linkname = tarfile.LNKTYPE, "own/pods.json"
        tar.addfile(info)
    facts = read(tmp_path / "b.tar")
    assert pods_of(facts) == ["x", "y"]
    assert told(facts) == "not read: own/again.json is a link to own/pods.json"


def test_a_configuration_that_lint_is_given_is_refused_for_a_link_in_it(tmp_path: Path) -> None:
    """Only together do the files amount to a configuration."""
    write(tmp_path, {"config.toml": "version = 2\nimports = ['conf.d/*.toml']\n"})
    (tmp_path / "more.toml").symlink_to("/srv/more.toml")
    with pytest.raises(InputError, match=r"more\.toml is a link to /srv/more\.toml; put a copy of the file there"):
        node_trees([str(tmp_path)], None)
