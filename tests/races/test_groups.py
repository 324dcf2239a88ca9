"""Races of groups of pods (docs/groups.md), both ways, and KEP-4671's promises: exact counts."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import pytest

from podrace.base.problems import Problem
from podrace.checker.search import check
from podrace.model.cluster import build_cluster
from podrace.model.environment.objects import ClusterSpec, Node, Pod, PodGroup, Scope
from podrace.model.history import resolve
from podrace.model.history.versions.gates import GateProblem
from podrace.model.language import Component, Expr, all_of, as_expr, trace_system
from podrace.properties import PROPERTIES, Property, instrument
from podrace.scenarios import Scenario, catalogue, find_scenarios, read_scenario
from tests.races.group_patches import (
    CycleOnlyLooks,
    EndWakes,
    FittingNominated,
    GoneLeavesGroup,
    LeftoversBackOff,
    NothingToRead,
    QuorumSeenOnEvents,
    RejectedNotCounted,
    ReserveFailsOnce,
    SkippedCycleUntold,
    StrangersNotAssumed,
    TimesOut,
    UntriedMembersForgotten,
)
from tests.races.hazard_patches import AskedBeforeForgotten, AssumedIfListed, PlacedNotAdded

ROOT = Path(__file__).parents[2]
FOLDER = ROOT / "scenarios" / "groups"
PAGE = "".join(
    (ROOT / "docs" / page).read_text(encoding="utf-8")
    for page in ("groups.md", "notebook/groups.md", "notebook/kep-5710.md")
)
NOTES = (ROOT / "docs" / "notebook" / "groups.md").read_text(encoding="utf-8")
V, H = "VIOLATED", "HOLDS"
GATE = {"GangScheduling": True}
RACES = {scenario.name for scenario in catalogue() if scenario.spec.groups}
"""What is in the catalogue: races that an upstream change mended."""

Patches = tuple[type[Component], ...]

ROWS: list[tuple[str, str, str, Patches, tuple[str, ...], str, int, int | None]] = [
    ("gone-member-assigned", "S-GROUPSTATE", "1.36.3", (), (), V, 68, 10),
    ("gone-member-assigned", "S-GROUPSTATE", "1.36.3", (StrangersNotAssumed,), (), H, 293, None),
    ("bound-alone", "S-QUORUM", "1.36.3", (), (), V, 174178, 37),
    ("bound-alone", "S-QUORUM", "1.36.3", (CycleOnlyLooks,), (), V, 284049, 39),
    ("allowed-while-trying", "S-QUORUM", "1.36.3", (), (), V, 25345, 32),
    ("quorum-unseen", "L-GANG", "1.36.3", (), (), V, 766, 24),
    ("quorum-unseen", "L-GANG", "1.36.3", (QuorumSeenOnEvents,), (), H, 5219, None),
    ("rejected-and-counted", "S-QUORUM", "1.36.3", (), (), H, 7137, None),
    ("rejected-and-counted", "S-QUORUM", "1.36.3", (), ("138445",), V, 756, 21),
    ("half-refused", "L-WHOLE", "1.36.3", (), (), V, 107609, 68),
    ("half-bound", "L-WHOLE", "1.36.3", (), (), V, 284964, 67),
    ("bound-by-others", "S-GROUPSTATE", "1.36.3", (), (), V, 20, 3),
    ("bound-by-others", "S-GROUPSTATE", "1.36.3", (), ("bound-leaves-sets",), H, 5030, None),
    ("dismissed-member", "S-DISMISSED", "1.36.3", (), (), V, 550, 15),
    ("dismissed-member", "S-DISMISSED", "1.36.3", (), ("138445",), H, 829566, None),
    ("stranger-in-group", "S-EXIT", "1.35.4", (), (), V, 2760, 21),
    ("stranger-in-group", "S-EXIT", "1.35.4", (), ("136618",), H, 663690, None),
    ("stranger-in-group", "S-EXIT", "1.36.3", (), (), H, 303506, None),
    ("shared-in-flight", "L-GANG", "1.35.4", (), (), V, 62, 26),
    ("shared-in-flight", "L-GANG", "1.36.3", (), ("139418",), H, 404421, None),
    ("room-of-the-untried", "S-NOMGROUP", "1.36.3", (UntriedMembersForgotten,), (), V, 236, 35),
    ("room-of-the-untried", "S-NOMGROUP", "1.36.3", (), (), H, 3934, None),
    ("gangs-deadlock", "L-DEADLOCK", "1.35.4", (), (), V, 419, 42),
    ("gangs-deadlock", "L-DEADLOCK", "1.35.4", (), ("136618",), H, 26550, None),
    ("gangs-deadlock", "L-DEADLOCK", "1.36.3", (), (), H, 9920, None),
    ("gangs-deadlock", "L-LIVELOCK", "1.36.3", (), (), H, 9920, None),
    ("two-gangs-one-single", "L-DEADLOCK", "1.35.4", (), (), V, 1812, 62),
    ("two-gangs-one-single", "L-DEADLOCK", "1.36.3", (), (), H, 56256, None),
    ("two-gangs-one-single", "L-LIVELOCK", "1.36.3", (), (), H, 56256, None),
    ("gangs-deadlock", "L-LIVELOCK", "1.36.3", (TimesOut,), (), H, 9920, None),
    ("two-gangs-one-single", "L-LIVELOCK", "1.36.3", (TimesOut,), (), H, 56256, None),
    ("two-gangs-one-single", "L-GANG", "1.36.3", (), (), H, 56256, None),
    ("two-gangs-one-single", "L-WHOLE", "1.36.3", (), (), H, 56256, None),
    ("two-gangs-one-single", "S-QUORUM", "1.36.3", (), (), H, 56256, None),
    ("two-gangs-one-single", "L-PEND", "1.36.3", (), (), H, 56256, None),
    ("late-member", "L-GANG", "1.35.4", (), (), H, 1014, None),
    ("late-member", "L-GANG", "1.36.3", (), (), H, 597, None),
    ("gated-member", "L-GANG", "1.35.4", (), (), H, 168, None),
    ("gated-member", "L-GANG", "1.36.3", (), (), H, 410, None),
    ("gated-member", "S-QUORUM", "1.36.3", (), (), H, 410, None),
    ("mixed-priorities", "S-GROUPSTATE", "1.35.4", (), (), V, 14268, 29),
    ("mixed-priorities", "S-GROUPSTATE", "1.36.3", (), (), H, 128462, None),
    ("mixed-priorities", "L-GANG", "1.36.3", (), (), H, 128462, None),
    ("mixed-priorities", "S-QUORUM", "1.36.3", (), (), H, 128462, None),
    ("parked-by-the-gone", "L-PEND", "1.37.2", (), (), V, 18, 4),
    ("pending-forgotten", "L-PEND", "1.37.2", (), (), V, 1013937, 50),
    ("pending-forgotten", "S-CONS", "1.37.2", (), (), V, 119609, 35),
    ("half-bound", "L-WHOLE", "1.37.2", (), (), V, 150583, 60),
    ("half-bound", "S-QUORUM", "1.37.2", (), (), H, 150583, None),
    ("half-a-tree", "S-QUORUM", "1.38.0-beta.0", (), (), V, 106, 13),
    ("half-a-tree", "L-WHOLE", "1.38.0-beta.0", (), (), V, 24354, 56),
    ("tree-or-nothing", "L-GANG", "1.38.0-beta.0", (), (), H, 26563, None),
    ("tree-or-nothing", "S-QUORUM", "1.38.0-beta.0", (), (), H, 26563, None),
    ("tree-or-nothing", "L-WHOLE", "1.38.0-beta.0", (), (), H, 26563, None),
    ("tree-or-nothing", "L-PEND", "1.38.0-beta.0", (), (), H, 26563, None),
    ("victims-of-a-tree", "L-GANG", "1.38.0-beta.0", (), (), H, 3271, None),
    ("victims-of-a-tree", "S-QUORUM", "1.38.0-beta.0", (), (), H, 3271, None),
    ("victims-of-a-tree", "S-ONCE", "1.38.0-beta.0", (), (), H, 3271, None),
    ("half-bound", "S-QUORUM", "1.37.2", (), ("141182",), V, 59, 12),
    ("half-bound", "L-WHOLE", "1.37.2", (), ("141182",), V, 24175, 55),
    ("quorum-unseen", "L-GANG", "1.37.2", (), (), V, 997, 21),
    ("quorum-unseen", "L-GANG", "1.37.2", (QuorumSeenOnEvents,), (), H, 5651, None),
    ("gone-member-assigned", "S-GROUPSTATE", "1.37.2", (), (), V, 153, 13),
    ("bound-by-others", "S-GROUPSTATE", "1.37.2", (), (), H, 5585, None),
    ("dismissed-member", "S-DISMISSED", "1.37.2", (), (), H, 476432, None),
    ("dismissed-member", "S-GROUPSTATE", "1.37.2", (), (), V, 1216, 17),
    ("ghost-in-state", "S-GROUPSTATE", "1.37.2", (), (), V, 304, 14),
    ("ghost-in-state", "S-GROUPSTATE", "1.37.2", (GoneLeavesGroup,), (), H, 48830, None),
    ("gangs-deadlock", "L-DEADLOCK", "1.37.2", (), (), H, 1765, None),
    ("gangs-deadlock", "L-LIVELOCK", "1.37.2", (), (), H, 1765, None),
    ("two-gangs-one-single", "L-DEADLOCK", "1.37.2", (), (), H, 9964, None),
    ("two-gangs-one-single", "L-LIVELOCK", "1.37.2", (), (), H, 9964, None),
    ("two-gangs-one-single", "L-GANG", "1.37.2", (), (), H, 9964, None),
    ("two-gangs-one-single", "L-WHOLE", "1.37.2", (), (), H, 9964, None),
    ("two-gangs-one-single", "S-QUORUM", "1.37.2", (), (), H, 9964, None),
    ("two-gangs-one-single", "L-PEND", "1.37.2", (), (), H, 9964, None),
    ("unsaid-without-nodes", "L-TOLD", "1.37.2", (), (), V, 14, 14),
    ("unsaid-without-nodes", "L-TOLD", "1.37.2", (NothingToRead,), (), H, 85235, None),
    ("victims-gone-already", "L-GANG", "1.37.2", (), (), V, 14136, 61),
    ("victims-gone-already", "L-GANG", "1.37.2", (), ("133167",), H, 34405, None),
    ("victims-gone-already", "S-QUORUM", "1.37.2", (), (), H, 24206, None),
    ("cut-in-half", "L-WHOLE", "1.37.2", (), (), V, 3955, 64),
    ("cut-by-a-gang", "L-WHOLE", "1.37.2", (), (), V, 16266, 94),
    ("cut-by-a-gang", "S-ONCE", "1.37.2", (), (), H, 16266, None),
    ("cascade", "L-LIVELOCK", "1.37.2", (), (), H, 57944, None),
    ("cascade", "S-ONCE", "1.37.2", (), (), H, 57944, None),
    ("cascade", "S-QUORUM", "1.37.2", (), (), H, 57944, None),
    ("cascade", "L-GANG", "1.37.2", (), (), V, 9094, 46),
    ("cascade", "L-GANG", "1.37.2", (), ("133167",), H, 93913, None),
    ("cascade", "L-INV", "1.37.2", (), ("133167",), H, 93913, None),
    ("victim-being-bound", "L-GANG", "1.37.2", (), (), V, 6638, 50),
    ("victim-being-bound", "L-GANG", "1.37.2", (), ("133167",), V, 6638, 50),
    ("victim-being-bound", "L-GANG", "1.37.2", (EndWakes,), (), H, 287425, None),
    ("rejected-and-counted", "S-QUORUM", "1.37.2", (), (), V, 480, 17),
    ("rejected-and-counted", "S-QUORUM", "1.37.2", (RejectedNotCounted,), (), H, 8351, None),
    ("rejected-and-counted", "S-QUORUM", "1.37.2", (GoneLeavesGroup,), (), H, 7551, None),
    ("half-refused", "L-WHOLE", "1.37.2", (), (), V, 127273, 61),
    ("half-refused", "L-WHOLE", "1.37.2", (RejectedNotCounted,), (), H, 90012, None),
    ("half-refused", "S-QUORUM", "1.37.2", (RejectedNotCounted,), (), H, 90012, None),
    ("half-refused", "L-WHOLE", "1.37.2", (GoneLeavesGroup,), (), V, 127273, 61),
    ("kept-by-the-gone", "S-ROOM", "1.37.2", (), (), V, 505, 11),
    ("kept-by-the-gone", "L-GANG", "1.37.2", (), (), V, 196801, 44),
    ("kept-by-the-gone", "L-GANG", "1.37.2", (AssumedIfListed,), (), H, 170981, None),
    ("member-counted-twice", "S-STUCK", "1.37.2", (), (), V, 12613, 73),
    ("member-counted-twice", "S-STUCK", "1.37.2", (PlacedNotAdded,), (), H, 9649, None),
    ("bound-alone", "S-QUORUM", "1.37.2", (), (), V, 2469, 17),
    ("late-member", "L-GANG", "1.37.2", (), (), H, 316, None),
    ("gated-member", "L-GANG", "1.37.2", (), (), H, 106, None),
    ("gated-member", "S-QUORUM", "1.37.2", (), (), H, 106, None),
    ("parked-by-the-gone", "L-PEND", "1.38.0-beta.0", (), (), V, 18, 4),
    ("ghost-in-state", "S-GROUPSTATE", "1.38.0-beta.0", (), (), V, 447, 14),
    ("gone-member-assigned", "S-GROUPSTATE", "1.38.0-beta.0", (), (), V, 129, 12),
    ("dismissed-member", "S-GROUPSTATE", "1.38.0-beta.0", (), (), V, 1230, 16),
    ("half-bound", "S-QUORUM", "1.38.0-beta.0", (), (), V, 59, 12),
    ("half-bound", "L-WHOLE", "1.38.0-beta.0", (), (), V, 24175, 55),
    ("bound-alone", "S-QUORUM", "1.38.0-beta.0", (), (), V, 983, 12),
    ("rejected-and-counted", "S-QUORUM", "1.38.0-beta.0", (), (), V, 209, 12),
    ("quorum-unseen", "L-GANG", "1.38.0-beta.0", (), (), H, 2789, None),
    ("bound-by-others", "S-GROUPSTATE", "1.38.0-beta.0", (), (), H, 2789, None),
    ("gangs-deadlock", "L-DEADLOCK", "1.38.0-beta.0", (), (), H, 892, None),
    ("gangs-deadlock", "L-LIVELOCK", "1.38.0-beta.0", (), (), H, 892, None),
    ("two-gangs-one-single", "L-DEADLOCK", "1.38.0-beta.0", (), (), H, 5002, None),
    ("two-gangs-one-single", "L-LIVELOCK", "1.38.0-beta.0", (), (), H, 5002, None),
    ("two-gangs-one-single", "L-GANG", "1.38.0-beta.0", (), (), H, 5002, None),
    ("two-gangs-one-single", "L-WHOLE", "1.38.0-beta.0", (), (), H, 5002, None),
    ("two-gangs-one-single", "S-QUORUM", "1.38.0-beta.0", (), (), H, 5002, None),
    ("two-gangs-one-single", "L-PEND", "1.38.0-beta.0", (), (), H, 5002, None),
    ("unsaid-without-nodes", "L-TOLD", "1.38.0-beta.0", (), (), V, 14, 14),
    ("victims-gone-already", "L-GANG", "1.38.0-beta.0", (), (), H, 41837, None),
    ("cut-in-half", "L-WHOLE", "1.38.0-beta.0", (), (), V, 3955, 64),
    ("cut-by-a-gang", "L-WHOLE", "1.38.0-beta.0", (), (), V, 15153, 90),
    ("kept-by-the-gone", "S-ROOM", "1.38.0-beta.0", (), (), V, 514, 11),
    ("late-member", "L-GANG", "1.38.0-beta.0", (), (), H, 230, None),
    ("gated-member", "L-GANG", "1.38.0-beta.0", (), (), H, 65, None),
    ("gated-member", "S-QUORUM", "1.38.0-beta.0", (), (), H, 65, None),
    ("cut-by-a-gang", "S-ONCE", "1.38.0-beta.0", (), (), H, 15153, None),
    ("kept-by-the-gone", "L-GANG", "1.38.0-beta.0", (), (), H, 91672, None),
    ("victims-gone-already", "S-QUORUM", "1.38.0-beta.0", (), (), H, 41837, None),
    ("victim-being-bound", "L-GANG", "1.38.0-beta.0", (), (), V, 6380, 50),
    ("half-refused", "L-WHOLE", "1.38.0-beta.0", (), (), H, 272, None),
    ("pending-forgotten", "S-CONS", "1.38.0-beta.0", (), (), V, 124550, 35),
    ("cascade", "L-LIVELOCK", "1.38.0-beta.0", (), (), H, 11656, None),
    ("cascade", "L-GANG", "1.38.0-beta.0", (), (), H, 11656, None),
    ("member-counted-twice", "S-STUCK", "1.38.0-beta.0", (), (), V, 9137, 69),
    ("split-between-domains", "S-DOMAIN", "1.38.0-beta.0", (), (), V, 65419, 51),
    ("split-between-domains", "S-DOMAIN", "1.38.0-beta.0", (AskedBeforeForgotten,), (), H, 4433, None),
    ("victims-in-a-domain", "L-GANG", "1.38.0-beta.0", (), (), H, 2039, None),
    ("victims-in-a-domain", "S-QUORUM", "1.38.0-beta.0", (), (), H, 2039, None),
    ("victims-in-a-domain", "S-DOMAIN", "1.38.0-beta.0", (), (), H, 2039, None),
    ("victims-in-a-domain", "S-ONCE", "1.38.0-beta.0", (), (), H, 2039, None),
    ("one-domain-each", "L-GANG", "1.38.0-beta.0", (), (), H, 42412, None),
    ("one-domain-each", "L-DEADLOCK", "1.38.0-beta.0", (), (), H, 42412, None),
    ("one-domain-each", "S-QUORUM", "1.38.0-beta.0", (), (), H, 42412, None),
    ("one-domain-each", "S-DOMAIN", "1.38.0-beta.0", (), (), H, 42412, None),
    ("victims-gone-already", "L-GANG", "1.37.2", (), ("last-victim-gone",), H, 34405, None),
    ("ghost-in-state", "S-GROUPSTATE", "1.37.2", (), ("hierarchy-tracker",), V, 396, 15),
    ("parked-by-the-gone", "L-PEND", "1.37.2", (), ("141577",), V, 18, 4),
    ("cut-by-a-gang", "L-WHOLE", "1.37.2", (), ("141577",), V, 16266, 94),
]


def _gates(release: str, scenario: Scenario) -> dict[str, bool]:
    """The scenario's gates, with that of groups as the release has it."""
    others = {
        n: on
        for n, on in dict(scenario.feature_gates).items()
        if n not in ("GangScheduling", "GenericWorkload")
    }
    return others | ({"GenericWorkload": True} if release.startswith(("1.37", "1.38")) else GATE)


