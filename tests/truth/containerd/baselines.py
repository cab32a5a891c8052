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


def main() -> int:
    """Write one module a family."""
    for binary in ready(build=False):
        family = binary.release.family.baseline
        if binary.is_upstream or family in ("1.6", "1.7"):
            text = binary.default_text.replace(*_DEBIAN)
            (FOLDER / f"r{family.replace('.', '_')}.py").write_text(_module(family, binary, text))
    return 0


def _module(family: str, binary: Binary, text: str) -> str:
    origin = f"what `containerd config default` of {binary.release} prints"
    head = f'"""Built-in values of family {family}: {origin}. Written by tests/truth/containerd/baselines.py."""'
    return f'{head}\n\nTEXT = r"""\n{text}"""\n'


if __name__ == "__main__":
    sys.exit(main())
