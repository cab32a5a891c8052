"""The simulated driver as files: libraries and programs compiled into a driver root, device nodes, PCI in sysfs."""

from lockgate.lab.driver.build import MissingCompilerError, build_driver_root
from lockgate.lab.driver.nodes import DeviceNode, device_nodes, write_sysfs

__all__ = ["DeviceNode", "MissingCompilerError", "build_driver_root", "device_nodes", "write_sysfs"]
