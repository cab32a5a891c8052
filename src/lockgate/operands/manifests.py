"""An operand's manifests: plain YAML beside its code, part of the program like the code itself."""

import copy
from functools import lru_cache
from importlib.resources import files
from typing import Any

import yaml

Manifest = dict[str, Any]


def load(package: str) -> tuple[Manifest, ...]:
    """Every object in a package's `*.yaml`, in the order of the file names; each call returns fresh copies."""
    return copy.deepcopy(_parsed(package))


def one(package: str, kind: str) -> Manifest:
    """The only object of a kind in a package."""
    (found,) = [manifest for manifest in load(package) if manifest["kind"] == kind]
    return found


@lru_cache
def _parsed(package: str) -> tuple[Manifest, ...]:
    sources = sorted((source for source in files(package).iterdir() if source.name.endswith(".yaml")), key=str)
    documents = [document for source in sources for document in yaml.safe_load_all(source.read_text("utf-8"))]
    return tuple(document for document in documents if document)
