"""Step `toolkit`: the container runtime is ready to give GPUs to containers.

NVIDIA's validator runs an nvidia-smi that its runtime injects. Here the runtime handlers are aliases of runc, and CDI
injects; so this is proved instead: the handler (this very pod was started by it), that the CDI names resolve, that
every file and device node which they bring exists on the node, and, where the runtime's socket can be reached, that it
has loaded the handlers and CDI.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Final

from lockgate.agents.validator.result import NotReadyError, Passed
from lockgate.agents.validator.settings import Settings
from lockgate.cdi.registry import DEFAULT_DIRECTORIES, Registry
from lockgate.cdi.resolve import resolve
from lockgate.cdi.spec import Edits
from lockgate.host.cdi_directories import read_directories
from lockgate.host.cri import Loaded, UnreachableError, ask_loaded
from lockgate.host.rooted import Root
from lockgate.model.names import CDI_GPU, CDI_MANAGEMENT, HANDLERS

NAMES: Final = (f"{CDI_GPU}=all", f"{CDI_MANAGEMENT}=all")
# stock, K3s and RKE2, k0s, MicroK8s
SOCKETS: Final = (
    "run/containerd/containerd.sock",
    "run/k3s/containerd/containerd.sock",
    "run/k0s/containerd.sock",
    "var/snap/microk8s/common/run/containerd.sock",
)


async def check_toolkit(settings: Settings) -> Passed:
    """Check what can be seen from here; the message says what was. Raises NotReadyError."""
    loaded = await _ask(settings.host)
    if loaded is not None:
        _check_loaded(loaded)
    directories = (loaded.cdi_spec_dirs if loaded else None) or DEFAULT_DIRECTORIES
    registry = read_directories(settings.host, directories)
    for name in NAMES:
        _check_name(registry, settings.host, name)
    runtime = (
        "the runtime has loaded handlers and CDI" if loaded else "the runtime's socket cannot be reached from here"
    )
    return Passed(message=f"{', '.join(NAMES)} resolve and all that they bring exists; {runtime}")


async def _ask(host: Path) -> Loaded | None:
    """What the runtime has loaded; None when no socket of a containerd is found."""
    for inside in SOCKETS:
        socket = host / inside
        if socket.is_socket():
            try:
                return await ask_loaded(socket)
            except UnreachableError as error:
                raise NotReadyError(f"the container runtime does not answer: {error}") from error
    return None


def _check_loaded(loaded: Loaded) -> None:
    if missing := [name for name in HANDLERS if name not in loaded.containerd.runtimes]:
        known = ", ".join(sorted(loaded.containerd.runtimes))
        raise NotReadyError(f'containerd has not loaded runtime handler "{missing[0]}", only {known}')
    if loaded.enable_cdi is False:
        raise NotReadyError("containerd has loaded enable_cdi = false: no CDI device reaches a container")
    if loaded.cdi_spec_dirs is None:
        raise NotReadyError("this containerd has no CDI (it came with release 1.7)")


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
