"""What every property says of small clusters with claims: the table of docs/notebook/volumes.md, each violation of which is judged."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from podrace.checker.core.exploration import Budget
from podrace.checker.search import check
from podrace.model.history import resolve
from podrace.properties import PROPERTIES, instrument
from tests.races.small_storage import ASKED, CLUSTERS, VERSIONS, scenario
from tests.races.small_storage import found as rows_found

DOCS = Path(__file__).parents[2] / "docs"
PAGE = (DOCS / "notebook" / "volumes.md").read_text(encoding="utf-8")
BUDGET = Budget(max_states=20_000_000, max_memory=4 << 30)
SMALL = 60_000
"""Clusters with fewer states are asked again, by `make nightly` or in CI; larger ones by the campaign."""
IN_CI = ("one device, two claims", "one volume, two claims")
"""What CI asks again, on the newest version."""

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
    if int(row["states"]) >= SMALL:
        marks = pytest.mark.campaign
    else:
        is_in_ci = row["version"] == VERSIONS[-1] and row["cluster"] in IN_CI
        marks = pytest.mark.ci if is_in_ci else pytest.mark.nightly
    return pytest.param(row, id=f"{row['cluster']} {row['version']}", marks=marks)


@pytest.mark.ci
@pytest.mark.parametrize(
    ("cluster", "name", "states"),
    [
        *[
            ("a volume is made, shared claim", name, 238139)
            for name in ("L-VOL", "L-PEND", "L-WAKE", "S-STUCK")
        ],
        *[("claims that wait for nobody", name, 3362775) for name in ("L-VOL", "S-STUCK")],
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


ONE_EVENT: list[tuple[str, str, int, tuple[str, ...]]] = [
    ("a volume is made, shared claim", "1.35.4", 23_736_259, ()),
    ("claims that wait for nobody", "1.34.4", 2_076_801, ("S-COND",)),
    ("a volume for two nodes, shared claim", "1.35.4", 15_147_896, ()),
    ("a volume is made, shared claim", "1.36.3", 11_143_295, ()),
]
"""What is undecided with two undelivered events, asked with one: states, and what is violated; the others hold."""


@pytest.mark.campaign
@pytest.mark.parametrize(("cluster", "version", "states", "violated"), ONE_EVENT)
def test_with_one_undelivered_event(
    cluster: str, version: str, states: int, violated: tuple[str, ...]
) -> None:
    (row,) = (row for row in ROWS if (row["cluster"], row["version"]) == (cluster, version))
    names = row["undecided"].split()
    asked = [PROPERTIES[name] for name in names]
    system = instrument(scenario(cluster, version, 1).spec, resolve(version).classes, asked)
    found = check(system, names, Budget(max_states=60_000_000, max_memory=8 << 30))
    said = {name: result.verdict.name for name, result in zip(names, found, strict=True)}
    assert said == {name: "VIOLATED" if name in violated else "HOLDS" for name in names}
    assert max(result.counts.states or 0 for result in found) == states


def test_the_page_has_them_with_one_event() -> None:
    undecided = {(row["cluster"], row["version"]): row["undecided"].split() for row in ROWS}
    assert {key for key, left in undecided.items() if left} == {row[:2] for row in ONE_EVENT}
    for cluster, version, states, violated in ONE_EVENT:
        decided = len(undecided[cluster, version])
        names = ", ".join(violated) or "none"
        assert f"| {cluster} | {version} | {states:,} | {decided} | {names} |" in PAGE
        assert set(violated) <= JUDGED.keys()
