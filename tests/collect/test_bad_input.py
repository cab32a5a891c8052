"""Input that is broken, hostile or simply something else ends in one clear line, exit 2, and bounded memory.

Each case is the real command in a process of its own that may use 1 GiB of address space and 20 seconds.
"""

import gzip
import io
import lzma
import resource
import subprocess
import sys
import tarfile
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest

GIB = 1024**3
Make = Callable[[Path], Path]
GOOD = b'{"apiVersion": "v1", "kind": "List", "items": []}'
POD = b'{"kind": "Pod", "metadata": {"name": "x", "namespace": "default"}, "status": {"phase": "Pending"}}'


def why(source: str | Path, stdin: bytes = b"", target: str = "pod/x") -> subprocess.CompletedProcess[bytes]:
    """`why TARGET --from SOURCE` under a limit of memory and time."""

    def limit() -> None:
        resource.setrlimit(resource.RLIMIT_AS, (GIB, GIB))

    command = [sys.executable, "-m", "lockgate.cli.main", "why", target, "--from", str(source)]
    return subprocess.run(command, input=stdin, capture_output=True, preexec_fn=limit, timeout=20, check=False)


def refused(result: subprocess.CompletedProcess[bytes], *says: str) -> None:
    """The process said one line on stderr, nothing on stdout, and ended with 2."""
    said = result.stderr.decode()
    assert (result.returncode, result.stdout) == (2, b""), said
    assert said.count("\n") == 1, said
    assert "Traceback" not in said
    assert "': " not in said, "the place is named once, without quotes"
    assert [words for words in says if words not in said] == [], said


def _file(name: str, data: bytes) -> Make:
    def make(folder: Path) -> Path:
        (folder / name).write_bytes(data)
        return folder / name

    return make


def _sparse(name: str, size: int) -> Make:
    def make(folder: Path) -> Path:
        with (folder / name).open("wb") as file:
            file.truncate(size)
        return folder / name

    return make


def _in_folder(path: str, data: bytes) -> Make:
    def make(folder: Path) -> Path:
        target = folder / "bundle" / path
        target.parent.mkdir(parents=True)
        target.write_bytes(data)
        return folder / "bundle"

    return make


def _tar(add: Callable[[tarfile.TarFile], None]) -> Make:
    def make(folder: Path) -> Path:
        with tarfile.open(folder / "b.tgz", "w:gz") as tar:
            add(tar)
        return folder / "b.tgz"

    return make


def _member(name: str, data: bytes = GOOD, **more: object) -> Callable[[tarfile.TarFile], None]:
    def add(tar: tarfile.TarFile) -> None:
        info = tarfile.TarInfo(name)
        info.size = len(data)
        for key, value in more.items():
            setattr(info, key, value)
        tar.addfile(info, io.BytesIO(data))

    return add


def _zip(name: str, data: bytes = GOOD, mode: int = 0o100644) -> Make:
    def make(folder: Path) -> Path:
        info = zipfile.ZipInfo(name)
        info.external_attr = mode << 16
        with zipfile.ZipFile(folder / "b.zip", "w", zipfile.ZIP_DEFLATED) as archive:
            archive.writestr(info, data)
        return folder / "b.zip"

    return make


def _cut(make: Make) -> Make:
    def cut(folder: Path) -> Path:
        path = make(folder)
        path.write_bytes(path.read_bytes()[:-30])
        return path

    return cut


def _many(folder: Path) -> Path:
    (folder / "b.tar").write_bytes(tarfile.TarInfo("b/x").tobuf() * 100_001)
    return folder / "b.tar"


def _claims_eight_eib(folder: Path) -> Path:
    info = tarfile.TarInfo("b/cluster/pods.json")
    info.size = (1 << 63) - 1
    (folder / "b.tar").write_bytes(info.tobuf(tarfile.GNU_FORMAT) + GOOD)
    return folder / "b.tar"


def _gigabyte(folder: Path) -> Path:
    info = tarfile.TarInfo("b/cluster/pods.json")
    info.size = GIB
    (folder / "b.tgz").write_bytes(gzip.compress(info.tobuf() + b"\0" * 1024))
    return folder / "b.tgz"


