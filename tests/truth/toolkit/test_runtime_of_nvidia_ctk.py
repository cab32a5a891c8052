"""What `nvidia-ctk runtime configure` makes of generated containerd configurations, against what we make of them.

Judged by what each release loads of the files. nvidia-ctk reads the node's file, as by default, or asks the node's own
containerd for a dump, as NVIDIA's toolkit does. `LOCKGATE_TRUTH_CASES` chooses how many configurations.
"""

import os
import shutil
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from lockgate.containerd import FAMILIES, Release, Table
from tests.truth.containerd import grammar
from tests.truth.containerd.oracle import Binary
from tests.truth.containerd.programs import ready
from tests.truth.toolkit import nvidia_ctk
from tests.truth.toolkit.explained import rows
from tests.truth.toolkit.runtime_differences import DROP_IN, differences

pytestmark = [
    pytest.mark.truth,
    pytest.mark.skipif(os.getuid() != 0, reason="only root may change its root"),
    pytest.mark.skipif(shutil.which("go") is None or shutil.which("gcc") is None, reason="needs Go and gcc"),
]

CASES = int(os.environ.get("LOCKGATE_TRUTH_CASES", "300"))
RELEASES = tuple(Release.parse(family.since) for family in FAMILIES)
CONFIGURE = ("runtime", "configure", "--runtime=containerd", "--cdi.enabled")
SEEN: set[str] = set()


@dataclass
class Node:
    """A folder as a node's root; `containerds` are the programs in it, by the real ones that they are copies of."""

    root: Path
    containerds: dict[Binary, str] = field(default_factory=dict)

    def hold(self, files: dict[str, str]) -> None:
        """Have these files below /etc/containerd, and no others."""
        shutil.rmtree(self.root / "etc", ignore_errors=True)
        (self.root / "etc/containerd/conf.d").mkdir(parents=True)
        for path, text in files.items():
            (self.root / path.lstrip("/")).parent.mkdir(parents=True, exist_ok=True)
            (self.root / path.lstrip("/")).write_bytes(text.encode())

    def configured(self, files: dict[str, str], *words: str) -> dict[str, str] | None:
        """The files after nvidia-ctk, None where it ended with an error."""
        self.hold(files)
        try:
            nvidia_ctk.run(self.root, *CONFIGURE, *words)
        except nvidia_ctk.CtkError:
            return None
        found = (path for path in (self.root / "etc").rglob("*") if path.is_file())
        return {f"/{path.relative_to(self.root)}": path.read_bytes().decode() for path in found}


@pytest.fixture(scope="module")
def node() -> Iterator[Node]:
    with tempfile.TemporaryDirectory(prefix="n-") as folder:
        made = Node(Path(folder))
        nvidia_ctk.install(nvidia_ctk.ready(), made.root)
        (made.root / "dev").mkdir()
        os.mknod(made.root / "dev/null", 0o20666, os.makedev(1, 3))  # Go opens it for the programs that it starts
        for binary in ready(build=False):
            made.containerds[binary] = nvidia_ctk.install(binary.path, made.root, f"containerd-{binary.release}")
        yield made


def cases() -> Iterator[tuple[str, dict[str, str]]]:
    """Generated sets of files, as on a node that has no drop-in of NVIDIA's yet."""
    for number in range(CASES):
        seed = f"nvidia-ctk {number}"
        files = grammar.generate(seed)
        moved = {path.replace(grammar.ROOT, "/etc/containerd"): text for path, text in files.items()}
        yield seed, {p: t.replace(grammar.ROOT, "/etc/containerd") for p, t in moved.items() if p != DROP_IN}


def unexplained(
    seed: str, files: dict[str, str], theirs: dict[str, str] | None, release: Release, defaults: Table | None = None
) -> list[str]:
    found = list(differences(files, theirs, release, defaults))
    SEEN.update(row for row, _ in found)
    return [f"{seed}, {release}: {row}: {seen}" for row, seen in found if row not in rows("Runtime configuration")]


def test_by_the_nodes_file_as_nvidia_ctk_does_unless_told_otherwise(node: Node) -> None:
    wrong: list[str] = []
    for seed, files in cases():
        theirs = node.configured(files)
        for release in RELEASES:
            wrong += unexplained(seed, files, theirs, release)
    assert wrong == []


def test_by_containerds_own_dump_as_nvidias_toolkit_does(node: Node) -> None:
    wrong: list[str] = []
    for seed, files in list(cases())[: CASES // 6]:
        for binary, program in node.containerds.items():
            theirs = node.configured(files, "--config-source=command", f"--executable-path={program}")
            wrong += unexplained(seed, files, theirs, binary.release, binary.defaults)
    assert wrong == []


def test_each_difference_that_is_explained_is_there() -> None:
    assert rows("Runtime configuration") - SEEN == set() or CASES < 300
