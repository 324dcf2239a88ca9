"""Records of free runs: read, turned into observations, and explained by the model. The records are of a real scheduler; no Go is needed."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import msgspec
import pytest

from podrace.base.problems import UsageProblem
from podrace.checker.trace.validation import Answer
from podrace.model.history import resolve
from podrace.model.language import Component
from podrace.reports.step import Value
from podrace.reproduce.random_runs.random_runs import Model
from tests.reproduce.lockstep.mutants import MUTANTS, mutated
from tests.tools.recorded.compared import AS_EXPECTED, Compared, OddValue
from tests.tools.recorded.free_runs import free_run, model_for
from tests.tools.recorded.possible_steps import PossibleSteps
from tests.tools.recorded.records import Point, Record, Turn, read_records
from tests.tools.recorded.validation import Judged, Validator

STORED = Path(__file__).parent / "data" / "free-runs-1.36.3.jsonl"
RELEASE = "1.36.3"


@cache
def stored() -> tuple[Record, ...]:
    return tuple(read_records(STORED))


@cache
def model(cluster: int) -> Model:
    return model_for(cluster, resolve(RELEASE))


@cache
def validator(cluster: int) -> Validator:
    return Validator(model(cluster))


def cluster_of(record: Record) -> int:
    return int(record.id.partition(".")[0])


def judge(record: Record) -> Judged:
    return validator(cluster_of(record)).judge(record)


def labels(cluster: int, turn: Turn) -> set[str]:
    """What may have happened in a turn, without the timers."""
    system = model(cluster).system
    found = (system.transitions[n] for n in PossibleSteps(system).of(turn))
    return {f"{t.part}.{t.step}" for t in found if t.actor != "queue timers"}


def test_records_of_a_real_scheduler_are_explained() -> None:
    assert len(stored()) >= 4
    for record in stored():
        judged = judge(record)
        assert judged.explained, record.id
        assert len(judged.explanation.at) == len(record.turns)


def test_the_condition_of_a_victim_on_a_node_that_is_gone_is_in_no_snapshot() -> None:
    (record,) = read_records(STORED.with_name("free-run-1.33.6-gone-node.jsonl"))
    assert Validator(model_for(cluster_of(record), resolve("1.33.6"))).judge(record).explained


CONDITION_FIRST = """
name: condition-first
nodes: {n1: {cpu: 1}}
pods:
  p: {cpu: 1, priority: 2}
  q: {cpu: 1, priority: 3}
  v: {cpu: 1, nodeName: n1}
