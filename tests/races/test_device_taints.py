"""Devices that get a taint with NoExecute, and the device taint eviction controller: exact counts (docs/claims.md)."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from podrace.analysis.request.in_release import refusal_of
from podrace.checker.search import check
from podrace.model.history import resolve
from podrace.model.language import Expr, before, boolean, when
from podrace.properties import PROPERTIES, instrument
from podrace.properties.claims import AboutClaims
from podrace.scenarios import find_scenarios

FOLDER = Path(__file__).parents[2] / "scenarios" / "claims"
PAGE = (Path(__file__).parents[2] / "docs" / "claims.md").read_text(encoding="utf-8")
V, H = "VIOLATED", "HOLDS"


class BoundWhileUntainted(AboutClaims):
    """A pod is bound only while no device of its is tainted."""

    id = "X-UNTAINTED"

    broken = boolean()

    def observe(self) -> None:
        taints = self._model.parts["device_taints"]
        for pod in self.subjects:
            bound = self.api.pod[pod].assigned & ~before(lambda pod=pod: self.api.pod[pod].assigned)  # type: ignore[misc]
            with when(bound & taints.has_to_leave(pod)):
                self.broken = True

    def holds(self) -> Expr:
        return ~self.broken


ROWS: list[tuple[str, str, str, tuple[str, ...], str, int, int | None]] = [
    ("device-tainted", "L-DTAINT", "1.36.3", (), H, 1042, None),
    ("device-tainted", "L-DTAINT", "1.37.2", (), H, 1042, None),
    ("device-tainted", "L-CLAIM", "1.36.3", (), H, 1042, None),
    ("device-tainted", "X-UNTAINTED", "1.36.3", (), V, 650, 21),
    ("extended-not-evicted", "L-DTAINT", "1.36.3", (), V, 414, 31),
    ("extended-not-evicted", "L-DTAINT", "1.37.0", (), V, 414, 31),
    ("extended-not-evicted", "L-DTAINT", "1.37.2", (), H, 769, None),
    ("extended-not-evicted", "L-DTAINT", "1.36.3", ("142289",), H, 769, None),
]
NAMES = {row[0] for row in ROWS}


@pytest.mark.parametrize(("name", "identifier", "release", "fixes", "verdict", "states", "steps"), ROWS)
def test_verdict_and_counts(
    name: str, identifier: str, release: str, fixes: tuple[str, ...], verdict: str, states: int, steps: int | None,
) -> None:  # fmt: skip
    (scenario,) = find_scenarios(str(FOLDER / f"{name}.yaml"))
    asked = BoundWhileUntainted if identifier == "X-UNTAINTED" else PROPERTIES[identifier]
    (found,) = check(instrument(scenario.spec, resolve(release, fixes).classes, [asked]), [identifier])
    length = None if found.trace is None else len(found.trace.steps)
    assert (found.verdict.name, found.counts.states, length) == (verdict, states, steps)
    assert not found.vacuous
    assert f"{states:,} states" in PAGE


def test_up_to_1_35_they_are_refused() -> None:
    (scenario,) = find_scenarios(str(FOLDER / "device-tainted.yaml"))
    old = replace(scenario, release="1.35")
    assert refusal_of(old, resolve("1.35.0")) == (
        "device-tainted: device_taints are modelled from 1.36 on: ask for a later release than 1.35.0"
    )
    assert refusal_of(scenario, resolve("1.36.3")) is None
