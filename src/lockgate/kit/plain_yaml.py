"""YAML of foreign texts: plain values only, bounded in how many there are, in depth, and in what aliases expand to."""

from typing import Any, Final

_DEEPEST: Final = 200  # containers in one another
_BETWEEN: Final = (b"\n", b",", b":", b"[", b"{", b"- ")  # between two values stands one of them at least
_MOST_NODES: Final = 5_000_000  # values of a document after its aliases are expanded


class PlainYamlError(ValueError):
    """A text that is not taken; one line that says why, without the text's name."""


class TooManyValuesError(PlainYamlError):
    """A text of more values than are read of it."""


def parse_documents(text: bytes, most: int) -> list[Any]:
    """The documents between `---` that are not empty; moments stay text, as in JSON.

    Aliases are fine until what they expand to is too much. Raises PlainYamlError, TooManyValuesError above `most`.
    """
    import yaml  # late: a tenth of a second that JSON does not need

    try:
        _check_room(text, most)
        values = [value for value in yaml.load_all(text, Loader=_loader()) if value is not None]  # a safe loader
    except yaml.YAMLError as error:
        raise PlainYamlError(f"is neither JSON nor YAML: {_problem(error)}") from None
    except PlainYamlError:
        raise
    except (RecursionError, ValueError):
        raise PlainYamlError("holds YAML that cannot be built") from None
    if sum(_expanded(value, {}, set()) for value in values) > _MOST_NODES:
        raise PlainYamlError(f"its YAML aliases expand to more than {_MOST_NODES:,} values")
    return values


def _check_room(text: bytes, most: int) -> None:
    """Refuse what would take too much memory: the reader needs some 400 bytes for each value, however short."""
    import yaml

    if sum(map(text.count, _BETWEEN)) < most:
        return
    begun = (yaml.ScalarEvent, yaml.CollectionStartEvent)
    for count, _ in enumerate(e for e in yaml.parse(text, Loader=_loader()) if isinstance(e, begun)):
        if count > most:
            raise TooManyValuesError(f"holds more than {most:,} values, which are too many for YAML")


def _loader() -> Any:
    import yaml

    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    resolvers = {
        first: [(tag, regexp) for tag, regexp in pairs if tag != "tag:yaml.org,2002:timestamp"]
        for first, pairs in loader.yaml_implicit_resolvers.items()
    }
    return type("Loader", (loader,), {"yaml_implicit_resolvers": resolvers})


def _expanded(value: Any, sizes: dict[int, int], open_: set[int]) -> int:
    """How many values a document holds once each alias is written out; one visit a node, however often it is used."""
    if not isinstance(value, dict | list):
        return 1
    key = id(value)
    if key in sizes:
        return sizes[key]
    if key in open_ or len(open_) > _DEEPEST:
        raise PlainYamlError("its YAML contains itself or is nested too deeply")
    open_.add(key)
    children = value.values() if isinstance(value, dict) else value
    sizes[key] = 1 + sum(_expanded(child, sizes, open_) for child in children)
    open_.remove(key)
    return sizes[key]


def _problem(error: Any) -> str:
    mark, problem = getattr(error, "problem_mark", None), getattr(error, "problem", None) or error
    return " ".join(str(problem).split())[:300] + (f" (line {mark.line + 1})" if mark else "")
