"""Writes every generated file (`make generate`), or says which one is stale (`--check`, as `make check` does).

Each `tools/generate_<what>.py` offers `generated() -> dict[str, str]`: path from the root of the repository -> content.
A generator that owns a whole folder also offers `FOLDERS`, in which a file that it does not name is stale.
"""

import argparse
import importlib
import pkgutil
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
if str(ROOT) not in sys.path:
    sys.path.insert(0, str(ROOT))

import tools  # noqa: E402 - found through the line above when run as a script


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--check", action="store_true", help="write nothing; exit 1 when a file is stale")
    check = parser.parse_args().check
    stale = [change for name in _generators() for change in _changes(name, write=not check)]
    for line in stale:
        print(line)
    if check and stale:
        print("run `make generate` and commit the result")
    return 1 if check and stale else 0


def _generators() -> list[str]:
    return sorted(module.name for module in pkgutil.iter_modules(tools.__path__) if module.name.startswith("generate_"))


def _changes(name: str, *, write: bool) -> list[str]:
    """Bring one generator's files up to date, or only compare; a line for each file that differed."""
    module = importlib.import_module(f"tools.{name}")
    wanted: dict[str, str] = module.generated()
    changed = [path for path, text in wanted.items() if _read(ROOT / path) != text]
    orphans = [path for folder in getattr(module, "FOLDERS", ()) for path in _files(folder) if path not in wanted]
    if write:
        for path in changed:
            (ROOT / path).parent.mkdir(parents=True, exist_ok=True)
            (ROOT / path).write_text(wanted[path])
        for path in orphans:
            (ROOT / path).unlink()
    lines = [f"{path}: {'written' if write else 'stale'} ({name})" for path in changed]
    return lines + [f"{path}: nobody generates it ({name})" for path in orphans]


def _read(path: Path) -> str | None:
    return path.read_text() if path.is_file() else None


def _files(folder: str) -> list[str]:
    skip = "__pycache__"
    found = (ROOT / folder).rglob("*") if (ROOT / folder).is_dir() else ()
    return sorted(str(path.relative_to(ROOT)) for path in found if path.is_file() and skip not in path.parts)


if __name__ == "__main__":
    sys.exit(main())
