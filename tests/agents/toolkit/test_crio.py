"""CRI-O's files by its documented order of merging, and a change of them beside a stand-in that answers CRI."""

import asyncio
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from lockgate.agents.toolkit.change import CONFIGURED, REFUSED, REMOVED, ROLLED_BACK, Node, Outcome, configure, remove
from lockgate.agents.toolkit.engines.crio import Crio
from lockgate.agents.toolkit.engines.crio_files import Effective, resolve
from lockgate.agents.toolkit.report import DRIFTED, runtime_state
from lockgate.containerd import HANDLERS, Refusal
from lockgate.host.cri import ask_handlers
from tests.agents.toolkit.supervised import Runtime

CONFIG = """\
# the site's own
[crio.runtime]
default_runtime = "crun"
[crio.runtime.runtimes.crun]
runtime_path = "/usr/libexec/crio/crun"
monitor_path = "/usr/libexec/crio/conmon"
"""


def effective(*texts: str) -> Effective:
    found = resolve({f"/{number}": text for number, text in enumerate(texts)})
    assert isinstance(found, Effective), found
    return found


def test_a_later_file_wins_key_by_key_and_a_handler_as_a_whole() -> None:
    later = '[crio.runtime]\nlog_level = "debug"\n[crio.runtime.runtimes.crun]\nruntime_path = "/opt/crun"\n'
    merged = effective(CONFIG, later)
    assert merged.default == "crun"
    assert merged.handlers == {"crun": {"runtime_path": "/opt/crun"}}
    assert merged.said_by == {"crun": "/1"}


def test_a_file_that_is_no_toml_is_named() -> None:
    found = resolve({"/etc/crio/crio.conf": "[crio"})
    assert isinstance(found, Refusal)
    assert found.message.startswith("/etc/crio/crio.conf: ")


@pytest.fixture
def runtime() -> Iterator[Runtime]:
    with tempfile.TemporaryDirectory(prefix="co-") as folder:
        made = Runtime(Path(folder), [sys.executable, "-m", "tests.agents.toolkit.fake_crio", folder])
        (made.root / "etc/conf.d").mkdir(parents=True)
        made.config.write_text(CONFIG)
        made.start()
        yield made
        made.stop()


def node(runtime: Runtime) -> Node:
    return runtime.node(engine=Crio())


def handlers(runtime: Runtime) -> set[str]:
    return set(asyncio.run(ask_handlers(runtime.socket)))


def test_configured_verified_left_alone_and_removed(runtime: Runtime) -> None:
    assert asyncio.run(configure(node(runtime))) == Outcome(CONFIGURED)
    assert handlers(runtime) == {"crun", *HANDLERS}
    assert 'monitor_path = "/usr/libexec/crio/conmon"' in runtime.drop_in.read_text(), "an alias of the node's crun"
    assert runtime.config.read_text() == CONFIG
    process = runtime.server()
    assert asyncio.run(configure(node(runtime))) == Outcome(CONFIGURED)
    assert runtime.server() == process
    assert asyncio.run(remove(node(runtime))) == Outcome(REMOVED)
    assert not runtime.drop_in.exists()
    assert handlers(runtime) == {"crun"}


def test_a_later_drop_in_that_would_win_is_told(runtime: Runtime) -> None:
    later = runtime.drop_in.with_name("99-zz.conf")
    later.write_text('[crio.runtime.runtimes.nvidia]\nruntime_path = "/usr/bin/nvidia-container-runtime"\n')
    outcome = asyncio.run(configure(node(runtime)))
    assert outcome.phase == REFUSED
    assert f'handler "nvidia" of 99-nvidia.toml is replaced by {later}' in outcome.message
    assert not runtime.drop_in.exists()


def test_what_was_not_loaded_is_taken_back(runtime: Runtime) -> None:
    (runtime.root / "other").touch()
    outcome = asyncio.run(configure(node(runtime)))
    assert outcome.phase == ROLLED_BACK
    assert 'CRI-O has not loaded handler "nvidia", only crun' in outcome.message
    assert not runtime.drop_in.exists()


def test_what_others_did_since_is_published(runtime: Runtime) -> None:
    outcome = asyncio.run(configure(node(runtime)))
    state = asyncio.run(runtime_state(node(runtime), outcome))
    assert (state.name, state.release, state.phase, state.cdi_enabled) == ("crio", "1.33.0", CONFIGURED, True)
    assert {handler.name for handler in state.handlers} == {"crun", *HANDLERS}
    assert [file.path for file in state.files] == [str(runtime.config), str(runtime.drop_in)]
    runtime.drop_in.write_text("")
    assert asyncio.run(runtime_state(node(runtime), outcome)).drift == "DropInOutdated"
    runtime.restart_by_hand()
    runtime.server()
    state = asyncio.run(runtime_state(node(runtime), outcome))
    assert (state.phase, state.drift) == (DRIFTED, "HandlerNotLoaded")
