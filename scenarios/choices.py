"""The parameters of a scenario: which values they may have together, and the scenario that a choice of values gives.

A file with ranges stands for all files that have a number of its range in the place of each, as far as they are
scenarios at all: the pods that are bound at the start must fit on their nodes, and some node must be able to hold each pod.
"""

from collections.abc import Iterable, Mapping
from dataclasses import replace

from ..model.environment.objects import ClusterSpec
from ..model.language import Expr, all_of, any_of, as_expr, total
from ..model.language.expressions.expr import parameter
from .reader.scenario import Scenario
from .reader.scenario_reader import parse_scenario
from .values.ranges import RangeParameter
from .writer.sameness import difference
from .writing import scenario_text


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
