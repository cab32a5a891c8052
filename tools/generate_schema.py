"""The JSON Schema of `why -o json`, from the types that are encoded."""

import json

import msgspec

from lockgate.model.finding import Diagnosis

PATH = "docs/reference/diagnosis.v1alpha1.schema.json"


def generated() -> dict[str, str]:
    """The schema; every field is always written, so every field is required, but for evidence's own."""
    schema = msgspec.json.schema(Diagnosis)
    for name, definition in schema["$defs"].items():
        if "properties" in definition and name != "Evidence":
            definition["required"] = sorted(definition["properties"])
            definition["additionalProperties"] = False
    head = {"$schema": "https://json-schema.org/draft/2020-12/schema", "title": "Diagnosis of lockgate.dev/v1alpha1"}
    return {PATH: json.dumps(head | schema, indent=2) + "\n"}
