"""Races of claims and devices that no change of the model's releases mends, and what proposed patches make of them: exact counts (docs/claims.md)."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from podrace.checker.search import check
from podrace.model.history import RELEASES, resolve
from podrace.model.language import Component
from podrace.properties import PROPERTIES, instrument
from podrace.scenarios import find_scenarios
from tests.claim_patches import (
    AllocationHereAccepted,
    OwnFlightEnded,
    ReplacedLookedUp,
    SameAllocationAccepted,
    UnreservedAssumed,
)
from tests.test_shared_claims import NAMES as SHARED
from tests.test_shared_claims import NeverAllocatedElsewhere

ROOT = Path(__file__).parents[1]
FOLDER = ROOT / "scenarios" / "claims"
PAGE = (ROOT / "docs" / "claims.md").read_text(encoding="utf-8")
V, H = "VIOLATED", "HOLDS"

Patches = tuple[type[Component], ...]

ROWS: list[tuple[str, str, str, Patches, tuple[str, ...], str, int, int | None]] = [
    ("bound-unreserved", "S-RESV", "1.36.3", (), (), V, 2944, 37),
    ("bound-unreserved", "S-RESV", "1.36.3", (UnreservedAssumed,), (), H, 25060, None),
    ("flight-ended-by-another", "S-INFLIGHT", "1.36.3", (), (), V, 33815, 28),
    ("flight-ended-by-another", "S-INFLIGHT", "1.34.4", (OwnFlightEnded,), (), H, 591776, None),
    ("sibling-allocates", "L-CLAIM", "1.36.3", (), (), H, 167084, None),
    ("deallocated-while-binding", "S-EXIT", "1.36", (), (), H, 489062, None),
    ("deallocated-while-binding", "S-EXIT", "1.36", (), ("137371",), V, 612, 13),
    ("taken-for-replaced", "S-RESV", "1.34.4", (), (), V, 840, 18),
    ("taken-for-replaced", "S-RESV", "1.34.4", (ReplacedLookedUp,), (), H, 30198, None),
    ("taken-for-replaced", "S-RESV", "1.35.4", (), (), V, 537, 22),
    ("taken-for-replaced", "S-RESV", "1.36.3", (), (), V, 537, 22),
]


@pytest.mark.parametrize(
    ("name", "identifier", "release", "patches", "without", "verdict", "states", "steps"), ROWS
)
def test_verdict_and_counts(
    name: str, identifier: str, release: str, patches: Patches, without: tuple[str, ...], verdict: str, states: int,
    steps: int | None,
) -> None:  # fmt: skip
    (scenario,) = find_scenarios(str(FOLDER / f"{name}.yaml"))
    classes = (*patches, *resolve(release, (), without).classes)
    (found,) = check(instrument(scenario.spec, classes, [PROPERTIES[identifier]]), [identifier])
    length = None if found.trace is None else len(found.trace.steps)
    assert (found.verdict.name, found.counts.states, length) == (verdict, states, steps)
    assert not found.vacuous


@pytest.mark.ci
def test_a_pod_that_was_created_anew_keeps_its_claim_if_the_controller_asks() -> None:
    (scenario,) = find_scenarios(str(FOLDER / "taken-for-replaced.yaml"))
    classes: tuple[type[Component], ...] = (ReplacedLookedUp, *resolve("1.36.3").classes)
    (found,) = check(instrument(scenario.spec, classes, [PROPERTIES["S-RESV"]]), ["S-RESV"])
    assert (found.verdict.name, found.counts.states, found.vacuous) == (H, 1023438, False)


@pytest.mark.parametrize(("release", "states", "steps"), [("1.34.4", 24684, 27), ("1.35.4", 39360, 29)])
def test_older_releases_end_flights_of_others_too(release: str, states: int, steps: int) -> None:
    (scenario,) = find_scenarios(str(FOLDER / "flight-ended-by-another.yaml"))
    (found,) = check(
        instrument(scenario.spec, resolve(release).classes, [PROPERTIES["S-INFLIGHT"]]), ["S-INFLIGHT"]
    )
    assert found.trace is not None
    assert (found.verdict.name, found.counts.states, len(found.trace.steps)) == (V, states, steps)


@pytest.mark.ci
def test_the_device_goes_to_two_claims() -> None:
    (scenario,) = find_scenarios(str(FOLDER / "device-given-away.yaml"))
    (found,) = check(instrument(scenario.spec, resolve("1.36.3").classes, [PROPERTIES["S-DEV"]]), ["S-DEV"])
    assert found.trace is not None
    assert (found.verdict.name, found.counts.states, len(found.trace.steps)) == (V, 6167020, 46)


@pytest.mark.parametrize(("release", "states", "steps"), [("1.34.4", 4112, 29), ("1.36.3", 7058, 31)])
def test_a_siblings_allocation_is_taken_for_a_conflict_without_any_group(
    release: str, states: int, steps: int
) -> None:
    """140053: every property of claims holds all the same, because the next attempt succeeds."""
    (scenario,) = find_scenarios(str(FOLDER / "sibling-allocates.yaml"))
    system = instrument(scenario.spec, resolve(release).classes, [NeverAllocatedElsewhere])
    (found,) = check(system, ["X-ELSEWHERE"])
    assert found.trace is not None
    assert (found.verdict.name, found.counts.states, len(found.trace.steps)) == (V, states, steps)


@pytest.mark.parametrize(
    ("patch", "identifier", "verdict", "states", "steps"),
    [
        (SameAllocationAccepted, "X-ELSEWHERE", V, 7058, 31),
        (AllocationHereAccepted, "X-ELSEWHERE", H, 36240, None),
        (AllocationHereAccepted, "S-DEV", H, 36240, None),
        pytest.param(AllocationHereAccepted, "S-RESV", H, 36240, None, marks=pytest.mark.ci),
        pytest.param(AllocationHereAccepted, "S-INFLIGHT", H, 36240, None, marks=pytest.mark.ci),
        pytest.param(AllocationHereAccepted, "L-CLAIM", H, 36240, None, marks=pytest.mark.ci),
    ],
)
def test_a_siblings_allocation_is_accepted(
    patch: type[Component], identifier: str, verdict: str, states: int, steps: int | None
) -> None:
    """What 140053 expects: the allocation of a pod that shares the claim is no conflict. It has to be any that the node reaches."""
    (scenario,) = find_scenarios(str(FOLDER / "sibling-allocates.yaml"))
    asked = NeverAllocatedElsewhere if identifier == "X-ELSEWHERE" else PROPERTIES[identifier]
    (found,) = check(instrument(scenario.spec, (patch, *resolve("1.36.3").classes), [asked]), [identifier])
    length = None if found.trace is None else len(found.trace.steps)
    assert (found.verdict.name, found.counts.states, length) == (verdict, states, steps)
    assert not found.vacuous


def test_every_scenario_is_tested_and_explained() -> None:
    names = {path.stem for path in FOLDER.glob("*.yaml")}
    assert names == {row[0] for row in ROWS} | {"device-given-away", *SHARED}
    assert [n for n in sorted(names) if f"scenarios/claims/{n}.yaml" not in PAGE] == []
    assert "1.36" in RELEASES


def test_the_page_says_what_the_rows_say() -> None:
    for name, identifier, release, patches, without, verdict, states, _steps in ROWS:
        if not patches and not without and release.startswith("1.36"):
            row = rf"^\| `{name}` \| {identifier} \| .*{verdict.lower()}.* {states:,} states"
            assert re.search(row, PAGE, re.MULTILINE), name
