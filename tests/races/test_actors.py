"""What controllers, the descheduler and others do to a cluster, and what proposed patches make of it: exact counts (docs/actors.md)."""

from __future__ import annotations

import re
from collections.abc import Callable
from copy import copy
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from podrace.checker.search import check
from podrace.model.environment.cluster.node_health import give_healths
from podrace.model.environment.objects import ClusterSpec, DisruptionBudget, Node
from podrace.model.history import resolve
from podrace.model.history.changes.framework.scores import AllCountOnce
from podrace.model.language import Component
from podrace.properties import PROPERTIES, instrument
from podrace.scenarios import find_scenarios, parse_scenario
from tests.races.actor_patches import (
    DuplicatesHaveRoom,
    EvictsByUID,
    FitsThere,
    KeptForPending,
    KeptWhereRoom,
    LessBusyElsewhere,
    ListsAfresh,
    NodesApart,
    NominationsHeeded,
    OwnGateLast,
    PreferredHaveRoom,
    ReadinessAsked,
    ReplacedWhenGone,
    TaintsUnheeded,
    ToleratingStay,
    UnreadyWithoutPrecondition,
    WaitsAfterTaint,
)
from tests.races.extender_patches import (
    CountsWhenAsked,
    ExtendersInDryRuns,
    RejectedByExtenderRetried,
    ToldOfFailure,
    ToldOfRejection,
    VetoIsNoted,
)
from tests.races.hazard_patches import AskedBeforeForgotten
from tests.races.taint_patches import LiveTaintsAsked, TaintsGoTogether

ROOT = Path(__file__).parents[2]
FOLDER = ROOT / "scenarios" / "actors"
PAGE = (ROOT / "docs" / "actors.md").read_text(encoding="utf-8")
V, H = "VIOLATED", "HOLDS"

Patches = tuple[type[Component], ...]

