"""What the verbs print as JSON fits its published schema, validated by a library; and a schema refuses the rest."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import fastjsonschema
import pytest

from lockgate.cli.main import main
from tests.cli.test_smoke import Estate, node, smoke
from tests.cli.test_why import BUNDLES, run

REFERENCE = Path(__file__).parents[2] / "docs/reference"
Check = Callable[[Any], Any]


def schema(kind: str) -> Check:
    """The published schema of a kind as a check that raises."""
    document = json.loads((REFERENCE / f"{kind}.v1alpha1.schema.json").read_text())
    compiled: Check = fastjsonschema.compile(document)
    return compiled


FROM = ("--from", str(BUNDLES / "unhealthy.tgz"))
ASKS = [
    ("diagnosis", ("why", *FROM)),
    ("diagnosis", ("why", "node/gpu-a", *FROM)),
    ("diagnosis", ("why", "namespace/default", *FROM)),
    ("survey", ("survey", *FROM)),
    ("survey", ("survey", "--from", str(BUNDLES / "all-held.tgz"))),
    ("capacity", ("capacity", *FROM)),
    ("fit", ("fit", "--gpus", "2", "--copies", "9", *FROM)),
    ("what-if", ("what-if", "--drain", "gpu-a", "--replicas", "gpu-b=4", *FROM)),
    ("lint", ("lint", str(BUNDLES / "dropin-trap.tgz"), "--node", "gpu-b")),
    ("bundle-contents", ("bundle", "show", str(BUNDLES / "unhealthy.tgz"))),
    ("bundle-comparison", ("bundle", "diff", str(BUNDLES / "cordon.tgz"), str(BUNDLES / "unhealthy.tgz"))),
    ("explanation-list", ("explain",)),
    ("explanation-list", ("explain", "capacity", *FROM)),
]


@pytest.mark.parametrize(("kind", "command"), ASKS, ids=[" ".join(Path(w).stem for w in c) for _, c in ASKS])
def test_a_report_fits_its_schema(kind: str, command: tuple[str, ...]) -> None:
    printed = run(*command, "-o", "json")
    assert printed.stderr == ""
    document = json.loads(printed.stdout)
    assert document["apiVersion"] == "lockgate.dev/v1alpha1"
    schema(kind)(document)


def test_smoke_fits_its_schema(tmp_path: Path) -> None:
    estate = Estate(node("gpu-a"), node("gpu-b"), node("gpu-c", ready="False"), gpu_b="no handler")
    _, out, _ = smoke(tmp_path, estate, "-o", "json")
    document = json.loads(out)
    assert {r["result"] for r in document["nodes"]} == {"passed", "failed", "skipped"}
    schema("smoke")(document)


@pytest.mark.parametrize(("kind", "command"), ASKS[2:12:2])
def test_a_schema_refuses_what_does_not_fit(kind: str, command: tuple[str, ...]) -> None:
    document = json.loads(run(*command, "-o", "json").stdout)
    for broken in (
        document | {"extra": 1},
        document | {"kind": 3},
        {k: v for k, v in document.items() if k != "apiVersion"},
    ):
        with pytest.raises(fastjsonschema.JsonSchemaException):
            schema(kind)(broken)


@pytest.mark.parametrize(("kind", "command"), ASKS[:12:3])
def test_the_same_facts_give_the_same_report(kind: str, command: tuple[str, ...]) -> None:
    def undated(text: str) -> Any:
        document = json.loads(text)
        document.pop("generatedAt", None)
        document.get("diagnosis", {}).pop("generatedAt", None)
        return json.dumps(document)

    assert undated(run(*command, "-o", "json").stdout) == undated(run(*command, "-o", "json").stdout)


OF_A_BUNDLE = {
    "diagnosis": ("why", "--from"),
    "survey": ("survey", "--from"),
    "capacity": ("capacity", "--from"),
    "fit": ("fit", "--gpus", "2", "--from"),
    "bundle-contents": ("bundle", "show"),
    "explanation-list": ("explain", "capacity", "--from"),
}


@pytest.mark.parametrize("kind", OF_A_BUNDLE)
def test_what_is_said_of_every_recorded_bundle_fits_its_schema(kind: str, capsys: pytest.CaptureFixture[str]) -> None:
    check = schema(kind)
    bundles = sorted(BUNDLES.glob("*.tgz"))
    assert bundles
    for bundle in bundles:
        main([*OF_A_BUNDLE[kind], str(bundle), "-o", "json"])
        check(json.loads(capsys.readouterr().out))
