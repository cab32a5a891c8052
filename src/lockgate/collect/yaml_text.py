"""YAML of foreign input: plain values only, bounded in depth and in what its aliases expand to."""

from typing import Any

from lockgate.collect.errors import InputError, one_line

_DEEPEST = 200  # containers in one another
_MOST_WRITTEN = 1_000_000  # values of a text
_BETWEEN = (b"\n", b",", b":", b"[", b"{", b"- ")  # between two values stands one of them at least
_MOST_NODES = 5_000_000  # values of a document after its aliases are expanded


def parse_yaml(name: str, text: bytes) -> Any:
    """Plain YAML of one document; aliases are fine until what they expand to is too much."""
    found = parse_documents(name, text)
    if len(found) > 1:
        raise InputError(f"{name}: holds {len(found)} YAML documents where one is expected")
    return found[0] if found else None


def parse_documents(name: str, text: bytes) -> list[Any]:
    """The same of any number of documents between `---`; the empty ones are left out."""
    import yaml  # late: a tenth of a second that JSON does not need

    try:
        _check_room(name, text)
        values = [value for value in yaml.load_all(text, Loader=_loader()) if value is not None]  # a safe loader
    except yaml.YAMLError as error:
        raise InputError(f"{name}: is neither JSON nor YAML: {_yaml_problem(error)}") from None
    except InputError:
        raise
    except (RecursionError, ValueError):
        raise InputError(f"{name}: holds YAML that cannot be built") from None
    if sum(_expanded(name, value, {}, set()) for value in values) > _MOST_NODES:
        raise InputError(f"{name}: its YAML aliases expand to more than {_MOST_NODES:,} values")
    return values


def _check_room(name: str, text: bytes) -> None:
    """Refuse what would take too much memory: the reader needs some 400 bytes for each value, however short."""
    import yaml

    if sum(map(text.count, _BETWEEN)) < _MOST_WRITTEN:
        return
    begun = (yaml.ScalarEvent, yaml.CollectionStartEvent)
    for count, _ in enumerate(e for e in yaml.parse(text, Loader=_loader()) if isinstance(e, begun)):
        if count > _MOST_WRITTEN:
            raise InputError(
                f"{name}: holds more than {_MOST_WRITTEN:,} values, which are too many for YAML; "
                "kubectl get ... -o json > FILE may be of any length"
            )


def _loader() -> Any:
    import yaml

    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    # Moments stay text, as in JSON.
    resolvers = {
        first: [(tag, regexp) for tag, regexp in pairs if tag != "tag:yaml.org,2002:timestamp"]
        for first, pairs in loader.yaml_implicit_resolvers.items()
    }
    return type("Loader", (loader,), {"yaml_implicit_resolvers": resolvers})


def _expanded(name: str, value: Any, sizes: dict[int, int], open_: set[int]) -> int:
    """How many values a document holds once each alias is written out; one visit a node, however often it is used."""
    if not isinstance(value, dict | list):
        return 1
    key = id(value)
    if key in sizes:
        return sizes[key]
    if key in open_ or len(open_) > _DEEPEST:
        raise InputError(f"{name}: its YAML contains itself or is nested too deeply")
    open_.add(key)
    children = value.values() if isinstance(value, dict) else value
    sizes[key] = 1 + sum(_expanded(name, child, sizes, open_) for child in children)
    open_.remove(key)
    return sizes[key]


def _yaml_problem(error: Any) -> str:
    mark, problem = getattr(error, "problem_mark", None), getattr(error, "problem", None) or error
    return one_line(problem) + (f" (line {mark.line + 1})" if mark else "")