@pytest.mark.parametrize(
    ("name", "identifier", "release", "patches", "fixes", "verdict", "states", "steps"), ROWS
)
def test_verdict_and_counts(
    name: str, identifier: str, release: str, patches: Patches, fixes: tuple[str, ...], verdict: str, states: int,
    steps: int | None,
) -> None:  # fmt: skip
    (scenario,) = find_scenarios(name if name in RACES else str(FOLDER / f"{name}.yaml"))
    classes = (*patches, *resolve(release, fixes, (), _gates(release, scenario)).classes)
    (found,) = check(instrument(scenario.spec, classes, [PROPERTIES[identifier]]), [identifier])
    length = None if found.trace is None else len(found.trace.steps)
    assert (found.verdict.name, found.counts.states, length) == (verdict, states, steps)
    assert not found.vacuous


@pytest.mark.ci
def test_no_pod_is_bound_alone_with_both_patches() -> None:
    (scenario,) = find_scenarios(str(FOLDER / "bound-alone.yaml"))
    patches: Patches = (CycleOnlyLooks, StrangersNotAssumed)
    classes = (*patches, *resolve("1.36.3", (), (), GATE).classes)
    (found,) = check(instrument(scenario.spec, classes, [PROPERTIES["S-QUORUM"]]), ["S-QUORUM"])
    assert (found.verdict.name, found.counts.states) == (H, 17731919)
    assert not found.vacuous


