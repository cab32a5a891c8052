"""`capacity` on recorded bundles: what a person sees, and what a program reads."""

import csv
import io
import json
from pathlib import Path
from typing import Any

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


AMOUNT = {"nvidia.com/gpu": "4"}
NODE = {"kind": "Node", "metadata": {"name": "a"}, "status": {"capacity": AMOUNT, "allocatable": AMOUNT}}


def written(tmp_path: Path, **document: Any) -> str:
    (tmp_path / "facts.json").write_text(json.dumps({"kind": "List", "apiVersion": "v1"} | document))
    return str(tmp_path / "facts.json")


def test_without_the_pods_of_all_namespaces_what_they_request_is_unknown_and_the_rest_stands(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    file = written(tmp_path, items=[NODE])
    text = shown(capsys, "--from", file)
    assert "a                                  4       4     4         ?        ?      ?       ?\n" in text
    assert "what is requested on 1 GPU node is unknown" in " ".join(text.split())
    (row,) = json.loads(shown(capsys, "--from", file, "-o", "json"))["rows"]
    assert (row["allocatable"], row["requested"], row["headroom"], row["largest"]) == (4, None, None, None)
    assert shown(capsys, "--from", file, "-o", "csv").splitlines()[1] == "a,nvidia.com/gpu,1,4,4,4,4,,,,,,"


@pytest.mark.parametrize("form", [("--by", "namespace"), ("-o", "prometheus")])
def test_what_is_a_sum_over_pods_needs_all_of_them(
    form: tuple[str, ...], capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    assert main(["capacity", "--from", written(tmp_path, items=[NODE]), *form]) == 2
    error = capsys.readouterr().err
    assert (error.count("\n"), "pods of all namespaces are not known" in error) == (1, True)


def test_of_a_list_of_nodes_that_is_cut_each_row_stands_and_no_total(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    cut = {"continue": "x", "remainingItemCount": 7}
    file = written(tmp_path, kind="NodeList", metadata=cut, items=[NODE, {**NODE, "metadata": {"name": "b"}}])
    text = shown(capsys, "--from", file)
    assert "total" not in text
    assert "other nodes than these, and what all have together" in " ".join(text.split())
    seen = json.loads(shown(capsys, "--from", file, "-o", "json"))
    assert ([row["key"] for row in seen["rows"]], seen["total"]) == (["a", "b"], [])
    assert main(["capacity", "--from", file, "--by", "product"]) == 2
    assert "7 more follow" in capsys.readouterr().err
    assert main(["capacity", "--from", file, "-l", "pool=x"]) == 2
    assert "no node of those that are known" in capsys.readouterr().err


def test_that_no_node_has_gpus_is_said_beside_what_is_not_known(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    text = shown(capsys, "--from", written(tmp_path, items=[{"kind": "Node", "metadata": {"name": "a"}}]))
    assert text.startswith("no GPU nodes: no node that is known has a GPU resource")
    assert "description" not in text


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
