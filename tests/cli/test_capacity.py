"""`capacity` on recorded bundles: what a person sees, and what a program reads."""

import csv
import io
import json
from pathlib import Path

import pytest

from lockgate.cli.main import main

BUNDLES = Path(__file__).parents[1] / "bundles"


def shown(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    assert main(["capacity", *arguments]) == 0
    return capsys.readouterr().out


def test_a_table_with_a_bar_a_total_and_who_waits(capsys: pytest.CaptureFixture[str]) -> None:
    lines = shown(capsys, "--from", str(BUNDLES / "all-held.tgz")).splitlines()
    assert lines[0] == "nvidia.com/gpu  15360 MiB guaranteed a slot"
    assert lines[1].split() == ["NODE", "PHYSICAL", "HEALTHY", "SLOTS", "REQUESTED", "HEADROOM", "LOCKED", "LARGEST"]
    assert lines[2].split() == ["node-a", "2", "2", "2", "2", "0", "0", "0", "█" * 15]
    assert lines[4].split()[:6] == ["total", "4", "4", "4", "4", "0"]
    assert "Waiting: 1 pod asks for 1 nvidia.com/gpu; no node has one left" in lines


@pytest.mark.parametrize("bundle", sorted(BUNDLES.glob("*.tgz")), ids=lambda path: path.stem)
@pytest.mark.parametrize("by", ["node", "product", "pool", "namespace"])
def test_no_line_is_wider_than_a_terminal_of_100_columns(
    capsys: pytest.CaptureFixture[str], bundle: Path, by: str
) -> None:
    assert max(map(len, shown(capsys, "--from", str(bundle), "--by", by).splitlines())) <= 100


def test_json_has_rows_totals_and_what_was_not_known(capsys: pytest.CaptureFixture[str]) -> None:
    seen = json.loads(shown(capsys, "--from", str(BUNDLES / "healthy.tgz"), "--by", "product", "-o", "json"))
    assert (seen["apiVersion"], seen["kind"], seen["by"]) == ("lockgate.dev/v1alpha1", "Capacity", "product")
    (row,) = seen["rows"]
    assert (row["key"], row["capacity"], row["requested"], row["guaranteedMib"]) == ("Tesla-T4", 4, 1, 15360)
    assert seen["unknown"]


def test_csv_and_markdown_hold_the_same_cells(capsys: pytest.CaptureFixture[str]) -> None:
    source = ("--from", str(BUNDLES / "healthy.tgz"))
    rows = list(csv.DictReader(io.StringIO(shown(capsys, *source, "-o", "csv"))))
    assert [(row["node"], row["headroom"], row["largest"]) for row in rows] == [
        ("node-a", "2", "2"),
        ("node-b", "1", "1"),
    ]
    header, rule, *lines = shown(capsys, *source, "-o", "markdown").splitlines()
    assert header.startswith("| node | resource |")
    assert set(rule) <= set("|- ")
    assert [line.split(" | ")[0] for line in lines] == ["| node-a", "| node-b"]


def test_without_the_pods_of_all_namespaces_no_capacity_is_told(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    nodes = {"kind": "List", "items": [{"kind": "Node", "metadata": {"name": "a"}}]}
    file = tmp_path / "nodes.json"
    file.write_text(json.dumps(nodes))
    assert main(["capacity", "--from", str(file)]) == 2
    error = capsys.readouterr().err
    assert error.count("\n") == 1
    assert "pods of all namespaces are not known" in error


def test_a_missing_file_is_one_line_and_exit_2(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["capacity", "--from", "/nowhere"]) == 2
    assert capsys.readouterr().err.count("\n") == 1


def test_files_are_not_watched(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["capacity", "--watch", "--from", str(BUNDLES / "healthy.tgz")]) == 2
    assert "files do not change" in capsys.readouterr().err


@pytest.mark.parametrize("interval", ["0", "soon", "nan"])
def test_an_interval_that_is_none_ends_with_2(interval: str) -> None:
    with pytest.raises(SystemExit) as ended:
        main(["capacity", "--watch", interval])
    assert ended.value.code == 2
