"""`what-if` on recorded bundles."""

import json
from pathlib import Path

import pytest

from lockgate.cli.main import main

BUNDLES = Path(__file__).parents[1] / "bundles"
HEALTHY = ("--from", str(BUNDLES / "healthy.tgz"))


def test_before_and_after_and_who_moves(capsys: pytest.CaptureFixture[str]) -> None:
    code = main(["what-if", "--cordon", "node-a", "--replicas", "node-b=4", *HEALTHY])
    lines = capsys.readouterr().out.splitlines()
    assert code == 0
    assert lines[0].split() == ["RESOURCE", "SLOTS", "REQUESTED", "HEADROOM", "LOCKED", "LARGEST"]
    assert lines[1].split("  ")[0] == "nvidia.com/gpu"
    assert "4 -> 10" in lines[1]
    assert "0 -> 2" in lines[1]
    assert max(map(len, lines)) <= 100


def test_slots_that_would_share_a_gpu_are_said_to_guarantee_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    main(["what-if", "--replicas", "node-b=4", *HEALTHY])
    assert "node-b: 4 slots share one GPU of 15 GiB: 0 is guaranteed" in capsys.readouterr().out
    for action, nodes in ((("--cordon", "whole-1"), []), (("--replicas", "whole-3=4"), [["whole-3"]])):
        main(["what-if", *action, "--from", "docs/explanation/capacity", "-o", "json"])
        assert [each["nodes"] for each in json.loads(capsys.readouterr().out)["shared"]] == nodes


def test_pods_that_would_be_lost_end_with_3(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["what-if", "--drain", "node-b", *HEALTHY]) == 3
    assert "Would be lost: no controller makes them again (1)" in capsys.readouterr().out


def test_json(capsys: pytest.CaptureFixture[str]) -> None:
    main(["what-if", "--drain", "node-b", "-o", "json", *HEALTHY])
    seen = json.loads(capsys.readouterr().out)
    assert (seen["kind"], [fate["source"] for fate in seen["lost"]]) == ("WhatIf", ["node-b"])


def test_without_an_action_or_node_it_ends_with_2(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["what-if", *HEALTHY]) == 2
    assert main(["what-if", "--drain", "nowhere", *HEALTHY]) == 2
    assert capsys.readouterr().err.count("\n") == 2


@pytest.mark.parametrize("arguments", [["--replicas", "a"], ["--replicas", "a=x"], ["--lose-gpu", "a:0"]])
def test_bad_usage_ends_with_2(arguments: list[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        main(["what-if", *arguments, *HEALTHY])
    assert ended.value.code == 2
