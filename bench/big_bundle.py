"""Long inputs through the command line: 1,000,000 events in each form, and archives of 2 GB; time and peak memory.

One run, `python -m bench.big_bundle`: each command a process of its own, its CPU seconds and peak memory as the kernel
counts them. Goals: an answer, in part where it has to be, or one clear line, under 500 MB and in tens of seconds.
`--events N` makes the lists shorter; the name of an input runs only that one.
"""

import argparse
import gzip
import io
import random
import sys
import tarfile
import tempfile
import zipfile
from collections.abc import Callable, Iterator
from itertools import chain
from pathlib import Path
from typing import Final

from bench.process import run

MOST_MB, MOST_SECONDS = 500, 120
EVENTS: Final = 1_000_000
MIB: Final = 1 << 20
_GPU = str(Path(sys.executable).with_name("kubectl-gpu"))
_FULL: Final = "0/2 nodes are available: 2 Insufficient nvidia.com/gpu."
_POD: Final = (
    b'{"apiVersion":"v1","kind":"Pod","metadata":{"name":"late","namespace":"default"},"spec":{"containers":[{"name":"m",'
    b'"resources":{"limits":{"nvidia.com/gpu":"1"}}}]},"status":{"phase":"Pending","conditions":[{"type":"PodScheduled",'
    b'"status":"False","reason":"Unschedulable","message":"%b"}]}}' % _FULL.encode()
)
_NODE: Final = (
    b'{"apiVersion":"v1","kind":"Node","metadata":{"name":"gpu-a","labels":{"nvidia.com/gpu.present":"true"}},"status":'
    b'{"capacity":{"nvidia.com/gpu":"0"},"allocatable":{"nvidia.com/gpu":"0"},"conditions":[{"type":"Ready","status":'
    b'"True"}]}}'
)
_MANAGED: Final = b",".join(b'"f:field-%d":{"f:value":{},".":{}}' % n for n in range(16))


