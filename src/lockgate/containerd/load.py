"""Reads a set of files as containerd does at start: the queue of imports, each file decoded, migrated and merged."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field
from enum import Enum

from lockgate.containerd.decode import Decoder, WrongTypeError
from lockgate.containerd.document import UnfinishedError, parse_document
from lockgate.containerd.imports import BadPatternError, Directory, Files, Unreadable, resolve_imports
from lockgate.containerd.merge import merge_file
from lockgate.containerd.migrate import Collision, migrate_names, migrate_plugins
from lockgate.containerd.migrate_server import migrate_server
from lockgate.containerd.names import validate_document
from lockgate.containerd.refusals import ConfigError as ConfigError
from lockgate.containerd.refusals import Refused, missing, open_failure, read_failure, syntax, wrong_type
from lockgate.containerd.releases import Family, Migration
from lockgate.containerd.schema import Struct, top_level
from lockgate.containerd.toml_text import TomlError, Unfit
from lockgate.containerd.top_level import config_version, line_of, listed
from lockgate.containerd.values import Leaf, Node, Origin, Table, copy_tree, leaves


class View(Enum):
    """Whose answer is asked for; the two differ where a file is missing, and on the first 2.0 releases."""

    DAEMON = "what the daemon loads"
    DUMP = "what `containerd config dump` prints"


@dataclass(slots=True)
class Loaded:
    """All files merged, plugin sections not decoded yet."""

    document: Table
    paths: list[str] = field(default_factory=list)
    missing: str | None = None
    collisions: list[Collision] = field(default_factory=list)


def load(files: Files, root: str, family: Family, view: View, defaults: Table) -> Loaded:
    """Load a root file and all it imports over the defaults; raises Refused."""
    result = Loaded(_start(defaults, family))
    shape = top_level(defaults, proxy_exports=family.proxy_exports)
    queue = deque([root])
    first_version = 0
    last = root
    while queue:
        last = path = queue.popleft()
        if path in result.paths:
            continue
        file = _read(files, path, family, shape)
        if file is None:
            if view is View.DUMP and not family.missing_import_ends_dump:
                result.missing = path
                return result
            raise Refused(missing(path, family))
        first_version = first_version or config_version(file)
        try:
            result.collisions += _migrate_file(file, path, result.document, first_version, family)
            merge_file(result.document, file, family)
            imports = listed(file, "imports")
            queue.extend(resolve_imports(path, imports, files, globs_from_cwd=family.globs_from_cwd))
        except WrongTypeError as error:
            raise Refused(wrong_type(error, path, family)) from None
        except BadPatternError as error:
            raise Refused(ConfigError(str(error), path, line_of(file, "imports"))) from None
        result.paths.append(path)
    validate_document(result.document, last, family)
    return result


def _start(defaults: Table, family: Family) -> Table:
    document = copy_tree(defaults)
    document["version"] = Leaf(family.assumed_version)
    document["plugins"] = Table()
    return document


def _read(files: Files, path: str, family: Family, shape: Struct) -> Table | None:
    entry = files.read(path)
    match entry:
        case None:
            return None
        case Directory():
            raise Refused(ConfigError(read_failure(path, "is a directory", family), path))
        case Unreadable(reason=reason):
            raise Refused(ConfigError(open_failure(path, reason, family), path))
        case _:
            return _parse(entry, path, family, shape)


def _parse(text: str | bytes, path: str, family: Family, shape: Struct) -> Table:
    try:
        try:
            decoded = _decode(parse_document(text, path, family.toml), family, shape)
        except UnfinishedError as error:
            if family.toml.major == 2:  # go-toml v2 decodes line by line: what is wrong further up is said first
                _decode(error.before, family, shape)
            raise
    except TomlError as error:
        raise Refused(ConfigError(syntax(error, path, family), path, error.line, error.panics)) from None
    except WrongTypeError as error:
        raise Refused(wrong_type(error, path, family)) from None
    assert isinstance(decoded, Table)  # a struct decodes to a table
    return decoded


def _decode(document: Table, family: Family, shape: Struct) -> Node:
    decoded = Decoder(family.toml).decode(shape, document, None, ())
    _refuse_unfit(decoded)
    return decoded


def _refuse_unfit(decoded: Node) -> None:
    """Raise for a value that is well spelled and means nothing; a key that nothing reads may hold one."""
    values = [leaf.value for _, leaf in leaves(decoded)] if isinstance(decoded, Table) else []
    while values:
        value = values.pop()
        if isinstance(value, Unfit):
            raise value.error
        values += value if isinstance(value, list) else value.values() if isinstance(value, dict) else ()


def _migrate_file(file: Table, path: str, document: Table, first_version: int, family: Family) -> list[Collision]:
    version, target = config_version(file), config_version(document)
    if family.refuses_newer_dropin and version > first_version:
        message = f"drop-in config version {version} higher than root config version {first_version}"
        raise Refused(ConfigError(message, path, line_of(file, "version")))
    if not _migrates_alone(version, target, family):
        return []
    if version < 0 or target > family.config_version:
        raise Refused(_no_such_migration(path))
    collisions: list[Collision] = []
    for step in range(version, target):
        if step == 1:
            collisions += migrate_names(file)
        if step == 3:
            migrate_server(file)
        plugins = file.get("plugins")
        if family.migration is Migration.EACH_FILE and isinstance(plugins, Table):
            migrate_plugins(plugins, family)
    file["version"] = Leaf(target, Origin(path, line_of(file, "version")))
    return collisions


def _migrates_alone(version: int, target: int, family: Family) -> bool:
    match family.migration:
        case Migration.NONE:
            return False
        case Migration.MERGED:  # by name only, and to the version reached so far
            return version in (0, 1) and version < target
        case Migration.EACH_FILE:
            return version < target


def _no_such_migration(path: str) -> ConfigError:
    return ConfigError("index out of range in its table of migrations", path, panics=True)


def _file_of(document: Table) -> str:
    node = document.get("version")
    return node.origin.file if node is not None else ""


def migrate_merged(document: Table, family: Family, view: View) -> None:
    """What 2.0 to 2.2 do once all files are merged and the last version among them is an older one."""
    if family.migration is not Migration.MERGED or config_version(document) >= family.config_version:
        return
    if view is View.DUMP and not family.dump_migrates_cri:
        return
    if view is View.DAEMON and config_version(document) < 0:
        raise Refused(_no_such_migration(_file_of(document)))
    plugins = document.get("plugins")
    if isinstance(plugins, Table):
        try:
            migrate_plugins(plugins, family, listed(document, "disabled_plugins"))
        except WrongTypeError as error:
            raise Refused(wrong_type(error, error.origin.file, family)) from None
