"""Devices with binding conditions (DRADeviceBindingConditions, on since 1.36): exact counts (docs/claims.md)."""

from __future__ import annotations

from pathlib import Path

import pytest

from podrace.checker.search import check
from podrace.model.environment.storage.claims import READY
from podrace.model.history import resolve
from podrace.model.language import Component, Expr, any_of, as_expr, before, boolean, when
from podrace.model.scheduler.dynamicresources.find_devices import Stage
from podrace.properties import PROPERTIES, instrument
from podrace.properties.storage.claims import AboutClaims
from podrace.scenarios import find_scenarios
from tests.races.claim_patches import UnreservedAssumed

FOLDER = Path(__file__).parents[2] / "scenarios" / "claims"
PAGE = (Path(__file__).parents[2] / "docs" / "claims.md").read_text(encoding="utf-8")
V, H = "VIOLATED", "HOLDS"


class BoundWhenReady(AboutClaims):
    """A pod is bound only while the devices of its claims are ready."""

    id = "X-READY"

    broken = boolean()

    def observe(self) -> None:
        for use in self.uses:
            pod, current = self.api.pod[use.pod], self.resource_claims.object[use.claim]
            bound = pod.assigned & ~before(lambda use=use: self.api.pod[use.pod].assigned)  # type: ignore[misc]
            with when(bound & self.resource_claims.awaited(current.device) & (current.readiness != READY)):
                self.broken = True

    def holds(self) -> Expr:
        return ~self.broken


class NeverWaits(AboutClaims):
    """A control: no pod is in its binding cycle with a claim whose device is not ready."""

    id = "X-WAITS"

    def holds(self) -> Expr:
        objects = self.resource_claims.object
        return ~any_of(
            self.resource_claims.awaited(objects[use.claim].device)
            & (objects[use.claim].readiness != READY)
            & objects[use.claim].reserved[use.pod]
            for use in self.uses
        )


class FliesWhileWaiting(AboutClaims):
    """While PreBind waits for the devices of a pod, their allocations are in flight."""

    id = "X-FLIES"

    def holds(self) -> Expr:
        plugin, tracker = self._model.parts["dynamic_resources"], self._model.parts["claim_tracker"]
        objects = self.resource_claims.object
        return ~any_of(
            (plugin.stage[use] == Stage.BOUND)
            & self.resource_claims.awaited(objects[use.claim].device)
            & (objects[use.claim].readiness != READY)
            & as_expr(tracker.in_flight[use.claim]).is_none
            for use in self.uses
        )


ROWS: list[tuple[str, str, tuple[type[Component], ...], str, int, int | None]] = [
    ("device-ready", "L-CLAIM", (), H, 17954, None),
    ("device-ready", "S-RESV", (), H, 17954, None),
    ("device-ready", "X-READY", (), H, 17954, None),
    ("device-late", "S-RESV", (), V, 2218, 38),
    ("device-late", "S-RESV", (UnreservedAssumed,), H, 87405, None),
    ("device-late", "L-CLAIM", (), H, 66643, None),
    ("device-late", "X-READY", (), H, 66643, None),
]
NAMES = {row[0] for row in ROWS}
OWN = {"X-READY": BoundWhenReady, "X-WAITS": NeverWaits}


@pytest.mark.parametrize(("name", "identifier", "patches", "verdict", "states", "steps"), ROWS)
def test_verdict_and_counts(
    name: str,
    identifier: str,
    patches: tuple[type[Component], ...],
    verdict: str,
    states: int,
    steps: int | None,
) -> None:
    (scenario,) = find_scenarios(str(FOLDER / f"{name}.yaml"))
    classes = (*patches, *resolve("1.36.3", gates=scenario.feature_gates).classes)
    asked = OWN.get(identifier) or PROPERTIES[identifier]
    (found,) = check(instrument(scenario.spec, classes, [asked]), [identifier])
    length = None if found.trace is None else len(found.trace.steps)
    assert (found.verdict.name, found.counts.states, length) == (verdict, states, steps)
    assert not found.vacuous


@pytest.mark.parametrize(
    ("name", "identifier", "verdict", "states", "steps"),
    [
        ("device-ready", "L-CLAIM", H, 15714, None),
        ("device-late", "L-CLAIM", H, 204384, None),
        ("device-late", "S-RESV", V, 4925, 42),
    ],
)
def test_verdict_and_counts_since_1_37(
    name: str, identifier: str, verdict: str, states: int, steps: int | None
) -> None:
    """PreBind ends the flight once it has succeeded, and no longer before it waits (139418)."""
    (scenario,) = find_scenarios(str(FOLDER / f"{name}.yaml"))
    classes = resolve("1.37.2", gates=scenario.feature_gates).classes
    (found,) = check(instrument(scenario.spec, classes, [PROPERTIES[identifier]]), [identifier])
    length = None if found.trace is None else len(found.trace.steps)
    assert (found.verdict.name, found.counts.states, length) == (verdict, states, steps)
    assert f"{states:,} states" in PAGE


@pytest.mark.parametrize(("release", "verdict"), [("1.36.3", V), ("1.37.2", H)])
def test_the_allocation_is_in_flight_while_its_device_is_awaited(release: str, verdict: str) -> None:
    (scenario,) = find_scenarios(str(FOLDER / "device-ready.yaml"))
    (found,) = check(instrument(scenario.spec, resolve(release).classes, [FliesWhileWaiting]), ["X-FLIES"])
    assert (found.verdict.name, found.vacuous) == (verdict, False)


def test_pods_do_wait() -> None:
    (scenario,) = find_scenarios(str(FOLDER / "device-ready.yaml"))
    (found,) = check(instrument(scenario.spec, resolve("1.36.3").classes, [NeverWaits]), ["X-WAITS"])
    assert found.verdict.name == V


def test_without_the_gate_a_pod_is_bound_to_a_device_that_is_not_ready() -> None:
    (scenario,) = find_scenarios(str(FOLDER / "device-ready.yaml"))
    classes = resolve("1.36.3", gates={"DRADeviceBindingConditions": False}).classes
    (found,) = check(instrument(scenario.spec, classes, [BoundWhenReady]), ["X-READY"])
    assert found.verdict.name == V


def test_the_page_says_what_the_rows_say() -> None:
    for name, identifier, patches, _verdict, states, steps in ROWS:
        mended = ", ".join(patch.__name__ for patch in patches)
        found = f"violated in {steps} steps, after" if steps else "holds:"
        row = f"| `{name}` | {identifier} | {mended} | {found} {states:,} states |"
        assert row.replace("|  |", "| |") in PAGE
    assert [name for name in sorted(NAMES) if f"scenarios/claims/{name}.yaml" not in PAGE] == []
