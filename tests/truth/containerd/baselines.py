"""`python -m tests.truth.containerd.baselines`: writes the built-in values of each family from its real releases.

Upstream builds are used: a distribution may change a default (Debian's 1.7 looks for CNI programs in /usr/lib/cni).
"""

import sys
from pathlib import Path

from tests.truth.containerd.oracle import Binary
from tests.truth.containerd.programs import ready

FOLDER = Path("src/lockgate/containerd/baselines")
# Debian's only change to a default of 1.7.24 and 1.6.20; both are taken from Debian for want of a smaller build.
_DEBIAN = ('bin_dir = "/usr/lib/cni"', 'bin_dir = "/opt/cni/bin"')


# What our builds leave out by their tags and every distributed binary has.
_LEFT_OUT = """
[plugins.'io.containerd.snapshotter.v1.btrfs']
  root_path = ''

[plugins.'io.containerd.snapshotter.v1.devmapper']
  root_path = ''
  pool_name = ''
  base_image_size = ''
  async_remove = false
  discard_blocks = false
  fs_type = ''
  fs_options = ''

[plugins.'io.containerd.snapshotter.v1.zfs']
  root_path = ''
"""


def main() -> int:
    """Write one module a family."""
    for binary in ready(build=False):
        family = binary.release.family.baseline
        if binary.is_upstream:
            _write(family, binary, binary.default_text + _LEFT_OUT)
        elif family in ("1.6", "1.7"):
            _write(family, binary, binary.default_text.replace(*_DEBIAN))
    return 0


def _write(family: str, binary: Binary, text: str) -> None:
    head = (
        f'"""Built-in values of family {family}, from `containerd config default` of {binary.release} (generated)."""'
    )
    (FOLDER / f"r{family.replace('.', '_')}.py").write_text(f'{head}\n\nTEXT = r"""\n{text}"""\n')


if __name__ == "__main__":
    sys.exit(main())
