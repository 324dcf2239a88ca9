"""Open hazards on 1.34 and later, and the proposed patches: exact counts; the commands of docs/hazards.md."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from podrace.checker.search import check
from podrace.model.history import PRE_RELEASES, RELEASES, resolve
from podrace.model.history.versions import canonical
from podrace.model.language import Component, Expr, any_of
from podrace.properties import PROPERTIES, Property, instrument
from podrace.scenarios import catalogue, find_scenarios, parse_scenario
from tests.races.hazard_patches import (
    AlwaysActivated,
    AnyTermHeard,
    AskedBeforeForgotten,
    AssumedIfListed,
    Barrier,
    BoundElsewhereWakes,
    BoundPodsUnpatched,
    CountedNodesHeard,
    Fenced,
    FreshRequeue,
    GhostsRefused,
    GoneNotAssumed,
    GoneNoted,
    LastPeerHeard,
    LeftoversAwaited,
    LeftoversCounted,
    LooksAgain,
    LostDomainsHeard,
    NamespacesMerged,
    NodeRemovedFirst,
    NominatedByUID,
    NominationsInMemoryHeard,
    PlacedNotAdded,
    PortsOfOthersKept,
    PreemptorReadByUID,
    RegisteredToTheEnd,
    RelabelledPeersHeard,
    RequeueLooksAgain,
    SwappedTakenOut,
    TermsOfOthersHeard,
    TombstonesWakeLikeDeletions,
    VersionedCondition,
    VictimsAwaitedByUID,
    VictimsDeletedByUID,
    VictimsPaidFor,
    WrittenBeforeForgotten,
    WrittenByUID,
)
from tests.races.taint_patches import LiveTaintsAsked, TaintedDeletedByUID, WorksByUID

ROOT = Path(__file__).parents[2]
FOLDER = ROOT / "scenarios" / "hazards"
PAGE = (ROOT / "docs" / "hazards.md").read_text(encoding="utf-8")
V, H = "VIOLATED", "HOLDS"

ROWS: list[tuple[str, str, tuple[type[Component], ...], tuple[str, ...], str, int, int | None]] = [
    ("stale-object", "S-FRESH", (), (), V, 610, 23),
    ("stale-object", "S-FRESH", (FreshRequeue,), (), H, 766, None),
    ("stale-object", "S-FRESH", (RequeueLooksAgain,), (), H, 599, None),
    ("update-before-requeue", "S-UNIQ", (), (), V, 293, 20),
    ("update-before-requeue", "S-UNIQ", (RegisteredToTheEnd,), (), H, 999, None),
    ("queued-while-assumed", "S-STUCK", (), (), V, 7548, 42),
    ("queued-while-assumed", "S-STUCK", (RegisteredToTheEnd,), (), V, 6853, 42),
    ("queued-while-assumed", "S-STUCK", (PlacedNotAdded,), (), H, 4000, None),
    ("queued-while-assumed", "S-STUCK", (PlacedNotAdded, RegisteredToTheEnd), (), H, 5654, None),
    ("update-before-requeue", "S-UNIQ", (PlacedNotAdded,), (), V, 344, 23),
    ("update-before-requeue", "S-UNIQ", (PlacedNotAdded, RegisteredToTheEnd), (), H, 807, None),
    ("ghost", "S-GHOST", (), (), V, 164, 10),
    ("ghost", "S-GHOST", (GhostsRefused,), (), H, 489, None),
    ("ghost", "S-GHOST", (RequeueLooksAgain,), (), H, 491, None),
    ("two-generals", "S-CAP", (), (), V, 328, 12),
    ("two-generals", "S-CAP", (AskedBeforeForgotten,), (), H, 734, None),
    ("in-doubt", "S-CAP", (), (), V, 407, 13),
    ("in-doubt", "S-CAP", (AskedBeforeForgotten,), (), V, 420, 13),
    ("in-doubt", "S-CAP", (WrittenBeforeForgotten,), (), H, 8944, None),
    ("two-generals", "S-CAP", (WrittenBeforeForgotten,), (), H, 734, None),
    ("leader-hand-over", "S-CAP", (), (), V, 240, 12),
    ("leader-hand-over", "S-CAP", (Barrier,), (), H, 825, None),
    # The barrier does not stop a Binding that is under way; a fence does, and then a lost reply is left.
    ("late-binding", "S-CAP", (Barrier,), (), V, 611, 12),
    ("late-binding", "S-CAP", (Barrier, Fenced), (), V, 551, 12),
    ("late-binding", "S-CAP", (Barrier, Fenced, AskedBeforeForgotten), (), H, 1982, None),
    ("external-binding", "S-STUCK", (), (), V, 153562, 39),
    ("external-binding", "S-STUCK", (BoundElsewhereWakes,), (), V, 153562, 39),
    ("late-condition", "S-COND", (), (), V, 1560, 26),
    ("late-condition", "S-COND", (VersionedCondition,), (), H, 2767, None),
    ("told-too-late", "S-TOLD", (), (), H, 90, None),
    ("told-too-late", "S-TOLD", (VersionedCondition,), (), V, 84, 12),
    ("gone-victim", "S-STUCK", (), (), H, 8937, None),
    ("gone-victim", "S-STUCK", (), ("133167",), V, 4344, 33),
    ("gone-victim", "S-STUCK", (AlwaysActivated,), ("133167",), H, 8902, None),
    ("gone-victim", "L-OVER", (AlwaysActivated,), ("133167",), H, 8902, None),
    ("rejected-while-gated", "S-STUCK", (), (), H, 20553, None),
    ("replacement", "S-NOM", (), (), H, 12613, None),
    ("emptied-zone", "S-STUCK", (), (), V, 1154, 16),
    ("emptied-zone", "S-STUCK", (), ("127464",), V, 578, 15),
    ("emptied-zone", "S-STUCK", (NodeRemovedFirst,), (), H, 7031, None),
    ("budget-overdrawn", "S-PDB", (), (), V, 812, 22),
]


LAST = "1.36"
"""The release on which these hazards were counted."""

LATER_ROWS: list[tuple[str, str, tuple[type[Component], ...], tuple[str, ...], str, int, int | None]] = [
    ("rejected-in-memory", "S-STUCK", (), (), V, 16142, 34),
    # 140054 mends what it was made for; the same end is reached by a victim that is deleted while it is being bound.
    ("rejected-in-memory", "S-STUCK", (), ("140054",), V, 18555, 34),
    ("rejected-in-memory", "S-STUCK", (AlwaysActivated,), (), H, 512938, None),
    ("stale-tombstone", "S-STUCK", (), (), V, 9304, 24),
    ("stale-tombstone", "S-STUCK", (TombstonesWakeLikeDeletions,), (), H, 58252, None),
    ("announced", "S-STUCK", (), (), V, 133292, 46),
    ("announced", "S-STUCK", (RegisteredToTheEnd,), (), H, 82975, None),
    ("announced", "S-STUCK", (PlacedNotAdded,), (), H, 128339, None),
    ("assumed-after-look", "S-ROOM", (), (), V, 1836, 26),
    ("assumed-after-look", "S-ROOM", (GoneNotAssumed, GoneNoted), (), H, 12777, None),
    ("assumed-after-look", "S-ROOM", (AssumedIfListed,), (), H, 13589, None),
    ("kept-out-by-others", "S-STUCK", (), (), V, 98, 15),
    ("kept-out-by-others", "S-STUCK", (TermsOfOthersHeard,), (), H, 201, None),
    ("namespace-unasked", "S-STUCK", (), (), V, 43, 20),
    ("namespace-unasked", "S-STUCK", (NamespacesMerged,), (), H, 79, None),
    ("evicted-too", "S-EVICT", (), (), V, 2406, 12),
    ("evicted-too", "S-EVICT", (VictimsPaidFor,), (), H, 113138, None),
    ("scaled-down-after-look", "S-SCALE", (), (), V, 37, 8),
    ("scaled-down-after-look", "S-SCALE", (LooksAgain,), (), H, 113, None),
    ("relabelled-domain", "S-STUCK", (), (), V, 102, 16),
    ("relabelled-domain", "S-STUCK", (CountedNodesHeard,), (), H, 246, None),
    ("domain-lost", "S-STUCK", (), (), V, 102, 16),
    ("domain-lost", "S-STUCK", (LostDomainsHeard,), (), H, 246, None),
    ("last-of-its-kind", "S-STUCK", (), (), V, 167, 15),
    ("last-of-its-kind", "S-STUCK", (LastPeerHeard,), (), H, 304, None),
    # 142103 looks at pods that are deleted, not at those that are relabelled.
    ("last-peer-relabelled", "S-STUCK", (LastPeerHeard,), (), V, 100, 16),
    ("last-peer-relabelled", "S-STUCK", (RelabelledPeersHeard,), (), H, 243, None),
    ("forced-out", "S-RUN", (), (), V, 144, 9),
    ("forced-out", "S-ADMIT", (), (), H, 538, None),
    # A kubelet that counts what still runs rejects the next pod; only one that waits does neither.
    ("forced-out", "S-RUN", (LeftoversCounted,), (), H, 770, None),
    ("forced-out", "S-ADMIT", (LeftoversCounted,), (), V, 169, 10),
    ("forced-out", "S-RUN", (LeftoversAwaited,), (), H, 484, None),
    ("forced-out", "S-ADMIT", (LeftoversAwaited,), (), H, 484, None),
    ("held-back-namesake", "S-STUCK", (), (), V, 400, 20),
    ("held-back-namesake", "S-STUCK", (PreemptorReadByUID,), (), H, 990, None),
    # The goroutine activates p-again when it ends, which needs no event.
    ("held-back-namesake", "S-STUCK", (AlwaysActivated,), (), H, 2287, None),
    ("name-of-a-victim", "S-STUCK", (), (), V, 1923, 33),
    ("name-of-a-victim", "S-STUCK", (VictimsAwaitedByUID,), (), H, 3065, None),
    ("namesake-evicted", "S-IDVICTIM", (), (), V, 345, 11),
    ("namesake-evicted", "S-IDVICTIM", (VictimsDeletedByUID,), (), H, 6696739, None),
    ("namesake-nominated", "S-NOMLIVE", (), (), V, 954, 14),
    ("namesake-nominated", "S-NOMLIVE", (NominatedByUID,), (), H, 141089, None),
    ("namesake-nominated", "S-IDSTATUS", (), (), V, 350, 11),
    ("namesake-nominated", "S-IDSTATUS", (WrittenByUID,), (), H, 86580, None),
    ("namesake-still-nominated", "S-NOMLIVE", (), (), V, 1489, 14),
    ("namesake-still-nominated", "S-NOMLIVE", (NominatedByUID,), (), V, 7038, 21),
    ("namesake-still-nominated", "S-NOMLIVE", (NominatedByUID, SwappedTakenOut), (), H, 394687, None),
    ("namesake-status", "S-IDSTATUS", (), (), V, 194, 12),
    ("namesake-status", "S-IDSTATUS", (WrittenByUID,), (), H, 238, None),
    ("finished-victim", "S-STUCK", (), (), V, 535, 20),
    # The DELETE of a finished pod finds its object: not all victims were gone.
    ("finished-victim", "S-STUCK", (), ("133167",), V, 535, 20),
    ("finished-victim", "S-STUCK", (AlwaysActivated,), (), H, 6546, None),
    ("update-lost", "S-STUCK", (), (), V, 179, 23),
    ("update-lost", "S-STUCK", (FreshRequeue,), (), H, 170, None),
    ("update-lost", "S-STUCK", (RequeueLooksAgain,), (), H, 159, None),
    ("half-kept-out", "S-STUCK", (), (), V, 86, 15),
    ("half-kept-out", "S-STUCK", (AnyTermHeard,), (), H, 185, None),
    ("grown-in-flight", "S-CAP", (), (), V, 24, 5),
    ("namesake-lost", "S-CONS", (), (), V, 23616, 31),
    ("namesake-lost", "S-CONS", (GhostsRefused,), (), H, 103237, None),
    ("namesake-lost", "S-CONS", (RequeueLooksAgain,), (), H, 100515, None),
    ("port-of-two", "S-PORT", (), (), V, 636, 12),
    ("port-of-two", "S-PORT", (PortsOfOthersKept,), (), H, 4310, None),
    ("taint-gone", "S-TAINT", (), (), V, 304, 11),
    ("taint-gone", "S-TAINT", (LiveTaintsAsked,), (), H, 26104, None),
    ("namesake-tainted-out", "S-IDTAINT", (), (), V, 872, 8),
    ("namesake-tainted-out", "S-IDTAINT", (LiveTaintsAsked,), (), V, 1008, 8),
    ("namesake-tainted-out", "S-IDTAINT", (TaintedDeletedByUID,), (), H, 72327, None),
    ("stays-where-tainted", "S-LEAVE", (), (), V, 7514, 24),
    ("stays-where-tainted", "S-LEAVE", (WorksByUID,), (), H, 22416, None),
    ("tainted-in-flight", "S-ADMIT", (), (), V, 51, 8),
    ("twin", "S-TWIN", (), (), V, 38870, 19),
    ("deferred-resize", "S-DEFER", (), (), V, 102, 15),
    ("deferred-resize", "S-STUCK", (), (), H, 102, None),
    ("only-place-taken", "L-PLACE", (), (), V, 13684, 7),
    # No property that asks whether a pod fits now sees the dead end.
    ("only-place-taken", "S-STUCK", (), (), H, 13684, None),
    ("only-place-taken", "L-PEND", (), (), H, 13684, None),
    ("late-patch", "S-COND", (), (), V, 635, 24),
    # What keeps an assumed pod out of the queue does not help here, but there; the UID as a precondition does here.
    ("late-patch", "S-COND", (PlacedNotAdded, RegisteredToTheEnd), (), V, 634, 24),
    ("late-patch", "S-COND", (WrittenByUID,), (), H, 470, None),
    ("late-patch", "S-IDSTATUS", (), (), V, 268, 14),
    ("synced-condition", "S-COND", (), (), V, 14728, 46),
    ("synced-condition", "S-COND", (PlacedNotAdded, RegisteredToTheEnd), (), H, 16613, None),
    ("synced-condition", "S-COND", (BoundPodsUnpatched,), (), H, 52737, None),
    ("robbed-of-its-room", "S-NOM", (), (), V, 127306, 54),
    ("robbed-of-its-room", "S-NOM", (PlacedNotAdded,), (), H, 111066, None),
    ("robbed-of-its-room", "S-NOM", (RegisteredToTheEnd,), (), H, 283715, None),
]


NEWEST = RELEASES[-1]


@pytest.mark.parametrize(
    ("release", "fixes", "patches", "verdict", "states", "steps"),
    [
        ("1.34", (), (NominationsInMemoryHeard,), V, 563467, 56),
        pytest.param(
            "1.34",
            ("update-in-one-lock",),
            (NominationsInMemoryHeard,),
            H,
            4196403,
            None,
            marks=pytest.mark.ci,
        ),
        ("1.36", (), (NominationsInMemoryHeard,), V, 50243, 35),
        ("1.36", (), (AlwaysActivated,), V, 108223, 36),
        pytest.param(
            "1.36", (), (NominationsInMemoryHeard, AlwaysActivated), H, 7890279, None, marks=pytest.mark.ci
        ),
    ],
)
def test_a_nomination_in_memory_wakes_when_the_queue_lets_go_of_it(
    release: str,
    fixes: tuple[str, ...],
    patches: tuple[type[Component], ...],
    verdict: str,
    states: int,
    steps: int | None,
) -> None:
    """lost-nomination has no change of upstream's: its counts as it is are in tests/scenarios/test_examples.py."""
    (scenario,) = find_scenarios("lost-nomination")
    classes = (*patches, *resolve(release, fixes).classes)
    (found,) = check(instrument(scenario.spec, classes, [PROPERTIES["S-STUCK"]]), ["S-STUCK"])
    length = None if found.trace is None else len(found.trace.steps)
    assert (found.verdict.name, found.counts.states, length) == (verdict, states, steps)


