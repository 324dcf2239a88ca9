"""Extended resources that devices back (DRAExtendedResource, on since 1.36): what is open, and what proposed patches make of it (docs/claims.md)."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from podrace.analysis.request.plan import Selection, plan
from podrace.analysis.systems import traced
from podrace.base.problems import NotInRelease
from podrace.checker.search import check
from podrace.model.history import resolve
from podrace.model.language import Component, Expr, any_of, as_expr
from podrace.properties import PROPERTIES, instrument
from podrace.properties.storage.claims import AboutClaims
from podrace.scenarios import find_scenarios
from tests.races.claim_patches import (
    DeletionsTold,
    FlightKeptUntilDeleted,
    OwnDeletionHeard,
    RunningPodsAsked,
    UntoldClaimFails,
)
from tests.races.hazard_patches import RegisteredToTheEnd, RequeueLooksAgain

FOLDER = Path(__file__).parents[2] / "scenarios" / "claims"
PAGE = "".join(
    (Path(__file__).parents[2] / "docs" / page).read_text(encoding="utf-8")
    for page in ("claims.md", "notebook/claims.md")
)
V, H = "VIOLATED", "HOLDS"

Patches = tuple[type[Component], ...]

ROWS: list[tuple[str, str, Patches, tuple[str, ...], str, int, int | None]] = [
    ("extended-left", "L-CLAIM", (), (), V, 46, 17),
    ("extended-left", "L-CLAIM", (), ("140831",), H, 898, None),
    ("extended-never-allocated", "L-CLAIM", (), (), V, 48, 19),
    ("extended-never-allocated", "L-CLAIM", (), ("140831",), V, 48, 19),
    ("extended-never-allocated", "L-CLAIM", (DeletionsTold, OwnDeletionHeard), (), H, 900, None),
    ("extended-parked", "L-CLAIM", (), (), V, 19375, 54),
    ("extended-parked", "L-CLAIM", (), ("140831",), H, 62903, None),
    ("extended-twice-tried", "S-RESV", (), (), V, 8252, 69),
    ("extended-twice-tried", "S-RESV", (RegisteredToTheEnd,), (), H, 5681, None),
    ("extended-twice-tried", "S-RESV", (RequeueLooksAgain,), (), V, 7195, 69),
    ("extended-twice-tried", "S-RESV", (RunningPodsAsked,), (), H, 9477, None),
    ("extended-told-late", "S-DEV", (), (), V, 3950, 36),
    ("extended-told-late", "S-DEV", (UntoldClaimFails,), (), V, 12291, 36),
    ("extended-told-late", "S-DEV", (FlightKeptUntilDeleted,), (), H, 429053, None),
]
NAMES = {row[0] for row in ROWS}


class NeverTaken(AboutClaims):
    """No device is in flight."""

    id = "X-TAKEN"

    def holds(self) -> Expr:
        return ~any_of(self.claim_tracker.is_pending(claim) for claim in self.claims)

    def witnesses(self) -> dict[str, Expr]:
        return {"the pod is tried": ~as_expr(self.scheduler.pod).is_none}


@pytest.mark.parametrize(("name", "identifier", "patches", "fixes", "verdict", "states", "steps"), ROWS)
def test_verdict_and_counts(
    name: str,
    identifier: str,
    patches: Patches,
    fixes: tuple[str, ...],
    verdict: str,
    states: int,
    steps: int | None,
) -> None:
    (scenario,) = find_scenarios(str(FOLDER / f"{name}.yaml"))
    classes = (*patches, *resolve("1.36.3", fixes).classes)
    (found,) = check(instrument(scenario.spec, classes, [PROPERTIES[identifier]]), [identifier])
    length = None if found.trace is None else len(found.trace.steps)
    assert (found.verdict.name, found.counts.states, length) == (verdict, states, steps)
    assert not found.vacuous


@pytest.mark.parametrize(
    "identifier", ["S-DEV", "S-INFLIGHT", pytest.param("S-ASSUME", marks=pytest.mark.ci)]
)
def test_with_an_informer_that_is_in_time_no_device_goes_to_two(identifier: str) -> None:
    """Also where a Binding fails, and the claim is deleted, and made anew."""
    (scenario,) = find_scenarios(str(FOLDER / "extended-told-late.yaml"))
    spec = replace(scenario.spec, scope=replace(scenario.spec.scope, bind_timeouts=0, bind_failures=1))
    system = instrument(spec, resolve("1.36.3").classes, [PROPERTIES[identifier]])
    (found,) = check(system, [identifier])
    assert (found.verdict.name, found.counts.states, found.vacuous) == (H, 258778, False)


def test_older_releases_are_refused() -> None:
    (scenario,) = find_scenarios(str(FOLDER / "extended-left.yaml"))
    with pytest.raises(NotInRelease, match=r"extended resources of deviceClasses are modelled from 1\.36 on"):
        traced(plan(Selection(given=(scenario,), release="1.35.4"))[0])


def test_without_the_gate_nothing_backs_the_resource() -> None:
    """The pod fits nowhere, and waits: that is no waiting in vain, as there is no room for it."""
    (scenario,) = find_scenarios(str(FOLDER / "extended-told-late.yaml"))
    classes = resolve("1.36.3", gates={"DRAExtendedResource": False}).classes
    (found,) = check(instrument(scenario.spec, classes, [NeverTaken]), ["X-TAKEN"])
    assert (found.verdict.name, found.vacuous) == (H, False)


def test_the_page_says_what_the_rows_say() -> None:
    for name, identifier, patches, fixes, _verdict, states, steps in ROWS:
        called = [
            "RegisteredToTheEnd" if patch is RegisteredToTheEnd else patch.__name__ for patch in patches
        ]
        mended = ", ".join([*called, *fixes])
        found = f"violated in {steps} steps, after" if steps else "holds:"
        row = f"| `{name}` | {identifier} | {mended} | {found} {states:,} states |"
        assert row.replace("|  |", "| |") in PAGE
    assert [name for name in sorted(NAMES) if f"scenarios/claims/{name}.yaml" not in PAGE] == []