BOMB = b"a: &a [x, x, x, x, x, x, x, x, x]\n" + b"".join(
    b"%c: &%c [%s]\n" % (n, n, b", ".join([b"*%c" % (n - 1)] * 9)) for n in range(ord("b"), ord("n"))
)
CASES: dict[str, tuple[Make, tuple[str, ...]]] = {
    "nothing there": (lambda folder: folder / "absent.tgz", ("absent.tgz", "no such file or folder")),
    "a folder of something else": (_in_folder("readme.md", b"hello"), ("holds none of cluster/<resource>.json",)),
    "an empty file": (_file("a.json", b""), ("is empty",)),
    "half-written JSON": (_file("pods.json", b'{"kind": "List", "items": [{"kind": "Po'), ("is not complete JSON",)),
    "half-written JSON in a folder": (
        _in_folder("cluster/pods.json", b'{"items": ['),
        ("cluster/pods.json", "not complete"),
    ),
    "a list of no objects": (_file("pods.json", b"[{}, 3]"), ("Expected `object`, got `int`",)),
    "a list where an object should be, inside": (
        _file("pod.json", b'{"kind": "Pod", "metadata": {"name": "x", "labels": []}}'),
        ("no valid Pod", "`$.metadata.labels`"),
    ),
    "a moment without a time zone": (
        _file("pod.json", b'{"kind": "Pod", "metadata": {"name": "x", "deletionTimestamp": "2026-01-01T00:00:00"}}'),
        ("no valid Pod", "timezone", "`$.metadata.deletionTimestamp`"),
    ),
    "another kind under a resource's name": (
        _in_folder("cluster/pods.json", b'{"kind": "Node"}'),
        ("holds a Node where a Pod",),
    ),
    "kinds that are not read": (_file("a.json", b'{"kind": "Secret", "metadata": {"name": "x"}}'), ("holds Secret",)),
    "an amount that is none": (
        _file(
            "n.json", b'{"kind": "Node", "metadata": {"name": "n"}, "status": {"capacity": {"nvidia.com/gpu": "two"}}}'
        ),
        ("Node n", '"two" is not a Kubernetes quantity'),
    ),
    "binary": (_file("a.bin", bytes(range(128, 256)) * 10), ("is not text",)),
    "an ELF program": (_file("a.out", b"\x7fELF\x02\x01\x01" + b"\0" * 100), ("is not text", "NUL")),
    "NUL bytes in JSON": (_file("a.json", b'{"kind": "Pod",\0"metadata": {}}'), ("is not complete JSON",)),
    "Latin-1": (_file("a.yaml", "kind: Pod\nname: Käse\n".encode("latin-1")), ("is not text",)),
    "20 MB of YAML": (
        _file("pods.yaml", b"kind: List\nitems:\n" + b"- kind: Pod\n" * 1_700_000),
        ("is more than the 16 MiB", "-o json"),
    ),
    "20 MB of a description": (_file("pod.txt", b"Name: x\nNamespace: y\n" * 1_000_000), ("is more than the 16 MiB",)),
    "a folder that holds nothing": (_in_folder("x/y.txt", b""), ("lockgate: /", "/bundle: holds none of")),
    "a file of 1 GB": (_sparse("pods.json", GIB), ("is more than the 16 MiB",)),
    "a file of 1 GB in a folder": (
        lambda folder: _sparse("pods.json", GIB)(_in_folder("cluster/x", b"")(folder) / "cluster").parent.parent,
        ("cluster/pods.json: is not text",),
    ),
    "deep nesting": (_file("a.json", b"[" * 200_000), ("a.json",)),
    "deep nesting inside an object": (_file("a.json", b'{"kind":"Pod","metadata":' + b'{"x":' * 200_000), ("a.json",)),
    "deep YAML": (_file("a.yaml", b"a: " + b"[" * 100_000), ("a.yaml",)),
    "YAML with a million aliases": (
        _file("a.yaml", b"a: &a {k: v}\nb: [" + b"*a, " * 1_000_000 + b"*a]\n"),
        ("a.yaml",),
    ),
    "YAML of a million values": (
        _file("a.yaml", b"items: [" + b"{}," * 1_100_000 + b"{}]"),
        ("more than 1,000,000 values", "-o json"),
    ),
    "JSON of objects with nothing but a name": (
        _file(
            "pods.json",
            b'{"kind": "PodList", "items": ['
            + b'{"kind":"Pod","metadata":{"name":"a"}},' * 1_000_000
            + b'{"kind":"Pod","metadata":{"name":"a"}}]}',
        ),
        ("more than 500,000 objects",),
    ),
    "an object of 5 MB": (
        _file("pod.json", b'{"kind": "Pod", "metadata": {"name": "' + b"x" * (5 << 20) + b'"}}'),
        ("a Pod: 5 MiB is more than the 4 MiB",),
    ),
    "an object of another kind that is no text": (
        _file("x.json", b'{"kind": "X", "spec": {"a": "\xff"}}'),
        ("no valid object",),
    ),
    "a member that says to have 8 EiB": (_claims_eight_eib, ("pods.json: 8388608 TiB is more than the 4 GiB",)),
    "an archive in an archive": (_tar(_member("b/cluster.tgz", gzip.compress(GOOD))), ("holds none of",)),
    "YAML that multiplies": (_file("a.yaml", b"kind: Pod\n" + BOMB), ("aliases expand to more than",)),
    "YAML that contains itself": (_file("a.yaml", b"kind: Pod\nmetadata: &m {labels: *m}\n"), ("contains itself",)),
    "plain text": (_file("a.txt", b"it does not work, please help\n"), ("neither JSON nor YAML",)),
    "a describe of something else": (
        _file("a.txt", b"Name:         x\nNamespace:    d\nType: ClusterIP\n"),
        ("no description of a pod",),
    ),
    "a cut archive": (_cut(_tar(_member("b/cluster/pods.json", GOOD * 100))), ("no complete tar",)),
    "gzip of something else": (_file("a.tgz", b"\x1f\x8b" + b"nonsense" * 100), ("no complete tar",)),
    "a cut gzip of one file": (
        _file("a.json.gz", gzip.compress(GOOD + str([*range(90_000)]).encode())[:-9]),
        ("no complete gzip file",),
    ),
    "zstd": (_file("b.tar.zst", b"\x28\xb5\x2f\xfd" + b"x" * 99), ("compressed by zstd", "unpack it: zstd -d ")),
    "xz": (_file("b.tar.xz", lzma.compress(GOOD)), ("compressed by xz", "unpack it: xz -dk ")),
    "zip of something else": (_file("a.zip", b"PK\x03\x04" + b"nonsense" * 100), ("no complete zip",)),
    "a path out of the archive": (_tar(_member("../../etc/passwd")), ("leaves the archive",)),
    "an absolute path": (_tar(_member("/etc/passwd")), ("leaves the archive",)),
    "a link in an archive": (
        _tar(_member("b/cluster/pods.json", b"", type=tarfile.SYMTYPE, linkname="/etc/passwd")),
        ("is a link",),
    ),
    "a device in an archive": (_tar(_member("b/cluster/pods.json", b"", type=tarfile.CHRTYPE)), ("no regular file",)),
    "too many members": (_many, ("more than 100000 files",)),
    "an archive that unpacks to 1 GB": (_gigabyte, ("b.tgz: is no complete tar archive",)),
    "a path out of a zip": (_zip("../x"), ("leaves the archive",)),
    "a link in a zip": (_zip("b/cluster/pods.json", b"/etc/passwd", 0o120777), ("is a link",)),
    "a zip that unpacks to 1 GB": (
        _zip("b/cluster/pods.json", b"\0" * (300 * 1024**2)),
        ("cluster/pods.json: is not text",),
    ),
    "an archive of something else": (_tar(_member("b/readme.md")), ("holds none of",)),
}


