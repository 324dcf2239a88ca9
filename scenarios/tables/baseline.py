"""The fields of a baseline: violations that are known, each with a reason and an end."""

from ...model.environment.cluster.scope import ANY_TIME, SCALES, SHORT_ACTORS
from .kinds import FLAG, Schema, list_of, one_of, text, whole
from .table import Field, Table

MOST_STEPS = 100_000

KNOWN = Table(
    "Known violations",
    "known",
    (
        Field("scenario", text("name", "the name of a scenario"), "required", "The scenario, as reports call it.", missing="name the scenario, as reports call it"),
        Field("shape", text("shape", "the shape of a cluster"), "none", "Of `podrace check -f`: the shape of the cluster that is checked. It does not depend on the names of files, pods and nodes."),
        Field("property", text("ID", "the identifier of a property"), "required", "The property that is violated.", missing="name the property that is violated, such as S-CAP"),
        Field("release", text("version", "a version such as 1.34.3"), "every version", "The version, such as `1.34.3`, with the fixes, gates and patches that reports write behind it."),
        Field("time", one_of((ANY_TIME, SCALES), "a scale of time"), f"`{ANY_TIME}`", "The scale of time with which it is violated, as `--time` says."),
        Field("slow", list_of("list of actors", one_of(SHORT_ACTORS, "an actor")), "nobody", f"With `time: {SCALES}`, the actors that can still take minutes, as `--slow` says."),
        Field("fair_flush", FLAG, "`false`", "`true` if it is violated although the periodic flush happens, as `--fair-flush` says."),
        Field("steps", whole(0, MOST_STEPS), "of any length", "The length of the counterexample. A shorter one is worse than what is known."),
        Field("reason", text("text", "why it is accepted"), "required", "Why it is accepted for now.", missing="say why it is accepted"),
        Field("until", text("date or version", "a date such as 2027-03-31, or a version such as 1.38"), "required", "The day until which it is accepted, or the first version in which it is not.", missing="write a date such as 2027-03-31, or a version such as 1.38"),
    ),
    about="A violation that is known, and accepted for now.",
)  # fmt: skip

BASELINE = Table(
    "Baseline",
    "baseline",
    (
        Field(
            "known",
            list_of("list of violations", text("violation")),
            "required",
            "The violations that are known.",
            missing="list what is known below `known:`",
        ),
    ),
)


def schema_of_baselines() -> Schema:
    """The JSON Schema (draft 2020-12) of baselines, for editors."""
    known = {"type": "array", "items": KNOWN.schema, "description": BASELINE["known"].words}
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "podrace baseline",
        **BASELINE.schema,
        "properties": {"known": known},
    }