@pytest.mark.parametrize("identifier", ["S-GHOST", "S-CONS", "S-UNIQ", "S-CYCLE"])
@pytest.mark.parametrize(
    ("release", "later"), [("1.36.3", "pod"), ("1.37.2", "pod"), ("1.37.2", "group"), ("1.37.2", "single")]
)
def test_what_the_queue_is_adding_or_keeps_aside_is_neither_gone_nor_lost(
    identifier: str, release: str, later: str
) -> None:
    """A pod whose addition is still being handled, in a group or in none, pods of an unknown group, and pods that wait for the end of their group's cycle."""
    pods = [Pod(i, name, 1, group="g") for i, name in enumerate("ab")]
    if later != "group":
        pods.append(Pod(2, "c", 1, group="g" if later == "pod" else None, exists=False))
    groups = (PodGroup(0, "g", 2, exists=later != "group"),)
    scope = Scope(pod_events=1, flush=False, pod_creations=int(later != "group"))
    spec = ClusterSpec("later", tuple(pods), (Node(0, "n", 3),), scope, groups=groups)
    classes = resolve(release, (), (), {"GenericWorkload": True} if release == "1.37.2" else GATE).classes
    (found,) = check(instrument(spec, classes, [PROPERTIES[identifier]]), [identifier])
    assert (found.verdict.name, found.vacuous) == (H, (identifier, later) == ("S-GHOST", "group"))