scope: {pod_events: 9, node_events: 9}
"""


@pytest.mark.ci
def test_the_condition_of_a_victim_that_is_not_deleted_yet_is_in_a_snapshot() -> None:
    """The PATCH is told to the cache, and another cycle takes its snapshot, before the DELETE: in the model they are one step (A-DISRUPTION)."""
    (record,) = read_records(STORED.parent / "free-run-1.33.6-condition-first.jsonl")
    assert Validator(Model.of(CONDITION_FIRST, resolve("1.33.6"))).judge(record).explained
    state: dict[str, Value] = {}
    for turn in record.turns[:29]:
        state |= turn.seen
    seen = {
        name: state[name] for name in ("snapshot.carries[v]", "api.pod[v].exists", "api.pod[v].terminating")
    }
    assert list(seen.values()) == [True, True, False]


def test_a_preemptor_that_is_bound_to_a_node_without_hope_goes_on() -> None:
    """The only node that was worth a dry run is refused by NodeName: the model waited for that dry run for ever."""
    (record,) = read_records(STORED.with_name("free-run-1.36.3-bound-elsewhere.jsonl"))
    assert Validator(model_for(cluster_of(record), resolve("1.36.3"))).judge(record).explained


@pytest.mark.parametrize("place", ["NONE", "ACTIVE", "BACKOFF", "UNSCHEDULABLE"])
def test_a_pod_in_another_sub_queue_is_explained_by_no_run(place: str) -> None:
    """What the last Pop left is changed: the pod is elsewhere than nowhere."""
    for record in stored():
        at = next(
            (i for i, turn in enumerate(record.turns) if "NONE" in turn.seen.values() and turn.do == "go"),
            None,
        )
        if at is None:
            continue
        name = next(n for n, value in record.turns[at].seen.items() if value == "NONE")
        if not name.startswith("queue.sub_queue["):
            continue
        turns = list(record.turns)
        turns[at] = msgspec.structs.replace(turns[at], seen={**turns[at].seen, name: place})
        judged = judge(msgspec.structs.replace(record, turns=turns[: at + 1]))
        assert judged.explained == (place == "NONE"), (record.id, at)


def test_what_nobody_did_is_explained_by_no_run() -> None:
    """The turn in which a user acted says that time passed."""
    refused = 0
    for record in stored():
        for at, turn in enumerate(record.turns):
            if turn.do.startswith("users.") and turn.seen:
                turns = [*record.turns[:at], msgspec.structs.replace(turn, do="wait", args={})]
                judged = judge(msgspec.structs.replace(record, turns=turns))
                assert judged.explanation.answer is Answer.REFUSED
                assert len(judged.explanation.at) == at
                refused += 1
    assert refused


def test_an_odd_value_ends_the_explanation() -> None:
    record = stored()[0]
    turns = [
        *record.turns[:3],
        msgspec.structs.replace(record.turns[3], seen={"queue.order": "p1 before p2: true"}),
    ]
    judged = judge(msgspec.structs.replace(record, turns=turns))
    assert not judged.explained
    assert judged.odd == "queue.order is p1 before p2: true"
    assert len(judged.explanation.at) == 3


NOT_MET = ("AssumeKeepsTheNomination", "ForgetWakesNobody", "HintIsTooNarrow", "SnapshotLacksAssumedPods")
"""Mutants that the six stored records do not meet: lockstep finds them."""

MET = [mutant for mutant in MUTANTS if mutant.__name__ not in NOT_MET]


@pytest.mark.parametrize(
    "mutant",
    [
        pytest.param(mutant, id=mutant.__name__, marks=pytest.mark.ci if number < 2 else pytest.mark.nightly)
        for number, mutant in enumerate(MET)
    ],
)
def test_a_mutant_does_not_explain_all_records(mutant: type[Component]) -> None:
    composition = mutated(resolve(RELEASE), mutant)
    assert len(MET) == len(MUTANTS) - len(NOT_MET)
    assert not all(
        Validator(model_for(cluster_of(record), composition)).judge(record).explained for record in stored()
    )


def test_steps_by_the_calls_that_were_passed() -> None:
    point = Point("scheduler", "Cache.AssumePod", pod="p1", node="n1")
    turn = Turn("go", origin=point, passed=[msgspec.structs.replace(point, after=True)])
    assert labels(0, turn) == {"scheduler.assume", "scheduler.filter", "scheduler.filter_nominated"}
    assert labels(0, Turn("wait", {"ms": 1100})) == set()
    assert labels(0, Turn("deliver", {"kind": "pods"})) == {"pod_watch.store"}
    assert labels(0, Turn("deliver", {"kind": "nodes"})) == {"node_watch.store"}


def test_a_binding_cycle_acts_for_its_pod_only() -> None:
    system = model(0).system
    point = Point("binding cycle", "Client.Bind", of="p1", pod="p1")
    found = [system.transitions[n] for n in PossibleSteps(system).of(Turn("go", origin=point))]
    bound = {str(dict(t.args)["pod"]) for t in found if t.part == "binding"}
    assert bound == {"p1"}


def test_a_user_takes_the_very_step() -> None:
    assert labels(0, Turn("users.delete_pod", {"pod": "p1"})) == {"users.delete_pod"}
    with pytest.raises(ValueError, match=r"the model has no step users\.delete_pod\(pod=p9\) here"):
        labels(0, Turn("users.delete_pod", {"pod": "p9"}))


VALUES = {
    "queue.in_flight[p]": (False, True),
    "scheduler.verdict[n]": ("UNTRIED", "FEASIBLE", "REJECTED", "CANDIDATE", "NO_CANDIDATE"),
    "async_preemption.phase[p]": ("NONE", "BEGIN", "EVICT", "EVICT_LAST"),
    "snapshot.live[n]": (False, True),
}


def test_what_the_model_is_ahead_of_is_not_compared() -> None:
    seen: dict[str, Value] = {"queue.in_flight[p]": True}
    before, after = (
        Turn("go", standing=[Point("binding cycle", "Queue.Done", of="p", after=done, pod="p")])
        for done in (False, True)
    )
    assert Compared(VALUES).after(before, seen) == {}
    assert Compared(VALUES).after(after, seen) == {"queue.in_flight[p]": (True,)}


def test_a_snapshot_is_compared_while_a_cycle_works_on_it() -> None:
    seen: dict[str, Value] = {"snapshot.live[n]": True, "scheduler.verdict[n]": "REJECTED"}
    assert Compared(VALUES).after(Turn("go", standing=[Point("scheduler", "NextPod")]), seen) == {}
    filtering = Turn("go", standing=[Point("scheduler", "Framework.RunPostFilterPlugins", pod="p")])
    assert Compared(VALUES).after(filtering, seen) == {
        "snapshot.live[n]": (True,),
        "scheduler.verdict[n]": ("REJECTED", "CANDIDATE", "NO_CANDIDATE", "UNTRIED"),
    }


def test_a_running_preemption_is_one_of_several_phases() -> None:
    seen: dict[str, Value] = {"async_preemption.preempting[p]": True}
    phases = "async_preemption.phase[p]"
    assert Compared(VALUES).after(Turn("go"), seen) == {phases: ("BEGIN", "EVICT")}
    awaiting = {**seen, "async_preemption.awaited[p]": "v"}
    assert Compared(VALUES).after(Turn("go"), awaiting)[phases] == ("BEGIN", "EVICT", "EVICT_LAST")


def victim(call: str, **state: bool) -> tuple[Turn, dict[str, Value]]:
    """A turn in which the goroutine of p passes a call about v, and what is seen of v then; the snapshot's v carries the condition."""
    goroutine = Point("preemption goroutine", f"Client.{call}", of="p", after=True, pod="v")
    told = state.pop("told", False)
    names = {"exists": True, "terminating": False} | state
    api: dict[str, Value] = {f"api.pod[v].{name}": value for name, value in names.items()}
    api["cache.pod[v].terminating"] = told
    return Turn("go", passed=[goroutine]), {**api, CARRIES: True}


