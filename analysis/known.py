"""What this podrace knows: races, properties, releases, changes and forms, as rows for listings and for programs."""

from __future__ import annotations

import platform
from collections.abc import Mapping, Sequence
from importlib.metadata import version
from typing import Any

from ..model.history import CHANGES, RELEASES
from ..properties import PROPERTIES, Property
from ..reports.formats.forms import FORMS
from ..reports.stored import VERSION
from ..scenarios import Scenario, catalogue
from .asked.options import parse_property
from .asked.plan import checked_changes, default_properties, default_release, race_fixes


def races() -> list[dict[str, Any]]:
    """The known races and the other scenarios, a row each."""
    return [
        {
            "name": scenario.name,
            "title": scenario.title,
            "issue": scenario.race.issue if scenario.race else None,
            "fixes": list(race_fixes(scenario)),
            "release": default_release(scenario),
            "properties": list(default_properties(scenario)),
            "also": list(scenario.also),
            "residual": _residual(scenario),
            "file": scenario.file,
        }
        for scenario in catalogue()
    ]


def properties(names: Sequence[str], own: Mapping[str, type[Property]]) -> list[dict[str, Any]]:
    """All properties, the user's `own` last, or only those that are named. Raises UsageProblem for an unknown one."""
    known = {**PROPERTIES, **own}
    wanted = [parse_property(name, list(known)) for name in names] or list(known)
    return [
        {
            "id": identifier,
            "kind": known[identifier].kind,
            "sentence": known[identifier].sentence(),
            "explanation": list(known[identifier].explanation()),
            "issues": list(known[identifier].issues),
            "concerns": known[identifier].concerns,
            "scenarios": [s.name for s in catalogue() if identifier in (*s.properties, *s.also)],
        }
        for identifier in wanted
    ]


def installed() -> dict[str, Any]:
    """Which podrace this is, and the releases, changes, properties and formats that it knows."""
    return {
        "podrace": version("podrace"),
        "python": platform.python_version(),
        "releases": list(RELEASES),
        "fixes": list(CHANGES),
        "properties": list(PROPERTIES),
        "forms": ["text", *FORMS],
        "trace_version": VERSION,
    }


def _residual(scenario: Scenario) -> dict[str, Any] | None:
    residual = scenario.race.residual if scenario.race else None
    if residual is None:
        return None
    return {
        "property": residual.property,
        "closed_by": list(checked_changes(scenario, residual.closed_by)),
    }
