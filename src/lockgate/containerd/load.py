"""Reads a set of files as containerd does at start: the queue of imports, each file decoded, migrated and merged."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field
from enum import Enum

from lockgate.containerd.decode import Decoder, WrongTypeError
from lockgate.containerd.document import parse_document
from lockgate.containerd.imports import BadPatternError, Directory, Files, Unreadable, resolve_imports
from lockgate.containerd.merge import merge_file
from lockgate.containerd.migrate import Collision, migrate_names, migrate_plugins
from lockgate.containerd.migrate_server import migrate_server
from lockgate.containerd.releases import Family, Migration, NameCheck, VersionCheck
from lockgate.containerd.schema import Struct, top_level
from lockgate.containerd.toml_text import TomlError
from lockgate.containerd.values import Leaf, Origin, Table, copy_tree


class View(Enum):
    """Whose answer is asked for; the two differ where a file is missing, and on the first 2.0 releases."""

    DAEMON = "what the daemon loads"
    DUMP = "what `containerd config dump` prints"


@dataclass(frozen=True, slots=True)
class ConfigError:
    """Why a release refuses a set of files: the text it prints, and the place to blame where one is known."""

    message: str
    file: str
    line: int = 0
    panics: bool = False

    def __str__(self) -> str:  # type: ignore[explicit-override]  # typing.override is 3.12
        place = f"{self.file}:{self.line}" if self.line else self.file
        return f"{place}: {'containerd crashes: ' if self.panics else ''}{self.message}"


class Refused(Exception):  # noqa: N818 - it carries the error value out of the loading loop and never leaves this package
    """Ends loading with an error."""

    def __init__(self, error: ConfigError) -> None:
        super().__init__(str(error))
        self.error = error


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
            raise Refused(_missing(path, family))
        first_version = first_version or _version(file)
        try:
            result.collisions += _migrate_file(file, path, result.document, first_version, family)
            merge_file(result.document, file, family)
            imports = _strings(file, "imports")
            queue.extend(resolve_imports(path, imports, files, globs_from_cwd=family.globs_from_cwd))
        except WrongTypeError as error:
            raise Refused(_wrong_type(error, path, family)) from None
        except BadPatternError as error:
            raise Refused(ConfigError(str(error), path, _line(file, "imports"))) from None
        result.paths.append(path)
    _validate(result.document, last, family)
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
            raise Refused(ConfigError(_read_failure(path, "is a directory", family), path))
        case Unreadable(reason=reason):
            raise Refused(ConfigError(_open_failure(path, reason, family), path))
        case _:
            return _parse(entry, path, family, shape)


def _parse(text: str | bytes, path: str, family: Family, shape: Struct) -> Table:
    try:
        document = parse_document(text, path, family.toml)
        decoded = Decoder(family.toml).decode(shape, document, None, ())
    except TomlError as error:
        raise Refused(ConfigError(_syntax(error, path, family), path, error.line, error.panics)) from None
    except WrongTypeError as error:
        raise Refused(_wrong_type(error, path, family)) from None
    assert isinstance(decoded, Table)  # a struct decodes to a table
    return decoded


def _migrate_file(file: Table, path: str, document: Table, first_version: int, family: Family) -> list[Collision]:
    version, target = _version(file), _version(document)
    if family.refuses_newer_dropin and version > first_version:
        message = f"drop-in config version {version} higher than root config version {first_version}"
        raise Refused(ConfigError(message, path, _line(file, "version")))
    if not _migrates_alone(version, target, family):
        return []
    if version < 0 or target > family.config_version:
        raise Refused(ConfigError("index out of range in its table of migrations", path, panics=True))
    collisions: list[Collision] = []
    for step in range(version, target):
        if step == 1:
            collisions += migrate_names(file)
        if step == 3:
            migrate_server(file)
        plugins = file.get("plugins")
        if family.migration is Migration.EACH_FILE and isinstance(plugins, Table):
            migrate_plugins(plugins, family)
    file["version"] = Leaf(target, Origin(path, _line(file, "version")))
    return collisions


def _migrates_alone(version: int, target: int, family: Family) -> bool:
    match family.migration:
        case Migration.NONE:
            return False
        case Migration.MERGED:  # by name only, and to the version reached so far
            return version in (0, 1) and version < target
        case Migration.EACH_FILE:
            return version < target


def migrate_merged(document: Table, family: Family, view: View) -> None:
    """What 2.0 to 2.2 do once all files are merged and the last version among them is an older one."""
    if family.migration is not Migration.MERGED or _version(document) >= family.config_version:
        return
    if view is View.DUMP and not family.dump_migrates_cri:
        return
    plugins = document.get("plugins")
    if isinstance(plugins, Table):
        try:
            migrate_plugins(plugins, family, _strings(document, "disabled_plugins"))
        except WrongTypeError as error:
            raise Refused(_wrong_type(error, error.origin.file, family)) from None


def _validate(document: Table, last: str, family: Family) -> None:
    message = _version_error(_version(document), family) or _name_error(document, family)
    if message:
        line = _line(document, "version")
        raise Refused(ConfigError(f"failed to load TOML from {last}: {message}", last, line))


def _version_error(version: int, family: Family) -> str:
    if version <= family.config_version or family.versions is VersionCheck.IGNORED:
        return ""
    if family.versions is VersionCheck.UNSUPPORTED:
        return f"unsupported config version `{version}`"
    limit = family.config_version
    return f"expected containerd config version equal to or less than `{limit}`, got `{version}`"


def _name_error(document: Table, family: Family) -> str:
    if family.names is not NameCheck.LISTED_DOTTED and _version(document) < 2:
        return ""
    for kind in ("disabled", "required"):
        for name in _strings(document, f"{kind}_plugins"):
            if not _good_name(name, family):
                return f'invalid {kind} plugin URI "{name}" expect io.containerd.x.vx'
    plugins = document.get("plugins")
    if family.names is not NameCheck.LISTED_DOTTED and isinstance(plugins, Table):
        for name in plugins:
            if not _good_name(name, family):
                return f'invalid plugin key URI "{name}" expect io.containerd.x.vx'
    return ""


def _good_name(name: str, family: Family) -> bool:
    match family.names:
        case NameCheck.LISTED_DOTTED:
            return "." in name
        case NameCheck.FOUR_PARTS:
            return name.count(".") >= 3
        case NameCheck.PREFIXED:
            return name.startswith("io.containerd.") and name.count(".") >= 3


def _version(document: Table) -> int:
    node = document.get("version")
    return node.value if isinstance(node, Leaf) and isinstance(node.value, int) else 0


def _strings(document: Table, name: str) -> list[str]:
    node = document.get(name)
    return [str(item) for item in node.value] if isinstance(node, Leaf) and isinstance(node.value, list) else []


def _line(document: Table, name: str) -> int:
    node = document.get(name)
    return node.origin.line if node is not None else 0


def _missing(path: str, family: Family) -> ConfigError:
    return ConfigError(_open_failure(path, "no such file or directory", family), path)


def _open_failure(path: str, reason: str, family: Family) -> str:
    prefix = f"failed to load TOML: {path}: " if family.toml.major == 1 else ""
    return f"{prefix}open {path}: {reason}"


def _read_failure(path: str, reason: str, family: Family) -> str:
    prefix = f"failed to load TOML: {path}: " if family.toml.major == 1 else "failed to unmarshal TOML: toml: "
    return f"{prefix}read {path}: {reason}"


def _syntax(error: TomlError, path: str, family: Family) -> str:
    if family.toml.major == 1:
        place = f"({error.line}, {error.column}): " if error.column else ""
        return f"failed to load TOML: {path}: {place}{error.message}"
    if error.structural and not family.toml.locates_structure:
        return f"failed to unmarshal TOML: {error.message}"
    return f"failed to unmarshal TOML at row {error.line} column {error.column}: {error.message}"


def _wrong_type(error: WrongTypeError, path: str, family: Family) -> ConfigError:
    if error.panics:
        return ConfigError(error.message, error.origin.file or path, error.origin.line, panics=True)
    prefix = "failed to unmarshal TOML"
    place = f" at row {error.origin.line}" if family.toml.major == 2 else ""
    return ConfigError(f"{prefix}{place}: {error.message}", error.origin.file or path, error.origin.line)