@pytest.mark.parametrize(("make", "says"), CASES.values(), ids=CASES)
def test_bad_input_ends_in_one_clear_line(make: Make, says: tuple[str, ...], tmp_path: Path) -> None:
    refused(why(make(tmp_path)), *says)


def test_a_tar_whose_header_asks_for_a_gigabyte_is_refused(tmp_path: Path) -> None:
    info = tarfile.TarInfo("x")
    info.type, info.size = tarfile.XHDTYPE, GIB
    (tmp_path / "b.tar").write_bytes(info.tobuf() + b"\0" * 2048)
    refused(why(tmp_path / "b.tar"), "b.tar")


def test_a_link_in_a_folder_is_refused(tmp_path: Path) -> None:
    (tmp_path / "cluster").mkdir()
    (tmp_path / "cluster" / "pods.json").symlink_to("/etc/passwd")
    refused(why(tmp_path), "is a link")


def test_a_pipe_does_not_hold_the_command_up(tmp_path: Path) -> None:
    import os

    os.mkfifo(tmp_path / "pipe")
    refused(why(tmp_path / "pipe"), "is no regular file")


def test_endless_standard_input_is_bounded() -> None:
    with Path("/dev/zero").open("rb") as zero:
        command = [sys.executable, "-m", "lockgate.cli.main", "why", "x", "--from", "-"]

        def limit() -> None:
            resource.setrlimit(resource.RLIMIT_AS, (GIB, GIB))

        result = subprocess.run(command, stdin=zero, capture_output=True, preexec_fn=limit, timeout=20, check=False)
    refused(result, "standard input")


def test_a_target_that_is_not_in_the_files_gets_near_names(tmp_path: Path) -> None:
    refused(
        why(_file("a.json", POD.replace(b'"x"', b'"train-1"'))(tmp_path), target="pod/trian-1"), "did you mean train-1?"
    )
