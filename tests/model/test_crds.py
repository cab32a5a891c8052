"""The CustomResourceDefinitions: field for field NVIDIA's interface, and in step with the types."""

import json
from pathlib import Path
from typing import Any

import yaml

from tools.generate_crds import cluster_policy, generated, gpu_node_state

ROOT = Path(__file__).parents[2]
TRUTH = ROOT / "tests" / "truth" / "clusterpolicy_fields.tsv"
Facts = dict[str, tuple[str, frozenset[str]]]


def properties(definition: dict[str, Any]) -> dict[str, Any]:
    (version,) = definition["spec"]["versions"]
    found: dict[str, Any] = version["schema"]["openAPIV3Schema"]["properties"]
    return found


def flat(path: str, schema: dict[str, Any], required: bool = False) -> Facts:
    """A schema as the lines of the recorded table: path -> type and constraints."""
    facts: Facts = {path: (kind(schema), constraints(schema, required))}
    for name, below in schema.get("properties", {}).items():
        facts |= flat(f"{path}.{name}", below, name in schema.get("required", []))
    if "items" in schema:
        facts |= flat(f"{path}[]", schema["items"])
    if "additionalProperties" in schema:
        facts |= flat(f"{path}{{}}", schema["additionalProperties"])
    return facts


def kind(schema: dict[str, Any]) -> str:
    return "int-or-string" if schema.get("x-kubernetes-int-or-string") else schema.get("type", "any")


def constraints(schema: dict[str, Any], required: bool) -> frozenset[str]:
    found = {f"{key} {schema[key]}" for key in ("minimum", "format", "pattern", "minLength") if key in schema}
    found |= {f"one of {sorted(schema['enum'])}"} if "enum" in schema else set()
    found |= {f"default {json.dumps(schema['default'])}"} if "default" in schema else set()
    return frozenset(found | ({"required"} if required else set()))


def recorded() -> Facts:
    facts: Facts = {}
    for line in TRUTH.read_text().splitlines()[1:]:
        path, kind, *rest = line.split("\t")
        words = [word for word in "".join(rest).split("; ") if word]
        facts[path] = (kind, frozenset(_sorted_enum(word) for word in words))
    return facts


def _sorted_enum(word: str) -> str:
    return f"one of {sorted(word.removeprefix('one of ').split('|'))}" if word.startswith("one of ") else word


def test_every_field_is_nvidias_with_its_type_default_and_constraints() -> None:
    ours = properties(cluster_policy())
    found = flat("spec", ours["spec"]) | flat("status", ours["status"])
    wanted = recorded()
    assert len(wanted) == 610
    assert {path for path in wanted if found.get(path) != wanted[path]} == set()
    assert found.keys() == wanted.keys()


def test_every_field_of_the_spec_is_described() -> None:
    def undescribed(path: str, schema: dict[str, Any]) -> list[str]:
        below = [p for name, s in schema.get("properties", {}).items() for p in undescribed(f"{path}.{name}", s)]
        return below + ([] if schema.get("description") else [path])

    assert undescribed("spec", properties(cluster_policy())["spec"]) == []


def test_a_node_state_has_every_section() -> None:
    assert set(properties(gpu_node_state())["status"]["properties"]) == {
        "runtime",
        "cdi",
        "devices",
        "driver",
        "validation",
    }


def test_the_files_in_the_repository_are_generated_from_the_types() -> None:
    for path, text in generated().items():
        assert (ROOT / path).read_text() == text, f"{path} is stale: run `make generate`"
        assert yaml.safe_load(text)["kind"] == "CustomResourceDefinition"
