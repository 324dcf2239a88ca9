"""What this podrace knows: races, properties, releases, changes and forms, as rows for listings and for programs."""

import inspect
import platform
from collections.abc import Mapping, Sequence
from itertools import chain
from typing import Any

from ..base.problems import UsageProblem
from ..base.text import one_line
from ..model.history import CHANGES, PRE_RELEASES, resolve
from ..model.history.versions import exact
from ..model.history.versions.gates import gates
from ..properties import PROPERTIES, Property
from ..properties.titles import GROUP_OF, TITLES
from ..reports.formats.forms import FORMS
from ..reports.stored import VERSION
from ..scenarios import Race, Scenario, catalogue
from ..scenarios import hazards as open_hazards
from .request.options import nearest_properties, parse_fix, parse_property
from .request.plan import checked_changes, default_properties, default_release, race_fixes
from .request.release_names import known_releases, parse_release
from .version import podrace_version


def gate_rows(release: str) -> list[dict[str, Any]]:
    """The feature gates that concern the scheduler, as they are in a version, and how the model has each; those that it does not have are left out."""
    behind: dict[str, list[str]] = {}
    for change in CHANGES.values():
        if change.gate and change.is_behind_gate_in(release):
            behind.setdefault(change.gate, []).append(change.key)
    return [
        {
            "name": gate.name,
            "about": gate.about,
            "stage": state.stage,
            "default": state.on if state.is_known else None,
            "locked": state.locked,
            "how": gate.how,
            "changes": behind.get(gate.name, []),
            "row": gate.abstracted or None,
            "why": gate.covered or gate.unmodelled or gate.gap(release) or None,
            "taken_as_on": gate.is_on(release) and not state.on,
            "taken_as_off": state.on and not gate.is_on(release),
        }
        for gate in gates().values()
        if (state := gate.at(release)) is not None
    ]


def races(words: Sequence[str] = (), release: str | None = None) -> list[dict[str, Any]]:
    """The known races and the other scenarios, a row each; those of which every word is said, and whose fix a version lacks."""
    there = None if release is None else _missing(release)
    return [_race_row(s) for s in catalogue() if _says(s, words) and _is_there(s, there)]


def hazards(words: Sequence[str] = ()) -> list[dict[str, Any]]:
    """The races that are open in current releases, a row each; those of which every word is said."""
    return [_race_row(scenario) for scenario in hazards_that_say(words)]


def hazards_that_say(words: Sequence[str]) -> list[Scenario]:
    """The scenarios of open races that say every word."""
    return [scenario for scenario in open_hazards() if _says(scenario, words)]


def _missing(release: str) -> frozenset[str]:
    """The changes that a version does not have. Raises UsageProblem."""
    return frozenset(change.key for change in resolve(parse_release(release)).missing)


def _is_there(scenario: Scenario, missing: frozenset[str] | None) -> bool:
    """Whether a change that fixes the race is among these, which is read in the history and not searched."""
    return missing is None or (scenario.race is not None and not missing.isdisjoint(scenario.race.fixes))


def _says(scenario: Scenario, words: Sequence[str]) -> bool:
    """Whether a scenario says every word: in its text, or as the part of the scheduler that its fix changes, or in the title of a property."""
    parts = (_part(key) for key in (scenario.race.fixes if scenario.race else ()))
    groups = (f"{GROUP_OF.get(name, '')} {TITLES.get(name, '')}" for name in default_properties(scenario))
    text = " ".join((scenario.name, scenario.text, *parts, *groups)).lower()
    return all(word.lower() in text for word in words)


def _part(key: str) -> str:
    """The folder of `model/history/changes` that has a change, such as `preemption`."""
    modules = (
        (cls.__module__.partition(".changes.")[2] for cls in CHANGES[key].classes) if key in CHANGES else ()
    )
    return " ".join(module.replace(".", " ").replace("_", " ") for module in modules)


