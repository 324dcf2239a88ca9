"""The seed races as starvation: lassos before their fixes, none after, and which changes are needed together."""

from __future__ import annotations

import pytest

from podrace.analysis.compare.minimal_changes import minimal_sets
from podrace.checker.core.result import Result, Verdict
from podrace.checker.core.trace import LassoTrace
from podrace.checker.search import check
from podrace.model.history import resolve
from podrace.model.language import Component
from podrace.model.scheduler import Scheduler
from podrace.properties import PROPERTIES, instrument
from podrace.scenarios import find_scenarios

V, H = "VIOLATED", "HOLDS"


def run(
    race: str, name: str, release: str, added: tuple[str, ...] = (), removed: tuple[str, ...] = ()
) -> Result:
    (scenario,) = find_scenarios(race)
    system = instrument(scenario.spec, resolve(release, added, removed).classes, [PROPERTIES[name]])
    (result,) = check(system, [name])
    return result


ROWS = [
    # The nomination race: 1.12 starves a pod of its room, 1.19 nobody.
    pytest.param("72124", "L-PEND", "1.12", (), (), V, 27, 10, marks=pytest.mark.ci),
    ("72124", "L-PEND", "1.13", (), (), V, 27, 10),
    ("72124", "L-PEND", "1.19", (), (), H, 0, 0),
    ("72124", "L-PEND", "1.22", (), (), H, 0, 0),
    ("72124", "L-PROG", "1.19", (), (), H, 0, 0),
    # Pods of a removed node: p is tried again and again, and every attempt is an error.
    ("53647", "L-PEND", "1.8", (), (), V, 10, 8),
    ("53647", "L-PEND", "1.8", ("53647",), (), H, 0, 0),
    ("53647", "L-PEND", "1.9", (), (), H, 0, 0),
    ("53647", "L-PEND", "1.9", (), ("53647",), V, 24, 11),
    # Without preemption, a pod of lower priority keeps its room for ever; with it, the room is won, and won once.
    ("72124", "L-INV", "1.8", (), (), V, 16, 16),
    ("72124", "L-INV", "1.19", (), (), H, 0, 0),
    ("72124", "L-OVER", "1.19", (), (), H, 0, 0),
    # The forgotten move request.
    ("73309", "L-WAKE", "1.13", ("70366",), (), V, 23, 0),
    pytest.param("73309", "L-WAKE", "1.19", (), (), H, 0, 0, marks=pytest.mark.ci),
]


@pytest.mark.parametrize(
    ("race", "name", "release", "added", "removed", "verdict", "prefix", "cycle"), ROWS, ids=lambda v: str(v)
)
def test_starvation(
    race: str, name: str, release: str, added: tuple[str, ...], removed: tuple[str, ...], verdict: str, prefix: int,
    cycle: int,
) -> None:  # fmt: skip
    found = run(race, name, release, added, removed)
    assert found.verdict.name == verdict
    assert not found.vacuous
    if found.trace is not None:
        assert isinstance(found.trace, LassoTrace)
        assert (len(found.trace.prefix), len(found.trace.cycle)) == (prefix, cycle)


@pytest.mark.ci
def test_the_nominated_pod_and_a_smaller_one_wait_for_ever_and_every_fair_actor_acts() -> None:
    trace = run("starved-by-a-nomination", "L-NOM", "1.12").trace
    assert isinstance(trace, LassoTrace)
    assert trace.case == "p is nominated to n1 and does not fit, r fits and waits indefinitely"
    tried = {str(dict(s.args)["pod"]) for s in trace.cycle if (s.part, s.step) == ("scheduler", "pop")}
    assert len(tried) == 2
    acting = {f.name for f, answer in trace.fairness.items() if answer == "acts" and not f.strong}
    assert acting == {
        "scheduler",
        "failure handler of p",
        "failure handler of r",
        "requeue goroutine of p",
        "requeue goroutine of r",
        "status updates of n1",
    }
    assert {a for f, a in trace.fairness.items() if f.name not in acting} == {"never waits"}


@pytest.mark.nightly
def test_three_changes_together_end_this_starvation() -> None:
    def ends(changes: tuple[str, ...]) -> bool:
        return run("starved-by-a-nomination", "L-NOM", "1.12", changes).verdict is Verdict.HOLDS

    assert minimal_sets(("72259", "77990", "90660"), ends) == [("72259", "77990", "90660")]


class EvictsNobody(Scheduler):
    """A patch that nominates, and forgets to evict."""

    def advance_preemption(self) -> None:
        self._after_preemption()


def test_a_preemptor_that_evicts_nobody_preempts_for_ever() -> None:
    (scenario,) = find_scenarios("72124")
    classes: tuple[type[Component], ...] = (EvictsNobody, *resolve("1.12").classes)
    (found,) = check(instrument(scenario.spec, classes, [PROPERTIES["L-OVER"]]), ["L-OVER"])
    assert found.verdict is Verdict.VIOLATED
    assert isinstance(found.trace, LassoTrace)
    assert found.trace.case == "p preempts again and again and is never scheduled"
