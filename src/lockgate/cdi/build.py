"""The CDI specifications that Lockgate writes: for GPUs, for the device plugin, for management containers.

There are no hooks. NVIDIA's own specifications run `nvidia-cdi-hook` at container start to make links and to refresh
`ld.so.cache`; instead each library is mounted under every name by which it is loaded, in the directories that loaders
search without a cache (see `library_directories`). Device numbers are left out, so that the runtime reads them from the
node at each start: `nvidia-uvm` has another major number after each module load.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Final

from lockgate.cdi.driver_files import DriverFiles, Library, Part
from lockgate.cdi.render import with_lowest_version
from lockgate.cdi.spec import Device, DeviceNode, Edits, Mount, Spec
from lockgate.model.names import CDI_GPU, CDI_MANAGEMENT, CDI_PLUGIN

CONTROL_NODES: Final = ("/dev/nvidia-modeset", "/dev/nvidia-uvm", "/dev/nvidia-uvm-tools", "/dev/nvidiactl")
READ_ONLY: Final = ("ro", "nosuid", "nodev", "rbind", "rprivate")
SOCKET: Final = ("nosuid", "nodev", "noexec", "rbind", "rprivate")
# A container that has its devices by CDI must not get them a second time from NVIDIA's own runtime.
ENV: Final = ("NVIDIA_VISIBLE_DEVICES=void",)


@dataclass(frozen=True, slots=True, kw_only=True)
class Gpu:
    """A GPU or MIG device to name in a specification.

    `index` is "0", or "0:1" for a MIG device; `nodes` are its device nodes in the container ("/dev/nvidia0", those for
    graphics, for a MIG device also its two capability nodes).
    """

    index: str
    uuid: str
    nodes: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """Where the runtime finds things: the driver root and the root of /dev, as paths on the host."""

    driver_root: str = "/"
    dev_root: str = "/"


# NVIDIA's strategies of naming a device.
NAMINGS: Final[Mapping[str, Callable[[Gpu], str]]] = {
    "index": lambda gpu: gpu.index,
    "uuid": lambda gpu: gpu.uuid,
    "type-index": lambda gpu: ("mig" if ":" in gpu.index else "gpu") + gpu.index,
}
USUAL_NAMINGS: Final = ("index", "uuid")


def gpu_spec(
    driver: DriverFiles,
    gpus: Iterable[Gpu],
    nodes: Iterable[str],
    place: Place,
    namings: Iterable[str] = USUAL_NAMINGS,
) -> Spec:
    """`nvidia.com/gpu`: every GPU under each of the namings, and `all`. `nodes` are the device paths of the node.

    Without GPUs there is no valid specification: the result then has no devices, and must not be written.
    """
    gpus, namings = tuple(gpus), tuple(namings)
    named = [(NAMINGS[naming](gpu), gpu.nodes) for gpu in gpus for naming in namings]
    if gpus:
        named.append(("all", tuple(node for gpu in gpus for node in gpu.nodes)))
    return _spec(CDI_GPU, named, driver, driver.graphics, nodes, place)


def plugin_spec(driver: DriverFiles, gpus: Iterable[Gpu], nodes: Iterable[str], place: Place) -> Spec:
    """`k8s.device-plugin.nvidia.com/gpu`: every GPU by UUID, as the plugin answers `Allocate`."""
    return _spec(CDI_PLUGIN, [(gpu.uuid, gpu.nodes) for gpu in gpus], driver, driver.graphics, nodes, place)


def management_spec(driver: DriverFiles, nodes: Iterable[str], place: Place) -> Spec:
    """`management.nvidia.com/gpu=all`: every NVIDIA device node of the node, for monitoring and configuration."""
    present = tuple(sorted(set(nodes)))
    shown = tuple(n for n in present if n not in CONTROL_NODES and not n.startswith(_NOT_MANAGED))
    named = [("all", shown)] if shown else []
    return _spec(CDI_MANAGEMENT, named, driver, driver.management, present, place)


# NVIDIA's management specification leaves these out.
_NOT_MANAGED: Final = ("/dev/nvidia-fs", "/dev/nvidia-nvswitch", "/dev/nvidia-nvlink")


def library_directories(machine: str) -> tuple[str, ...]:
    """Directories in which some loader finds a library without a cache, a link or an environment variable.

    Debian's glibc searches `/usr/lib/<triplet>` and `/usr/lib`; Red Hat's and SUSE's `/usr/lib64`; musl `/usr/lib`.
    The triplet directory also hides a driver library that was baked into a Debian image by mistake.
    """
    return (f"/usr/lib/{machine}", "/usr/lib64", "/usr/lib")


def _spec(
    kind: str,
    named: Iterable[tuple[str, tuple[str, ...]]],
    driver: DriverFiles,
    part: Part,
    nodes: Iterable[str],
    place: Place,
) -> Spec:
    control = sorted(set(CONTROL_NODES).intersection(nodes))
    devices = tuple(
        Device(name=name, container_edits=Edits(device_nodes=_nodes(paths, place)))
        for name, paths in sorted(dict(named).items())
    )
    common = Edits(env=ENV, device_nodes=_nodes(control, place), mounts=tuple(_mounts(driver, part, place)))
    return with_lowest_version(Spec(kind=kind, devices=devices, container_edits=common))


def _nodes(paths: Iterable[str], place: Place) -> tuple[DeviceNode, ...]:
    at_home = place.dev_root.rstrip("/") == ""
    return tuple(
        DeviceNode(path=path) if at_home else DeviceNode(path=path, host_path=_join(place.dev_root, path))
        for path in sorted(set(paths))
    )


def _mounts(driver: DriverFiles, part: Part, place: Place) -> Iterator[Mount]:
    """Every mount, each target once, parents before children: runtimes apply them in this order."""
    wanted: dict[str, Mount] = {}
    for target, source, options in _sources(driver, part):
        wanted.setdefault(
            target, Mount(host_path=_join(place.driver_root, source), container_path=target, options=options)
        )
    for target in sorted(wanted, key=lambda path: (path.count("/"), path)):
        yield wanted[target]


def _sources(driver: DriverFiles, part: Part) -> Iterator[tuple[str, str, tuple[str, ...]]]:
    for library in (*driver.libraries, *part.libraries):
        for target in _library_targets(library, driver.machine):
            yield target, library.path, READ_ONLY
    for file in (*driver.binaries, *driver.files, *part.files):
        yield file.container_path, file.path, READ_ONLY
    for socket in driver.sockets:
        yield socket.container_path, socket.path, SOCKET


def _library_targets(library: Library, machine: str) -> Iterator[str]:
    for directory in library_directories(machine):
        for name in library.names:
            yield f"{directory}/{name}"


def _join(root: str, path: str) -> str:
    return root.rstrip("/") + path