NEWEST_ROWS: list[tuple[str, str, str, int, int | None]] = [
    ("announced", "S-STUCK", V, 133292, 46),
    ("assumed-after-look", "S-ROOM", V, 1836, 26),
    ("budget-overdrawn", "S-PDB", V, 2060, 26),
    ("deferred-resize", "S-DEFER", V, 102, 15),
    ("domain-lost", "S-STUCK", V, 102, 16),
    ("emptied-zone", "S-STUCK", V, 975, 16),
    ("evicted-too", "S-EVICT", V, 2406, 12),
    ("external-binding", "S-STUCK", V, 107754, 38),
    ("finished-victim", "S-STUCK", V, 535, 20),
    ("forced-out", "S-RUN", V, 144, 9),
    ("ghost", "S-GHOST", V, 204, 11),
    ("gone-victim", "S-STUCK", V, 3200, 35),
    ("grown-in-flight", "S-CAP", V, 24, 5),
    ("half-kept-out", "S-STUCK", H, 185, None),
    ("held-back-namesake", "S-STUCK", V, 1958, 36),
    ("in-doubt", "S-CAP", V, 203, 12),
    ("kept-out-by-others", "S-STUCK", V, 98, 15),
    ("last-of-its-kind", "S-STUCK", V, 167, 15),
    ("last-peer-relabelled", "S-STUCK", V, 100, 16),
    ("late-binding", "S-CAP", V, 287, 11),
    ("late-condition", "S-COND", V, 7569, 25),
    ("late-patch", "S-COND", V, 635, 24),
    ("leader-hand-over", "S-CAP", V, 390, 18),
    ("name-of-a-victim", "S-STUCK", V, 1958, 33),
    ("namesake-displaced", "S-CONS", V, 429, 17),
    ("namesake-evicted", "S-IDVICTIM", V, 345, 11),
    ("namesake-lost", "S-CONS", V, 3969, 17),
    ("namesake-nominated", "S-NOMLIVE", V, 902, 14),
    ("namesake-status", "S-IDSTATUS", V, 194, 12),
    ("namesake-still-nominated", "S-NOMLIVE", V, 1365, 14),
    ("namesake-tainted-out", "S-IDTAINT", V, 872, 8),
    ("namespace-unasked", "S-STUCK", V, 43, 20),
    ("only-place-taken", "L-PLACE", V, 13684, 7),
    ("port-of-two", "S-PORT", V, 636, 12),
    ("queued-while-assumed", "S-STUCK", V, 4383, 41),
    ("rejected-in-memory", "S-STUCK", V, 18555, 34),
    ("rejected-while-gated", "S-STUCK", V, 18555, 34),
    ("relabelled-domain", "S-STUCK", V, 102, 16),
    ("replacement", "S-NOM", H, 6545, None),
    ("robbed-of-its-room", "S-NOM", V, 127306, 54),
    ("scaled-down-after-look", "S-SCALE", V, 37, 8),
    ("stale-object", "S-FRESH", V, 508, 23),
    ("stale-tombstone", "S-STUCK", V, 9304, 24),
    ("stays-where-tainted", "S-LEAVE", V, 7100, 24),
    ("synced-condition", "S-COND", V, 14728, 46),
    ("taint-gone", "S-TAINT", V, 295, 11),
    ("tainted-in-flight", "S-ADMIT", V, 46, 8),
    ("told-too-late", "S-TOLD", H, 90, None),
    ("twin", "S-TWIN", V, 37558, 19),
    ("two-generals", "S-CAP", V, 146, 11),
    ("update-before-requeue", "S-UNIQ", V, 305, 20),
    ("update-lost", "S-STUCK", V, 179, 23),
]
"""What the newest release makes of the clusters as they are: the first property of each."""