NOMINATED = (Pod(0, "a", 1, group="g"), Pod(1, "b", 1, group="g"), Pod(2, "s", 1, exists=False))
SKIPPED = (Pod(0, "a", 1, group="g", finalizers=True), Pod(1, "b", 1, group="g", exists=False))


@pytest.mark.parametrize(
    ("pods", "cpu", "minimum", "deletions", "patches", "verdict", "states"),
    [
        (NOMINATED, 1, 2, 0, (), H, 635),
        (NOMINATED, 1, 2, 0, (FittingNominated,), V, 523),
        (SKIPPED, 2, None, 1, (), H, 20440),
        (SKIPPED, 2, None, 1, (SkippedCycleUntold,), V, 683),
    ],
)
def test_what_changes_of_1_37_mended(
    pods: tuple[Pod, ...], cpu: int, minimum: int | None, deletions: int, patches: Patches, verdict: str, states: int
) -> None:  # fmt: skip
    """140590 and 140478, both ways: L-PEND."""
    scope = Scope(pod_events=1, flush=False, file_order=True, pod_creations=1, pod_deletions=deletions)
    spec = ClusterSpec("x", pods, (Node(0, "n", cpu),), scope, groups=(PodGroup(0, "g", minimum),))
    classes = (*patches, *resolve("1.37.2", (), (), {"GenericWorkload": True}).classes)
    (found,) = check(instrument(spec, classes, [PROPERTIES["L-PEND"]]), ["L-PEND"])
    assert (found.verdict.name, found.counts.states, found.vacuous) == (verdict, states, False)


