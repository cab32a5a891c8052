"""Step `toolkit`: the container runtime is ready to give GPUs to containers.

NVIDIA's validator runs an nvidia-smi that its runtime injects. Here the runtime handlers are aliases of runc, and CDI
injects; so this is proved instead: the handler (this very pod was started by it), that the CDI names resolve, that
every file and device node which they bring exists on the node, and, where the runtime's socket can be reached, that it
has loaded the handlers and CDI.
"""

from collections.abc import Collection, Iterator, Sequence
from pathlib import Path
from typing import Final

from lockgate.agents.validator.result import NotReadyError, Passed
from lockgate.agents.validator.settings import Settings
from lockgate.cdi.registry import DEFAULT_DIRECTORIES, Registry
from lockgate.cdi.resolve import resolve
from lockgate.cdi.spec import Edits
from lockgate.host.cdi_directories import read_directories
from lockgate.host.cri import UnreachableError, ask_handlers, ask_loaded
from lockgate.host.distributions import CRIO_SOCKET, DOCKER_SOCKET, find_place, find_runtime
from lockgate.host.docker import ask_info
from lockgate.host.rooted import Root
from lockgate.model.names import CDI_GPU, CDI_MANAGEMENT, HANDLERS

NAMES: Final = (f"{CDI_GPU}=all", f"{CDI_MANAGEMENT}=all")


async def check_toolkit(settings: Settings) -> Passed:
    """Check what can be seen from here; the message says what was. Raises NotReadyError."""
    runtime = _RUNTIMES[find_runtime(settings.host)]
    try:
        directories, said = await runtime(settings.host)
    except UnreachableError as error:
        raise NotReadyError(f"the container runtime does not answer: {error}") from error
    registry = read_directories(settings.host, directories)
    for name in NAMES:
        _check_name(registry, settings.host, name)
    return Passed(message=f"{', '.join(NAMES)} resolve and all that they bring exists; {said}")


async def _containerd(host: Path) -> tuple[Sequence[str], str]:
    """The containerd that the toolkit would change, where somebody serves its socket: its CDI directories."""
    place = find_place(host)
    if place is None:
        return DEFAULT_DIRECTORIES, "the runtime's socket cannot be reached from here"
    loaded = await ask_loaded(host / place.socket[1:])
    _check_handlers("containerd", loaded.containerd.runtimes)
    if loaded.enable_cdi is False:
        raise NotReadyError("containerd has loaded enable_cdi = false: no CDI device reaches a container")
    if loaded.cdi_spec_dirs is None:
        raise NotReadyError("this containerd has no CDI (it came with release 1.7)")
    return loaded.cdi_spec_dirs, _LOADED


async def _crio(host: Path) -> tuple[Sequence[str], str]:
    names = await ask_handlers(host / CRIO_SOCKET[1:])
    if names:  # before 1.30 it does not tell
        _check_handlers("CRI-O", names)
    return DEFAULT_DIRECTORIES, _LOADED if names else "this CRI-O does not tell which handlers it has loaded"


async def _docker(host: Path) -> tuple[Sequence[str], str]:
    info = await ask_info(host / DOCKER_SOCKET[1:])
    _check_handlers("dockerd", info.runtimes)
    if not info.cdi_spec_dirs:
        raise NotReadyError("dockerd runs without CDI, which it switches on when it starts: systemctl restart docker")
    return info.cdi_spec_dirs, _LOADED


_LOADED: Final = "the runtime has loaded handlers and CDI"
_RUNTIMES: Final = {"containerd": _containerd, "crio": _crio, "docker": _docker}


def _check_handlers(runtime: str, loaded: Collection[str]) -> None:
    if missing := [name for name in HANDLERS if name not in loaded]:
        raise NotReadyError(
            f'{runtime} has not loaded runtime handler "{missing[0]}", only {", ".join(sorted(filter(None, loaded)))}'
        )


def _check_name(registry: Registry, host: Path, name: str) -> None:
    resolution = resolve(registry, [name])
    if resolution.unresolved:
        missing = resolution.unresolved[0]
        instead = f"; defined are {', '.join(missing.instead)}" if missing.instead else ""
        raise NotReadyError(f"CDI device {name} does not resolve: {missing.reason}{instead}")
    if absent := next(_absent(resolution.edits, Root(host)), None):
        raise NotReadyError(
            f"CDI device {name} needs {absent}, which is not on the node: the specification is older than the driver"
        )


def _absent(edits: Edits, root: Root) -> Iterator[str]:
    """Paths on the host that the edits name and that do not exist."""
    nodes = [node.host_path or node.path for node in edits.device_nodes if node]
    for path in (*nodes, *(mount.host_path for mount in edits.mounts if mount)):
        if root.resolve(path) is None:
            yield path