GONE = ("half-kept-out", "replacement", "told-too-late")
"""The clusters that hold there; docs/hazards.md says why."""


LARGE = 150_000
"""Rows with more states are left to `make test-all`."""


def priced(rows: Sequence[Any]) -> list[Any]:
    return [pytest.param(*row, marks=[pytest.mark.ci] if row[5] > LARGE else []) for row in rows]


@pytest.mark.parametrize(
    ("name", "identifier", "patches", "fixes", "verdict", "states", "steps"), priced(LATER_ROWS)
)
def test_verdict_and_counts_with_later_fixes(
    name: str, identifier: str, patches: tuple[type[Component], ...], fixes: tuple[str, ...], verdict: str,
    states: int, steps: int | None,
) -> None:  # fmt: skip
    (scenario,) = find_scenarios(str(FOLDER / f"{name}.yaml"))
    assert canonical(scenario.release or "") == LAST
    classes = (*patches, *resolve(LAST, fixes, (), scenario.feature_gates).classes)
    (found,) = check(instrument(scenario.spec, classes, [PROPERTIES[identifier]]), [identifier])
    length = None if found.trace is None else len(found.trace.steps)
    assert (found.verdict.name, found.counts.states, length) == (verdict, states, steps)
    assert not found.vacuous


@pytest.mark.parametrize(
    ("name", "identifier", "patches", "without", "verdict", "states", "steps"), priced(ROWS)
)
def test_verdict_and_counts(
    name: str, identifier: str, patches: tuple[type[Component], ...], without: tuple[str, ...], verdict: str,
    states: int, steps: int | None,
) -> None:  # fmt: skip
    (scenario,) = find_scenarios(str(FOLDER / f"{name}.yaml"))
    assert scenario.release is not None
    classes = (*patches, *resolve(scenario.release, (), without).classes)
    (found,) = check(instrument(scenario.spec, classes, [PROPERTIES[identifier]]), [identifier])
    length = None if found.trace is None else len(found.trace.steps)
    assert (found.verdict.name, found.counts.states, length) == (verdict, states, steps)
    assert not found.vacuous