ROWS: list[tuple[str, str, str, Patches, str, int, int | None]] = [
    ("preferred-elsewhere", "L-LOOP", "1.36", (), V, 397, 38),
    ("preferred-elsewhere", "L-LOOP", "1.36", (PreferredHaveRoom,), H, 34, None),
    ("spread-over-taint", "L-LOOP", "1.36", (), V, 650, 36),
    ("spread-over-taint", "L-LOOP", "1.36", (FitsThere,), H, 18, None),
    ("spread-outweighed", "L-LOOP", "1.23", (), V, 3513, 39),
    ("spread-outweighed", "L-LOOP", "1.36", (), V, 650, 36),
    ("spread-outweighed", "L-LOOP", "1.22", (), H, 36, None),
    ("spread-outweighed", "L-LOOP", "1.36", (AllCountOnce,), H, 18, None),
    ("too-large-anywhere", "L-LOOP", "1.36", (), V, 381, 36),
    ("too-large-anywhere", "L-LOOP", "1.36", (LessBusyElsewhere,), H, 30, None),
    ("two-schedulers", "S-ADMIT", "1.36", (), V, 1226, 13),
    ("two-schedulers", "S-ADMIT", "1.36", (NodesApart,), H, 544, None),
    ("two-schedulers", "S-CAP", "1.36", (NodesApart,), H, 544, None),
    ("preempted-by-another", "L-OVER", "1.36", (), V, 17636, 44),
    ("preempted-by-another", "L-LOOP", "1.36", (), V, 17639, 44),
    ("preempted-by-another", "L-OVER", "1.36", (NominationsHeeded,), H, 7493, None),
    ("preempted-by-another", "L-LOOP", "1.36", (NominationsHeeded,), H, 7493, None),
    ("consolidated-too-soon", "L-LOOP", "1.36", (), V, 27301, 37),
    ("consolidated-too-soon", "L-LOOP", "1.36", (KeptForPending,), H, 735, None),
    ("taint-unseen", "S-SCALE", "1.36", (), V, 148, 10),
    ("taint-unseen", "S-SCALE", "1.31", (), V, 177, 10),
    ("taint-unseen", "S-SCALE", "1.36", (WaitsAfterTaint,), H, 194, None),
    ("back-while-drained", "S-SCALE", "1.36", (), V, 301, 17),
    ("drained-for-ever", "L-LOOP", "1.36", (), V, 687, 24),
    ("drained-for-ever", "L-LOOP", "1.36", (ToleratingStay,), H, 422, None),
    ("overwritten-budget", "S-EVICT", "1.36", (), H, 4953, None),
    ("overwritten-budget", "S-EVICT", "1.17", (), H, 10002, None),
    ("overwritten-budget", "S-EVICT", "1.16", (), V, 1617, 14),
    ("namesake-drained", "S-IDEVICT", "1.36", (), V, 90, 6),
    ("namesake-drained", "S-IDEVICT", "1.36", (EvictsByUID,), H, 979, None),
    ("namesake-not-asked-for", "S-IDEVICT", "1.36", (), V, 59, 7),
    ("namesake-not-asked-for", "S-IDEVICT", "1.13", (), V, 68, 7),
    ("namesake-not-asked-for", "S-IDEVICT", "1.36", (EvictsByUID,), H, 467, None),
    ("unready-unseen", "S-EVICT", "1.36", (), V, 21, 2),
    ("unready-unseen", "S-EVICT", "1.19", (), V, 19, 2),
    ("unready-unseen", "S-EVICT", "1.36", (ReadinessAsked,), H, 4033, None),
    ("ready-in-the-end", "S-EVICT", "1.36", (), H, 71, None),
    ("ready-in-the-end", "S-EVICT", "1.20", (), H, 71, None),
    ("ready-in-the-end", "S-EVICT", "1.36", (UnreadyWithoutPrecondition,), V, 34, 6),
    ("started-in-the-end", "S-EVICT", "1.36", (), H, 94, None),
    ("started-in-the-end", "S-EVICT", "1.19", (), H, 69, None),
    ("started-in-the-end", "S-EVICT", "1.18", (), H, 26, None),
    ("started-in-the-end", "S-EVICT", "1.36", (UnreadyWithoutPrecondition,), V, 34, 6),
    ("back-and-driven-away", "S-BACK", "1.36", (), V, 15303, 18),
    ("back-and-driven-away", "S-BACK", "1.13", (), V, 32560, 18),
    ("back-and-driven-away", "S-BACK", "1.36", (TaintsGoTogether,), V, 11353, 18),
    ("back-and-driven-away", "S-BACK", "1.36", (LiveTaintsAsked,), V, 15303, 18),
    ("back-and-driven-away", "S-BACK", "1.36", (TaintsGoTogether, LiveTaintsAsked), H, 41173, None),
    ("replaced-before-gone", "S-MANY", "1.36", (), V, 29, 3),
    ("replaced-before-gone", "S-MANY", "1.36", (ReplacedWhenGone,), H, 338, None),
    ("one-too-many", "S-MANY", "1.36", (), V, 53, 7),
    ("one-too-many", "S-MANY", "1.36", (ListsAfresh,), H, 122, None),
    ("quota-held-back", "S-QUOTA", "1.36", (), V, 69, 6),
    ("quota-held-back", "S-QUOTA", "1.27", (), V, 69, 6),
    ("quota-held-back", "S-QUOTA", "1.36", (OwnGateLast,), H, 47, None),
    ("duplicates-preferred", "L-LOOP", "1.36", (), V, 4411, 37),
    ("duplicates-without-room", "L-LOOP", "1.36", (), V, 4411, 37),
    ("duplicates-without-room", "L-LOOP", "1.36", (DuplicatesHaveRoom,), H, 18, None),
    ("repelled-in-order", "L-LOOP", "1.36", (), H, 33873, None),
    ("room-for-daemons", "L-LOOP", "1.36", (), V, 570967, 66),
    ("room-for-daemons", "L-LOOP", "1.36", (KeptWhereRoom,), V, 38432, 66),
    ("extender-unaware", "S-ADMIT", "1.36", (), V, 560, 19),
    ("extender-unaware", "S-ADMIT", "1.22", (), V, 2448, 19),
    ("extender-unaware", "S-ADMIT", "1.36", (CountsWhenAsked,), H, 829, None),
    ("extender-unaware", "S-STUCK", "1.36", (CountsWhenAsked,), H, 829, None),
    ("kept-by-extender", "S-STUCK", "1.36", (), V, 140390, 52),
    ("extender-behind", "S-STUCK", "1.28", (), V, 346, 17),
    ("extender-behind", "S-STUCK", "1.36", (), V, 629, 28),
    ("extender-behind", "S-STUCK", "1.36", (RejectedByExtenderRetried,), H, 999, None),
    ("extender-behind", "L-PEND", "1.36", (RejectedByExtenderRetried,), H, 999, None),
    ("back-to-the-larger", "L-LOOP", "1.18", (), V, 73969, 39),
    ("back-to-the-larger", "L-LOOP", "1.36", (), V, 4411, 37),
    ("packed-again", "L-LOOP", "1.22", (), V, 1809, 39),
    ("packed-again", "L-LOOP", "1.36", (), V, 213, 31),
    ("counted-and-rejected", "S-STUCK", "1.22", (), V, 85, 31),
    ("counted-and-rejected", "S-STUCK", "1.36", (), V, 247, 58),
    ("counted-and-rejected", "S-STUCK", "1.36", (ToldOfRejection,), H, 223, None),
    ("counted-and-rejected", "L-PEND", "1.36", (ToldOfRejection,), H, 223, None),
    # Both are tried again and again, so that nothing is ever still, and the device is counted for a whenever b is tried.
    ("counted-and-rejected", "L-PEND", "1.36", (RejectedByExtenderRetried,), V, 820, 59),
    ("answered-too-late", "S-STUCK", "1.22", (), V, 3539, 24),
    ("answered-too-late", "S-STUCK", "1.36", (), V, 4298, 47),
    ("answered-too-late", "S-STUCK", "1.36", (ToldOfRejection,), H, 4878, None),
    # Where no answer is late, nothing moves in the end, so that S-STUCK is not vacuous; where one is, b is tried again and again.
    ("answered-too-late", "S-STUCK", "1.36", (RejectedByExtenderRetried,), H, 5422, None),
    ("answered-too-late", "L-PEND", "1.36", (RejectedByExtenderRetried,), V, 4731, 48),
    ("counted-elsewhere", "S-STUCK", "1.22", (), V, 4086, 28),
    ("counted-elsewhere", "S-STUCK", "1.36", (), V, 3100, 40),
    ("counted-elsewhere", "S-STUCK", "1.36", (RejectedByExtenderRetried,), H, 4930, None),
    ("counted-elsewhere", "L-PEND", "1.36", (RejectedByExtenderRetried,), H, 4930, None),
    ("passed-over", "S-ADMIT", "1.22", (), V, 21, 8),
    ("passed-over", "S-ADMIT", "1.36", (), V, 19, 8),
    ("veto-from-before", "L-INV", "1.22", (), V, 475, 17),
    ("veto-from-before", "L-INV", "1.36", (), V, 574, 17),
    ("veto-from-before", "L-INV", "1.36", (VetoIsNoted,), V, 1468, 27),
    ("veto-from-before", "L-INV", "1.36", (VetoIsNoted, RejectedByExtenderRetried), H, 3439, None),
    ("late-extender", "S-CAP", "1.29", (), V, 1761, 15),
    ("late-extender", "S-CAP", "1.36", (), V, 866, 15),
    ("late-extender", "S-CAP", "1.36", (AskedBeforeForgotten,), H, 836, None),
    ("nobody-makes-way", "L-INV", "1.36", (), V, 27, 24),
    ("nobody-makes-way", "L-INV", "1.36", (ExtendersInDryRuns,), H, 4097, None),
]


