"""Slices that are searched with one code give what each gives with its own."""

from __future__ import annotations

from dataclasses import replace

import msgspec
import pytest
from hypothesis import given, settings

from podrace.analysis.chain import verdicts
from podrace.analysis.request.plan import Selection, plan
from podrace.analysis.systems import system_of
from podrace.analysis.together import Together
from podrace.checker import explicit
from podrace.checker.core.exploration import Budget, Exploration
from podrace.checker.explicit import shared_code
from podrace.checker.explicit.shared_code import SharedCode
from podrace.checker.reduction.questions import explored_slice
from podrace.checker.reduction.slicing import Slicer
from podrace.checker.trace.fingerprint import fingerprint
from podrace.model.language import (
    BOOL,
    Component,
    Model,
    TransitionSystem,
    Universe,
    Variable,
    boolean,
    build,
    integer,
    negate,
    require,
    step,
    trace_system,
)
from podrace.model.language.expressions.expr import fresh_graph, variable
from podrace.properties.base.instrument import alone
from podrace.reports.document import Finding
from tests.profiles import examples
from tests.random_systems import systems

BUDGET = Budget()


def timeless(found: Exploration | None) -> Exploration | None:
    return None if found is None else replace(found, seconds=0.0)


def remembering(system: TransitionSystem) -> TransitionSystem:
    """Each invariant also remembers whether it was broken before the last step, in a variable that only its own slice sees."""
    with fresh_graph():
        broken = {name: Variable(f"{name}.broken", BOOL, 0, 1, 0) for name in system.invariants}
        return replace(
            system,
            variables=(*system.variables, *broken.values()),
            transitions=tuple(
                replace(
                    t,
                    updates={
                        **t.updates,
                        **{v: variable(v) | negate(system.invariants[name]) for name, v in broken.items()},
                    },
                )
                for t in system.transitions
            ),
            invariants={name: negate(variable(v)) for name, v in broken.items()},
        )


@settings(max_examples=examples(60))
@given(systems(resettabilities=0, invariants=3))
def test_on_random_systems(system: TransitionSystem) -> None:
    slicer = Slicer(remembering(system))
    slices = [slicer.slice(invariants=[name]) for name in slicer.system.invariants]
    shared = SharedCode(slices)
    for part in slices:
        found = shared.explore(part, BUDGET, None)
        assert found is None or timeless(found) == timeless(explicit.explore(part))


@settings(max_examples=examples(60))
@given(systems(resettabilities=1, invariants=3))
def test_a_slice_of_one_property_is_the_same_within_all(system: TransitionSystem) -> None:
    whole = replace(remembering(system), resettabilities={})
    within = Slicer(whole)
    for name in whole.invariants:
        own = alone(whole, name, [*whole.invariants])
        asked = {"invariants": [name], "witnesses": [*own.witnesses]}
        there, here = Slicer(own, within=within), Slicer(own)
        assert fingerprint(there.slice(**asked)) == fingerprint(here.slice(**asked))
        assert there.outside_cone(there.slice(**asked)) == here.outside_cone(here.slice(**asked))


class Counting(Component):
    """Two counters that are always equal, which no analysis sees, and two bits that remember each another number."""

    one = integer(0, 3)
    other = integer(0, 3)
    first = boolean()
    second = boolean()

    @step(actor="counter")
    def count(self) -> None:
        require(self.one < 3)
        self.first = self.first | (self.one == 1)
        self.second = self.second | (self.one == 2)
        self.other = self.one + 1
        self.one += 1

    @step(actor="counter")
    def again(self) -> None:
        self.one = 0
        self.other = 0


class Counters(Model):
    counting: Counting


@pytest.mark.parametrize("violated", [False, True])
def test_what_a_slice_does_not_tell_apart_is_not_counted_with_it(violated: bool) -> None:
    model = build(Counters, Universe({}))
    counting = model.parts["counting"]
    amiss = {
        name: lambda bit=bit, value=value: (
            ~(getattr(counting, bit) & (counting.one != counting.other + value))
        )
        for name, bit, value in (("a", "first", 0), ("b", "second", -3 if violated else 0))
    }
    slicer = Slicer(trace_system(model, invariants=amiss))
    slices = [slicer.slice(invariants=[name]) for name in ("a", "b")]
    assert [len(part.variables) for part in slices] == [3, 3]
    shared = SharedCode(slices)
    found = [shared.explore(part, BUDGET, None) for part in slices]
    assert [*map(timeless, found)] == [timeless(explicit.explore(part)) for part in slices]
    assert [bool(one and one.violations) for one in found] == [False, violated]


RUNS = plan(Selection(["72124"], "1.13.0", properties=["S-NOM", "S-NOMVIS"]))
"""Each remembers promises of its own."""


def test_the_properties_of_a_scenario_share_code() -> None:
    together = Together(RUNS)
    assert all(map(together.has, RUNS))
    for run in RUNS:
        part = explored_slice(system_of(run), run.property)
        found = together._shared.explore(part, BUDGET, None)
        assert found is not None
        assert (timeless(found), [*found.violations]) == (timeless(explicit.explore(part)), [run.property])


@pytest.mark.parametrize(
    ("name", "release"), [("72124", "1.13.0"), ("gone-victim", "1.36.3"), ("53647", "1.8")]
)
def test_findings_are_those_of_each_property_alone(name: str, release: str) -> None:
    runs = plan(Selection([name], release, properties=["S-CAP", "S-NOM", "S-STUCK", "L-PLACE"]))
    budget = Budget(max_states=20_000)
    apart = [found for run in runs for found in verdicts([run], budget)]
    assert [*map(plain, verdicts(runs, budget))] == [*map(plain, apart)]


def plain(found: Finding) -> dict[str, object]:
    return {**msgspec.to_builtins(found), "seconds": None}


def test_another_question_about_a_slice_is_not_taken_for_it() -> None:
    shared = Together(RUNS)._shared
    part = explored_slice(system_of(RUNS[0]), "S-NOM")
    assert shared.explore(part, BUDGET, None) is not None
    assert shared.explore(part.with_predicates(witnesses={}), BUDGET, None) is None
    fewer = replace(part, transitions=part.transitions[1:])
    assert shared.explore(fewer, BUDGET, None) is None


def test_a_large_search_is_left_to_code_of_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shared_code, "MOST_STATES", 500)
    monkeypatch.setattr("podrace.analysis.together.explore_if_small", lambda *_: None)
    together = Together(RUNS)
    part = explored_slice(system_of(RUNS[0]), "S-NOM")
    assert together._shared.explore(part, BUDGET, None) is None
    assert timeless(together.explore(part, BUDGET)) == timeless(explicit.explore(part))


def test_other_scenarios_and_versions_are_not_taken_together() -> None:
    others = plan(Selection(["72124"], "1.14.0", properties=["S-NOM"]))
    assert not Together([RUNS[0], *others]).has(RUNS[0])
    assert not Together([RUNS[0], *others, RUNS[1]]).has(RUNS[1])