@pytest.mark.parametrize(("name", "identifier", "verdict", "states", "steps"), NEWEST_ROWS)
def test_verdict_and_counts_on_the_newest_release(
    name: str, identifier: str, verdict: str, states: int, steps: int | None
) -> None:
    (scenario,) = find_scenarios(str(FOLDER / f"{name}.yaml"))
    assert identifier == scenario.properties[0]
    assert _asked(name, NEWEST) == (verdict, states, steps)


def _asked(
    name: str, release: str, patches: tuple[type[Component], ...] = (), without: tuple[str, ...] = (),
    fixes: tuple[str, ...] = (), **scope: object,
) -> tuple[str, int | None, int | None]:  # fmt: skip
    """What a release makes of a cluster's first property, with another scope."""
    (scenario,) = find_scenarios(str(FOLDER / f"{name}.yaml"))
    spec = replace(scenario.spec, scope=replace(scenario.spec.scope, **scope))  # type: ignore[arg-type]
    (identifier, *_) = scenario.properties
    classes = (*patches, *resolve(release, fixes, without, scenario.feature_gates).classes)
    (found,) = check(instrument(spec, classes, [PROPERTIES[identifier]]), [identifier])
    assert not found.vacuous
    return found.verdict.name, found.counts.states, None if found.trace is None else len(found.trace.steps)


