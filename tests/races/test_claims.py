"""Races of claims and devices that no change of the model's releases mends, and what proposed patches make of them: exact counts (docs/claims.md)."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from podrace.checker.search import check
from podrace.model.environment.objects import OTHERS
from podrace.model.history import RELEASES, resolve
from podrace.model.language import Component, Expr, any_of
from podrace.properties import PROPERTIES, instrument
from podrace.properties.base.property import Property
from podrace.scenarios import find_scenarios
from tests.races.claim_patches import (
    AllocationHereAccepted,
    FailedBindingHeard,
    OwnerUnasked,
    OwnFlightEnded,
    ReplacedLookedUp,
    ReservedWhileOnANode,
    SameAllocationAccepted,
    UnreservedAssumed,
)
from tests.races.test_binding_conditions import NAMES as CONDITIONS
from tests.races.test_device_slices import NAMES as SLICES
from tests.races.test_device_taints import NAMES as TAINTS
from tests.races.test_extended_resources import NAMES as EXTENDED
from tests.races.test_shared_claims import NAMES as SHARED
from tests.races.test_shared_claims import NeverAllocatedElsewhere
from tests.races.test_shared_devices import NAMES as SHARES

ROOT = Path(__file__).parents[2]
FOLDER = ROOT / "scenarios" / "claims"
PAGE = "".join(
    (ROOT / "docs" / page).read_text(encoding="utf-8") for page in ("claims.md", "notebook/claims.md")
)
V, H = "VIOLATED", "HOLDS"

Patches = tuple[type[Component], ...]

ROWS: list[tuple[str, str, str, Patches, tuple[str, ...], str, int, int | None]] = [
    ("bound-unreserved", "S-RESV", "1.36.3", (), (), V, 3062, 37),
    ("bound-unreserved", "S-RESV", "1.36.3", (UnreservedAssumed,), (), H, 25556, None),
    ("flight-ended-by-another", "S-INFLIGHT", "1.36.3", (), (), V, 33923, 28),
    ("flight-ended-by-another", "S-INFLIGHT", "1.34.4", (OwnFlightEnded,), (), H, 590328, None),
    ("../fixes/allocated-while-read", "S-INFLIGHT", "1.37.2", (), (), H, 153744, None),
    ("allocated-and-freed", "S-INFLIGHT", "1.37.2", (), (), V, 120107, 31),
    ("sibling-allocates", "L-CLAIM", "1.36.3", (), (), H, 169492, None),
    ("deallocated-while-binding", "S-EXIT", "1.36", (), (), H, 549487, None),
    ("deallocated-while-binding", "S-EXIT", "1.36", (), ("137371",), V, 612, 13),
    ("made-from-template", "L-CLAIM", "1.36.3", (), (), H, 173, None),
    ("made-from-template", "L-CLAIM", "1.34.4", (), (), H, 135, None),
    ("deleted-unheard", "L-CLAIM", "1.34.4", (), (), V, 21250, 27),
    ("deleted-unheard", "L-CLAIM", "1.36.3", (), (), V, 17690, 27),
    ("deleted-by-its-user", "L-CLAIM", "1.36.3", (), (), V, 83999, 44),
    ("taken-for-replaced", "S-RESV", "1.34.4", (), (), V, 840, 18),
    ("taken-for-replaced", "S-RESV", "1.34.4", (ReplacedLookedUp,), (), H, 30198, None),
    ("taken-for-replaced", "S-RESV", "1.35.4", (), (), V, 537, 22),
    ("taken-for-replaced", "S-RESV", "1.36.3", (), (), V, 537, 22),
    ("unreserved-by-the-next-leader", "S-RESV", "1.34.4", (), (), V, 1729, 33),
    ("unreserved-by-the-next-leader", "S-RESV", "1.36.3", (), (), V, 2343, 35),
    ("unreserved-by-the-next-leader", "S-RESV", "1.37.2", (), (), V, 2538, 35),
    ("unreserved-by-the-next-leader", "S-RESV", "1.38.0-beta.0", (), (), V, 2486, 35),
    ("unreserved-by-the-next-leader", "S-RESV", "1.37.2", (ReservedWhileOnANode,), (), V, 8023, 48),
    ("unreserved-by-the-next-leader", "S-RESV", "1.37.2", (UnreservedAssumed,), (), V, 2538, 35),
    (
        "unreserved-by-the-next-leader",
        "S-RESV",
        "1.37.2",
        (ReservedWhileOnANode, UnreservedAssumed),
        (),
        H,
        21236,
        None,
    ),
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


def test_what_a_deleted_claim_has_freed_is_heard_with_140831() -> None:
    (scenario,) = find_scenarios(str(FOLDER / "deleted-unheard.yaml"))
    classes = resolve("1.36.3", ("140831",)).classes
    (found,) = check(instrument(scenario.spec, classes, [PROPERTIES["L-CLAIM"]]), ["L-CLAIM"])
    assert (found.verdict.name, found.counts.states, found.vacuous) == (H, 53204, False)


@pytest.mark.ci
def test_an_allocation_that_was_only_in_flight_is_missed_by_nobody_who_waits() -> None:
    (scenario,) = find_scenarios(str(FOLDER / "flight-ended-unheard.yaml"))
    (found,) = check(
        instrument(scenario.spec, resolve("1.36.3").classes, [PROPERTIES["L-CLAIM"]]), ["L-CLAIM"]
    )
    assert found.trace is not None
    assert (found.verdict.name, found.counts.states, len(found.trace.steps)) == (V, 423905, 39)


WITHOUT_NOMINATIONS: list[tuple[str, str, Patches, str, int, int | None]] = [
    ("flight-ended-by-another", "S-INFLIGHT", (), V, 19190, 26),
    ("flight-ended-by-another", "S-INFLIGHT", (OwnFlightEnded,), H, 414840, None),
    ("named-too-late", "S-RESV", (), H, 2942603, None),
    ("flight-ended-unheard", "L-CLAIM", (), V, 264873, 48),
    ("flight-ended-unheard", "L-CLAIM", (FailedBindingHeard,), H, 11980528, None),
    ("device-given-away", "S-DEV", (OwnFlightEnded,), H, 38884938, None),
]
"""On 1.36.3 without NominatedNodeNameForExpectation: no binding cycle writes a nomination, so that there are far fewer states."""


def priced(row: tuple[str, str, Patches, str, int, int | None]) -> Any:
    mark = pytest.mark.campaign if row[4] > 10_000_000 else pytest.mark.ci
    return pytest.param(*row, marks=[mark] if row[4] > 500_000 else [])


@pytest.mark.parametrize(
    ("name", "identifier", "patches", "verdict", "states", "steps"), [priced(r) for r in WITHOUT_NOMINATIONS]
)
def test_where_bindings_nominate_nobody(
    name: str, identifier: str, patches: Patches, verdict: str, states: int, steps: int | None
) -> None:
    (scenario,) = find_scenarios(str(FOLDER / f"{name}.yaml"))
    classes = (*patches, *resolve("1.36.3", gates={"NominatedNodeNameForExpectation": False}).classes)
    (found,) = check(instrument(scenario.spec, classes, [PROPERTIES[identifier]]), [identifier])
    length = None if found.trace is None else len(found.trace.steps)
    assert (found.verdict.name, found.counts.states, length) == (verdict, states, steps)
    assert f"{states:,} states" in PAGE
    assert not found.vacuous


class NamesItsOwn(Property):
    """A pod that is assumed or bound has no status that names the claim of another pod."""

    id = "X-OWN"

    def holds(self) -> Expr:
        return ~any_of(
            (self.api.pod[pod].named == OTHERS)
            & (self.cache.is_assumed(pod) | self.api.pod[pod].node.is_some)
            for pod in self.pods
        )


class NeverNamesAnothers(Property):
    """No status names the claim of another pod."""

    id = "X-NAMED"

    def holds(self) -> Expr:
        return ~any_of(self.api.pod[pod].named == OTHERS for pod in self.pods)


@pytest.mark.parametrize(
    ("asked", "patches", "verdict", "states", "steps"),
    [
        (NeverNamesAnothers, (), V, 110, 5),
        (NamesItsOwn, (OwnerUnasked,), V, 8409, 22),
        pytest.param(NamesItsOwn, (), H, 3131497, None, marks=pytest.mark.ci),
    ],
)
def test_a_status_that_names_the_claim_of_the_pod_before_is_not_relied_on(
    asked: type[Property], patches: Patches, verdict: str, states: int, steps: int | None
) -> None:
    (scenario,) = find_scenarios(str(FOLDER / "named-too-late.yaml"))
    classes = (*patches, *resolve("1.34.4").classes)
    (found,) = check(instrument(scenario.spec, classes, [asked]), [asked.id])
    length = None if found.trace is None else len(found.trace.steps)
    assert (found.verdict.name, found.counts.states, length) == (verdict, states, steps)


@pytest.mark.ci
def test_a_pod_that_was_created_anew_keeps_its_claim_if_the_controller_asks() -> None:
    (scenario,) = find_scenarios(str(FOLDER / "taken-for-replaced.yaml"))
    classes: tuple[type[Component], ...] = (ReplacedLookedUp, *resolve("1.36.3").classes)
    (found,) = check(instrument(scenario.spec, classes, [PROPERTIES["S-RESV"]]), ["S-RESV"])
    assert (found.verdict.name, found.counts.states, found.vacuous) == (H, 1152286, False)


@pytest.mark.parametrize(("release", "states", "steps"), [("1.34.4", 24683, 27), ("1.35.4", 39468, 29)])
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
    assert (found.verdict.name, found.counts.states, len(found.trace.steps)) == (V, 6374236, 46)


@pytest.mark.parametrize(("release", "states", "steps"), [("1.34.4", 4010, 29), ("1.36.3", 6874, 31)])
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
        (SameAllocationAccepted, "X-ELSEWHERE", V, 6874, 31),
        (AllocationHereAccepted, "X-ELSEWHERE", H, 35688, None),
        (AllocationHereAccepted, "S-DEV", H, 35688, None),
        pytest.param(AllocationHereAccepted, "S-RESV", H, 35688, None, marks=pytest.mark.ci),
        pytest.param(AllocationHereAccepted, "S-INFLIGHT", H, 35688, None, marks=pytest.mark.ci),
        pytest.param(AllocationHereAccepted, "L-CLAIM", H, 35688, None, marks=pytest.mark.ci),
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
    assert found.vacuous == (identifier == "S-DEV"), "there is one claim alone"


def test_every_scenario_is_tested_and_explained() -> None:
    names = {path.stem for path in FOLDER.glob("*.yaml")}
    assert names == {row[0] for row in ROWS if "/" not in row[0]} | {
        "device-given-away",
        "flight-ended-unheard",
        "named-too-late",
        *SHARED,
        *EXTENDED,
        *CONDITIONS,
        *SLICES,
        *TAINTS,
        *SHARES,
    }
    assert [n for n in sorted(names) if f"scenarios/claims/{n}.yaml" not in PAGE] == []
    assert "1.36" in RELEASES


def test_the_page_says_what_the_rows_say() -> None:
    for name, identifier, release, patches, without, verdict, states, _steps in ROWS:
        if not patches and not without and release.startswith("1.36"):
            row = rf"^\| `{name}` \| {identifier} \| .*{verdict.lower()}.* {states:,} states"
            assert re.search(row, PAGE, re.MULTILINE), name
