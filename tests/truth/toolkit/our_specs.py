"""Our specifications for a node as a folder, in a process of its own: a loaded NVML is never unloaded.

python -m tests.truth.toolkit.our_specs FOLDER DRIVER_ROOT DEV_ROOT NAMINGS OUTPUT
"""

import sys
from pathlib import Path

from lockgate.agents.toolkit.specs import Roots, SpecWriter
from lockgate.cdi.build import Place


def main(folder: str, driver_root: str, dev_root: str, namings: str, output: str) -> None:
    """Write both specifications; ends with the toolkit's own words when something is wrong."""
    root = Path(folder)
    roots = Roots(
        driver=root / driver_root.lstrip("/"),
        dev=root / dev_root.lstrip("/"),
        place=Place(driver_root=driver_root, dev_root=dev_root),
        sys=root / "sys",
        mig_minors=root / "proc/driver/nvidia-caps/mig-minors",
    )
    writer = SpecWriter(Path(output), roots, namings=tuple(namings.split(",")))
    if problem := writer.renew().problem:
        sys.exit(problem)
    writer.close()


if __name__ == "__main__":
    main(*sys.argv[1:])