class NobodyGated(Property):
    """No pod is held back by PreEnqueue."""

    id = "X-GATED"

    def holds(self) -> Expr:
        return all_of(~as_expr(self.queue.gated[pod]) for pod in self.pods)


@pytest.mark.parametrize(("name", "verdict"), [("two-gangs-one-single", H), ("gated-member", V)])
def test_where_pods_of_gangs_are_gated(name: str, verdict: str) -> None:
    (scenario,) = find_scenarios(str(FOLDER / f"{name}.yaml"))
    classes = resolve("1.36.3", (), (), GATE).classes
    (found,) = check(instrument(scenario.spec, classes, [NobodyGated]), ["X-GATED"])
    assert found.verdict.name == verdict


def test_every_scenario_is_tested_and_explained() -> None:
    names = {path.stem for path in FOLDER.glob("*.yaml")}
    assert names | RACES == {row[0] for row in ROWS}
    assert [n for n in sorted(names) if f"scenarios/groups/{n}.yaml" not in PAGE] == []
    assert [
        n
        for n in sorted(RACES)
        if f"[{n}](notebook/races.md#{n})" not in PAGE and f"[{n}](races.md#{n})" not in NOTES
    ] == []


def test_the_page_says_what_the_rows_say() -> None:
    for name, identifier, release, patches, fixes, verdict, states, _steps in ROWS:
        with_ = ", ".join([p.__name__ for p in patches] + list(fixes))
        row = rf"^\| `{name}` \| {identifier} \| {re.escape(release)} \| {re.escape(with_)} ?\| {verdict.lower()}.* {states:,} states"
        assert re.search(row, NOTES, re.MULTILINE), row


