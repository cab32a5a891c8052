"""The edit for releases that take a later file's table whole: what is lost is repeated in the file that wins."""

from lockgate.containerd.values import Leaf, Plain, Table, find, leaves
from lockgate.lint.edits import put
from lockgate.lint.lost_settings import lost_settings
from lockgate.lint.rule import Fix, Path
from lockgate.lint.subject import Config


def repeat_in(config: Config, winner: str, section: str) -> tuple[Fix, ...]:
    """Every setting of a section that an earlier file says and the winner does not, added to the winner."""
    said = find(config.documents[winner], "plugins", section)
    missing: dict[Path, Plain] = {}
    for path, document in config.documents.items():
        if path == winner:
            break
        table = find(document, "plugins", section)
        for inside, leaf in leaves(table) if isinstance(table, Table) else ():
            if isinstance(said, Table) and not _says(said, inside):
                missing[("plugins", section, *inside)] = leaf.value
    intends = [lost.path for lost in lost_settings(config)]
    # A repeated handler is the earlier file's again, whatever the built-in one of the same name had besides.
    runtimes = ("plugins", config.runtime, "containerd", "runtimes")
    intends += [(*runtimes, path[4]) for path in missing if path[2:4] == ("containerd", "runtimes") and len(path) > 5]
    text = f"repeat what {config.subject.show(winner)} takes away"
    return put(config, winner, dict(sorted(missing.items(), key=_by_table)), text, *dict.fromkeys(intends))


def _says(table: Table, inside: Path) -> bool:
    """Whether a table has the key, or a value where the key's table would be."""
    return any(isinstance(find(table, *inside[:n]), Leaf) for n in range(1, len(inside) + 1)) or (
        find(table, *inside) is not None
    )


def _by_table(item: tuple[Path, Plain]) -> tuple[Path, str]:
    return item[0][:-1], item[0][-1]
