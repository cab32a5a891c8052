"""The tables of containerd families in docs/explanation/containerd-merging.md, from `containerd/releases.py`.

The text around the table is written by hand; only what stands between the two marks is generated.
"""

from collections.abc import Callable
from pathlib import Path

from lockgate.containerd.releases import FAMILIES, Family

PATH = "docs/explanation/containerd-merging.md"
BEGIN, END = "<!-- families: begin (generated) -->", "<!-- families: end -->"
_FILE = Path(__file__).resolve().parents[1] / PATH


def _cdi(family: Family) -> str:
    if family.baseline == "1.6":
        return "none"
    if not family.cdi_switch:
        return "always on"
    return "`enable_cdi`, off by default" if family.plugin_by_id else "`enable_cdi`, on by default"


_ROWS: tuple[tuple[str, Callable[[Family], str]], ...] = (
    ("since release", lambda f: f.since),
    ("newest config version", lambda f: str(f.config_version)),
    ("a file without a version counts as", lambda f: str(f.assumed_version)),
    ("a later file's plugin table", lambda f: f.plugins.value),
    ("`disabled_plugins`, `required_plugins`", lambda f: f.lists.value),
    ("older versions are migrated", lambda f: f.migration.value),
    ("a version that is too new", lambda f: f.versions.value),
    ("a drop-in newer than the first file", lambda f: "refused" if f.refuses_newer_dropin else "taken"),
    ("plugin names", lambda f: f.names.value),
    ("relative pattern in `imports`", lambda f: "from the daemon's directory" if f.globs_from_cwd else "from the file"),
    (
        "`imports` without any in the files",
        lambda f: f"printed as `{f.default_imports[0]}`, not read" if f.default_imports else "none",
    ),
    (
        "a missing file that `imports` names",
        lambda f: "refused; so does the dump" if f.missing_import_ends_dump else "refused; the dump exits 0",
    ),
    ("CRI runtime settings", lambda f: f"`{f.cri.runtime}`"),
    ("sandbox (pause) image", lambda f: f"`{f.cri.sandbox_image[0]}` `{'.'.join(f.cri.sandbox_image[1:])}`"),
    ("CDI", _cdi),
)


def generated() -> dict[str, str]:
    """Path from the root -> content."""
    head, _, rest = _FILE.read_text().partition(BEGIN)
    _, _, tail = rest.partition(END)
    return {PATH: f"{head}{BEGIN}\n{_tables()}{END}{tail}"}


def _tables() -> str:
    """For 1.x and 2.x: what is the same in all their families, then what is not."""
    groups = {
        "### 1.x": [f for f in FAMILIES if f.plugin_by_id],
        "### 2.x": [f for f in FAMILIES if not f.plugin_by_id],
    }
    return "\n".join(f"{title}\n\n{_same(group)}\n{_different(group)}" for title, group in groups.items())


def _same(families: list[Family]) -> str:
    lines = [_line("in all of them", [""]), _line("---", ["---"])]
    lines += [_line(name, [tell(families[0])]) for name, tell in _ROWS if len({tell(f) for f in families}) == 1]
    return "\n".join(lines) + "\n"


def _different(families: list[Family]) -> str:
    lines = [_line("", [f.name for f in families]), _line("---", ["---"] * len(families))]
    lines += [_line(name, [tell(f) for f in families]) for name, tell in _ROWS if len({tell(f) for f in families}) > 1]
    return "\n".join(lines) + "\n"


def _line(first: str, cells: list[str]) -> str:
    return f"| {first} | {' | '.join(cells)} |"