# --- the gate ---------------------------------------------------------------------------------------------------


def gang() -> ClusterSpec:
    """A gang of two on a node that has room for both."""
    pods = tuple(Pod(i, name, 1, group="g") for i, name in enumerate("ab"))
    return ClusterSpec("gang", pods, (Node(0, "n", 2),), groups=(PodGroup(0, "g", 2),))


@pytest.mark.parametrize("release", ["1.35.4", "1.36.3"])
def test_without_the_gate_nobody_looks_at_groups(release: str) -> None:
    system = trace_system(build_cluster(gang(), resolve(release).classes))
    grouped = ("pod_group_cycle", "gang_scheduling", "pod_groups")
    assert [t.label for t in system.transitions if t.part in grouped] == []
    assert [t.label for t in system.transitions if t.part == "scheduler" and "pop(" in t.label] != []


@pytest.mark.parametrize("identifier", ["S-STUCK", "L-PEND"])
@pytest.mark.parametrize(
    ("rooms", "bound", "verdict", "vacuous"),
    [
        (1, False, H, True),  # one of the two would fit, and the gang does not: no pod waits in vain
        (2, False, H, True),  # neither completes the gang by itself
        (2, True, H, False),  # one is bound, and the other completes the gang
    ],
)
def test_a_pod_of_a_gang_waits_in_vain_only_where_it_completes_the_gang(
    identifier: str, rooms: int, bound: bool, verdict: str, vacuous: bool
) -> None:
    node = Node(0, "n", rooms)
    pods = (Pod(0, "a", 1, group="g", node=node if bound else None), Pod(1, "b", 1, group="g"))
    spec = ClusterSpec("gang", pods, (node,), Scope(pod_events=1, flush=False), groups=(PodGroup(0, "g", 2),))
    classes = resolve("1.36.3", (), (), GATE).classes
    (found,) = check(instrument(spec, classes, [PROPERTIES[identifier]]), [identifier])
    assert (found.verdict.name, found.vacuous) == (verdict, vacuous)


