"""YAML of input: as `kit.plain_yaml` takes it, with complaints that name the input and the way around its bounds."""

from typing import Any, Final

from lockgate.collect.errors import InputError
from lockgate.kit.plain_yaml import PlainYamlError, TooManyValuesError
from lockgate.kit.plain_yaml import parse_documents as plain_documents

_MOST_VALUES: Final = 1_000_000  # of a text


def parse_yaml(name: str, text: bytes) -> Any:
    """Plain YAML of one document; None where it is empty."""
    found = parse_documents(name, text)
    if len(found) > 1:
        raise InputError(f"{name}: holds {len(found)} YAML documents where one is expected")
    return found[0] if found else None


def parse_documents(name: str, text: bytes) -> list[Any]:
    """The same of any number of documents between `---`; the empty ones are left out."""
    try:
        return plain_documents(text, _MOST_VALUES)
    except TooManyValuesError as error:
        raise InputError(f"{name}: {error}; kubectl get ... -o json > FILE may be of any length") from None
    except PlainYamlError as error:
        raise InputError(f"{name}: {error}") from None
