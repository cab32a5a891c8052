"""NVIDIA's `nvidia-bug-report.log.gz`: of all that it holds, what the kernel, its modules and the driver say.

The script (nvidia-bug-report.sh 535.261, as must-gather runs it in each driver pod) appends section after section, each
below a line of underscores: `*** PATH`, its `ls`, and the file; or a command, an empty line, and what it printed.
"""

import re
import zlib
from collections.abc import Iterable, Iterator
from typing import Final

import msgspec

from lockgate.collect.bounds import MAX_LOG, MIB
from lockgate.collect.decode import lenient_text
from lockgate.collect.errors import InputError
from lockgate.kit.quantity import binary_size

MAX_REPORT: Final = 256 * MIB  # unpacked
MAX_SECTION: Final = MIB  # of each end of a section
_NAME: Final = re.compile(r"nvidia-bug-report(?:_(?P<node>[^/]+?))?\.log(?:\.gz)?")
_BORDER: Final = re.compile(rb"(?m)^_{20,}\n")
_FILE: Final = re.compile(r"\*\*\* (?P<path>/\S+)\n\*\*\* ls: .*\n")
_QUERY: Final = re.compile(r"(?m)^\S*nvidia-smi --query$\n")
_NEXT: Final = re.compile(r"(?m)^\S*nvidia-smi (?:--query --unit|nvlink) ?")
_FILES: Final = ("/proc/modules", "/proc/driver/nvidia/version")
_OUTPUTS: Final = {"/var/log/fabricmanager.log": "fabricmanager.log"}


class BugReport(msgspec.Struct, frozen=True):
    """Files of the node by path, and outputs of commands by name, as a node's folder would have them."""

    files: dict[str, str]
    outputs: dict[str, str]


def report_of(name: str) -> re.Match[str] | None:
    """Whether a file's name is that of a report; `node` is the node in it, None where it has none."""
    return _NAME.fullmatch(name)


def parse_bug_report(name: str, data: bytes) -> BugReport:
    """What a report tells. One that was cut off tells what is there; InputError where it unpacks to too much."""
    files: dict[str, str] = {}
    outputs: dict[str, str] = {}
    for section in map(lenient_text, _sections(_chunks(name, data))):
        if found := _FILE.match(section.lstrip()):
            path, text = found["path"].replace("/./", "/"), _tail(section.lstrip()[found.end() :])
            if path in _FILES:
                files[path] = text
            elif path in _OUTPUTS:
                outputs[_OUTPUTS[path]] = text
        elif section.lstrip().startswith("dmesg:"):
            outputs["dmesg"] = _tail(section.lstrip().removeprefix("dmesg:"))
        elif query := _QUERY.search(section):
            outputs["nvidia-smi-q"] = _tail(_NEXT.split(section[query.end() :])[0])
    return BugReport(files, outputs)


def _tail(text: str) -> str:
    return text.strip("\n")[-MAX_LOG:]


def _sections(chunks: Iterable[bytes]) -> Iterator[bytes]:
    """What stands between two borders; of a long one its beginning and its end."""
    left = b""
    for chunk in chunks:
        *whole, left = _BORDER.split(left + chunk)
        yield from whole
        if len(left) > 3 * MAX_SECTION:
            left = left[:MAX_SECTION] + left[-MAX_SECTION:]
    yield left


def _chunks(name: str, data: bytes) -> Iterator[bytes]:
    """The script compresses each section by itself; where one is broken or cut off, what came before counts."""
    if data[:2] != b"\x1f\x8b":
        yield from (data[at : at + MIB] for at in range(0, len(data), MIB))
        return
    seen = 0
    while data:
        member = zlib.decompressobj(wbits=31)
        try:
            while data and not member.eof:
                chunk = member.decompress(data, MIB)
                data, seen = member.unconsumed_tail, seen + len(chunk)
                if seen > MAX_REPORT:
                    raise InputError(f"{name}: unpacks to more than {binary_size(MAX_REPORT)}")
                yield chunk
        except zlib.error:
            return
        data = member.unused_data
