"""What `nvidia-ctk runtime configure` makes of files of Docker and CRI-O, against what we make of the same.

Equal, except for the differences that docs/decisions/0043 lists with their reasons; and each of those is seen.
"""

import json
import os
import shutil
import tempfile
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from lockgate.agents.toolkit.engines.crio_files import Effective, drop_in_text, resolve
from lockgate.agents.toolkit.engines.daemon_json import with_runtimes
from lockgate.containerd import Wanted
from tests.truth.toolkit import nvidia_ctk
from tests.truth.toolkit.explained import rows
from tests.truth.toolkit.spec_differences import Difference

pytestmark = [
    pytest.mark.truth,
    pytest.mark.skipif(os.getuid() != 0, reason="only root may change its root"),
    pytest.mark.skipif(shutil.which("go") is None or shutil.which("gcc") is None, reason="needs Go and gcc"),
]

WANTED = Wanted(handlers=("nvidia",), default="nvidia")
CONFIGURE = ("runtime", "configure", "--set-as-default", "--cdi.enabled")
SEEN: set[str] = set()

DOCKER = (
    None,
    "{}\n",
    '{\n  "log-level": "warn",\n  "debug": true\n}\n',
    '{"runtimes": {"kata": {"path": "/opt/kata"}}, "default-runtime": "kata"}',
    '{"features": {"buildkit": true}, "default-runtime": "runc", "insecure-registries": ["r:5000"]}',
)
_CRUN = '[crio.runtime]\ndefault_runtime = "crun"\n[crio.runtime.runtimes.crun]\nruntime_path = "/usr/bin/crun"\n'
_RUNC = '[crio.runtime.runtimes.runc]\nruntime_path = "/usr/bin/runc"\nmonitor_path = "/usr/bin/conmon"\n'
CRIO = (
    {"crio.conf": ""},
    {"crio.conf": f'{_CRUN}monitor_path = "/usr/bin/conmon"\nallowed_annotations = ["a"]\n'},
    {"crio.conf": _RUNC},
    {"crio.conf": '[crio.image]\npause_image = "p:1"\n', "crio.conf.d/10-crun.conf": f'{_CRUN}monitor_path = "/m"\n'},
)


@pytest.fixture(scope="module")
def root() -> Iterator[Path]:
    with tempfile.TemporaryDirectory(prefix="n-") as folder:
        nvidia_ctk.install(nvidia_ctk.ready(), Path(folder))
        yield Path(folder)


def judge(found: list[Difference]) -> None:
    SEEN.update(row for row, _ in found)
    assert [one for one in found if one[0] not in rows("Docker and CRI-O")] == []


@pytest.mark.parametrize("text", DOCKER)
def test_dockers_file(root: Path, text: str | None) -> None:
    path = root / "etc/docker/daemon.json"
    shutil.rmtree(root / "etc", ignore_errors=True)
    path.parent.mkdir(parents=True)
    if text is not None:
        path.write_text(text)
    nvidia_ctk.run(root, *CONFIGURE, "--runtime=docker")
    ours = with_runtimes("/etc/docker/daemon.json", text, WANTED, ())
    assert isinstance(ours, str)
    judge(list(docker_differences(json.loads(path.read_text()), json.loads(ours))))


def docker_differences(theirs: dict[str, Any], ours: dict[str, Any]) -> Iterator[Difference]:
    if list(theirs) != list(ours):
        yield "order of keys", f"{list(theirs)}, {list(ours)}"
    their_entry, our_entry = theirs["runtimes"].pop("nvidia"), ours["runtimes"].pop("nvidia")
    if their_entry.pop("args", None) is not None:
        yield "`args`", str(their_entry)
    if their_entry != our_entry:
        yield "program", f"{their_entry}, {our_entry}"
    if theirs != ours:
        yield "other keys", f"{theirs}, {ours}"


@pytest.mark.parametrize("files", CRIO)
def test_crios_drop_in(root: Path, files: dict[str, str]) -> None:
    shutil.rmtree(root / "etc", ignore_errors=True)
    for name, text in files.items():
        path = root / "etc/crio" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    nvidia_ctk.run(root, *CONFIGURE, "--runtime=crio")
    before = resolve(files)
    assert isinstance(before, Effective)
    ours = tomllib.loads(drop_in_text(before, WANTED, "/usr/bin/runc"))
    theirs = tomllib.loads((root / "etc/crio/crio.conf.d/99-nvidia.toml").read_text())
    judge(list(crio_differences(theirs, ours)))
    assert (root / "etc/crio/crio.conf").read_text() == files["crio.conf"], "neither touches the top-level file"


def crio_differences(theirs: dict[str, Any], ours: dict[str, Any]) -> Iterator[Difference]:
    their_entry = theirs["crio"]["runtime"]["runtimes"].pop("nvidia")
    our_entry = ours["crio"]["runtime"]["runtimes"].pop("nvidia")
    if (program := their_entry.pop("runtime_path")) != our_entry.pop("runtime_path"):
        yield "program", program
    for key in sorted(their_entry.keys() ^ our_entry.keys()):
        yield "keys of the handler", key
    if theirs != ours:
        yield "other keys", f"{theirs}, {ours}"


def test_each_difference_that_is_explained_is_there() -> None:
    assert rows("Docker and CRI-O") - SEEN == set()