@pytest.mark.parametrize(
    ("name", "identifier", "release", "patches", "verdict", "states", "steps"),
    [pytest.param(*row, marks=pytest.mark.ci) if row[5] > 100_000 else row for row in ROWS],
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


@pytest.mark.ci
def test_an_extender_that_is_told_keeps_nothing_for_nobody() -> None:
    (scenario,) = find_scenarios(str(FOLDER / "kept-by-extender.yaml"))
    classes: Patches = (ToldOfFailure, *resolve("1.36").classes)
    (found,) = check(instrument(scenario.spec, classes, [PROPERTIES["S-STUCK"]]), ["S-STUCK"])
    assert (found.verdict.name, found.counts.states) == (H, 7_330_112)


def _with_config(spec: ClusterSpec, **changed: Any) -> ClusterSpec:
    return replace(spec, scope=replace(spec.scope, config=replace(spec.scope.config, **changed)))


def _with_extender(spec: ClusterSpec, **changed: Any) -> ClusterSpec:
    return replace(spec, extenders=tuple(replace(of, **changed) for of in spec.extenders))


UNSCORED: dict[str, Any] = {"scored": False, "scoring_strategy": ""}


@pytest.mark.parametrize(
    ("name", "identifier", "changed", "states"),
    [
        ("back-to-the-larger", "L-LOOP", partial(_with_config, **UNSCORED), 4867),
        ("back-to-the-larger", "L-LOOP", partial(_with_config, scoring_strategy="MostAllocated"), 18),
        ("packed-again", "L-LOOP", partial(_with_config, **UNSCORED), 251),
        ("packed-again", "L-LOOP", partial(_with_config, scoring_strategy="LeastAllocated"), 18),
        ("counted-and-rejected", "S-STUCK", lambda spec: replace(spec, extenders=spec.extenders[::-1]), 232),
        ("counted-elsewhere", "S-STUCK", partial(_with_extender, ignorable=False), 824),
        ("passed-over", "S-ADMIT", partial(_with_extender, ignorable=False), 3807),
        ("passed-over", "S-ADMIT", partial(_with_extender, ignored_by_scheduler=False), 54),
    ],
)
def test_what_a_configuration_makes_of_scores_and_extenders(
    name: str, identifier: str, changed: Callable[[ClusterSpec], ClusterSpec], states: int
) -> None:
    (scenario,) = find_scenarios(str(FOLDER / f"{name}.yaml"))
    system = instrument(changed(scenario.spec), resolve("1.36").classes, [PROPERTIES[identifier]])
    (found,) = check(system, [identifier])
    assert (found.verdict.name, found.counts.states, found.vacuous) == (H, states, False)


def test_a_question_before_forget_pod_is_too_early_where_the_extender_is_not_ignorable() -> None:
    (scenario,) = find_scenarios(str(FOLDER / "late-extender.yaml"))
    spec = replace(scenario.spec, extenders=(replace(scenario.spec.extenders[0], ignorable=False),))
    classes: Patches = (AskedBeforeForgotten, *resolve("1.36").classes)
    (found,) = check(instrument(spec, classes, [PROPERTIES["S-CAP"]]), ["S-CAP"])
    assert found.trace is not None
    assert (found.verdict.name, found.counts.states, len(found.trace.steps)) == (V, 889, 14)


def test_every_scenario_is_tested_and_explained() -> None:
    names = {path.stem for path in FOLDER.glob("*.yaml")}
    assert names == {row[0] for row in ROWS}
    assert [n for n in sorted(names) if f"scenarios/actors/{n}.yaml" not in PAGE] == []


def test_the_page_tells_the_steps_of_each() -> None:
    told = {
        name: int(steps)
        for name, steps in re.findall(r"^\| `([\w-]+)`.*?violated in (\d+) steps", PAGE, re.MULTILINE)
    }
    assert told == {
        name: steps for name, *_, patches, verdict, _, steps in ROWS if verdict == V and not patches
    }


def test_that_an_autoscaler_nominates_is_not_enough() -> None:
    (scenario,) = find_scenarios(str(FOLDER / "consolidated-too-soon.yaml"))
    scope = replace(scenario.spec.scope, autoscaler_nominates=True)
    system = instrument(replace(scenario.spec, scope=scope), resolve("1.36").classes, [PROPERTIES["L-LOOP"]])
    (found,) = check(system, ["L-LOOP"])
    assert (found.verdict.name, found.counts.states) == (V, 149105)


def _asked_again(name: str, patches: Patches, **changed: object) -> tuple[str, int | None]:
    """The verdict on L-LOOP, and the states, of a scenario in which something is different."""
    (scenario,) = find_scenarios(str(FOLDER / f"{name}.yaml"))
    spec = replace(scenario.spec, **changed)  # type: ignore[arg-type]
    classes = (*patches, *resolve("1.36").classes)
    (found,) = check(instrument(spec, classes, [PROPERTIES["L-LOOP"]]), ["L-LOOP"])
    assert not found.vacuous
    return found.verdict.name, found.counts.states


def test_a_node_that_has_room_for_the_daemon_as_well_ends_the_loop() -> None:
    larger = (Node(0, "n1", 3, exists=False),)
    assert _asked_again("room-for-daemons", (KeptWhereRoom,), nodes=larger) == (H, 8150)
    (scenario,) = find_scenarios(str(FOLDER / "room-for-daemons.yaml"))
    kept = replace(scenario.spec.scope, scale_down_keeps_room=True)
    assert _asked_again("room-for-daemons", (), nodes=larger, scope=kept) == (H, 8150)


def test_the_known_loop_of_an_autoscaler_can_be_left_out() -> None:
    """With `scale_down_keeps_room`, consolidated-too-soon answers no other question: room-for-daemons is violated all the same."""
    for name, expected in (("consolidated-too-soon", H), ("room-for-daemons", V)):
        (scenario,) = find_scenarios(str(FOLDER / f"{name}.yaml"))
        kept = replace(scenario.spec.scope, scale_down_keeps_room=True)
        assert _asked_again(name, (), scope=kept)[0] == expected


@pytest.mark.parametrize(("weight", "expected"), [(2, (V, 650)), (3, (H, 726)), (4, (H, 18))])
def test_a_profile_in_which_topology_spread_counts_as_much_as_taints_spreads_the_pods(
    weight: int, expected: tuple[str, int]
) -> None:
    (scenario,) = find_scenarios(str(FOLDER / "spread-outweighed.yaml"))
    scope = scenario.spec.scope
    config = replace(scope.config, score_weights=(("PodTopologySpread", weight),))
    assert _asked_again("spread-outweighed", (), scope=replace(scope, config=config)) == expected


@pytest.mark.parametrize(
    ("tolerates", "scope", "expected"),
    [
        (False, {}, (V, 306)),
        (True, {"scale_down_waits": True}, (V, 112)),
        (False, {"scale_down_waits": True}, (H, 148)),
        (True, {"scale_down_until_empty": True}, (H, 687)),
    ],
)
def test_a_pod_that_does_not_tolerate_the_taint_is_moved_where_the_autoscaler_waits(
    tolerates: bool, scope: dict[str, Any], expected: tuple[str, int]
) -> None:
    (scenario,) = find_scenarios(str(FOLDER / "back-while-drained.yaml"))
    (pod,) = scenario.spec.pods
    other = copy(pod)
    other.tolerations = pod.tolerations if tolerates else ()
    spec = replace(scenario.spec, pods=(other,), scope=replace(scenario.spec.scope, **scope))
    (found,) = check(instrument(spec, resolve("1.36").classes, [PROPERTIES["S-SCALE"]]), ["S-SCALE"])
    assert (found.verdict.name, found.counts.states) == expected
    assert not found.vacuous


def test_a_profile_without_taint_toleration_places_for_ever_what_the_descheduler_evicts() -> None:
    (scenario,) = find_scenarios(str(FOLDER / "repelled-in-order.yaml"))
    alone = scenario.spec.nodes[:1]
    assert _asked_again("repelled-in-order", (TaintsUnheeded,), nodes=alone) == (V, 18954)
    assert _asked_again("repelled-in-order", (), nodes=alone) == (H, 23458)


def test_pods_of_a_stateful_set_come_in_order_unless_its_policy_is_parallel() -> None:
    (scenario,) = find_scenarios(str(FOLDER / "repelled-in-order.yaml"))
    (owner,) = scenario.spec.owners
    parallel = (replace(owner, parallel=True),)
    assert _asked_again("repelled-in-order", (), owners=parallel) == (H, 52956)


@pytest.mark.parametrize(("release", "verdict", "states"), [("1.26", V, 9), ("1.27", H, 57), ("1.36", H, 57)])
def test_a_budget_that_has_too_few_pods_lets_go_those_that_are_not_ready_by_its_policy(
    release: str, verdict: str, states: int
) -> None:
    (scenario,) = find_scenarios("undrained")
    (budget,) = scenario.spec.budgets
    policy = DisruptionBudget(0, "web", budget.selector, 0, min_available=2, always_allow=True)
    system = instrument(
        replace(scenario.spec, budgets=(policy,)), resolve(release).classes, [PROPERTIES["S-DRAIN"]]
    )
    (found,) = check(system, ["S-DRAIN"])
    assert (found.verdict.name, found.counts.states) == (verdict, states)
    assert not found.vacuous


def test_remove_duplicates_comes_to_an_end_where_the_scheduler_prefers_the_other_node() -> None:
    text = (FOLDER / "duplicates-preferred.yaml").read_text(encoding="utf-8")
    spot = ", taints: [{key: spot, effect: PreferNoSchedule}]"
    other = text.replace(spot, "").replace("n1: {cpu: 2", f"n1: {{cpu: 2{spot}")
    system = instrument(parse_scenario(other).spec, resolve("1.36").classes, [PROPERTIES["L-LOOP"]])
    (found,) = check(system, ["L-LOOP"])
    assert (found.verdict.name, found.counts.states, found.vacuous) == (H, 18, False)


@pytest.mark.ci
def test_a_pod_in_flight_is_driven_away_with_both_patches_where_the_node_is_cut_off_for_a_moment() -> None:
    (scenario,) = find_scenarios(str(FOLDER / "back-and-driven-away.yaml"))
    nodes = (Node(0, "n1", 1), Node(1, "n2", 1, unschedulable=True))
    scope = replace(scenario.spec.scope, heartbeat_losses=1, backoff=False)
    give_healths(nodes, scope)
    classes: Patches = (TaintsGoTogether, LiveTaintsAsked, *resolve("1.36").classes)
    spec = replace(scenario.spec, nodes=nodes, scope=scope)
    (found,) = check(instrument(spec, classes, [PROPERTIES["S-BACK"]]), ["S-BACK"])
    assert found.trace is not None
    assert (found.verdict.name, found.counts.states, len(found.trace.steps)) == (V, 262_636, 20)


def test_the_commands_say_what_comes_of_them() -> None:
    said = dict(
        re.findall(r"^    podrace check scenarios/actors/([\w-]+)\.yaml +# (\w+)$", PAGE, re.MULTILINE)
    )
    found = {
        name: verdict.lower()
        for name, _, release, patches, verdict, *_ in ROWS
        if not patches and release == "1.36"
    }
    assert said == found
