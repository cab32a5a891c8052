"""Our reading of CDI directories against the reference library's, on generated directories.

`LOCKGATE_TRUTH_CASES` and `LOCKGATE_TRUTH_SEED` choose how many and which; a mismatch prints the case.
"""

import base64
import json
import os
import random
import shutil
import subprocess
from pathlib import Path
from typing import Any

import msgspec
import pytest
from msgspec.structs import replace

from lockgate.cdi.registry import Directory, Registry, load
from lockgate.cdi.resolve import resolve
from lockgate.cdi.spec import Edits
from tests.truth.cdi.generate import Directories, Generator

pytestmark = pytest.mark.truth

CASES = int(os.environ.get("LOCKGATE_TRUTH_CASES", "600"))
SEED = int(os.environ.get("LOCKGATE_TRUTH_SEED", "1"))


@pytest.fixture(scope="module")
def reference(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The Go program over the reference library, built."""
    if not shutil.which("go"):
        pytest.skip("needs Go")
    program = tmp_path_factory.mktemp("reference") / "cdi-truth"
    command = ["go", "build", "-trimpath", "-o", str(program), "."]
    subprocess.run(command, cwd=Path(__file__).parent, env=os.environ | {"CGO_ENABLED": "0"}, check=True)
    return program


def ask(program: Path, cases: list[tuple[Directories, list[str]]]) -> list[dict[str, Any]]:
    def encoded(files: dict[str, bytes] | None) -> dict[str, str] | None:
        return None if files is None else {name: base64.b64encode(data).decode() for name, data in files.items()}

    lines = [
        json.dumps({"directories": [encoded(d) for d in directories], "names": names}) for directories, names in cases
    ]
    ended = subprocess.run([program], input="\n".join(lines).encode(), stdout=subprocess.PIPE, check=True)
    return [json.loads(line) for line in ended.stdout.splitlines()]


def ours(directories: Directories, names: list[str]) -> dict[str, Any]:
    registry = load([Directory(path=f"/ROOT/{number}", files=files) for number, files in enumerate(directories)])
    if registry.crashing:
        return {"panic": True}
    missing = [name for name in names if name not in registry.devices]
    return {
        "devices": {name: edits_of(registry, name) for name in registry.devices},
        "errors": {path: sorted(map(comparable, texts)) for path, texts in registry.troubles.items()},
        "unresolved": resolve(registry, missing).error,
    }


def edits_of(registry: Registry, name: str) -> Edits:
    edits = resolve(registry, [name]).edits
    if edits.intel_rdt and edits.intel_rdt.schemata == ():  # the program's JSON leaves empty lists out
        return replace(edits, intel_rdt=replace(edits.intel_rdt, schemata=None))
    return edits


def comparable(text: str) -> str:
    """Where our texts are our own: what is wrong with the YAML, as opposed to with what it says."""
    head, found, tail = text.partition("failed to unmarshal CDI Spec: yaml: ")
    return head + found + ("..." if found and not tail.startswith("unmarshal errors") else tail)


def theirs(answer: dict[str, Any]) -> dict[str, Any]:
    if answer["panic"]:
        return {"panic": True}
    devices = {name: msgspec.convert(edits, Edits) for name, edits in answer["devices"].items()}
    errors = {path: sorted(map(comparable, texts)) for path, texts in answer["errors"].items()}
    return {"devices": devices, "errors": errors, "unresolved": answer["unresolved"]}


def test_every_directory_is_read_as_the_reference_library_reads_it(reference: Path) -> None:
    generator = Generator(random.Random(SEED))
    cases = [generator.case() for _ in range(CASES)]
    answers = ask(reference, cases)
    assert len(answers) == CASES
    outcomes = {"devices": 0, "errors": 0, "panic": 0, "unresolved": 0}
    for number, (case, answer) in enumerate(zip(cases, answers, strict=True)):
        expected = theirs(answer)
        assert ours(*case) == expected, f"seed {SEED}, case {number}: {case}"
        outcomes = {key: count + bool(expected.get(key)) for key, count in outcomes.items()}
    assert all(outcomes.values()) or CASES < 500, f"the generator has become one-sided: {outcomes}"
