"""NVIDIA's bug report as a source of what a node says: sections as nvidia-bug-report.sh 535.261 writes them."""

import gzip
import io
import json
from pathlib import Path

import pytest
import yaml

from lockgate.collect.bug_report import MAX_REPORT, parse_bug_report
from lockgate.collect.errors import InputError
from lockgate.collect.offline import from_path
from lockgate.diagnosis.engine import diagnose
from lockgate.diagnosis.target import parse_target
from lockgate.model.facts import API_SECTIONS, Missing
from lockgate.rules import all_rules
from tests.rules.world import objects
from tests.unpacking import unpack

BORDER = "_" * 44
LS = "*** ls: -r--r--r-- 1 root root 0 2026-11-29 20:30:54.328148632 +0000"
SECTIONS = (
    "Start of NVIDIA bug report log file.  Please include this file\n",
    f"*** /proc/modules\n{LS} /proc/modules\nnouveau 2236416 0 - Live 0x0000000000000000\n",
    "*** /var/log/nvidia-installer.log does not exist\n",
    f"*** /proc/driver/nvidia/./version\n{LS} /proc/driver/nvidia/./version\nNVRM version: NVIDIA UNIX 595.91.07\n",
    "dmesg:\n\n[   12.0] NVRM: The NVIDIA probe routine was not called for 2 device(s).\n",
    "/usr/bin/nvidia-smi --query\n\n==============NVSMI LOG==============\n    Fabric\n        State : In Progress\n"
    "\n/usr/bin/nvidia-smi --query --unit\n\nUnit data\n",
    f"*** /var/log/fabricmanager.log\n{LS} /var/log/fabricmanager.log\nstarting\n",
)
# The script compresses section by section.
REPORT = b"".join(gzip.compress(f"{BORDER}\n\n{section}\n".encode()) for section in SECTIONS)
FACTS = """
operator: {nodes: [gpu-a], stuck: {gpu-a: driver}}
nodes: {gpu-a: {status: {capacity: {nvidia.com/gpu: null}, allocatable: {nvidia.com/gpu: null}}}}
"""


def test_it_tells_modules_kernel_log_driver_and_fabric() -> None:
    report = parse_bug_report("report", REPORT)
    assert report.files == {
        "/proc/modules": "nouveau 2236416 0 - Live 0x0000000000000000",
        "/proc/driver/nvidia/version": "NVRM version: NVIDIA UNIX 595.91.07",
    }
    assert set(report.outputs) == {"dmesg", "nvidia-smi-q", "fabricmanager.log"}
    assert report.outputs["dmesg"].endswith("was not called for 2 device(s).")
    assert report.outputs["nvidia-smi-q"].endswith("State : In Progress")


def test_a_report_that_was_cut_off_tells_what_is_there() -> None:
    cut = REPORT[: len(REPORT) // 2]
    assert "/proc/modules" in parse_bug_report("report", cut).files


def test_of_a_long_section_the_end_is_kept_and_the_next_one_is_found() -> None:
    long = f"{BORDER}\n\ndmesg:\n" + "[ 1.0] a line of the kernel\n" * 300_000 + "[ 2.0] the last\n"
    report = parse_bug_report("report", gzip.compress(long.encode(), 1) + REPORT)
    assert report.files["/proc/modules"].startswith("nouveau")
    plain = parse_bug_report("report", long.encode())
    assert plain.outputs["dmesg"].endswith("[ 2.0] the last")
    assert len(plain.outputs["dmesg"]) <= 1 << 20


def test_what_is_no_report_tells_nothing() -> None:
    assert parse_bug_report("report", b"\x1f\x8bnonsense").outputs == {}
    assert parse_bug_report("report", b"").files == {}


def test_a_bomb_is_refused() -> None:
    packed = io.BytesIO()
    with gzip.GzipFile(fileobj=packed, mode="wb", compresslevel=9) as file:
        for _ in range(MAX_REPORT // (1 << 20) + 1):
            file.write(bytes(1 << 20))
    with pytest.raises(InputError, match="unpacks to more than"):
        parse_bug_report("report", packed.getvalue())


def test_a_nodes_folder_may_hold_one(tmp_path: Path) -> None:
    made = objects(yaml.safe_load(FACTS))
    (tmp_path / "cluster").mkdir()
    for section in API_SECTIONS:
        (tmp_path / f"cluster/{section.plural}.json").write_text(json.dumps({"items": made[section.section]}))
    (tmp_path / "nodes/gpu-a").mkdir(parents=True)
    (tmp_path / "nodes/gpu-a/nvidia-bug-report.log.gz").write_bytes(REPORT)
    answer = diagnose(from_path(str(tmp_path), io.BytesIO()), parse_target("node/gpu-a"), all_rules())
    assert answer.findings[0].id == "driver/nouveau"


def test_those_of_a_must_gather_folder_are_read(tmp_path: Path) -> None:
    unpack(Path(__file__).parent / "must_gather/unhealthy.tgz", tmp_path)
    folder = next(path.parent for path in tmp_path.rglob("must-gather.log"))
    (folder / "nvidia-bug-report_gpu-a.log.gz").write_bytes(REPORT)
    read = from_path(str(folder), io.BytesIO()).node_files
    assert not isinstance(read, Missing)
    assert [(f.node, "dmesg" in f.outputs) for f in read] == [("gpu-a", True)]
