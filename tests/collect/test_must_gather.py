"""NVIDIA's must-gather folder as input: its texts were written by a real kubectl 1.37 from two recorded clusters."""

import io
import random
from pathlib import Path

import pytest

from lockgate.collect.errors import InputError
from lockgate.collect.offline import from_path
from lockgate.diagnosis.engine import diagnose
from lockgate.diagnosis.target import TargetMissingError, parse_target
from lockgate.model.facts import Missing, Nodes, Snapshot
from lockgate.model.finding import Verdict
from lockgate.rules import all_rules
from tests.unpacking import unpack

HERE = Path(__file__).parent
BUNDLES = HERE.parent / "bundles"


def read(path: Path) -> Snapshot:
    return from_path(str(path), io.BytesIO())


def nodes_of(snapshot: Snapshot) -> Nodes:
    assert not isinstance(snapshot.nodes, Missing)
    return snapshot.nodes


@pytest.mark.parametrize("name", ["unhealthy", "taint"])
def test_described_nodes_are_the_nodes_as_objects(name: str) -> None:
    described = nodes_of(read(HERE / f"must_gather/{name}.tgz"))
    objects = nodes_of(read(BUNDLES / f"{name}.tgz"))
    assert [n.name for n in described] == [n.name for n in objects]
    for told, real in zip(described, objects, strict=True):
        assert told.metadata.labels == real.metadata.labels
        assert told.status.capacity == real.status.capacity
        assert told.status.allocatable == real.status.allocatable
        assert told.spec == real.spec
        assert told.status.node_info.kubelet_version == real.status.node_info.kubelet_version
        assert [(c.type, c.status, c.reason) for c in told.status.conditions] == [
            (c.type, c.status, c.reason) for c in real.status.conditions
        ]


@pytest.mark.parametrize(
    ("name", "ask", "causes"),
    [
        ("unhealthy", "", ["xid/off-the-bus"]),
        ("unhealthy", "node/gpu-a", ["xid/off-the-bus"]),
        ("unhealthy", "operand/device-plugin", []),
        ("taint", "", ["operands/left-out"]),
        ("taint", "operand/container-toolkit", ["operands/left-out"]),
    ],
)
def test_why_answers_from_it(name: str, ask: str, causes: list[str]) -> None:
    answer = diagnose(read(HERE / f"must_gather/{name}.tgz"), parse_target(ask), all_rules())
    assert [f.id for f in answer.findings if not f.follows] == causes


def test_what_it_does_not_hold_is_not_known() -> None:
    snapshot = read(HERE / "must_gather/unhealthy.tgz")
    assert isinstance(snapshot.pods, Missing)
    assert "only the operator's pods" in snapshot.pods.reason
    assert isinstance(snapshot.runtime_classes, Missing)


def test_logs_are_told_apart_by_container_and_lose_their_moments() -> None:
    logs = read(HERE / "must_gather/unhealthy.tgz").logs
    assert not isinstance(logs, Missing)
    assert {log.namespace for log in logs} == {"gpu-operator"}
    assert {log.container for log in logs} >= {"nvidia-device-plugin"}
    assert not [log for log in logs if log.text.startswith("2026-11-29T22:00:00.000000000Z")]


def unpacked(folder: Path, name: str = "unhealthy") -> Path:
    unpack(HERE / f"must_gather/{name}.tgz", folder)
    return next(folder.iterdir())


def test_an_unpacked_folder_is_read_as_well_and_empty_files_are_not_known(tmp_path: Path) -> None:
    folder = unpacked(tmp_path)
    (folder / "gpu_operand_ds.yaml").write_text("")
    snapshot = read(folder)
    assert isinstance(snapshot.daemon_sets, Missing)
    assert len(nodes_of(snapshot)) == 3
    answer = diagnose(snapshot, parse_target("node/gpu-a"), all_rules())
    assert (answer.verdict, answer.exit_code) == (Verdict.BROKEN, 3)


def test_a_policy_that_is_marked_missing_is_known_to_be_missing(tmp_path: Path) -> None:
    folder = unpacked(tmp_path)
    (folder / "cluster_policy.yaml").unlink()
    (folder / "cluster_policy.missing").write_text("")
    assert read(folder).cluster_policies == ()


def test_what_nvidia_smi_printed_on_a_node_is_its_output(tmp_path: Path) -> None:
    folder = unpacked(tmp_path)
    said = "Warning: MIG mode is in pending enable state for GPU 00000000:17:00.0"
    usage = f"# nvidia-smi output from gpu-a\n{said}\n# lsof from gpu-a\n{'x' * 3_000_000}\n"
    (folder / "gpu_device_usage_gpu-a.log").write_text(usage)
    facts = read(folder)
    assert not isinstance(facts.node_files, Missing)
    assert [(of.node, of.outputs) for of in facts.node_files] == [("gpu-a", {"nvidia-smi": said})]


def test_a_list_in_it_that_was_half_written_counts_as_not_read(tmp_path: Path) -> None:
    folder = unpacked(tmp_path)
    for name in ("gpu_operand_ds.yaml", "gpu_operand_pods.yaml"):
        text = (folder / name).read_text()
        (folder / name).write_text(text[: text.rindex("\n  status:")])
    facts, whole = read(folder), read(HERE / "must_gather/unhealthy.tgz")
    assert isinstance(facts.daemon_sets, Missing)
    assert "gpu_operand_ds.yaml holds a part of the list: the file ends within it" in facts.daemon_sets.reason
    assert len(facts.known_pods) == len(whole.known_pods) - 1
    assert [part.section for part in facts.left_out] == ["pods"]


def test_a_broken_file_in_it_is_named(tmp_path: Path) -> None:
    folder = unpacked(tmp_path)
    (folder / "gpu_operand_pods.yaml").write_text("apiVersion: [")
    with pytest.raises(InputError, match=r"gpu_operand_pods\.yaml"):
        read(folder)


def test_damaged_files_end_in_an_answer_or_in_one_clear_line(tmp_path: Path) -> None:
    folder, chance, rules = unpacked(tmp_path), random.Random(5), all_rules()
    (folder / "gpu_operand_pods.yaml").unlink()  # large: YAML is damaged enough in the other files
    whole = {path: path.read_bytes() for path in sorted(folder.iterdir()) if path.stat().st_size}
    for _ in range(60):
        path = chance.choice(list(whole))
        path.write_bytes(damaged(whole[path], chance))
        try:
            diagnose(read(folder), parse_target(chance.choice(["", "node/gpu-a", "operand/device-plugin"])), rules)
        except (InputError, TargetMissingError) as error:
            assert "\n" not in str(error)
        path.write_bytes(whole[path])


def damaged(data: bytes, chance: random.Random) -> bytes:
    """Some bytes changed, taken out or repeated."""
    found = bytearray(data)
    for _ in range(chance.randint(1, 30)):
        at = chance.randrange(len(found)) if found else 0
        match chance.randrange(3):
            case 0:
                found[at : at + 1] = bytes([chance.randrange(256)])
            case 1:
                del found[at : at + chance.randint(1, 40)]
            case _:
                found[at:at] = found[at : at + chance.randint(1, 60)]
    return bytes(found)
