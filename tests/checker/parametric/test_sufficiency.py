"""A representative stands for its cell: any cluster has the states, depth and verdict of the representative."""

from __future__ import annotations

from dataclasses import replace
from functools import cache

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from podrace.checker.core.exploration import Budget, Exploration
from podrace.checker.explicit import explore
from podrace.checker.parametric.explorer import Explorer
from podrace.checker.parametric.parameters import with_quantities
from podrace.checker.parametric.parametric_system import Exchange, Family, Unknown
from podrace.checker.search import explored_slice
from podrace.model.environment.objects import Scope
from podrace.model.history import resolve
from podrace.properties import PROPERTIES, instrument
from podrace.scenarios.template import ClusterTemplate, concrete, sketch, templates
from tests.profiles import examples

SCOPE = Scope(pod_events=1, flush=False)
ENOUGH = (0, 15)
"""All examples of cells are in this range, also those that no representative stands for."""
CASES = [("1.13", "S-NOMVIS"), ("1.19", "S-NOM")]


def unknown_of(template: ClusterTemplate, release: str, property_id: str) -> Unknown:
    found = sketch(template)
    system = instrument(found.spec, resolve(release).classes, [PROPERTIES[property_id]])
    exchanges = tuple(Exchange(*pair) for pair in found.exchanges())
    return Unknown(system, found.quantities, found.assumptions(), exchanges)


@cache
def family_of(template: ClusterTemplate, release: str, property_id: str) -> tuple[Family, Explorer]:
    unknown = unknown_of(template, release, property_id)
    family = Family(unknown, property_id)
    return family, Explorer(unknown, property_id, dict.fromkeys(unknown.quantities, ENOUGH))


def essence(found: Exploration) -> object:
    """What does not depend on the names of steps."""
    violated = {name: len(path) for name, path in found.violations.items()}
    return found.states, found.transitions, found.depth, found.complete, violated, sorted(found.fired)


CHOICES = [
    o for p, n in ((2, 1), (3, 1)) for o in templates(p, n, ClusterTemplate((), 0, scope=SCOPE)) if o.waiting
]


@settings(max_examples=examples(8), deadline=None)
@given(st.sampled_from(CHOICES), st.sampled_from(CASES), st.data())
def test_a_cluster_behaves_like_its_representative(
    template: ClusterTemplate, case: tuple[str, str], data: st.DataObject
) -> None:
    release, property_id = case
    family, explorer = family_of(template, release, property_id)
    values: dict[str, int] = {}
    for place in range(template.pods):
        values[f"p{place + 1}.cpu"] = data.draw(st.integers(0, 9))
        values[f"p{place + 1}.priority"] = data.draw(st.integers(0, 5))
    for node in range(len(template.bound)):
        here = sum(values[f"p{p + 1}.cpu"] for p, n in enumerate(template.places) if n == node)
        values[f"n{node + 1}.cpu"] = here + data.draw(st.integers(0, 9))
    answers = family.answers({q: values[q.name] for q in family.unknown.quantities})
    (cell,) = (c for c in family.cells if c.answers == answers)
    like = explorer.explore(cell.example, Budget(max_states=30_000))
    # The same slice: everything is equal, but for the time.
    itself = explore(with_quantities(family.slice, values), Budget(max_states=30_000))
    assert replace(itself, seconds=0.0) == replace(like, seconds=0.0)
    # Its own slice may leave out more: the answers are the same.
    system = instrument(concrete(template, values), resolve(release).classes, [PROPERTIES[property_id]])
    alone = explore(explored_slice(system, property_id), Budget(max_states=30_000))
    if like.complete and alone.complete:
        assert {n: len(p) for n, p in alone.violations.items()} == {
            n: len(p) for n, p in like.violations.items()
        }
        assert {n: len(p) for n, p in alone.witnesses.items()} == {
            n: len(p) for n, p in like.witnesses.items()
        }


def test_representatives_that_stand_for_two_cells_behave_like_both() -> None:
    """On 1.22, S-CAP cannot tell two empty nodes apart; a proved exchange merges the cells that differ in their names."""
    (template,) = (o for o in templates(2, 2, ClusterTemplate((), 0, scope=SCOPE)) if o.waiting == 2)
    family, explorer = family_of(template, "1.22", "S-CAP")
    assert [(e.one.name, e.other.name) for e in family.exchanges] == [("n1", "n2")]
    assert (len(family.cells), len(family.representatives)) == (87, 54)
    assert sum(r.cells for r in family.representatives) == len(family.cells)
    (exchange,) = family.exchanges
    for cell in family.cells[::7]:
        moved = {exchange.quantities.get(q, q): value for q, value in cell.example.items()}
        assert essence(explorer.explore(cell.example, Budget())) == essence(explorer.explore(moved, Budget()))


@pytest.mark.ci
def test_a_counterexample_is_confirmed_with_its_quantities() -> None:
    (template,) = (o for o in templates(3, 1, ClusterTemplate((), 0, scope=SCOPE)) if o.waiting == 2)
    family, explorer = family_of(template, "1.13", "S-NOMVIS")
    found = [(r, explorer.explore(r.values, Budget(max_states=200_000))) for r in family.representatives]
    violated = [(r, answer) for r, answer in found if answer.violations]
    assert len(violated) > 0
    for r, answer in violated:
        trace = explorer.confirm(answer, r.values)
        assert trace is not None
        assert len(trace.steps) == len(answer.violations["S-NOMVIS"])
    held, answer = next((r, a) for r, a in found if not a.violations)
    assert explorer.confirm(answer, held.values) is None


@pytest.mark.parametrize("release", ["1.13", pytest.param("1.19", marks=pytest.mark.ci)])
def test_the_names_of_pods_make_no_difference(release: str) -> None:
    """ClusterTemplates number the bound pods first. A cluster whose waiting pod comes first is such a one but for the names."""
    from podrace.model.environment.objects import ClusterSpec, Node, Pod

    def states(order: tuple[int, ...]) -> tuple[int, int]:
        node = Node(0, "n1", 2)
        made = [(2, 0, node), (2, 5, None), (1, 5, None)]
        pods = tuple(
            Pod(i, f"p{i + 1}", made[k][0], made[k][1], node=made[k][2]) for i, k in enumerate(order)
        )
        spec = ClusterSpec("named", pods, (node,), SCOPE)
        found = explore(
            explored_slice(instrument(spec, resolve(release).classes, [PROPERTIES["S-NOM"]]), "S-NOM")
        )
        return found.states, found.depth

    assert states((0, 1, 2)) == states((1, 0, 2)) == states((1, 2, 0))


def test_a_cluster_beyond_the_ranges_is_refused() -> None:
    (template,) = (o for o in templates(2, 1, ClusterTemplate((), 0, scope=SCOPE)) if o.waiting == 1)
    family, explorer = family_of(template, "1.19", "S-NOM")
    capacity = family.unknown.quantities[0]
    with pytest.raises(ValueError, match=r"`n1\.cpu` is searched within 0\.\.15, so it cannot be 16"):
        explorer.explore({**family.representatives[0].values, capacity: 16}, Budget())
