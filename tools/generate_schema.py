"""The JSON Schemas of what the verbs print with `-o json`, from the types that are encoded; one file a kind."""

import json
from typing import Any, Literal

import msgspec

from lockgate.capacity.fit import Fit, Verdict
from lockgate.capacity.overview import Overview
from lockgate.capacity.what_if import WhatIf
from lockgate.cli.comparing import Comparison
from lockgate.cli.contents import Contents
from lockgate.cli.here import Here, Numbers
from lockgate.cli.pages import Page
from lockgate.cli.smoke_plan import Result
from lockgate.cli.surveying import Survey
from lockgate.lint.report import LintReport
from lockgate.model import names
from lockgate.model.finding import Diagnosis

FOLDER = "docs/reference"
# Evidence leaves out what it does not have; everything else is always written.
_SPARSE = ("Evidence",)


def _document(kind: str, base: type | None = None, **fields: Any) -> type:
    """A type with a version and a kind, and the fields of a base or its own."""
    head = [("api_version", Literal[names.API_VERSION]), ("kind", Literal[kind])]
    bases = (base,) if base else ()
    return msgspec.defstruct(kind, [*head, *fields.items()], bases=bases, rename="camel", kw_only=True)


DOCUMENTS: dict[str, type] = {
    "diagnosis": Diagnosis,
    "survey": _document("Survey", Survey),
    "capacity": _document("Capacity", Overview),
    "fit": _document("Fit", Fit, verdict=Verdict, fits=bool, copies=int),
    "what-if": _document("WhatIf", WhatIf),
    "lint": _document("Lint", LintReport, exit_code=int),
    "smoke": _document("Smoke", nodes=tuple[Result, ...]),
    "bundle-contents": _document("BundleContents", Contents),
    "bundle-comparison": _document("BundleComparison", Comparison, before=str, after=str),
    "explanation-list": _document(
        "ExplanationList", items=tuple[Page, ...], here=tuple[Here, ...] | None, numbers=Numbers | None
    ),
}


def generated() -> dict[str, str]:
    """A schema for each kind of document."""
    return {f"{FOLDER}/{name}.v1alpha1.schema.json": _schema(type) for name, type in DOCUMENTS.items()}


def _schema(document: type) -> str:
    schema = msgspec.json.schema(document)
    for name, definition in schema["$defs"].items():
        if "properties" in definition and name not in _SPARSE:
            definition["required"] = sorted(definition["properties"])
            definition["additionalProperties"] = False
    title = f"{schema['$ref'].rpartition('/')[2]} of {names.API_VERSION}"
    head = {"$schema": "https://json-schema.org/draft/2020-12/schema", "title": title}
    return json.dumps(head | schema, indent=2) + "\n"