def test_the_page_tells_what_holds_on_the_newest_release() -> None:
    assert {name for name, *_ in NEWEST_ROWS} == {path.stem for path in FOLDER.glob("*.yaml")}
    assert tuple(name for name, _, verdict, *_ in NEWEST_ROWS if verdict == H) == GONE
    section = PAGE[PAGE.index(f"## On {NEWEST}") :].split("\n## ")[0]
    assert tuple(sorted(re.findall(r"^\| `([\w-]+)` \|", section, re.MULTILINE))) == GONE
    assert f"{len(NEWEST_ROWS) - len(GONE)} of the {len(NEWEST_ROWS)} clusters" in section


@pytest.mark.parametrize(
    ("release", "patches", "without", "states"),
    [
        ("1.36", (), (), 2174),
        (NEWEST, (), ("entries-of-one-name",), 2174),
        (NEWEST, (GhostsRefused,), (), 1966),
        (NEWEST, (RequeueLooksAgain,), (), 1942),
    ],
)
def test_a_pod_is_displaced_by_its_namesake_only_from_1_37_on(
    release: str, patches: tuple[type[Component], ...], without: tuple[str, ...], states: int
) -> None:
    """A pod that is gone and in backoffQ stays there when the next of its name enters activeQ."""
    assert _asked("namesake-displaced", release, patches, without) == (H, states, None)