def events(count: int) -> Iterator[bytes]:
    """Events of about 1 KB each, every tenth a warning; one of a thousand is about the pod `late`."""
    for number in range(count):
        late = number % 1000 == 7
        yield (
            b'{"apiVersion":"v1","kind":"Event","metadata":{"name":"web-%d.%016x","namespace":"default","managedFields":'
            b'[{"manager":"kubelet","operation":"Update","apiVersion":"v1","fieldsV1":{%b}}]},"involvedObject":{"kind":'
            b'"Pod","namespace":"default","name":"%b"},"type":"%b","reason":"%b","message":"%b","lastTimestamp":'
            b'"2026-11-29T%02d:%02d:%02dZ","count":%d,"source":{"component":"kubelet","host":"node-%d"}}'
        ) % (
            *(number, number, _MANAGED, b"late" if late else b"web-%d" % number),
            *(
                (b"Warning", b"FailedScheduling", _FULL.encode())
                if number % 10 == 7
                else (b"Normal", b"Pulled", b"there")
            ),
            *(number // 3600 % 24, number // 60 % 60, number % 60, number % 900, number % 5000),
        )


def events_json(path: Path, count: int, before: bytes = b"") -> Path:
    """A List of them, be it behind other objects."""
    with path.open("wb") as file:
        file.write(b'{"apiVersion":"v1","items":[' + before)
        for number, each in enumerate(events(count)):
            file.write((b"," if number or before else b"") + each)
        file.write(b'],"kind":"List"}')
    return path


def events_text(path: Path, count: int) -> Path:
    """As `kubectl get events -A` shows them."""
    with path.open("w") as file:
        file.write("NAMESPACE   LAST SEEN   TYPE      REASON             OBJECT             MESSAGE\n")
        for number in range(count):
            name, kind = ("late", "Warning") if number % 1000 == 7 else (f"web-{number}", "Normal")
            reason, text = (
                ("FailedScheduling", _FULL) if kind == "Warning" else ("Pulled", 'image "web:1" is there already')
            )
            file.write(f"default     {number % 60}m         {kind:<9} {reason:<18} pod/{name:<14} {text}\n")
    return path


# --- the inputs


def _file(place: Path, count: int) -> Path:
    return events_json(place / "all.json", count, _POD + b"," + _NODE)


def _folder(place: Path, count: int) -> Path:
    cluster = place / "folder/cluster"
    cluster.mkdir(parents=True)
    events_json(cluster / "events.json", count)
    for name, each in (("pods", _POD), ("nodes", _NODE)):
        (cluster / f"{name}.json").write_bytes(b'{"apiVersion":"v1","items":[' + each + b'],"kind":"List"}')
    return place / "folder"


def _tgz(place: Path, count: int) -> Path:
    with tarfile.open(place / "bundle.tgz", "w:gz", compresslevel=1) as tar:
        tar.add(_folder(place, count), "bundle")
    return place / "bundle.tgz"


def _zip(place: Path, count: int) -> Path:
    with zipfile.ZipFile(place / "bundle.zip", "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive:
        for path in _folder(place, count).rglob("*.json"):
            archive.write(path, f"bundle/cluster/{path.name}")
    return place / "bundle.zip"


def _text(place: Path, count: int) -> Path:
    return events_text(place / "events.txt", count)


def _utf16(place: Path, count: int) -> Path:
    """A fifth of them, as a redirect of PowerShell writes them."""
    with _file(place, count // 5).open() as read, (place / "utf16.json").open("w", encoding="utf-16") as file:
        while piece := read.read(MIB):
            file.write(piece)
    return place / "utf16.json"


def _with_members(place: Path, members: Iterator[tuple[str, int, io.RawIOBase | io.BytesIO]]) -> Path:
    with tarfile.open(place / "large.tar", "w") as tar:
        for name, size, stream in members:
            info = tarfile.TarInfo(name)
            info.size = size
            tar.addfile(info, stream)
    return place / "large.tar"


class _Noise(io.RawIOBase):
    """Bytes that no program makes smaller, as many as are asked for."""

    def __init__(self, seed: int) -> None:
        self._bytes = random.Random(seed).randbytes(MIB)

    def read(self, size: int = -1) -> bytes:  # type: ignore[explicit-override]
        return self._bytes[:size] if size <= MIB else self._bytes * (size // MIB) + self._bytes[: size % MIB]


class _Zeros(io.RawIOBase):
    def read(self, size: int = -1) -> bytes:  # type: ignore[explicit-override]
        return b"\0" * size


def _good(place: Path) -> Iterator[tuple[str, int, io.RawIOBase | io.BytesIO]]:
    for path in sorted(_folder(place, 1000).rglob("*.json")):
        data = path.read_bytes()
        yield f"bundle/cluster/{path.name}", len(data), io.BytesIO(data)


def _noise(place: Path, _count: int) -> Path:
    """2 GB that are not read, in front of what is."""
    many = ((f"bundle/core-{n}", 512 * MIB, _Noise(n)) for n in range(4))
    return _with_members(place, chain(many, _good(place)))


def _zeros(place: Path, _count: int) -> Path:
    """2 GB of zeros behind 9 MB of gzip, as logs."""
    many = ((f"bundle/logs/default/late-{n}/m.log", 512 * MIB, _Zeros()) for n in range(4))
    plain = _with_members(place, chain(many, _good(place)))
    with plain.open("rb") as read, gzip.open(place / "zeros.tgz", "wb", 1) as packed:
        while piece := read.read(MIB):
            packed.write(piece)
    return place / "zeros.tgz"


def _files(place: Path, _count: int) -> Path:
    """99,000 small files of 4,000 nodes."""
    many = (
        (f"bundle/nodes/n-{n // 25}/etc/cdi/{n % 25}.yaml", 20_000, io.BytesIO(b"# %019998d" % n))
        for n in range(99_000)
    )
    return _with_members(place, chain(many, _good(place)))


INPUTS: Final[dict[str, Callable[[Path, int], Path]]] = {
    "file": _file,
    "folder": _folder,
    "tgz": _tgz,
    "zip": _zip,
    "utf16": _utf16,
    "text": _text,
    "2GB-unread": _noise,
    "2GB-of-logs": _zeros,
    "99000-files": _files,
}
_ASKED: Final = (["why", "pod/late", "-n", "default"], ["why"], ["survey"])


def main(arguments: list[str]) -> int:
    """Measure each input and print the figures; 1 when a goal is missed."""
    options = _parser().parse_args(arguments)
    print(f"{'input':<14}{'MB':>7}  {'command':<28}{'CPU s':>8}{'peak MB':>9}{'exit':>6}")
    missed = [_measured(name, options.events) for name in INPUTS if not options.only or name in options.only]
    return int(any(missed))


def _measured(name: str, count: int) -> bool:
    missed = False
    with tempfile.TemporaryDirectory(prefix="lockgate-bench-") as folder:
        path = INPUTS[name](Path(folder), count)
        size = sum(f.stat().st_size for f in (path.rglob("*") if path.is_dir() else [path]) if f.is_file()) / MIB
        for asked in _ASKED[:1] if name == "text" else _ASKED:
            spent = run([_GPU, *asked, "--from", str(path)])
            command = " ".join(asked)
            print(
                f"{name:<14}{size:7.0f}  {command:<28}{spent.cpu:8.1f}{spent.megabytes:9.0f}{spent.code:6}", flush=True
            )
            if spent.said:
                print(f"    {spent.said.strip()[:200]}")
            missed |= spent.megabytes > MOST_MB or spent.cpu > MOST_SECONDS or spent.code not in (0, 2, 3, 4)
    return missed


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m bench.big_bundle", description=__doc__)
    parser.add_argument("only", nargs="*", metavar="INPUT", help=f"only these: {', '.join(INPUTS)}")
    parser.add_argument("--events", type=int, default=EVENTS, metavar="N", help=f"in a list (default {EVENTS})")
    return parser


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
