"""Races of volumes that no change of the model's releases mends, and what proposed patches make of them: exact counts (docs/volumes.md)."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from podrace.checker.search import check
from podrace.model.history import resolve
from podrace.model.language import Component
from podrace.properties import PROPERTIES, instrument
from podrace.scenarios import find_scenarios
from tests.races.hazard_patches import AlwaysActivated
from tests.races.volume_patches import (
    BoundAsFiltered,
    GhostsUncounted,
    OthersAssumptionsKept,
    OwnVolumeChecked,
)

ROOT = Path(__file__).parents[2]
FOLDER = ROOT / "scenarios" / "volumes"
PAGE = (ROOT / "docs" / "volumes.md").read_text(encoding="utf-8")
V, H = "VIOLATED", "HOLDS"
LARGE = 1_000_000

Patches = tuple[type[Component], ...]

ROWS: list[tuple[str, str, str, Patches, str, int, int | None]] = [
    ("claim-told-early", "L-VOL", "1.34", (), V, 1086, 17),
    ("claim-told-early", "L-VOL", "1.34.4", (), V, 1086, 17),
    ("claim-told-early", "L-VOL", "1.35", (), H, 1146, None),
    ("claim-told-early", "L-VOL", "1.36.3", (), H, 1040, None),
    ("bound-between", "S-VOL", "1.34.4", (), V, 8177, 27),
    ("bound-between", "S-VOL", "1.35.4", (), V, 11281, 28),
    ("bound-between", "S-VOL", "1.36.3", (), V, 10712, 28),
    ("bound-between", "S-VOL", "1.36.3", (BoundAsFiltered,), V, 55441, 37),
    ("bound-between", "S-VOL", "1.36.3", (BoundAsFiltered, OwnVolumeChecked), H, 6221102, None),
    ("bound-between", "S-PV", "1.36.3", (), H, 5768399, None),
    ("bound-after-restore", "S-VOL", "1.34.4", (), V, 193828, 48),
    ("bound-after-restore", "S-VOL", "1.36.3", (), V, 2040740, 51),
    ("made-and-found", "S-PLACED", "1.34.4", (), V, 24144, 32),
    ("made-and-found", "S-PLACED", "1.35.4", (), V, 48959, 34),
    ("made-and-found", "S-PLACED", "1.36.3", (), V, 44752, 34),
    ("reverted-by-sibling", "S-HELD", "1.34.4", (), V, 823, 22),
    ("reverted-by-sibling", "S-HELD", "1.35.4", (), V, 890, 22),
    ("reverted-by-sibling", "S-HELD", "1.36.3", (), V, 869, 22),
    ("forgotten-by-restore", "S-WRITTEN", "1.34.4", (), V, 811, 22),
    ("forgotten-by-restore", "S-WRITTEN", "1.35.4", (), V, 1544, 24),
    ("forgotten-by-restore", "S-WRITTEN", "1.36.3", (), V, 1443, 24),
    ("forgotten-by-restore", "S-WRITTEN", "1.36.3", (OthersAssumptionsKept,), H, 7282642, None),
    ("uncounted-user", "S-RWOP", "1.36.4", (), H, 5998, None),
    ("uncounted-user", "S-RWOP", "1.37", (), V, 5318, 26),
    ("uncounted-user", "S-RWOP", "1.37", (GhostsUncounted,), H, 5998, None),
    ("exclusive", "S-RWOP", "1.36.3", (), H, 9716782, None),
    ("exclusive", "L-VOL", "1.36.3", (), V, 56084, 62),
    ("exclusive", "S-STUCK", "1.34.4", (), V, 378561, 79),
    ("exclusive", "S-STUCK", "1.35.4", (), V, 67944, 63),
    ("exclusive", "S-STUCK", "1.36.3", (), V, 56084, 62),
    ("exclusive", "S-STUCK", "1.36.3", (AlwaysActivated,), H, 17723638, None),
]
EXHAUSTIVE: list[tuple[str, str, str, Patches, str, int, int | None]] = [
    ("reverted-by-sibling", "S-HELD", "1.36.3", (OthersAssumptionsKept,), H, 132083386, None)
]
"""Found once to the end, in minutes; not run again."""


AT_NIGHT = 5_000_000
"""Searches to the end of more states are left to `make nightly`, but for two."""
IN_CI = (("bound-between", "S-VOL"), ("exclusive", "S-RWOP"))


def priced(row: tuple[Any, ...]) -> Any:
    is_for_night = row[5] > AT_NIGHT and row[:2] not in IN_CI
    return pytest.param(
        *row,
        marks=[pytest.mark.nightly] if is_for_night else [pytest.mark.ci] if row[5] > LARGE else [],
    )


@pytest.mark.parametrize(
    ("name", "identifier", "release", "patches", "verdict", "states", "steps"), [priced(row) for row in ROWS]
)
def test_verdict_and_counts(
    name: str, identifier: str, release: str, patches: Patches, verdict: str, states: int, steps: int | None
) -> None:
    (scenario,) = find_scenarios(str(FOLDER / f"{name}.yaml"))
    classes = (*patches, *resolve(release).classes)
    (found,) = check(instrument(scenario.spec, classes, [PROPERTIES[identifier]]), [identifier])
    length = None if found.trace is None else len(found.trace.steps)
    assert (found.verdict.name, found.counts.states, length) == (verdict, states, steps)
    assert not found.vacuous


@pytest.mark.parametrize(
    ("patches", "verdict", "states", "steps"),
    [((), V, 85256, 48), ((BoundAsFiltered,), H, 162176, None), ((OthersAssumptionsKept,), H, 143510, None)],
)
def test_bound_after_restore_where_bindings_nominate_nobody(
    patches: Patches, verdict: str, states: int, steps: int | None
) -> None:
    """On 1.36.3 without NominatedNodeNameForExpectation, which makes far fewer states."""
    (scenario,) = find_scenarios(str(FOLDER / "bound-after-restore.yaml"))
    classes = (*patches, *resolve("1.36.3", gates={"NominatedNodeNameForExpectation": False}).classes)
    (found,) = check(instrument(scenario.spec, classes, [PROPERTIES["S-VOL"]]), ["S-VOL"])
    length = None if found.trace is None else len(found.trace.steps)
    assert (found.verdict.name, found.counts.states, length) == (verdict, states, steps)
    assert f"{states:,} states" in PAGE
    assert not found.vacuous


def test_every_scenario_is_tested_and_explained() -> None:
    names = {path.stem for path in FOLDER.glob("*.yaml")}
    assert names == {row[0] for row in ROWS}
    told = [
        n for n in sorted(names) if f"scenarios/volumes/{n}.yaml" not in PAGE and f"| `{n}` |" not in PAGE
    ]
    assert told == []


def test_the_page_says_what_the_rows_say() -> None:
    for name, identifier, release, patches, verdict, states, _ in ROWS:
        if release == "1.36.3" and not patches and name != "claim-told-early" and identifier != "S-PV":
            word = verdict.lower()
            assert re.search(rf"^\| `{name}` \| .*\b{word}\b.* {states:,} states", PAGE, re.MULTILINE), (
                name,
                identifier,
            )
    for name, _, _, patches, verdict, states, _ in [*ROWS, *EXHAUSTIVE]:
        if patches and verdict == H:
            assert re.search(rf"^\| `{name}` \| .* {states:,} states", PAGE, re.MULTILINE), name