@pytest.mark.parametrize(
    ("release", "patches", "verdict", "states", "steps"),
    [
        ("1.34.0", (), V, 856, 23),
        ("1.34.0", (PreemptorReadByUID,), H, 5032, None),
        # 1.34.4 has no 133167: what is left is a victim that is gone already (142294).
        ("1.34.4", (), V, 933, 23),
        ("1.34.4", (PreemptorReadByUID,), V, 6192, 45),
        ("1.34.4", (AlwaysActivated,), H, 11767, None),
        ("1.35.4", (), V, 979, 25),
        ("1.35.4", (PreemptorReadByUID,), H, 1672, None),
        ("1.36.3", (), V, 400, 20),
        ("1.36.3", (NominatedByUID,), V, 400, 20),
        ("1.36.3", (SwappedTakenOut,), V, 400, 20),
        ("1.36.3", (VictimsAwaitedByUID,), V, 400, 20),
        ("1.36.3", (RequeueLooksAgain,), V, 403, 20),
        ("1.36.3", (GhostsRefused,), V, 396, 20),
    ],
)
def test_a_pod_is_held_back_by_what_preemption_found_by_its_name(
    release: str, patches: tuple[type[Component], ...], verdict: str, states: int, steps: int | None
) -> None:
    """Other patches of reused names leave what preemption does with the pod that it has read again."""
    assert _asked("held-back-namesake", release, patches) == (verdict, states, steps)


@pytest.mark.parametrize(
    ("release", "patches", "without", "verdict", "states", "steps"),
    [
        # No hint of DefaultPreemption: any deletion wakes p-again.
        ("1.33.6", (), (), V, 4172, 36),
        ("1.33.6", (PreemptorReadByUID,), (), V, 6295, 45),
        ("1.33.6", (AlwaysActivated,), (), H, 11390, None),
        # The goroutine is for p, so that nothing holds p-again back.
        (NEWEST, (PreemptorReadByUID,), (), H, 990, None),
        (NEWEST, (AlwaysActivated,), (), H, 5703, None),
        (NEWEST, (), ("preempts-for-the-popped",), V, 400, 20),
        (PRE_RELEASES[0], (), (), H, 4007, None),
        (PRE_RELEASES[0], (), ("preempts-for-the-popped",), V, 400, 20),
    ],
)
def test_only_1_34_to_1_36_hold_the_namesake_back(
    release: str, patches: tuple[type[Component], ...], without: tuple[str, ...], verdict: str, states: int,
    steps: int | None,
) -> None:  # fmt: skip
    """What is violated before and after: a second goroutine finds no victim (142294). 1.38 has `last-victim-gone`."""
    assert _asked("held-back-namesake", release, patches, without) == (verdict, states, steps)


@pytest.mark.parametrize(
    ("patches", "verdict", "states", "steps"),
    [
        ((), V, 1323, 20),
        ((PreemptorReadByUID,), V, 13933, 36),
        ((PreemptorReadByUID, AlwaysActivated), H, 68950, None),
    ],
)
def test_of_two_pods_of_one_name_both_may_preempt(
    patches: tuple[type[Component], ...], verdict: str, states: int, steps: int | None
) -> None:
    """With the same priority the race is there, too; and 142294, if each of the two pods has its own goroutine."""
    text = (FOLDER / "held-back-namesake.yaml").read_text(encoding="utf-8")
    scenario = parse_scenario(text.replace("  p: {cpu: 2}", "  p: {cpu: 2, priority: 10}"))
    classes = (*patches, *resolve("1.36").classes)
    (found,) = check(instrument(scenario.spec, classes, [PROPERTIES["S-STUCK"]]), ["S-STUCK"])
    length = None if found.trace is None else len(found.trace.steps)
    assert (found.verdict.name, found.counts.states, length) == (verdict, states, steps)


def test_a_pod_that_is_tried_first_keeps_its_only_place() -> None:
    text = (FOLDER / "only-place-taken.yaml").read_text(encoding="utf-8")
    scenario = parse_scenario(text.replace("  r0:\n", "  r0:\n    priority: 1\n"))
    (found,) = check(instrument(scenario.spec, resolve("1.36").classes, [PROPERTIES["L-PLACE"]]), ["L-PLACE"])
    assert (found.verdict.name, found.vacuous, found.counts.states) == (H, False, 1126)