def test_a_release_without_the_gate_refuses_it() -> None:
    with pytest.raises(GateProblem, match=r"1\.34\.0 has no gate GangScheduling"):
        resolve("1.34", (), (), GATE)


# --- scenarios ----------------------------------------------------------------------------------------------------

HEAD = "name: x\ntitle: x\nnodes: {n1: {cpu: 2}}\npodGroups: {g: {minCount: 2}}\n"


@pytest.mark.parametrize(
    ("pods", "scope", "said"),
    [
        ("a: {cpu: 1, podGroup: h}", "{}", "there is no pod group `h`"),
        ("a: {cpu: 1, podGroup: g, priority: 0..3}", "{}", "which has to be known: write one number here"),
        ("a: {cpu: 1, podGroup: g, extensionPoints: [permit]}", "{}", "this is not modelled: remove `extensionPoints`"),
        ("a: {cpu: 1, podGroup: g}", "{restarts: 1}", "with groups of pods this is not modelled: remove `restarts`"),
    ],
)  # fmt: skip
def test_what_is_refused(tmp_path: Path, pods: str, scope: str, said: str) -> None:
    file = tmp_path / "x.yaml"
    file.write_text(f"{HEAD}pods:\n  {pods}\nscope: {scope}\n", encoding="utf-8")
    with pytest.raises(Problem, match=re.escape(said)):
        read_scenario(file)


