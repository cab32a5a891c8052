"""The toolkit's CDI specifications: one for GPUs, one for management, renewed when the driver or the devices change."""

import logging
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import msgspec

from lockgate.agents.toolkit.settings import Settings
from lockgate.apply.files import Checkpoint, onward, remove_file, remove_leftovers, write_file
from lockgate.cdi.build import USUAL_NAMINGS, Gpu, Place, gpu_spec, management_spec
from lockgate.cdi.render import file_name, render_yaml
from lockgate.cdi.spec import Spec
from lockgate.gpu import values
from lockgate.gpu.caps import PATH as MIG_MINORS
from lockgate.gpu.caps import read_mig_minors
from lockgate.gpu.library import UnavailableError
from lockgate.gpu.nvml import Nvml
from lockgate.host.device_nodes import existing, find_nodes
from lockgate.host.driver_root import DriverNotFoundError, find
from lockgate.model.names import CDI_GPU, CDI_MANAGEMENT

_log = logging.getLogger("lockgate.toolkit")
KINDS: Final = (CDI_GPU, CDI_MANAGEMENT)


class Written(msgspec.Struct, frozen=True):
    """What a look at the driver led to: the files that changed, and why something could not be written."""

    changed: tuple[Path, ...] = ()
    problem: str = ""


class Roots(msgspec.Struct, frozen=True):
    """The driver root and the root of /dev: as seen from here, and on the host; and where the kernel tells the rest."""

    driver: Path
    dev: Path
    place: Place
    sys: Path = Path("/sys")
    mig_minors: Path = MIG_MINORS


def find_roots(settings: Settings) -> Roots:
    """As NVIDIA's: a driver root with a control node holds the device nodes too; else the host's /dev counts."""
    if settings.dev_root and settings.dev_root_ctr:
        dev, dev_host = Path(settings.dev_root_ctr), settings.dev_root
    elif (settings.driver_root_ctr / "dev/nvidiactl").exists():
        dev, dev_host = settings.driver_root_ctr, settings.driver_root
    else:
        dev, dev_host = settings.host_root, "/"
    return Roots(
        driver=settings.driver_root_ctr, dev=dev, place=Place(driver_root=settings.driver_root, dev_root=dev_host)
    )


class NewDriverError(Exception):
    """The driver root holds another driver now; a loaded NVML is never unloaded, so the process must start again."""


class SpecWriter:
    """Keeps the specifications in a folder up to date; all calls from one thread, as NVML wants."""

    def __init__(
        self,
        folder: Path,
        roots: Roots,
        *,
        namings: tuple[str, ...] = USUAL_NAMINGS,
        checkpoint: Checkpoint = onward,
    ) -> None:
        self._folder = folder
        self._namings = namings
        self._checkpoint = checkpoint
        self._roots = roots
        self._nvml = Nvml(roots.driver, roots.sys)
        self._nodes: tuple[str, ...] = ()
        remove_leftovers(folder)

    def renew(self) -> Written:
        """Look at driver and devices, and write what changed. What cannot be known now stays, with the problem told.

        Raises NewDriverError.
        """
        if self._nvml.stale:
            raise NewDriverError(f"{self._roots.driver} holds another driver")
        try:
            driver, nodes = find(self._roots.driver), find_nodes(self._roots.dev / "dev")
            gpus = tuple(name_gpus(self._ask(nodes), read_mig_minors(self._roots.mig_minors), self._roots.dev / "dev"))
            place = self._roots.place
            specs = (gpu_spec(driver, gpus, nodes, place, self._namings), management_spec(driver, nodes, place))
            changed = tuple(path for spec in specs for path in _write(self._folder, spec, self._checkpoint))
        except (DriverNotFoundError, UnavailableError, OSError) as error:
            return Written(problem=f"CDI specifications are not renewed: {error}")
        missing = [spec.kind for spec in specs if not spec.devices]
        problem = f"no device for {', '.join(missing)}: are there NVIDIA device nodes in /dev?" if missing else ""
        return Written(changed=changed, problem=problem)

    def _ask(self, nodes: tuple[str, ...]) -> values.Snapshot:
        """The GPUs now. NVML knows only those that were there when it started, so new nodes start it again."""
        if nodes != self._nodes:
            self._nvml.close()
        self._nvml.open()
        self._nodes = nodes
        return self._nvml.snapshot()

    def close(self) -> None:
        """Let go of the driver, which cannot be unloaded while it is in use."""
        self._nvml.close()


def remove_specs(folder: Path, *, checkpoint: Checkpoint = onward) -> None:
    """Remove the toolkit's own specifications."""
    for kind in KINDS:
        if remove_file(folder / file_name(kind, "yaml"), checkpoint=checkpoint):
            _log.info("removed the CDI specification of %s", kind)


def name_gpus(seen: values.Snapshot, minors: dict[str, int], dev: Path) -> Iterator[Gpu]:
    """The devices of a specification: a GPU, or the MIG devices of one in MIG mode."""
    for gpu in seen.gpus:
        node, graphics = f"/dev/nvidia{gpu.minor}", existing(dev, gpu.drm_nodes)
        if not gpu.mig_enabled:
            yield Gpu(index=str(gpu.index), uuid=gpu.uuid, nodes=(node, *graphics))
        for mig in gpu.mig:
            capabilities = tuple(_capabilities(gpu.minor, mig, minors))
            nodes = (node, *capabilities, *(graphics if mig.has_graphics else ()))
            yield Gpu(index=f"{gpu.index}:{mig.index}", uuid=mig.uuid, nodes=nodes)


def _capabilities(minor: int, mig: values.MigDevice, minors: dict[str, int]) -> Iterator[str]:
    instance = f"gpu{minor}/gi{mig.gpu_instance}"
    for name in (f"{instance}/access", f"{instance}/ci{mig.compute_instance}/access"):
        if name in minors:
            yield f"/dev/nvidia-caps/nvidia-cap{minors[name]}"


def _write(folder: Path, spec: Spec, checkpoint: Checkpoint) -> Iterator[Path]:
    path = folder / file_name(spec.kind, "yaml")
    if spec.devices:
        changed = write_file(path, render_yaml(spec), checkpoint=checkpoint)
    else:
        changed = remove_file(path, checkpoint=checkpoint)
    if changed:
        _log.info("%s: %s", path, ", ".join(device.name for device in spec.devices) or "removed, there is no device")
        yield path
