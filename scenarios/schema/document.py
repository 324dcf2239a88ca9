"""The whole file."""

from __future__ import annotations

from collections.abc import Mapping

from ..reader.expectations import EXPECTED, MAX_STEPS
from ..reader.names import MAX_ENTITIES
from ..reader.settings import BOUNDS, MAX_COUNT, NUMBERS, SWITCHES
from .cluster import OBJECTS
from .parts import FLAG, IGNORED, NAME, SHARED, WORD, Schema, about, listed, mapping, part, table, whole, word

DRAFT = "https://json-schema.org/draft/2020-12/schema"

_RELEASE = about(WORD, 'The scheduler\'s release, such as "1.34"; a release means its first version.')
_CHANGES = about(listed(WORD), "Upstream changes, such as 72259.")
_PROPERTIES = about(listed({"type": "string"}), "Identifiers such as S-NOM: see `podrace properties`.")

SECTIONS: Mapping[str, Schema] = {
    "verdict": mapping({"verdict": word(EXPECTED), "steps": whole(0, MAX_STEPS)}, ["verdict"]),
    "verdicts": table({"anyOf": [word(EXPECTED), part("verdict")]}),
    "expectation": mapping(
        {
            "release": _RELEASE,
            "with_fixes": _CHANGES,
            "without_fixes": _CHANGES,
            "verdicts": part("verdicts"),
        },
        ["verdicts"],
    ),
    "scope": mapping(
        {name: FLAG if least is None else whole(least, MAX_COUNT) for name, least in BOUNDS.items()},
        about="How often what may happen, and how far views may lag.",
    ),
    "config": mapping(
        {**dict.fromkeys(SWITCHES, FLAG), **{name: whole(0, most) for name, (_, most) in NUMBERS.items()}},
        about="The scheduler's configuration.",
    ),
    "race": mapping(
        {
            "issue": whole(1, 10_000_000),
            "fixes": listed(WORD, 1),
            "beside": listed(WORD, 1),
            "seed": FLAG,
            "residual": part("residual"),
        },
        ["issue", "fixes"],
        "The upstream race that the scenario shows.",
    ),
    "residual": mapping(
        {"property": {"type": "string"}, "closed_by": listed(WORD, 1)}, ["property", "closed_by"]
    ),
}
"""The sections beside the cluster."""


def schema_of_scenarios() -> Schema:
    """The schema: what it refuses, the reader refuses; the reader also compares fields with one another."""
    top = mapping(
        {
            "name": about(NAME, "What the scenario is called; the file's name unless given."),
            "title": about(
                {"type": ["string", "number", "boolean"], "maxLength": 200}, "What it shows, in one line."
            ),
            "race": part("race"),
            "release": _RELEASE,
            "properties": _PROPERTIES,
            "also": about(listed({"type": "string"}), "Further properties that are of interest here."),
            "expect": about(
                {
                    "anyOf": [
                        {**part("verdicts"), "minProperties": 1},
                        listed(part("expectation"), 1),
                    ]
                },
                "What should come out, for `podrace test`.",
            ),
            "ignore": about(
                IGNORED,
                "Properties that are not to be looked at, with the reason.",
            ),
            "nodes": table(part("node"), 1, MAX_ENTITIES),
            "pods": table(part("pod"), 1, MAX_ENTITIES),
            "namespaces": table(part("namespace")),
            "podDisruptionBudgets": table(part("podDisruptionBudget"), 0, MAX_ENTITIES),
            "scope": part("scope"),
            "config": part("config"),
        },
        ["nodes", "pods"],
    )
    head = {"$schema": DRAFT, "title": "A scenario of podrace"}
    return {**head, **top, "$defs": {**SHARED, **OBJECTS, **SECTIONS}}
