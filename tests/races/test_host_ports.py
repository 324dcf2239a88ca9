"""A host port is room for one: races for room, told anew as races for a port, are the same races."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml

from podrace.checker.core.result import Result
from podrace.checker.search import check
from podrace.model.history import resolve
from podrace.properties import PROPERTIES, instrument
from podrace.scenarios import parse_scenario

SCENARIOS = Path(__file__).parents[2] / "scenarios"


def for_a_port(text: str) -> str:
    """The scenario with nodes that have room for everybody, and pods that all want the same port."""
    scenario: dict[str, Any] = yaml.safe_load(text)
    for node in scenario["nodes"].values():
        node["cpu"] = 64
        node.pop("memory", None)
    for pod in scenario["pods"].values():
        pod |= {"cpu": 1, "hostPorts": [80]}
        pod.pop("memory", None)
    return yaml.safe_dump(scenario)


def answer(
    text: str, identifier: str, release: str
) -> tuple[str, int | None, int | None, int | None, int | None]:
    scenario = parse_scenario(text)
    beside = () if scenario.race is None else scenario.race.beside
    system = instrument(scenario.spec, resolve(release, beside).classes, [PROPERTIES[identifier]])
    found: Result
    (found,) = check(system, [identifier])
    counts, trace = found.counts, found.trace
    steps = None if trace is None else len(trace.steps)
    return found.verdict.name, counts.states, counts.transitions, counts.depth, steps


WAITING = [
    ("93938", "S-CAP", "1.18", 238),
    ("error-is-parked", "S-STUCK", "1.28", 28),
    ("expired-assumption", "S-CAP", "1.24", 171),
    ("forgotten-wakes-nobody", "S-STUCK", "1.22", 28),
    ("gate-outlives-removal", "S-STUCK", "1.28", 36),
    ("gone-victim", "S-STUCK", "1.33", 9591),
    ("gone-victim", "S-STUCK", "1.36.3", 3155),
    ("lost-nomination", "S-STUCK", "1.34", 34669),
    ("old-rejection", "S-STUCK", "1.28", 488),
    ("waiting-victim", "S-STUCK", "1.22", 2445),
    ("hazards/leader-hand-over", "S-CAP", "1.34", 240),
    ("hazards/late-binding", "S-CAP", "1.34", 662),
    ("hazards/rejected-in-memory", "S-STUCK", "1.36", 16142),
    ("hazards/stale-tombstone", "S-STUCK", "1.36", 9304),
    ("hazards/two-generals", "S-CAP", "1.34", 328),
]
IN_EVERY_RUN = ("error-is-parked", "gone-victim", "hazards/leader-hand-over")


@pytest.mark.parametrize(
    ("name", "identifier", "release", "states"),
    [pytest.param(*row, marks=[] if row[0] in IN_EVERY_RUN else [pytest.mark.nightly]) for row in WAITING],
)
def test_who_waits_for_a_port_waits_as_for_room(
    name: str, identifier: str, release: str, states: int
) -> None:
    """Filters, dry run, events and hints of NodePorts: the same states, transitions and steps as with NodeResourcesFit."""
    text = (SCENARIOS / f"{name}.yaml").read_text(encoding="utf-8")
    found = answer(for_a_port(text), identifier, release)
    assert found == answer(text, identifier, release)
    assert found[:2] == ("VIOLATED", states)


def test_a_pod_that_is_counted_twice_takes_its_port_once() -> None:
    """What only sums go wrong by is no race for a port: the hazard queued-while-assumed has none."""
    text = (SCENARIOS / "hazards" / "queued-while-assumed.yaml").read_text(encoding="utf-8")
    assert answer(text, "S-STUCK", "1.35")[:2] == ("VIOLATED", 7548)
    assert answer(for_a_port(text), "S-STUCK", "1.35") == ("HOLDS", 7920, 25778, 62, None)
