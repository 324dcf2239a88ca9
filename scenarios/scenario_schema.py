"""The JSON Schema (draft 2020-12) of scenario files, for editors; made from the tables of fields."""

from collections.abc import Mapping

from ..model.environment.cluster.placement_rules import NODE_NAME
from ..model.environment.objects import Operator
from .tables.all import TABLES
from .tables.file import EXPECTED, FILE
from .tables.kinds import LABEL_KEY, LABEL_VALUE, WORD, Kind, Schema, list_of, object_of, one_of, part, refers
from .tables.nodes import STATUS
from .tables.placement import POD_TERMS, WEIGHT

DRAFT = "https://json-schema.org/draft/2020-12/schema"

SHARED: Mapping[str, Schema] = {
    "name": {
        "description": "A name of at most 63 lower-case letters, digits, `-` and `.`.",
        **WORD,
        "pattern": "^[a-z0-9]([-a-z0-9.]{0,61}[a-z0-9])?$",
    },
    "labelKey": {**WORD, "maxLength": 317},
    "labelValue": {"type": "string", "maxLength": 63},
    "labels": {"type": "object", "additionalProperties": part("labelValue")},
    "cpu": {
        "description": "CPU, such as 2, 0.5 or 500m; or a range such as 1..4 or 500m..2000m.",
        "type": ["string", "number"],
        "pattern": r"^([0-9]{1,9}(\.[0-9]{1,9})?m?|[0-9]{1,9}m?\.\.[0-9]{1,9}m?)$",
        "minimum": 0,
    },
    "bytes": {
        "description": "Bytes, such as 1000, 128Mi, 1.5G or 1e9; or a range such as 1Gi..4Gi.",
        "type": ["string", "number"],
        "pattern": r"^[0-9]{1,19}(\.[0-9]{1,9})?([KMGTP]i|[kMGTP]|[eE][0-9]{1,2})?$"
        r"|^[0-9]{1,19}([KMGTP]i|[kMGTP])?\.\.[0-9]{1,19}([KMGTP]i|[kMGTP])?$",
        "minimum": 0,
    },
}
"""Parts that many fields refer to."""


def _requirement(key: Kind, operators: list[str], values: Kind, needed: list[str]) -> Schema:
    known = one_of(operators, "an operator").schema
    fields = {"key": key.schema, "operator": known, "values": values.schema}
    return object_of(fields, ["key", "operator", *needed])


_EXPRESSIONS = list_of("", refers("", "nodeRequirement")).schema
_TERM = {
    name: POD_TERMS[name].schema for name in POD_TERMS.names if name not in ("weight", "podAffinityTerm")
}
_NODE = Kind("", {"type": "string", "maxLength": 253})

WITHOUT_TABLE: Mapping[str, Schema] = {
    "conditions": {"type": "object", "additionalProperties": {"enum": [*STATUS.schema["enum"], True, False]}},
    "preferredNodes": object_of(
        {
            "weight": WEIGHT.schema,
            "matchExpressions": _EXPRESSIONS,
            "preference": object_of({"matchExpressions": _EXPRESSIONS}, ["matchExpressions"]),
        }
    ),
    "podAffinityTerm": object_of(_TERM, ["topologyKey"]),
    "nodeRequirement": _requirement(LABEL_KEY, [o.value for o in Operator], list_of("", LABEL_VALUE), []),
    "nodeField": _requirement(
        one_of((NODE_NAME,), "a field of a node"), ["In", "NotIn"], list_of("", _NODE, 1), ["values"]
    ),
    "verdicts": {
        "type": "object",
        "additionalProperties": {"anyOf": [{"enum": list(EXPECTED)}, part("verdict")]},
    },
}
"""What a field of a table has another form of, or that has no fields."""


def schema_of_scenarios() -> Schema:
    """The schema: what it refuses, the reader refuses; the reader also compares fields with one another."""
    parts = {table.part: table.schema for table in TABLES if table is not FILE}
    for updates in ("nodeUpdate", "podUpdate"):
        parts[updates]["minProperties"] = 1
    head = {"$schema": DRAFT, "title": "A scenario of podrace"}
    return {**head, **FILE.schema, "$defs": {**SHARED, **WITHOUT_TABLE, **parts}}