@pytest.mark.parametrize(
    "identifier",
    [pytest.param("L-WHOLE", marks=pytest.mark.ci), pytest.param("L-GANG", marks=pytest.mark.nightly)],
)
def test_two_gangs_and_a_single_pod_when_a_node_may_go(identifier: str) -> None:
    (scenario,) = find_scenarios(str(FOLDER / "two-gangs-one-single.yaml"))
    spec = replace(scenario.spec, scope=replace(scenario.spec.scope, node_deletions=1))
    classes = resolve("1.36.3", (), (), GATE).classes
    (found,) = check(instrument(spec, classes, [PROPERTIES[identifier]]), [identifier])
    assert (found.verdict.name, found.counts.states) == (H, 1996720)
    assert not found.vacuous


@pytest.mark.parametrize(
    ("priority", "identifier", "fixes", "patches", "verdict", "states"),
    [
        (0, "S-QUORUM", (), (), H, 1606), (0, "L-WHOLE", (), (), H, 1606),
        (0, "S-QUORUM", ("141182",), (), V, 65), (0, "L-WHOLE", ("141182",), (), H, 658),
        (0, "L-WHOLE", ("141182",), (LeftoversBackOff,), V, 1722),
        (10, "S-QUORUM", (), (), H, 338273), (10, "L-WHOLE", (), (), H, 338273),
        (10, "S-QUORUM", ("141182",), (), V, 185), (10, "L-WHOLE", ("141182",), (), V, 132467),
    ],
)  # fmt: skip
def test_what_permit_is_for_when_reserve_fails(
    priority: int, identifier: str, fixes: tuple[str, ...], patches: Patches, verdict: str, states: int
) -> None:
    """The pod that failed comes back with the old timestamp, before any other of its priority. One of a higher priority, which is created meanwhile, comes before it."""
    (scenario,) = find_scenarios(str(FOLDER / "half-bound.yaml"))
    spec = replace(scenario.spec, scope=replace(scenario.spec.scope, bind_failures=0))
    if priority:
        single = Pod(2, "s", 1, priority=priority, exists=False)
        scope = replace(spec.scope, pod_creations=1)
        spec = replace(spec, pods=(*spec.pods[:2], single), scope=scope)
    composition = resolve("1.37.2", fixes, (), {"GenericWorkload": True})
    classes: Patches = (ReserveFailsOnce, *patches, *composition.classes)
    (found,) = check(instrument(spec, classes, [PROPERTIES[identifier]]), [identifier])
    assert (found.verdict.name, found.counts.states) == (verdict, states)
