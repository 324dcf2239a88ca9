"""What every property says of small clusters with claims: the table of docs/volumes.md, each violation of which is judged."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from podrace.checker.core.exploration import Budget
from podrace.checker.search import check
from podrace.model.history import resolve
from podrace.properties import PROPERTIES, instrument
from tests.small_storage import ASKED, CLUSTERS, VERSIONS, scenario
from tests.small_storage import found as rows_found

DOCS = Path(__file__).parents[1] / "docs"
PAGE = (DOCS / "volumes.md").read_text(encoding="utf-8")
BUDGET = Budget(max_states=20_000_000, max_memory=4 << 30)
SMALL = 60_000
"""Clusters with fewer states are asked again in CI, the others by the campaign."""

JUDGED = {
    "S-UNIQ": "hazards.md",
    "S-FRESH": "hazards.md",
    "S-COND": "hazards.md",
    "S-GHOST": "findings/ghost.md",
    "S-CYCLE": "races.md#update-in-flight",
    "S-WRITTEN": "scenarios/volumes/forgotten-by-restore.yaml",
    **dict.fromkeys(("L-VOL", "L-PEND", "L-WAKE", "S-STUCK"), "scenarios/volumes/claim-told-early.yaml"),
}
"""Where each property that is violated is explained."""

ROWS = rows_found()


def test_the_table_is_whole_and_each_violation_judged() -> None:
    assert {(row["cluster"], row["version"]) for row in ROWS} == {(c, v) for c in CLUSTERS for v in VERSIONS}
    violated = {name for row in ROWS for name in row["violated"].split()}
    assert violated == JUDGED.keys()
    for place in JUDGED.values():
        assert place in PAGE


def test_the_page_has_the_table() -> None:
    for row in ROWS:
        names = ", ".join(row["violated"].split()) or "none"
        undecided = len(row["undecided"].split()) or "none"
        line = f"| {row['cluster']} | {row['version']} | {int(row['states']):,} | {names} | {undecided} |"
        assert line in PAGE
    tried = int(re.findall(r"([\d,]+) verdicts", PAGE)[0].replace(",", ""))
    assert tried == len(ROWS) * len(ASKED)


def priced(row: dict[str, str]) -> object:
    marks = pytest.mark.ci if int(row["states"]) < SMALL else pytest.mark.campaign
    return pytest.param(row, id=f"{row['cluster']} {row['version']}", marks=marks)


@pytest.mark.ci
@pytest.mark.parametrize(
    ("cluster", "name", "states"),
    [
        *[
            ("a volume is made, shared claim", name, 143497)
            for name in ("L-VOL", "L-PEND", "L-WAKE", "S-STUCK")
        ],
        *[("claims that wait for nobody", name, 2130154) for name in ("L-VOL", "S-STUCK")],
    ],
)
def test_what_is_stuck_in_1_34_is_mended_by_133929(cluster: str, name: str, states: int) -> None:
    classes = resolve("1.34.4", ("133929",), ()).classes
    system = instrument(scenario(cluster, "1.34.4").spec, classes, [PROPERTIES[name]])
    (mended,) = check(system, [name])
    assert (mended.verdict.name, mended.counts.states) == ("HOLDS", states)
    (row,) = (row for row in ROWS if (row["cluster"], row["version"]) == (cluster, "1.34.4"))
    assert name in row["violated"].split()


@pytest.mark.parametrize("row", [priced(row) for row in ROWS])
def test_all_properties(row: dict[str, str]) -> None:
    asked = scenario(row["cluster"], row["version"])
    violated, undecided = set(row["violated"].split()), set(row["undecided"].split())
    names = [identifier for identifier in ASKED if identifier not in undecided]
    system = instrument(
        asked.spec, resolve(row["version"]).classes, [PROPERTIES[identifier] for identifier in names]
    )
    said = {n: r.verdict.name for n, r in zip(names, check(system, names, BUDGET), strict=True)}
    assert {n for n, verdict in said.items() if verdict == "VIOLATED"} == violated
    assert {said[n] for n in names if n not in violated} == {"HOLDS"}
