"""The device plugin's own CDI specification: written when devices or driver change, removed with the last device."""

from collections.abc import Iterable
from pathlib import Path

from lockgate.agents.device_plugin.devices import PluginDevice
from lockgate.apply.files import remove_file, write_file
from lockgate.cdi.build import Gpu, Place, plugin_spec
from lockgate.cdi.render import file_name, render_json
from lockgate.host.device_nodes import existing
from lockgate.host.driver_root import DriverNotFoundError, find
from lockgate.model.names import CDI_PLUGIN


class CDIFileError(Exception):
    """The specification could not be written; the text says what stood in the way."""


def write_cdi_file(
    folder: Path,
    driver_root_ctr: Path,
    devices: Iterable[PluginDevice],
    present: frozenset[str],
    dev: Path,
    place: Place,
) -> bool:
    """Bring the file up to date; whether it changed.

    `present`: NVIDIA's device nodes in `dev`, the host's /dev as seen from here. Raises CDIFileError.
    """
    path = folder / file_name(CDI_PLUGIN, "json")
    gpus = [
        Gpu(index=device.index, uuid=device.id, nodes=(*device.nodes, *existing(dev, device.drm_nodes)))
        for device in devices
    ]
    try:
        if not gpus:
            return remove_file(path)
        return write_file(path, render_json(plugin_spec(find(driver_root_ctr), gpus, present, place)))
    except (OSError, DriverNotFoundError) as error:
        raise CDIFileError(f"{path}: the CDI specification cannot be written: {error}") from error
