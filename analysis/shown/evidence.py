"""What a counterexample is shown with, computed from the model: the cluster, what components know, causes."""

import msgspec

from ...base.structs import Data
from ...checker.core.interpreter import Interpreter
from ...checker.core.trace import Trace
from ...checker.trace import causality, counterfactual
from ...model.environment.objects import ClusterSpec
from ...model.language import Expr, TransitionSystem
from ...reports.evidence import Cause, Memory, NodeShape, Picture, PodShape, ShownCluster, ShownCounterfactual
from .actors import actors_of
from .objects import node_says, others_of, pod_says
from .steps import memory_of, steps_from

PICTURES = (
    Picture("as the API server has it", "API server", "API server"),
    Picture("as the scheduler believes", "cache", "nominator"),
)
"""Whose ideas of the cluster are drawn."""


class ShownEvidence(Data):
    """The fields of a Finding that show a counterexample."""

    cluster: ShownCluster
    memory: Memory
    causes: tuple[Cause, ...]
    counterfactuals: tuple[ShownCounterfactual, ...]
    wrong: tuple[str, ...] | msgspec.UnsetType


def evidence_of(spec: ClusterSpec, system: TransitionSystem, story: Trace, prop: str) -> ShownEvidence:
    """What there is to show of a counterexample, told as one run: all its steps, also those that repeat."""
    memory = memory_of(system, story.states[0])
    return ShownEvidence(
        cluster=cluster_of(spec),
        memory=memory,
        causes=_causes(system, story, memory),
        counterfactuals=_counterfactuals(system, story) if prop in system.invariants else (),
        wrong=(_wrong(system, story, prop) if prop in system.invariants else ()) or msgspec.UNSET,
    )


def cluster_of(spec: ClusterSpec) -> ShownCluster:
    """Nodes and pods, with the resources that some pod asks for."""
    named = dict.fromkeys(resource for pod in spec.pods for resource in pod.resources)
    asked = [r for r in named if any(_amount(pod.request(r)) for pod in spec.pods)]
    return ShownCluster(
        nodes=tuple(
            NodeShape(
                node.name,
                {r: _amount(node.allocatable(r)) for r in asked},
                None if node.pods is None else _amount(node.pods),
                _written(spec, f"node {node.name}", {r: _amount(node.allocatable(r)) for r in asked}),
                node_says(node) or msgspec.UNSET,
            )
            for node in spec.nodes
        ),
        pods=tuple(
            PodShape(
                pod.name,
                {r: _amount(pod.request(r)) for r in asked if _amount(pod.request(r))},
                _amount(pod.priority),
                _written(spec, f"pod {pod.name}", {r: _amount(pod.request(r)) for r in asked}),
                pod_says(pod) or msgspec.UNSET,
            )
            for pod in spec.pods
        ),
        pictures=PICTURES,
        units={r: spec.units[r] for r in asked if r in spec.units},
        others=(*others_of(spec), *actors_of(spec)),
    )


def _written(spec: ClusterSpec, whose: str, amounts: dict[str, int]) -> dict[str, str]:
    """How the scenario writes these amounts, where that is not how its unit would write them."""
    found = {}
    for resource, amount in amounts.items():
        number, suffix = spec.units.get(resource, (1, ""))
        text = spec.written.get((whose, resource, amount))
        if text is not None and text != f"{amount * number}{suffix}":
            found[resource] = text
    return found


def _amount(quantity: Expr) -> int:
    if not quantity.is_const:
        raise ValueError("a cluster whose sizes are unknown cannot be drawn")
    return int(quantity.value)


def _causes(system: TransitionSystem, story: Trace, memory: Memory) -> tuple[Cause, ...]:
    """What steps used of what others wrote. Where an event stands in its channel is nobody's cause."""
    plumbing = {channel.length.variable for channel in memory.channels}
    plumbing |= {
        reader.position.variable
        for channel in memory.channels
        for reader in channel.readers
        if reader.position is not None
    }
    found = []
    for d in causality.dependences(system, story):
        variables = tuple(name for name in d.variables if name not in plumbing)
        if variables:
            found.append(Cause(d.number, d.after, variables))
    return tuple(found)


def _counterfactuals(system: TransitionSystem, story: Trace) -> tuple[ShownCounterfactual, ...]:
    found = []
    for way in counterfactual.counterfactuals(system, story):
        steps = steps_from(system, story.states[way.before - 1], way.steps, way.before)
        found.append(ShownCounterfactual(way.before, steps, way.stops))
    return tuple(found)


def _wrong(system: TransitionSystem, story: Trace, prop: str) -> tuple[str, ...]:
    """What the property says is wrong in the last state: a sentence each."""
    ask = Interpreter(system).evaluate
    said = system.explainer.said_of(prop, "wrong")
    return tuple(f"{text}." for text, when in said.items() if ask(when, story.states[-1]))
