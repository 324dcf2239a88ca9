"""An example stands for its region: any cluster has the states, depth and verdict of the example."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from random import Random

import pytest
import z3
from hypothesis import given, settings
from hypothesis import strategies as st

from podrace.checker.core.exploration import Budget
from podrace.checker.explicit import explore
from podrace.checker.parametric.explorer import Explorer
from podrace.checker.parametric.parameters import with_parameters
from podrace.checker.parametric.parametric_system import ParametricSystem, Regions
from podrace.checker.reduction.questions import explored_slice
from podrace.model.environment.objects import Scope
from podrace.model.history import resolve
from podrace.properties import PROPERTIES, instrument
from podrace.scenarios.template import ClusterTemplate, concrete, instantiate, templates
from tests.checker.parametric.enumeration import Region, regions, regions_of
from tests.profiles import examples

SCOPE = Scope(pod_events=1, flush=False)
ENOUGH = (0, 15)
"""All examples of regions are in this range, whatever the questions are."""
CASES = [("1.13", "S-NOMVIS"), ("1.19", "S-NOM")]


def parametric_system(template: ClusterTemplate, release: str, property_id: str) -> ParametricSystem:
    found = instantiate(template)
    system = instrument(found.spec, resolve(release).classes, [PROPERTIES[property_id]])
    return ParametricSystem(system, found.parameters, found.assumptions())


@cache
def all_of(asked: Regions) -> list[Region]:
    return regions(asked.parametric.parameters, asked.questions, asked.parametric.assumptions)


@cache
def known(template: ClusterTemplate, release: str, property_id: str) -> tuple[Regions, Explorer]:
    parametric = parametric_system(template, release, property_id)
    return Regions(parametric, property_id), Explorer(
        parametric, property_id, dict.fromkeys(parametric.parameters, ENOUGH)
    )


CHOICES = [
    o for p, n in ((2, 1), (3, 1)) for o in templates(p, n, ClusterTemplate((), 0, scope=SCOPE)) if o.waiting
]


@settings(max_examples=examples(8), deadline=None)
@given(st.sampled_from(CHOICES), st.sampled_from(CASES), st.data())
def test_a_cluster_behaves_like_the_example_of_its_region(
    template: ClusterTemplate, case: tuple[str, str], data: st.DataObject
) -> None:
    release, property_id = case
    asked, explorer = known(template, release, property_id)
    values: dict[str, int] = {}
    for place in range(template.pods):
        values[f"p{place + 1}.cpu"] = data.draw(st.integers(0, 9))
        values[f"p{place + 1}.priority"] = data.draw(st.integers(0, 5))
    for node in range(len(template.bound)):
        here = sum(values[f"p{p + 1}.cpu"] for p, n in enumerate(template.places) if n == node)
        values[f"n{node + 1}.cpu"] = here + data.draw(st.integers(0, 9))
    answers = asked.answers({q: values[q.name] for q in asked.parametric.parameters})
    (region,) = (c for c in all_of(asked) if c.answers == answers)
    like = explorer.explore(region.example, Budget(max_states=30_000))
    # The same slice: everything is equal, but for the time.
    itself = explore(with_parameters(asked.slice, values), Budget(max_states=30_000))
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


@pytest.mark.parametrize(
    "every", [pytest.param(4, marks=pytest.mark.ci), pytest.param(1, marks=pytest.mark.nightly)]
)
def test_a_counterexample_is_confirmed_with_its_parameters(every: int) -> None:
    (template,) = (o for o in templates(3, 1, ClusterTemplate((), 0, scope=SCOPE)) if o.waiting == 2)
    asked, explorer = known(template, "1.13", "S-NOMVIS")
    found = [(r, explorer.explore(r.example, Budget(max_states=200_000))) for r in all_of(asked)[::every]]
    violated = [(r, answer) for r, answer in found if answer.violations]
    assert len(violated) > 0
    for r, answer in violated:
        trace = explorer.confirm(answer, r.example)
        assert trace is not None
        assert len(trace.steps) == len(answer.violations["S-NOMVIS"])
    held, answer = next((r, a) for r, a in found if not a.violations)
    assert explorer.confirm(answer, held.example) is None


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
    asked, explorer = known(template, "1.19", "S-NOM")
    capacity = asked.parametric.parameters[0]
    with pytest.raises(ValueError, match=r"`n1\.cpu` is searched within 0\.\.15, so it cannot be 16"):
        explorer.explore({**all_of(asked)[0].example, capacity: 16}, Budget())


def test_examples_do_not_depend_on_what_z3_was_asked_before() -> None:
    """`prove` shows them: the same question has the same answer."""

    def representatives() -> list[dict[str, int]]:
        found = [regions_of(parametric_system(t, "1.19", "S-CAP"), "S-CAP") for t in asked]
        return [{q.name: n for q, n in one.example.items()} for regions in found for one in regions]

    asked = list(templates(2, 1, ClusterTemplate((), 0, scope=SCOPE)))
    alone = representatives()
    for seed in (1, 2, 4):
        draw = Random(seed)
        unknown = [z3.Int(f"x{draw.randrange(1000)}") for _ in range(draw.randrange(200))]
        others = [a + b * draw.randrange(100) for a in unknown for b in unknown if draw.random() < 0.3]
        assert representatives() == alone
        assert others
