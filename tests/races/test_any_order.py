"""Scenarios that ask for the order of the file (`file_order`), searched in every order of equal pods: the same verdicts. Exact counts."""

from __future__ import annotations

from dataclasses import dataclass, replace

import pytest

from podrace.checker.search import check
from podrace.model.history import resolve
from podrace.properties import PROPERTIES, instrument
from podrace.scenarios import find_scenarios

V, H = "VIOLATED", "HOLDS"


@dataclass(frozen=True)
class Row:
    """What one check gives in any order. `steps` is the length of the counterexample."""

    race: str
    property: str
    release: str
    verdict: str
    states: int
    transitions: int
    steps: int | None = None

    def __str__(self) -> str:
        return f"{self.race} {self.property} {self.release}"


ROWS = [
    Row("72124", "S-NOM", "1.19", V, 60855, 217894, 42),
    Row("answered-too-late", "S-STUCK", "1.36", V, 7637, 18861, 47),
    Row("counted-and-rejected", "S-STUCK", "1.36", V, 807, 1678, 58),
    Row("counted-elsewhere", "S-STUCK", "1.36", V, 6151, 15044, 40),
    Row("extender-unaware", "S-ADMIT", "1.36", V, 1065, 2790, 19),
    Row("late-extender", "S-CAP", "1.36", V, 1047, 2160, 15),
    Row("passed-over", "S-ADMIT", "1.36", V, 39, 47, 8),
    Row("any-of-equals", "L-PEND", "1.36", H, 144, 245),
    Row("assigned-pod-in-empty-zone", "S-STUCK", "1.30", V, 554, 1506, 25),
    Row("device-ready", "L-CLAIM", "1.36.3", H, 35787, 113492),
    Row("reserved-after-allocation", "S-ASSUME", "1.36.3", V, 2076, 5455, 44),
    Row("dead-node-in-snapshot", "S-ERR", "1.19", V, 337, 648, 10),
    Row("deleted-while-binding", "S-ROOM", "1.34", V, 83, 142, 6),
    Row("device-twice", "S-DEV", "1.35", V, 4775, 15020, 30),
    Row("dismissed-member", "S-DISMISSED", "1.36", V, 835, 1671, 15),
    Row("event-list", "S-STUCK", "1.28", V, 18935, 56151, 25),
    Row("expired-assumption", "S-CAP", "1.24", V, 341, 700, 12),
    Row("gangs-deadlock", "L-DEADLOCK", "1.35", V, 36885, 101308, 42),
    Row("allowed-while-trying", "S-QUORUM", "1.36.3", V, 34946, 78839, 32),
    Row("bound-by-others", "S-GROUPSTATE", "1.36.3", V, 31, 48, 3),
    Row("gated-member", "L-GANG", "1.36.3", H, 453, 882),
    Row("quorum-unseen", "L-GANG", "1.36.3", V, 1266, 2414, 24),
    Row("room-of-the-untried", "S-NOMGROUP", "1.36.3", H, 3984, 9984),
    Row("budget-overdrawn", "S-PDB", "1.32", V, 1623, 4334, 22),
    Row("in-doubt", "S-CAP", "1.34", V, 813, 1808, 13),
    Row("late-binding", "S-CAP", "1.34", V, 964, 2131, 11),
    Row("leader-hand-over", "S-CAP", "1.34", V, 403, 900, 11),
    Row("namesake-lost", "S-CONS", "1.36", V, 33066, 103842, 31),
    Row("namespace-unasked", "S-STUCK", "1.36", V, 121, 199, 20),
    Row("port-of-two", "S-PORT", "1.36", V, 1149, 2432, 12),
    Row("stale-tombstone", "S-STUCK", "1.36", V, 18309, 48302, 24),
    Row("two-generals", "S-CAP", "1.34", V, 655, 1452, 12),
    Row("restart-before-handlers", "S-CAP", "1.27", V, 1194, 2722, 13),
    Row("shared-in-flight", "L-GANG", "1.35", V, 123, 202, 26),
    Row("stranger-in-group", "S-EXIT", "1.35", V, 14467, 29031, 21),
    Row("bound-between", "S-VOL", "1.36.3", V, 21423, 76702, 28),
    Row("forgotten-by-restore", "S-WRITTEN", "1.36.3", V, 2885, 8536, 24),
    Row("made-and-found", "S-PLACED", "1.36.3", V, 89017, 319280, 34),
    Row("reverted-by-sibling", "S-HELD", "1.36.3", V, 1953, 5125, 22),
    Row("wiped-nomination", "S-NOM", "1.14", V, 979, 2078, 18),
]

SHORTER = {"late-binding": 12, "leader-hand-over": 12}
"""Counterexamples that are longer in the order of the file: a standby begins with the other pod (A-STANDBY)."""


def _searched(row: Row, file_order: bool) -> tuple[str, int | None, int | None, int | None]:
    (scenario,) = find_scenarios(row.race)
    assert scenario.spec.scope.file_order, "it asks for one order"
    spec = replace(scenario.spec, scope=replace(scenario.spec.scope, file_order=file_order))
    composition = resolve(row.release, gates=dict(scenario.feature_gates))
    system = instrument(spec, composition.classes, [PROPERTIES[row.property]])
    (result,) = check(system, [row.property])
    steps = None if result.trace is None else len(result.trace.steps)
    return result.verdict.name, result.counts.states, result.counts.transitions, steps


@pytest.mark.representatives(12)
@pytest.mark.parametrize(
    "row", [pytest.param(row, marks=[pytest.mark.ci] if row.states > 1_000 else []) for row in ROWS], ids=str
)
def test_any_order_gives_the_verdict_of_the_order_of_the_file(row: Row) -> None:
    assert _searched(row, file_order=False) == (row.verdict, row.states, row.transitions, row.steps)
    verdict, states, _, steps = _searched(row, file_order=True)
    assert (verdict, steps) == (row.verdict, SHORTER.get(row.race, row.steps))
    assert states is not None
    assert states < row.states
