"""Drop-in files lie in a folder that no `imports` names.

containerd reads its top-level file and what `imports` there names, nothing else. That `containerd config default`
prints an `imports` line does not help a file that has none.

Why it matters: the drop-in looks installed, and has no effect. A toolkit that wrote to `config.d` while containerd
reads `conf.d` leaves a node without its handler (nvidia-container-toolkit#1404).
Fix: name the folder: `imports = ["/etc/containerd/conf.d/*.toml"]`.
"""

from collections.abc import Iterator
from posixpath import dirname

from lockgate.containerd.effective import Effective
from lockgate.containerd.toml_edit import add_import
from lockgate.containerd.toml_text import TomlError
from lockgate.containerd.traps import handlers_in
from lockgate.containerd.values import Leaf, Table, leaves
from lockgate.lint.edits import with_runtimes
from lockgate.lint.rule import Fix, Mark, Problem, lint_rule
from lockgate.lint.statements import Kind, statements
from lockgate.lint.subject import Config
from lockgate.model.finding import Severity

_TOP_LEVEL = ("plugins", "version", "imports", "proxy_plugins", "grpc", "debug", "metrics", "disabled_plugins")


@lint_rule(codes=("E04",), severity=Severity.WARNING)
def folder_not_imported(config: Config) -> Iterator[Problem]:
    folders: dict[str, list[str]] = {}
    for path in sorted(config.subject.files):
        if path not in config.effective.loaded and _is_dropin(config, path):
            folders.setdefault(dirname(path), []).append(path)
    for folder, files in folders.items():
        if not any(dirname(path) == folder for path in config.effective.loaded):
            yield _problem(config, folder, files)


def _is_dropin(config: Config, path: str) -> bool:
    """A containerd configuration in a folder `*.d` beside the top-level file (`certs.d` holds registry hosts)."""
    parent = dirname(path)
    beside = dirname(parent) == dirname(config.subject.root) and parent.endswith(".d")
    if not beside or not path.endswith(".toml"):
        return False
    try:
        row = statements(config.subject.text(path), config.release.family.toml)
    except TomlError:
        return False  # nobody reads it, and nobody can say what it is
    return any(s.path[0] in _TOP_LEVEL for s in row)


def _problem(config: Config, folder: str, files: list[str]) -> Problem:
    lost = sorted({n for path in files for n, _ in _handlers(config, path) if n not in config.effective.handlers})
    names = ", ".join(config.subject.show(path) for path in files)
    what = f"; runtime {', '.join(lost)} will not exist" if lost else ""
    return Problem(
        key=folder,
        summary=f"containerd does not read {names}: no `imports` names {folder}{what}",
        marks=(_imports(config), *(_first(config, path) for path in files)),
        severity=Severity.ERROR if lost else None,
        fixes=_fixes(config, folder),
    )


def _handlers(config: Config, path: str) -> tuple[tuple[str, object], ...]:
    return handlers_in(config.subject.text(path), path, config.effective)


def _imports(config: Config) -> Mark:
    root = config.subject.root
    said = config.documents.get(root, Table()).get("imports")
    if isinstance(said, Leaf):
        return Mark.at(said.origin, "does not name it")
    return Mark(root, 1, "has no `imports`")


def _first(config: Config, path: str) -> Mark:
    row = statements(config.subject.text(path), config.release.family.toml)
    line = next((s.line for s in row if s.kind is not Kind.PAIR), row[0].line if row else 1)
    return Mark(path, line, "not read")


def _fixes(config: Config, folder: str) -> tuple[Fix, ...]:
    root, pattern = config.subject.root, f"{folder}/*.toml"
    try:
        text = add_import(config.subject.text(root), pattern)
    except TomlError:
        return ()
    return (Fix(f"import {pattern}", {root: text}, _settings_in(config, folder)),)


def _settings_in(config: Config, folder: str) -> tuple[tuple[str, ...], ...]:
    """What the drop-ins say is what is meant to change: found by loading them."""
    root = config.subject.root
    text = add_import(config.subject.text(root), f"{folder}/*.toml")
    after = config.subject.edited({root: text}).effective
    if not isinstance(after, Effective):
        return ()
    said = (path for path, leaf in leaves(after.document) if dirname(leaf.origin.file) == folder)
    return with_runtimes(config, said)
