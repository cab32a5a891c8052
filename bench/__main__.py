"""`python -m bench`: every benchmark of this folder, one after the other; `python -m bench.NAME` runs one."""

import importlib
import pkgutil
import subprocess
import sys

import bench


def main() -> int:
    """Run all that have a `main`, the others serve them; the first exit status that is not 0, else 0."""
    names = sorted(module.name for module in pkgutil.iter_modules(bench.__path__) if module.name != "__main__")
    codes = [_run(name) for name in names if hasattr(importlib.import_module(f"bench.{name}"), "main")]
    return next((code for code in codes if code), 0)


def _run(name: str) -> int:
    print(f"\n== bench.{name}", flush=True)
    return subprocess.run([sys.executable, "-m", f"bench.{name}"], check=False).returncode


if __name__ == "__main__":
    sys.exit(main())
