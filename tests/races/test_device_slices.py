"""ResourceSlices that come, change and go: exact counts (docs/claims.md)."""

from __future__ import annotations

from pathlib import Path

import pytest

from podrace.base.problems import Problem
from podrace.checker.search import check
from podrace.model.environment.objects import Device, Node
from podrace.model.history import resolve
from podrace.model.language import Component, Expr, any_of, before, boolean, when
from podrace.properties import PROPERTIES, instrument
from podrace.properties.storage.claims import AboutClaims
from podrace.scenarios import find_scenarios, parse_scenario
from tests.races.slice_patches import SlicesAwaited, SlicesUnheard

FOLDER = Path(__file__).parents[2] / "scenarios" / "claims"
PAGE = (Path(__file__).parents[2] / "docs" / "claims.md").read_text(encoding="utf-8")
V, H = "VIOLATED", "HOLDS"


class AllocatedWhilePublished(AboutClaims):
    """A claim is allocated a device only while a slice publishes it."""

    id = "X-PUBLISHED"

    broken = boolean()

    def observe(self) -> None:
        slices = self._model.parts["device_slices"]
        for claim in self.claims:
            device = self.resource_claims.object[claim].device
            new = before(lambda claim=claim: self.resource_claims.object[claim].device).is_none  # type: ignore[misc]
            gone = any_of((device == of) & ~slices.is_published(of, claim) for of in self.universe[Device])
            with when(new & gone):
                self.broken = True

    def holds(self) -> Expr:
        return ~self.broken


class OneNodeIsMade(AboutClaims):
    """The autoscaler makes no second node while the one that it has made is there."""

    id = "X-ONE"

    broken = boolean()

    def observe(self) -> None:
        there = self.api.node_exists
        for node in self.universe[Node]:
            made = there[node] & ~before(lambda node=node: self.api.node_exists[node])  # type: ignore[misc]
            with when(made & any_of(there[other] for other in self.universe[Node] if other is not node)):
                self.broken = True

    def holds(self) -> Expr:
        return ~self.broken


ROWS: list[tuple[str, str, str, tuple[type[Component], ...], str, int, int | None]] = [
    ("published-late", "L-CLAIM", "1.34.4", (), H, 9068, None),
    ("published-late", "L-CLAIM", "1.36.3", (), H, 4729, None),
    ("published-late", "L-CLAIM", "1.37.2", (), H, 4729, None),
    ("published-late", "L-CLAIM", "1.36.3", (SlicesUnheard,), V, 1951, 20),
    ("published-late", "X-PUBLISHED", "1.36.3", (), V, 1810, 18),
    ("scaled-up-before-its-slice", "L-LOOP", "1.36.3", (), V, 8731, 35),
    ("scaled-up-before-its-slice", "L-LOOP", "1.36.3", (SlicesAwaited,), H, 1253, None),
    ("scaled-up-before-its-slice", "L-CLAIM", "1.36.3", (SlicesAwaited,), H, 1253, None),
]
NAMES = {row[0] for row in ROWS}


@pytest.mark.parametrize(("name", "identifier", "release", "patches", "verdict", "states", "steps"), ROWS)
def test_verdict_and_counts(
    name: str, identifier: str, release: str, patches: tuple[type[Component], ...], verdict: str, states: int, steps: int | None,
) -> None:  # fmt: skip
    (scenario,) = find_scenarios(str(FOLDER / f"{name}.yaml"))
    classes = (*patches, *resolve(release).classes)
    asked = AllocatedWhilePublished if identifier == "X-PUBLISHED" else PROPERTIES[identifier]
    (found,) = check(instrument(scenario.spec, classes, [asked]), [identifier])
    length = None if found.trace is None else len(found.trace.steps)
    assert (found.verdict.name, found.counts.states, length) == (verdict, states, steps)
    assert not found.vacuous
    assert f"{states:,} states" in PAGE


@pytest.mark.parametrize(
    ("patches", "verdict", "states", "steps"), [((), V, 189, 11), ((SlicesAwaited,), H, 2471, None)]
)
def test_another_node_is_made(
    patches: tuple[type[Component], ...], verdict: str, states: int, steps: int | None
) -> None:
    """What autoscaler 7780 reports: a second node for the same pod. With 8109 there is none."""
    text = (FOLDER / "scaled-up-before-its-slice.yaml").read_text(encoding="utf-8")
    text = text.replace(
        "  n1: {cpu: 2, exists: false}", "  n1: {cpu: 2, exists: false}\n  n2: {cpu: 2, exists: false}"
    )
    text = text.replace("  gpu1: {node: n1,", "  gpu2: {node: n2, exists: false}\n  gpu1: {node: n1,")
    classes = (*patches, *resolve("1.36.3").classes)
    (found,) = check(instrument(parse_scenario(text).spec, classes, [OneNodeIsMade]), ["X-ONE"])
    length = None if found.trace is None else len(found.trace.steps)
    assert (found.verdict.name, found.counts.states, length) == (verdict, states, steps)
    assert f"{states:,} states" in PAGE


def test_what_the_reader_refuses() -> None:
    start = "properties: [S-DEV]\nnodes: {n1: {cpu: 1}}\ndevices: {d: {node: n1, exists: false}}\n"
    with pytest.raises(Problem, match="`d` is published later, and nobody has it yet: remove one of the two"):
        parse_scenario(
            f"{start}resourceClaims: {{c: {{device: d}}}}\npods: {{p: {{cpu: 1, resourceClaims: [c]}}}}\n"
        )