@pytest.mark.parametrize(
    ("release", "patches", "verdict", "states", "steps"),
    [
        (NEWEST, (NominatedByUID,), V, 1357, 14),
        (NEWEST, (SwappedTakenOut,), V, 1366, 14),
        pytest.param(NEWEST, (NominatedByUID, SwappedTakenOut), H, 384314, None, marks=pytest.mark.ci),
    ],
)
def test_a_list_leaves_the_nomination_of_the_pod_that_it_replaces(
    release: str, patches: tuple[type[Component], ...], verdict: str, states: int, steps: int | None
) -> None:
    """On 1.36 only that of a pod whose record is not in the queue: one that is there becomes the next pod's, also for the failure handler."""
    assert _asked("namesake-still-nominated", release, patches) == (verdict, states, steps)


def test_a_displaced_pod_waits_for_good() -> None:
    (scenario,) = find_scenarios(str(FOLDER / "namesake-displaced.yaml"))
    asked = instrument(scenario.spec, resolve(NEWEST).classes, [PROPERTIES["L-PEND"]])
    (found,) = check(asked, ["L-PEND"])
    assert found.trace is not None
    assert (found.verdict.name, found.counts.states, len(found.trace.steps)) == (V, 1211, 29)


def test_half_kept_out_is_mended_in_1_37() -> None:
    """139161: without it the newest release is as 1.36."""
    assert _asked("half-kept-out", NEWEST, without=("139161",)) == (V, 86, 15)
    assert _asked("half-kept-out", "1.36", fixes=("139161",)) == (H, 185, None)


@pytest.mark.parametrize("release", ["1.36", NEWEST])
def test_told_too_late_is_no_better_in_1_37(release: str) -> None:
    """The cluster holds as long as writes succeed and 139602 is not there, in both."""
    assert _asked("told-too-late", release) == (H, 90, None)
    assert _asked("told-too-late", release, status_failures=1) == (V, 54, 9)
    assert _asked("told-too-late", release, (VersionedCondition,)) == (V, 84, 12)


@pytest.mark.parametrize(
    ("release", "fixes", "without", "verdict", "states", "steps"),
    [
        ("1.9", (), (), V, 2830, 23),
        ("1.17", (), (), V, 2925, 22),
        pytest.param("1.17", ("preempt-before-failure",), (), H, 408236, None, marks=pytest.mark.ci),
        pytest.param("1.18", (), (), H, 352542, None, marks=pytest.mark.ci),
        ("1.18", (), ("preempt-before-failure",), V, 2925, 22),
    ],
)
def test_the_replacement_took_the_room_before_1_18(
    release: str, fixes: tuple[str, ...], without: tuple[str, ...], verdict: str, states: int,
    steps: int | None,
) -> None:  # fmt: skip
    """Up to 1.17 the failure handler ran before preemption, and put the preemptor back first."""
    assert _asked("replacement", release, fixes=fixes, without=without) == (verdict, states, steps)


class AssumedNotQueued(Property):
    """No pod is in a sub-queue, or nominated once it is in flight no longer, while it is assumed."""

    id = "H-ASSUMED"

    def holds(self) -> Expr:
        nominated = {p: any_of(self.nominator.nominated_to(p, n) for n in self.nodes) for p in self.pods}
        return ~any_of(
            self.cache.is_assumed(p)
            & (self.queue.contains(p) | (nominated[p] & ~self.scheduler.in_flight(p)))
            for p in self.pods
        )


@pytest.mark.parametrize(
    ("release", "patches", "verdict", "states", "steps"),
    [
        # Up to 1.34, Pop can come between two looks of Update, which then queues the popped pod, whatever it is told of the cache.
        ("1.34", (PlacedNotAdded, RegisteredToTheEnd), V, 553, 22),
        ("1.35", (), V, 846, 24),
        ("1.35", (RegisteredToTheEnd,), V, 1288, 26),
        ("1.35", (PlacedNotAdded, RegisteredToTheEnd), H, 5654, None),
        ("1.36", (), V, 834, 24),
        ("1.36", (RegisteredToTheEnd,), V, 992, 25),
        ("1.36", (PlacedNotAdded, RegisteredToTheEnd), H, 3386, None),
    ],
)
def test_only_both_patches_keep_an_assumed_pod_out_of_the_queue(
    release: str, patches: tuple[type[Component], ...], verdict: str, states: int, steps: int | None
) -> None:
    (scenario,) = find_scenarios(str(FOLDER / "queued-while-assumed.yaml"))
    classes = (*patches, *resolve(release).classes)
    (found,) = check(instrument(scenario.spec, classes, [AssumedNotQueued]), ["H-ASSUMED"])
    length = None if found.trace is None else len(found.trace.steps)
    assert (found.verdict.name, found.counts.states, length) == (verdict, states, steps)


