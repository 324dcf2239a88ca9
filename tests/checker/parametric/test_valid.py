"""Exchanges that Z3 proves: true in every reachable state, more than normal forms prove, and nothing without an answer."""

from __future__ import annotations

from dataclasses import replace
from functools import cache

import pytest
from hypothesis import HealthCheck, given, settings

from podrace.checker.core.exploration import Budget
from podrace.checker.parametric.exchange import EntityExchange
from podrace.checker.parametric.explorer import Explorer
from podrace.checker.parametric.parametric_system import Regions
from podrace.checker.parametric.valid import Valid
from podrace.model.environment.objects import Scope
from podrace.model.language import (
    INT,
    Entity,
    Expr,
    Parameter,
    Transition,
    TransitionSystem,
    Universe,
    Variable,
    as_expr,
    equal,
    select,
)
from podrace.model.language.expressions.expr import fresh_graph, less, parameter, variable
from podrace.model.language.expressions.sorts import sort_of_ref
from podrace.scenarios.template import ClusterTemplate, Limits, templates
from tests.checker.parametric.automorphisms import SYSTEMS, maps, some_states
from tests.checker.parametric.test_sufficiency import CASES, essence, parametric_system
from tests.profiles import examples
from tests.symmetric_systems import Process

SMALL = ClusterTemplate(
    (), 0, graceful=False, limits=Limits(least_request=1), scope=Scope(pod_events=1, flush=False)
)


def true_if_proved(system: TransitionSystem) -> None:
    first, second, *_ = system.universe[Process]
    candidate = EntityExchange(system, [(first, second)])
    if candidate.variables is None:
        return
    renamed = candidate.permutation()
    if renamed(system.initial) == system.initial and candidate.is_automorphism(Valid(candidate)):
        assert all(maps(system, renamed, state) for state in some_states(system))
    else:
        assert renamed(system.initial) != system.initial or not candidate.is_automorphism()


@settings(max_examples=examples(60), deadline=None)
@given(SYSTEMS)
def test_what_is_proved_is_true(system: TransitionSystem) -> None:
    true_if_proved(system)


@pytest.mark.campaign
@settings(max_examples=examples(3000), deadline=None, suppress_health_check=list(HealthCheck))
@given(SYSTEMS)
def test_what_is_proved_of_thousands_of_systems_is_true(system: TransitionSystem) -> None:
    true_if_proved(system)


class Box(Entity):
    """Something with a size."""


BOXES = (Box(0, "a"), Box(1, "b"))
SIZES = tuple(Parameter(f"{box.name}.size", 0, 1000) for box in BOXES)
SWAPPED = {SIZES[0]: SIZES[1], SIZES[1]: SIZES[0]}


def boxes(last_wins: bool = False, least: int = 0) -> TransitionSystem:
    """One box is chosen where none was; then it is dropped, one box after the other being asked whether it is too small.

    The second of the two is asked last, so that it wins where it may take the choice over. `least` is a bound on the
    size of the first.
    """
    with fresh_graph():
        chosen = Variable("chosen", sort_of_ref(Box), 0, 2, 0)
        seen = Variable("seen", INT, 0, 3, 0)
        now: Expr = variable(chosen)
        for box, size in zip(BOXES, SIZES, strict=True):
            small = less(parameter(size), 10 + variable(seen) + (least if box is BOXES[0] else 0))
            now = select(equal(now, box) & small, None, now)
            if last_wins:
                now = select(small, box, now)
        choose = [
            step("choose", (("box", box),), equal(variable(chosen), None), {chosen: as_expr(box)})
            for box in BOXES
        ]
        drop = step("drop", (), variable(chosen).is_some, {chosen: now, seen: as_expr(3)})
        return TransitionSystem(
            name="boxes",
            universe=Universe({Box: BOXES}),
            variables=(chosen, seen),
            transitions=(*choose, drop),
            invariants={"holds": ~(equal(variable(chosen), None) & (variable(seen) == 3))},
        )


def step(
    name: str, args: tuple[tuple[str, Entity], ...], guard: Expr, updates: dict[Variable, Expr]
) -> Transition:
    return Transition("boxes", name, args, "boxes", True, guard, (), updates)


def test_a_loop_over_entities_is_symmetric_where_its_order_makes_no_difference() -> None:
    candidate = EntityExchange(boxes(), [BOXES], SWAPPED)
    assert not candidate.is_automorphism()
    assert candidate.is_automorphism(Valid(candidate))


def test_parameters_change_places_too() -> None:
    candidate = EntityExchange(boxes(), [BOXES])
    assert not candidate.is_automorphism(Valid(candidate))


@pytest.mark.parametrize("system", [boxes(last_wins=True), boxes(least=1)])
def test_what_differs_is_not_proved(system: TransitionSystem) -> None:
    candidate = EntityExchange(system, [BOXES], SWAPPED)
    valid = Valid(candidate)
    assert not candidate.is_automorphism(valid)
    assert valid.asked > 0


def test_a_parameter_that_nobody_asks_about_is_no_error() -> None:
    asked = boxes()
    drop = asked.transitions[-1]
    alone = replace(
        asked,
        transitions=(*asked.transitions[:-1], replace(drop, guard=less(parameter(SIZES[0]), 5), updates={})),
    )
    assert not EntityExchange(alone, [BOXES], SWAPPED).is_automorphism(
        Valid(EntityExchange(alone, [BOXES], SWAPPED))
    )


def test_no_answer_is_no_proof() -> None:
    candidate = EntityExchange(boxes(), [BOXES], SWAPPED)
    assert not candidate.is_automorphism(Valid(candidate, effort=1))


@cache
def two_of_each(release: str, property_id: str) -> Regions:
    (template,) = (o for o in templates(2, 2, SMALL) if o.waiting == 2)
    return Regions(parametric_system(template, release, property_id), property_id)


@pytest.mark.parametrize(
    ("release", "prop", "exchanged", "count", "representatives"),
    [
        # Before 71488, pods of equal priority left activeQ in any order: two that wait are alike, too.
        ("1.13", "S-NOMVIS", [("p1", "p2"), ("n1", "n2")], 603, 171),
        ("1.19", "S-NOM", [("n1", "n2")], 603, 327),
    ],
)
def test_the_monitors_of_nominations_do_not_tell_nodes_apart(
    release: str, prop: str, exchanged: list[tuple[str, str]], count: int, representatives: int
) -> None:
    """They ask about one node after the other: only Z3 sees that the order makes no difference."""
    regions = two_of_each(release, prop)
    assert [(e.one.name, e.other.name) for e in regions.exchanges] == exchanged
    nodes = regions.exchanges[-1]
    candidate = EntityExchange(regions.slice, [(nodes.one, nodes.other)], nodes.parameters)
    assert not candidate.is_automorphism()
    assert (len(regions.regions), len(regions.representatives)) == (count, representatives)


@pytest.mark.parametrize(
    ("release", "prop", "every"),
    [(*case, 60) for case in CASES] + [pytest.param(*case, 1, marks=pytest.mark.campaign) for case in CASES],
)
def test_merged_cells_behave_alike(release: str, prop: str, every: int) -> None:
    regions = two_of_each(release, prop)
    explorer = Explorer(regions.parametric, prop, dict.fromkeys(regions.parametric.parameters, (0, 15)))
    for exchange in regions.exchanges:
        for region in regions.regions[::every]:
            moved = {exchange.parameters.get(q, q): value for q, value in region.example.items()}
            one, other = (explorer.explore(values, Budget()) for values in (region.example, moved))
            assert essence(one) == essence(other)