def _race_row(scenario: Scenario) -> dict[str, Any]:
    return {
        "name": scenario.name,
        "title": scenario.title,
        "issue": scenario.race.issue if scenario.race else None,
        "fixes": list(race_fixes(scenario)),
        "release": exact(default_release(scenario)),
        "properties": list(default_properties(scenario)),
        "also": list(scenario.also),
        "residual": _residual(scenario),
        "file": scenario.file,
    }


def properties(names: Sequence[str], own: Mapping[str, type[Property]]) -> list[dict[str, Any]]:
    """All properties by their groups, the user's `own` last, or only those that are named by their ID or by a word of their text. Raises UsageProblem for an unknown one."""
    known = {**{identifier: PROPERTIES[identifier] for identifier in TITLES}, **own}
    wanted = list(dict.fromkeys(chain(*(_by_id_or_word(name, known) for name in names)))) or list(known)
    return [
        {
            "id": identifier,
            "title": TITLES.get(identifier, ""),
            "group": GROUP_OF.get(identifier, ""),
            "kind": known[identifier].kind,
            "sentence": known[identifier].sentence(),
            "explanation": list(known[identifier].explanation()),
            "issues": list(known[identifier].issues),
            "concerns": known[identifier].concerns,
            "scenarios": [s.name for s in catalogue() if identifier in (*s.properties, *s.also)],
        }
        for identifier in wanted
    ]


def _by_id_or_word(name: str, known: Mapping[str, type[Property]]) -> list[str]:
    if name.isalpha() and name not in known:
        found = [one for one in known if name.lower() in _text_of(one, known[one])]
        if not found:
            said = f"no property has the word `{one_line(name)}`, nor a race of one"
            raise UsageProblem(f"{said}; {nearest_properties(name, list(known))}")
        return found
    return [parse_property(name, list(known))]


def _text_of(identifier: str, cls: type[Property]) -> str:
    races = (s for s in (*catalogue(), *open_hazards()) if identifier in s.properties)
    told = (f"{race.name} {race.title}" for race in races)
    return " ".join([TITLES.get(identifier, ""), cls.sentence(), *told]).lower()


def fixes(names: Sequence[str]) -> list[dict[str, Any]]:
    """The upstream changes that can be put in and taken out, oldest first, or only those that are named. Raises UsageProblem."""
    wanted = {parse_fix(name, list(CHANGES)) for name in names}
    return [
        {
            "key": change.key,
            "title": change.title,
            "first_in": change.first_in,
            "where": change.where,
            "before": [inspect.getdoc(cls) or "" for cls in change.classes],
            "gate": change.gate or None,
            "issues": list(change.issues),
            "races": [s.name for s in catalogue() if s.race is not None and change.key in s.race.fixes],
            "with_others": [s.name for s in catalogue() if _closing_with_others(change.key, s)],
        }
        for change in CHANGES.values()
        if not wanted or change.key in wanted
    ]


def _closing_with_others(change: str, scenario: Scenario) -> bool:
    """Whether a change closes no race by itself there, but has a part in closing what its fix leaves."""
    return (
        scenario.race is not None and change not in scenario.race.fixes and change in _fixing(scenario.race)
    )


def _fixing(race: Race) -> tuple[str, ...]:
    """The changes that have a part in closing a race."""
    return (*race.fixes, *(race.residual.closed_by if race.residual is not None else ()))


def installed() -> dict[str, Any]:
    """Which podrace this is, and the releases, changes, feature gates, properties and formats that it knows."""
    return {
        "podrace": podrace_version(),
        "python": platform.python_version(),
        "releases": list(known_releases()),
        "pre_releases": list(PRE_RELEASES),
        "fixes": list(CHANGES),
        "gates": [gate.name for gate in gates().values() if gate.how == "modelled"],
        "properties": list(PROPERTIES),
        "forms": ["text", *FORMS],
        "trace_version": VERSION,
    }


def _residual(scenario: Scenario) -> dict[str, Any] | None:
    residual = scenario.race.residual if scenario.race else None
    if residual is None:
        return None
    return {"property": residual.property, "closed_by": list(checked_changes(scenario, residual.closed_by))}
