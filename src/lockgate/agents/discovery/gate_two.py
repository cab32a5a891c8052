"""Gate 2 of a GPU node on which no toolkit of ours runs, from its files: what they say, not what is loaded.

Where the toolkit runs it publishes more, and this agent withdraws. What is loaded there the kubelet says
(`status.runtimeHandlers` of the Node), and lint and `why` read it from there.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from lockgate.agents.published_files import cdi_state, config_files, spec_directories
from lockgate.containerd import Effective, Release, resolve
from lockgate.host.containerd_files import read_files
from lockgate.host.distributions import DISTRIBUTIONS
from lockgate.host.rooted import Root
from lockgate.model import names
from lockgate.model.node_state import CDIState, RuntimeState

_TOOLKIT: Final = names.DEPLOY_PREFIX + "container-toolkit"
_CONTAINERD: Final = "containerd://"
State = tuple[RuntimeState | None, CDIState | None]
NOTHING: Final[State] = (None, None)


def gate_two(host: Path, node: Mapping[str, Any]) -> State | None:
    """The sections to publish of a Node as the API has it: NOTHING where the toolkit does, None without a GPU."""
    labels = node.get("metadata", {}).get("labels") or {}
    if not any(labels.get(name) == "true" for name in names.PCI_PRESENT):
        return None
    if labels.get(_TOOLKIT) == "true":
        return NOTHING
    version = str(node.get("status", {}).get("nodeInfo", {}).get("containerRuntimeVersion", ""))
    runtime = _runtime(host, version) if version.startswith(_CONTAINERD) else None
    return runtime, cdi_state(host, spec_directories(runtime or RuntimeState()))


def _runtime(host: Path, version: str) -> RuntimeState | None:
    """containerd's files, and what they amount to where they load; None where there are none to be seen."""
    place = next((one for one in DISTRIBUTIONS if Root(host).resolve(one.config)), None)
    release = Release.found_in(version)
    if release is None or place is None:
        return None
    files = read_files(host, place.config, release, place.drop_ins)
    effective = resolve(files, place.config, release)
    loaded = effective.loaded if isinstance(effective, Effective) else (place.config,)
    return RuntimeState(
        name="containerd",
        release=str(release),
        socket=place.socket,
        config_path=place.config,
        cdi_spec_dirs=(effective.cdi_spec_dirs or ()) if isinstance(effective, Effective) else (),
        files=config_files(host, files, loaded),
    )
