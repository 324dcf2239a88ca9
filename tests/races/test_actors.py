"""What controllers, the descheduler and others do to a cluster, and what proposed patches make of it: exact counts (docs/actors.md)."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import pytest

from podrace.checker.search import check
from podrace.model.history import resolve
from podrace.model.language import Component
from podrace.properties import PROPERTIES, instrument
from podrace.scenarios import find_scenarios
from tests.races.actor_patches import (
    FitsThere,
    KeptForPending,
    LessBusyElsewhere,
    ListsAfresh,
    NodesApart,
    OwnGateLast,
    PreferredHaveRoom,
    ReplacedWhenGone,
    WaitsAfterTaint,
    WritesRegardless,
)

ROOT = Path(__file__).parents[2]
FOLDER = ROOT / "scenarios" / "actors"
PAGE = (ROOT / "docs" / "actors.md").read_text(encoding="utf-8")
V, H = "VIOLATED", "HOLDS"

Patches = tuple[type[Component], ...]

ROWS: list[tuple[str, str, str, Patches, str, int, int | None]] = [
    ("preferred-elsewhere", "L-LOOP", "1.36", (), V, 397, 38),
    ("preferred-elsewhere", "L-LOOP", "1.36", (PreferredHaveRoom,), H, 34, None),
    ("spread-over-taint", "L-LOOP", "1.36", (), V, 650, 36),
    ("spread-over-taint", "L-LOOP", "1.36", (FitsThere,), H, 18, None),
    ("too-large-anywhere", "L-LOOP", "1.36", (), V, 381, 36),
    ("too-large-anywhere", "L-LOOP", "1.36", (LessBusyElsewhere,), H, 30, None),
    ("two-schedulers", "S-ADMIT", "1.36", (), V, 1226, 13),
    ("two-schedulers", "S-ADMIT", "1.36", (NodesApart,), H, 544, None),
    ("two-schedulers", "S-CAP", "1.36", (NodesApart,), H, 544, None),
    ("consolidated-too-soon", "L-LOOP", "1.36", (), V, 27301, 37),
    ("consolidated-too-soon", "L-LOOP", "1.36", (KeptForPending,), H, 735, None),
    ("taint-unseen", "S-SCALE", "1.36", (), V, 148, 10),
    ("taint-unseen", "S-SCALE", "1.31", (), V, 177, 10),
    ("taint-unseen", "S-SCALE", "1.36", (WaitsAfterTaint,), H, 194, None),
    ("overwritten-budget", "S-EVICT", "1.36", (), H, 4953, None),
    ("overwritten-budget", "S-EVICT", "1.36", (WritesRegardless,), V, 1289, 14),
    ("replaced-before-gone", "S-MANY", "1.36", (), V, 29, 3),
    ("replaced-before-gone", "S-MANY", "1.36", (ReplacedWhenGone,), H, 338, None),
    ("one-too-many", "S-MANY", "1.36", (), V, 53, 7),
    ("one-too-many", "S-MANY", "1.36", (ListsAfresh,), H, 122, None),
    ("quota-held-back", "S-QUOTA", "1.36", (), V, 69, 6),
    ("quota-held-back", "S-QUOTA", "1.27", (), V, 69, 6),
    ("quota-held-back", "S-QUOTA", "1.36", (OwnGateLast,), H, 47, None),
]


@pytest.mark.parametrize(("name", "identifier", "release", "patches", "verdict", "states", "steps"), ROWS)
def test_verdict_and_counts(
    name: str, identifier: str, release: str, patches: Patches, verdict: str, states: int, steps: int | None
) -> None:
    (scenario,) = find_scenarios(str(FOLDER / f"{name}.yaml"))
    classes = (*patches, *resolve(release).classes)
    (found,) = check(instrument(scenario.spec, classes, [PROPERTIES[identifier]]), [identifier])
    length = None if found.trace is None else len(found.trace.steps)
    assert (found.verdict.name, found.counts.states, length) == (verdict, states, steps)
    assert not found.vacuous


def test_every_scenario_is_tested_and_explained() -> None:
    names = {path.stem for path in FOLDER.glob("*.yaml")}
    assert names == {row[0] for row in ROWS}
    assert [n for n in sorted(names) if f"scenarios/actors/{n}.yaml" not in PAGE] == []


def test_the_page_tells_the_steps_of_each() -> None:
    told = {
        name: int(steps)
        for name, steps in re.findall(r"^\| `([\w-]+)`.*?violated in (\d+) steps", PAGE, re.MULTILINE)
    }
    assert told == {
        name: steps for name, *_, patches, verdict, _, steps in ROWS if verdict == V and not patches
    }


def test_that_an_autoscaler_nominates_is_not_enough() -> None:
    (scenario,) = find_scenarios(str(FOLDER / "consolidated-too-soon.yaml"))
    scope = replace(scenario.spec.scope, autoscaler_nominates=True)
    system = instrument(replace(scenario.spec, scope=scope), resolve("1.36").classes, [PROPERTIES["L-LOOP"]])
    (found,) = check(system, ["L-LOOP"])
    assert (found.verdict.name, found.counts.states) == (V, 149105)


def test_the_commands_say_what_comes_of_them() -> None:
    said = dict(
        re.findall(r"^    podrace check scenarios/actors/([\w-]+)\.yaml +# (\w+)$", PAGE, re.MULTILINE)
    )
    found = {
        name: verdict.lower()
        for name, _, release, patches, verdict, *_ in ROWS
        if not patches and release == "1.36"
    }
    assert said == found
