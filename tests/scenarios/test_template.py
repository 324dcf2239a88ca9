"""ClusterTemplates: every placement once, and what is written of a cluster is read back as the same."""

from __future__ import annotations

import pytest

from podrace.model.environment.objects import ClusterSpec, Scope
from podrace.model.history import resolve
from podrace.model.language.expressions.expr import fresh_graph
from podrace.properties import PROPERTIES, instrument
from podrace.scenarios import parse_scenario
from podrace.scenarios.template import (
    LOWEST_PRIORITY,
    ClusterTemplate,
    Limits,
    concrete,
    instantiate,
    sizes,
    templates,
)
from podrace.scenarios.writing import scenario_text

PLAIN = ClusterTemplate((), 0)


def test_every_placement_once_up_to_the_names_of_nodes() -> None:
    assert [str(o) for o in templates(3, 2, PLAIN)] == [
        "3 waiting",
        "1 on n1, 2 waiting",
        "1 on n1, 1 on n2, 1 waiting",
        "2 on n1, 1 waiting",
        "2 on n1, 1 on n2",
        "3 on n1",
    ]
    assert len(list(templates(4, 3, PLAIN))) == 11


def test_quantities_have_names_and_ranges() -> None:
    template = ClusterTemplate(
        (0,), 1, limits=Limits(least_request=1, least_priority=LOWEST_PRIORITY), resources=("cpu", "memory")
    )
    assert [(q.name, q.lo, q.hi) for q in instantiate(template).parameters] == [
        ("n1.cpu", 0, 1 << 40),
        ("n1.memory", 0, 1 << 40),
        ("p1.cpu", 1, 1 << 40),
        ("p1.memory", 1, 1 << 40),
        ("p1.priority", -(1 << 31), 1_000_000_000),
    ]


def test_bound_pods_are_assumed_to_fit() -> None:
    with fresh_graph():
        assert list(map(repr, instantiate(ClusterTemplate((2, 0), 1)).assumptions())) == [
            "not(lt(n1.cpu, add(p1.cpu, p2.cpu)))"
        ]
        assert instantiate(ClusterTemplate((0, 0), 1)).assumptions() == ()


def test_pods_in_one_place_and_empty_nodes_are_neighbours() -> None:
    of = {str(t): [(a[0], b[0]) for a, b in instantiate(t).neighbours()] for t in templates(3, 3, PLAIN)}
    assert of == {
        "3 waiting": [("p1", "p2"), ("p2", "p3"), ("n1", "n2"), ("n2", "n3")],
        "1 on n1, 2 waiting": [("p2", "p3"), ("n2", "n3")],
        "1 on n1, 1 on n2, 1 waiting": [],
        "1 on n1, 1 on n2, 1 on n3": [],
        "2 on n1, 1 waiting": [("p1", "p2"), ("n2", "n3")],
        "2 on n1, 1 on n2": [("p1", "p2")],
        "3 on n1": [("p1", "p2"), ("p2", "p3"), ("n2", "n3")],
    }
    assert instantiate(ClusterTemplate((0,), 2, limits=Limits(priority=0))).neighbours() == []
    assert instantiate(ClusterTemplate((0, 0), 0, gangs=(2,), arrival=(0, 0))).neighbours() == []


@pytest.mark.parametrize(
    "template",
    [
        ClusterTemplate((1,), 1, scope=Scope(pod_events=3, flush=False, node_deletions=1)),
        ClusterTemplate((1, 1), 1, graceful=False),
        ClusterTemplate(
            (0, 0), 2, resources=("cpu", "memory"), limits=Limits(least_priority=LOWEST_PRIORITY)
        ),
    ],
    ids=str,
)
def test_a_written_cluster_is_read_back(template: ClusterTemplate) -> None:
    values = {
        q.name: i % 4 - (3 if q.name.endswith("priority") and template.limits.least_priority else 0)
        for i, q in enumerate(instantiate(template).parameters)
    }
    for node, count in enumerate(template.bound):
        for r in template.resources:
            values[f"n{node + 1}.{r}"] = 9 if count else values[f"n{node + 1}.{r}"]
    spec = concrete(template, values)
    text = scenario_text(
        spec, name="some", title="Some", release="1.19.0", properties=["S-CAP"], comment="one\ntwo"
    )
    assert text.startswith("# one\n# two\nname: some\n")
    read = parse_scenario(text, "some.yaml")
    assert read.spec.scope == spec.scope
    systems = [
        instrument(s, resolve("1.19").classes, [PROPERTIES["S-CAP"]])
        for s in (
            ClusterSpec("x", spec.pods, spec.nodes, spec.scope),
            ClusterSpec("x", read.spec.pods, read.spec.nodes, read.spec.scope, read.spec.budgets),
        )
    ]
    assert [pod.priority.value for pod in read.spec.pods] == [pod.priority.value for pod in spec.pods]
    assert [t.label for t in systems[0].transitions] == [t.label for t in systems[1].transitions]
    assert systems[0].initial == systems[1].initial


def test_sizes_begin_with_the_smallest() -> None:
    assert sizes(3, 2) == [(1, 1), (2, 1), (1, 2), (3, 1), (2, 2), (3, 2)]


def test_a_pod_that_no_node_could_hold_is_oversize() -> None:
    with fresh_graph():
        assert list(map(repr, instantiate(ClusterTemplate((0, 0), 1)).oversize())) == [
            "and(lt(n1.cpu, p1.cpu), lt(n2.cpu, p1.cpu))"
        ]


def test_what_nothing_was_asked_of_has_its_least_value() -> None:
    spec = concrete(ClusterTemplate(bound=(0,), waiting=1), {"p1.cpu": 2})
    (pod,), (node,) = spec.pods, spec.nodes
    assert (pod.quantities[0], pod.quantities[-1]) == (2, 0)
    assert node.quantities[0] == 0