CARRIES = "snapshot.carries[v]"
SNAPSHOT = Turn("go", passed=[Point("scheduler", "Cache.UpdateSnapshot", after=True)], standing=[Point("scheduler", "Framework.RunPostFilterPlugins")])  # fmt: skip
LATER = Turn("go", standing=SNAPSHOT.standing)


@pytest.mark.parametrize(
    ("turns", "compared"),
    [
        ([victim("Patch")], False),
        ([victim("Patch"), victim("Delete", terminating=True)], False),
        ([victim("Patch"), victim("Delete", terminating=True, told=True)], True),
        ([victim("Patch"), victim("Delete", exists=False)], False),
        ([victim("Patch"), victim("Delete")], False),
        ([victim("Patch", terminating=True), victim("Delete", terminating=True)], False),
        ([], True),
    ],
    ids=[
        "before the DELETE",
        "deleted",
        "told",
        "gone",
        "the DELETE fails",
        "terminates already",
        "nothing written",
    ],
)
def test_a_condition_that_is_written_before_the_deletion_is_not_compared(
    turns: list[tuple[Turn, dict[str, Value]]], compared: bool
) -> None:
    judged = Compared({CARRIES: (False, True)})
    for turn, seen in turns:
        assert CARRIES in judged.after(Turn(turn.do, passed=turn.passed, standing=SNAPSHOT.standing), seen)
    seen = {**(turns[-1][1] if turns else {}), CARRIES: True}
    assert (CARRIES in judged.after(SNAPSHOT, seen)) is compared
    assert CARRIES in judged.after(LATER, {**seen, CARRIES: False}), "what the model has too is compared"


def test_what_the_observer_holds_against_itself() -> None:
    assert Compared(VALUES).after(Turn("go"), {"queue.order": AS_EXPECTED}) == {}
    with pytest.raises(OddValue, match=r"^queue\.in_flight\[p\] is both$"):
        Compared(VALUES).after(Turn("go"), {"queue.in_flight[p]": "both"})
    with pytest.raises(OddValue, match="no such plugin"):
        Compared(VALUES).after(Turn("go"), {"queue.rejected_by[p][Other]": True})


def test_a_damaged_record(tmp_path: Path) -> None:
    file = tmp_path / "records.jsonl"
    file.write_bytes(STORED.read_bytes().splitlines()[0] + b"\n{}\n")
    with pytest.raises(UsageProblem, match=r"records\.jsonl:2: not a record: "):
        list(read_records(file))
    with pytest.raises(UsageProblem, match="No such file"):
        list(read_records(tmp_path / "nothing.jsonl"))


def test_of_equal_victims_the_first_of_the_scenario_is_the_most_important() -> None:
    """A record of 1.34.4 was not explained because the real scheduler took another victim than the model: A-VICTIMS."""
    case = free_run(model_for(18, resolve("1.34.4")), "18.7", 18_000_007, 70, 0.4).case
    started = [pod["status"]["startTime"] for pod in case.pods]
    assert [pod["metadata"]["name"] for pod in case.pods] == ["p1", "p2", "p3"]
    assert started == sorted(set(started))


def test_a_free_run_is_a_case_without_steps() -> None:
    run = free_run(model(0), "0.0", 7, 70, 0.4)
    assert run.case.steps == []
    plain = msgspec.to_builtins(run)
    assert plain["free"] | {"left": None} == {
        "seed": 7, "turns": 70, "left": None, "pod_gc": True, "keeps_nominations": False, "pass": 0.4
    }  # fmt: skip
    assert plain["free"]["left"]["pod_deletions"] == model(0).scenario.spec.scope.pod_deletions
