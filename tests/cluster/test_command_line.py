"""`python -m tests.cluster` says plainly what it cannot do."""

import argparse
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.cluster import Cluster, Node
from tests.cluster.__main__ import parse_node
from tests.cluster.repository import REPOSITORY


def test_a_machine_without_go_and_gcc_is_told_so_and_the_status_is_2(tmp_path: Path) -> None:
    environment = os.environ | {"PATH": str(tmp_path), "XDG_CACHE_HOME": str(tmp_path / "cache")}
    command = [sys.executable, "-m", "tests.cluster", "build"]
    done = subprocess.run(command, cwd=REPOSITORY, env=environment, capture_output=True, text=True)
    assert done.returncode == 2
    assert "Go 1.26 or newer" in done.stderr
    assert "Traceback" not in done.stderr
    assert not (tmp_path / "cache").exists()


def test_a_node_is_a_name_with_its_choices() -> None:
    assert parse_node("a") == Node("a")
    assert parse_node("a,containerd=1.7,gpus=2xT4") == Node("a", containerd="1.7", gpus="2xT4")


@pytest.mark.parametrize("text", ["a,containerd=9", "a,cpus=4", "a,containerd"])
def test_a_choice_that_there_is_not_is_refused_with_those_there_are(text: str) -> None:
    with pytest.raises(argparse.ArgumentTypeError, match=r"containerd=1\.7\|2\.1\|2\.4"):
        parse_node(text)


@pytest.mark.parametrize(
    ("node", "told"),
    [
        (Node("a", containerd="9"), r'node a: no containerd "9", there is 1\.7, 2\.1, 2\.4'),
        (Node("A_b"), 'node "A_b": expected up to 20 lower-case letters'),
        (Node("a", gpus="2xB9000"), "no board is called 'B9000'"),
    ],
)
def test_a_cluster_refuses_a_node_before_anything_starts(node: Node, told: str) -> None:
    with pytest.raises(ValueError, match=told):
        Cluster([node])