@pytest.mark.parametrize("patches", [(), (VictimsPaidFor,)])
def test_a_lister_that_lags_lets_preemption_overdraw_a_budget_all_the_same(
    patches: tuple[type[Component], ...],
) -> None:
    """The eviction comes first; that preemption pays for its victims does not help, because its lister still shows the disruption."""
    (scenario,) = find_scenarios(str(FOLDER / "evicted-too.yaml"))
    classes = (*patches, *resolve("1.32").classes)
    (found,) = check(instrument(scenario.spec, classes, [PROPERTIES["S-PDB"]]), ["S-PDB"])
    assert found.trace is not None
    assert (found.verdict.name, found.counts.states, len(found.trace.steps)) == (V, 978, 9)


@pytest.mark.parametrize(("release", "states", "steps"), [("1.33", 2508, 26), ("1.36", 2060, 26)])
def test_goroutines_overdraw_a_budget_as_scheduling_cycles_do(release: str, states: int, steps: int) -> None:
    (scenario,) = find_scenarios(str(FOLDER / "budget-overdrawn.yaml"))
    (found,) = check(instrument(scenario.spec, resolve(release).classes, [PROPERTIES["S-PDB"]]), ["S-PDB"])
    assert found.trace is not None
    assert (found.verdict.name, found.counts.states, len(found.trace.steps)) == (V, states, steps)


@pytest.mark.parametrize(
    ("name", "release", "verdict", "states", "steps"),
    [
        ("tainted-in-flight", "1.23", H, 227, None),
        ("tainted-in-flight", "1.24", V, 64, 8),
        ("taint-gone", "1.9", V, 935, 12),
        pytest.param("twin", "1.25", H, 509239, None, marks=pytest.mark.ci),
        ("twin", "1.26", V, 92614, 19),
    ],
)
def test_what_controllers_and_kubelets_did_before(
    name: str, release: str, verdict: str, states: int, steps: int | None
) -> None:
    (scenario,) = find_scenarios(str(FOLDER / f"{name}.yaml"))
    (identifier,) = scenario.properties
    found = check(
        instrument(scenario.spec, resolve(release).classes, [PROPERTIES[identifier]]), [identifier]
    )[0]
    length = None if found.trace is None else len(found.trace.steps)
    assert (found.verdict.name, found.counts.states, length) == (verdict, states, steps)


def test_every_hazard_is_tested_and_explained() -> None:
    names = {path.stem for path in FOLDER.glob("*.yaml")}
    assert names == {row[0] for row in (*ROWS, *LATER_ROWS, *NEWEST_ROWS)}
    assert [n for n in sorted(names) if f"scenarios/hazards/{n}.yaml" not in PAGE] == []


def test_what_the_model_cannot_be_asked_is_nowhere_shown() -> None:
    """An issue that a race or a property is about is none that the model cannot be asked about."""
    section = PAGE[PAGE.index("## Upstream issues that the model cannot show") :].split("\n## ")[0]
    numbers = {int(n) for n in re.findall(r"/issues/(\d+)\)", section)}
    shown = {s.race.issue for s in catalogue() if s.race is not None}
    shown |= {issue for p in PROPERTIES.values() for issue in p.issues}
    assert numbers
    assert not numbers & shown


COMMANDS = re.findall(r"^    (podrace .*?) +# (violated|holds)$", PAGE, re.MULTILINE)


def test_the_page_has_commands() -> None:
    assert len(COMMANDS) == len(re.findall(r"^    podrace", PAGE, re.MULTILINE)) > 8


@pytest.mark.parametrize(
    ("command", "verdict"),
    [
        pytest.param(*row, marks=pytest.mark.ci if number in (0, len(COMMANDS) - 1) else pytest.mark.nightly)
        for number, row in enumerate(COMMANDS)
    ],
)
def test_the_commands_give_what_the_page_says(command: str, verdict: str) -> None:
    program, *arguments = shlex.split(command)
    done = subprocess.run(
        [Path(sys.executable).with_name(program), *arguments, "--no-color"],
        cwd=ROOT,
        env={**os.environ, "PYTHONUTF8": "1"},
        capture_output=True,
        encoding="utf-8",
        check=False,
    )
    assert done.returncode == (1 if verdict == "violated" else 0), done.stdout + done.stderr


@pytest.mark.parametrize(
    ("release", "unpatched", "states"), [("1.18", V, 3648), ("1.19", V, 3018), ("1.31", V, 1168)]
)
def test_the_patch_for_ghosts_does_not_ask_the_hints(release: str, unpatched: str, states: int) -> None:
    """The queue knows which pods are in flight only where queueing hints are on."""
    (scenario,) = find_scenarios(str(FOLDER / "ghost.yaml"))
    classes = resolve(release).classes
    (found,) = check(instrument(scenario.spec, classes, [PROPERTIES["S-GHOST"]]), ["S-GHOST"])
    assert found.verdict.name == unpatched
    (found,) = check(
        instrument(scenario.spec, (GhostsRefused, *classes), [PROPERTIES["S-GHOST"]]), ["S-GHOST"]
    )
    assert (found.verdict.name, found.counts.states) == (H, states)
