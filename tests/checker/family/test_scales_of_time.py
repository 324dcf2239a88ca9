"""All choices of parameters at once have, with scales of time, the verdicts that each has by itself."""

from __future__ import annotations

from dataclasses import replace
from itertools import product

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from podrace.checker.core.exploration import Budget
from podrace.checker.core.result import Verdict
from podrace.checker.exhaust import Exhausted, exhaust
from podrace.checker.parametric.parameters import with_parameters
from podrace.checker.parametric.parametric_system import ParametricSystem
from podrace.checker.parametric.regions import evaluate
from podrace.checker.search import check
from podrace.model.environment.cluster.scope import SCALES
from podrace.model.environment.objects import Scope
from podrace.model.history import resolve
from podrace.model.language import Lasts, Parameter, TransitionSystem, as_expr, equal
from podrace.model.language.expressions.expr import fresh_graph, parameter, variable
from podrace.properties import PROPERTIES, instrument
from podrace.scenarios.template import ClusterTemplate, Limits, concrete, instantiate, templates
from tests.checker.family.test_family import is_answerable, tamed
from tests.checker.parametric.enumeration import regions_of
from tests.checker.reduction.test_scales_of_time import Retrying, traced
from tests.checker.unknown_parameters import parameters_of
from tests.profiles import examples
from tests.random_systems import systems


@st.composite
def with_timers(draw: st.DrawFn) -> TransitionSystem:
    system = draw(systems(invariants=1, resettabilities=0, parameters=3))
    lasting = st.sampled_from((Lasts.SHORT, Lasts.SHORT, Lasts.MINUTES, Lasts.ANY_TIME))
    transitions = tuple(replace(t, lasts=draw(lasting)) for t in system.transitions)
    with fresh_graph():
        return tamed(replace(system, transitions=transitions, scales=True))


def verdict_of(found: Exhausted, values: dict[Parameter, int]) -> Verdict:
    """That of the cell in which a choice is."""
    with fresh_graph():
        (one,) = [
            cell.verdict
            for cell in found.cells
            if all(evaluate(question, values) == answer for question, answer in cell.cell.answers.items())
        ]
    return one


@settings(max_examples=examples(60), deadline=None)
@given(with_timers())
def test_random_systems_choice_by_choice(system: TransitionSystem) -> None:
    unknown = parameters_of(system)
    assume(system.invariants and unknown and is_answerable(system))
    found = exhaust(ParametricSystem(system, unknown), "invariant0", Budget(jobs=1))
    for codes in product(*(range(q.lo, q.hi + 1) for q in unknown)):
        values = dict(zip(unknown, codes, strict=True))
        alone = with_parameters(system, {q.name: v for q, v in values.items()})
        timed = replace(alone, scales=found.parametric.system.scales)
        (result,) = check(timed, ["invariant0"], engine="reference")
        assert not (timed.scales and result.coverage.endless)
        assert verdict_of(found, values) is result.verdict


@pytest.mark.parametrize("bounded", [False, True], ids=["", "with a step that a bound stops"])
@pytest.mark.parametrize("endless", [False, True])
def test_work_that_never_ends_with_one_choice(endless: bool, bounded: bool) -> None:
    """A timer may wait for ever with a choice if the worker begins again with it; a step that a bound stops does not keep the run from being fair."""
    queue = traced(Retrying, "never amid its work")
    often = Parameter("often", 0, 1)
    with fresh_graph():
        value = {v.name.rpartition(".")[2]: variable(v) for v in queue.variables}
        begins = equal(parameter(often), as_expr(int(endless))) & equal(parameter(often), as_expr(1))
        steps = [replace(t, guard=t.guard & begins) if t.step == "retry" else t for t in queue.transitions]
        if bounded:
            (go_on,) = (t for t in steps if t.step == "go_on")
            held = (("asked first", value["asked"]),)
            (parked,) = (v for v in go_on.updates if v.name.endswith("parked"))
            steps.append(
                replace(
                    go_on,
                    step="held",
                    guard=value["parked"],
                    constraints=held,
                    updates={parked: as_expr(False)},
                )
            )
        system = replace(queue, transitions=tuple(steps))
        found = exhaust(ParametricSystem(system, (often,)), "never amid its work", Budget(jobs=1))
    assert found.parametric.system.scales is not endless
    assert ("asked first" in found.constraints_hit) is bounded
    for choice in (0, 1):
        alone = with_parameters(system, {"often": choice})
        (result,) = check(replace(alone, scales=found.parametric.system.scales), engine="reference")
        assert verdict_of(found, {often: choice}) is result.verdict
        (result,) = check(alone, engine="reference")
        assert result.coverage.endless is (endless and choice == 1)


@pytest.mark.ci
@pytest.mark.parametrize(
    ("release", "name", "every", "violated"),
    [
        ("1.36.3", "S-STUCK", 15, (0, 2)),
        pytest.param("1.36.3", "S-NOM", 15, (0, 0), marks=pytest.mark.nightly),
    ],
)
def test_clusters_one_by_one(release: str, name: str, every: int, violated: tuple[int, int]) -> None:
    """One cluster of each cell, and each so-manieth of all, of two pods and a node is checked by itself, as a scenario is; `violated` are those with and without scales of time."""
    classes, counts = resolve(release).classes, []
    for time in (SCALES, "any"):
        example = ClusterTemplate((), 0, limits=Limits(4, 8, 4), scope=Scope(time=time))
        counts.append(0)
        for template in templates(2, 1, example):
            unknown = instantiate(template)
            system = instrument(unknown.spec, classes, [PROPERTIES[name]])
            parametric = ParametricSystem(system, unknown.parameters, unknown.assumptions())
            found = exhaust(parametric, name, Budget(jobs=1))
            assert found.parametric.system.scales is (time == SCALES)
            others = [region.example for region in regions_of(parametric, name)[::every]]
            for values in (*(one.cell.example for one in found.cells), *others):
                spec = concrete(template, {q.name: v for q, v in values.items()})
                (result,) = check(instrument(spec, classes, [PROPERTIES[name]]), [name], Budget(jobs=1))
                assert verdict_of(found, dict(values)) is result.verdict
                counts[-1] += result.verdict is Verdict.VIOLATED
    assert tuple(counts) == violated
