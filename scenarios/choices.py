"""The parameters of a scenario: which values they may have together, and the scenario that a choice of values gives.

A file with ranges stands for all files that have a number of its range in the place of each, as far as they are
scenarios at all: the pods that are bound at the start must fit on their nodes, and some node must be able to hold each pod.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from itertools import combinations

from ..model.environment.objects import ClusterSpec, Node, Pod
from ..model.language import Entity, Expr, Parameter, all_of, any_of, as_expr, total
from ..model.language.expressions.expr import parameter
from .reader.scenario import Scenario
from .reader.scenario_reader import parse_scenario
from .values.ranges import RangeParameter
from .writer.sameness import difference
from .writing import scenario_text

Swap = tuple[Entity, Entity, dict[Parameter, Parameter]]


def divisible(numbers: Iterable[RangeParameter]) -> tuple[Expr, ...]:
    """That every parameter is a whole number of the unit in which its range is written; in the graph in use."""
    return tuple(parameter(q) // q.stride * q.stride == parameter(q) for q in numbers if q.stride > 1)


def sensible(spec: ClusterSpec) -> dict[str, Expr]:
    """What a scenario must meet, as far as it depends on the choice, each with its words; in the graph in use."""
    full, oversize = [], []
    for node in spec.nodes:
        bound = [pod for pod in spec.pods if pod.node is node]
        for resource in dict.fromkeys(r for pod in bound for r in pod.resources):
            full.append(total(pod.request(resource) for pod in bound) <= node.allocatable(resource))
        if node.pods is not None:
            full.append(as_expr(len(bound)) <= node.pods)
    for pod in spec.pods:
        for resource in pod.resources:
            oversize.append(
                any_of(pod.request(resource) <= node.allocatable(resource) for node in spec.nodes)
            )
    words = {
        "the pods that are bound at the start fit on their nodes": all_of(full),
        "some node has what each pod asks for": all_of(oversize),
    }
    return {text: e for text, e in words.items() if not (e.is_const and e.value)}


def exchanges(spec: ClusterSpec) -> Iterator[Swap]:
    """Pairs of pods, and of nodes, that may be interchangeable, with the parameters that change places with them."""
    for one, other in combinations(spec.pods, 2):
        named = dict.fromkeys([*one.resources, *other.resources])
        pairs = [(one.request(r), other.request(r)) for r in named]
        yield from _swap(one, other, [*pairs, (one.priority, other.priority)])
    named = dict.fromkeys(r for pod in spec.pods for r in pod.resources)
    for first, second in combinations(spec.nodes, 2):
        pairs = [(first.allocatable(r), second.allocatable(r)) for r in named]
        limits = (first.pods, second.pods)
        if limits[0] is not None and limits[1] is not None:
            pairs.append((limits[0], limits[1]))
        yield from _swap(first, second, pairs)


def _swap(one: Pod | Node, other: Pod | Node, pairs: list[tuple[Expr, Expr]]) -> Iterator[Swap]:
    """The exchange, if one has the same parameters as the other, with the same ranges, and has any."""
    moved: dict[Parameter, Parameter] = {}
    for a, b in pairs:
        p, q = (e.value if e.op == "param" else None for e in (a, b))
        if isinstance(p, RangeParameter) and isinstance(q, RangeParameter) and p.like == q.like:
            moved |= {p: q, q: p}
        elif p is not None or q is not None:
            return
    if moved:
        yield one, other, moved


def settled(scenario: Scenario, values: Mapping[str, int]) -> Scenario:
    """The scenario in which each parameter has this value, by its name. Its text has the same lines.

    Raises Problem for a choice that is no scenario.
    """
    text = scenario.text
    for quantity in sorted(scenario.open, key=lambda q: q.span, reverse=True):
        start, end = quantity.span
        text = text[:start] + quantity.write(values[quantity.name]) + text[end:]
    made = parse_scenario(text, scenario.file)
    return replace(made, spec=replace(made.spec, scope=scenario.spec.scope))


def settled_text(scenario: Scenario) -> str:
    """The text of a settled scenario: the user's, unless an option has changed the scope that the text gives."""
    if not difference(parse_scenario(scenario.text, scenario.file).spec, scenario.spec):
        return scenario.text
    return scenario_text(
        scenario.spec,
        name=scenario.name,
        title=scenario.title,
        release=scenario.release,
        properties=scenario.properties,
        gates=tuple(scenario.feature_gates.items()),
    )
