"""Pods of a group that share a claim: exact counts, before and after upstream's changes, and with proposed patches (docs/claims.md)."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from podrace.checker.search import check
from podrace.model.environment.objects import Device, Node
from podrace.model.history import resolve
from podrace.model.language import Component, Expr, any_of, as_expr
from podrace.model.scheduler.dynamicresources.find_devices import Stage
from podrace.properties import PROPERTIES, instrument
from podrace.properties.storage.claims import AboutClaims
from podrace.scenarios import find_scenarios
from tests.races.claim_patches import OwnFlightEnded, ReservationKeptWhileTrying

ROOT = Path(__file__).parents[2]
FOLDER = ROOT / "scenarios" / "claims"
PAGE = "".join(
    (ROOT / "docs" / page).read_text(encoding="utf-8") for page in ("claims.md", "notebook/claims.md")
)
V, H = "VIOLATED", "HOLDS"
GATE = {"GangScheduling": True}
NAMES = (
    "reserved-after-allocation",
    "share-given-back-twice",
    "shared-elsewhere",
    "taken-back-at-the-api-server",
)


class BoundWhereTheDevicesAre(AboutClaims):
    """No pod is bound to a node that the device of its claim is not on."""

    id = "X-REACH"

    def holds(self) -> Expr:
        claims = self.resource_claims.object
        return ~any_of(
            (self.api.pod[use.pod].node == node) & (claims[use.claim].device == device)
            for use in self.uses
            for node in self.universe[Node]
            for device in self.universe[Device]
            if not device.is_on(node)
        )


class NeverAllocatedElsewhere(AboutClaims):
    """No binding fails because a claim that its pod is to have allocated is allocated by now."""

    id = "X-ELSEWHERE"

    def holds(self) -> Expr:
        plugin = self.dynamic_resources
        return ~any_of(
            (plugin.stage[use] == Stage.FAILED) & as_expr(plugin.chosen[use]).is_some for use in self.uses
        )


class NeverTooEarly(AboutClaims):
    """No binding fails because a claim that it is to reserve is not allocated."""

    id = "X-EARLY"

    def holds(self) -> Expr:
        plugin = self.dynamic_resources
        return ~any_of(
            (plugin.stage[use] == Stage.FAILED) & as_expr(plugin.chosen[use]).is_none for use in self.uses
        )


OWN = {asked.id: asked for asked in (BoundWhereTheDevicesAre, NeverAllocatedElsewhere, NeverTooEarly)}
Patches = tuple[type[Component], ...]
_BOTH, _ALL = ("139418", "140269"), ("139418", "140269", "140089")
_SLOW = pytest.mark.campaign

ROWS: list[tuple[str, str, Patches, tuple[str, ...], str, int, int | None]] = [
    ("shared-in-flight", "S-ASSUME", (), (), V, 816, 49),
    ("shared-in-flight", "S-INFLIGHT", (), (), V, 477, 47),
    ("shared-in-flight", "S-ASSUME", (), ("139418",), V, 21211, 64),
    ("shared-in-flight", "S-ASSUME", (OwnFlightEnded,), ("139418",), H, 342247, None),
    ("shared-in-flight", "X-ELSEWHERE", (), (), V, 242, 45),
    ("shared-in-flight", "X-ELSEWHERE", (), _ALL, V, 242, 45),
    ("share-given-back-twice", "S-DEV", (), (), V, 100113, 62),
    ("reserved-after-allocation", "S-ASSUME", (), (), V, 1041, 44),
    ("reserved-after-allocation", "S-ASSUME", (), _BOTH, V, 18214, 58),
    ("reserved-after-allocation", "S-ASSUME", (OwnFlightEnded,), ("139418",), V, 1798, 47),
    ("reserved-after-allocation", "S-ASSUME", (OwnFlightEnded,), _BOTH, H, 314072, None),
    ("taken-back-at-the-api-server", "S-RESV", (), (), V, 42, 17),
    ("taken-back-at-the-api-server", "S-RESV", (), _ALL, V, 42, 17),
    ("taken-back-at-the-api-server", "S-RESV", (ReservationKeptWhileTrying,), (), H, 29, None),
    ("shared-elsewhere", "X-REACH", (), (), V, 838, 45),
    ("shared-elsewhere", "X-REACH", (), ("140089",), H, 4594, None),
]

SLOW_ROWS: list[tuple[str, str, Patches, tuple[str, ...], str, int, int | None]] = [
    ("shared-in-flight", "L-GANG", (), (), V, 4405265, 114),
    ("share-given-back-twice", "S-DEV", (), ("139418",), V, 1033923, 88),
    ("share-given-back-twice", "S-DEV", (), _BOTH, V, 1033923, 88),
    ("share-given-back-twice", "S-DEV", (OwnFlightEnded,), _BOTH, H, 4810299, None),
]


@pytest.mark.parametrize(
    ("name", "identifier", "patches", "fixes", "verdict", "states", "steps"),
    [
        *(
            pytest.param(*row, marks=_SLOW if row[0] == "shared-in-flight" or len(row[3]) > 1 else ())
            for row in ROWS
        ),
        *(pytest.param(*row, marks=_SLOW) for row in SLOW_ROWS),
    ],
)
def test_verdict_and_counts(
    name: str, identifier: str, patches: Patches, fixes: tuple[str, ...], verdict: str, states: int,
    steps: int | None,
) -> None:  # fmt: skip
    (scenario,) = find_scenarios(name if name not in NAMES else str(FOLDER / f"{name}.yaml"))
    classes = (*patches, *resolve("1.36.3", fixes, (), GATE).classes)
    asked = OWN.get(identifier) or PROPERTIES[identifier]
    (found,) = check(instrument(scenario.spec, classes, [asked]), [identifier])
    length = None if found.trace is None else len(found.trace.steps)
    assert (found.verdict.name, found.counts.states, length) == (verdict, states, steps)
    assert not found.vacuous


@pytest.mark.parametrize(
    ("name", "identifier", "removed", "verdict", "states", "steps"),
    [
        ("shared-in-flight", "X-EARLY", ("137897",), V, 62, 40),
        pytest.param("shared-in-flight", "X-EARLY", (), H, 404421, None, marks=pytest.mark.ci),
        pytest.param("share-given-back-twice", "S-DEV", ("137897",), V, 76681, 61, marks=pytest.mark.ci),
    ],
)
def test_the_first_fix_had_pods_share_what_it_did_not_count(
    name: str, identifier: str, removed: tuple[str, ...], verdict: str, states: int, steps: int | None
) -> None:
    """137647 without 137897: a pod that shares an allocation in flight fails if it is the first to write, and its Unreserve ends the flight of its sibling."""
    (scenario,) = find_scenarios(name if name not in NAMES else str(FOLDER / f"{name}.yaml"))
    classes = resolve("1.36.3", _BOTH, removed, GATE).classes
    asked = OWN.get(identifier) or PROPERTIES[identifier]
    (found,) = check(instrument(scenario.spec, classes, [asked]), [identifier])
    length = None if found.trace is None else len(found.trace.steps)
    assert (found.verdict.name, found.counts.states, length) == (verdict, states, steps)


def test_without_a_group_nothing_is_shared() -> None:
    (scenario,) = find_scenarios(str(FOLDER / "sibling-allocates.yaml"))
    system = instrument(scenario.spec, resolve("1.36.3").classes, [PROPERTIES["S-DEV"]])
    assert [v.name for v in system.variables if v.name.startswith("claim_tracker.sharers")] == []


def test_every_scenario_is_explained() -> None:
    assert [n for n in NAMES if f"scenarios/claims/{n}.yaml" not in PAGE] == []


def test_the_page_says_what_the_rows_say() -> None:
    for name, identifier, patches, fixes, verdict, states, _steps in (*ROWS, *SLOW_ROWS):
        if not identifier.startswith("X-"):
            with_ = ", ".join([p.__name__ for p in patches] + list(fixes))
            row = rf"^\| `{name}` \| {identifier} \| {re.escape(with_)} ?\| {verdict.lower()}.* {states:,} states"
            assert re.search(row, PAGE, re.MULTILINE), row
