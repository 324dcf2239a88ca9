"""`podrace races` and `podrace properties`: what is known."""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping, Sequence
from typing import Any

from rich.console import Console
from rich.text import Text

from ..analysis.options import parse_property
from ..analysis.plan import checked_changes, default_properties, default_release, race_fixes
from ..properties import PROPERTIES, Property
from ..scenarios import Scenario, catalogue
from .console import result_console

UPSTREAM = "kubernetes/kubernetes#"


def list_races(form: str, no_color: bool = False) -> None:
    """Print the known races and the other scenarios."""
    rows: list[dict[str, Any]] = [
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
    if form == "json":
        _print_json(rows)
        return
    console = result_console(no_color)
    for row in rows:
        _heading(console, row["name"], row["title"])
        if row["issue"] is not None:
            fixes = ", ".join(UPSTREAM + key if key.isdigit() else key for key in row["fixes"])
            _detail(console, f"issue {UPSTREAM}{row['issue']}, fixed by {fixes}")
        if row["residual"]:
            closed_by = ", ".join(row["residual"]["closed_by"])
            _detail(
                console, f"still open after the fix: {row['residual']['property']}, closed by {closed_by}"
            )
        also = f" (also: {', '.join(row['also'])})" if row["also"] else ""
        _detail(
            console,
            f"release {row['release']}; properties: {', '.join(row['properties'])}{also}; {row['file']}",
        )


def _residual(scenario: Scenario) -> dict[str, Any] | None:
    residual = scenario.race.residual if scenario.race else None
    if residual is None:
        return None
    return {
        "property": residual.property,
        "closed_by": list(checked_changes(scenario, residual.closed_by)),
    }


def list_properties(
    names: Sequence[str], form: str, no_color: bool = False, own: Mapping[str, type[Property]] | None = None
) -> None:
    """Print all properties, the user's `own` last, or only those that are named. Raises UsageProblem for an unknown one."""
    known = {**PROPERTIES, **(own or {})}
    wanted = [parse_property(name, list(known)) for name in names] or list(known)
    rows: list[dict[str, Any]] = [
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
    if form == "json":
        _print_json(rows)
        return
    console = result_console(no_color)
    for row in rows:
        _heading(console, row["id"], row["kind"])
        _detail(console, row["sentence"])
        if names:
            for paragraph in row["explanation"]:
                _detail(console, paragraph)
            if row["concerns"]:
                _detail(console, f"can be ignored for single pods: a violation is one of {row['concerns']}")
            if row["issues"]:
                _detail(console, "see " + ", ".join(f"{UPSTREAM}{number}" for number in row["issues"]))
            if row["scenarios"]:
                _detail(console, f"scenarios: {', '.join(row['scenarios'])}")


def _print_json(rows: list[dict[str, Any]]) -> None:
    sys.stdout.write(json.dumps(rows, indent=2, ensure_ascii=False) + "\n")


def _heading(console: Console, name: str, rest: str) -> None:
    console.print(Text(name, "bold").append(f"  {rest}", "not bold"), soft_wrap=True)


def _detail(console: Console, text: str) -> None:
    for line in Text(text).wrap(console, max(console.width - 4, 20)):
        line.rstrip()
        console.print(Text("    ").append_text(line), soft_wrap=True)
