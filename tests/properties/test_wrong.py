"""What a violation is about is said: which objects, in the last state, and in the case of a lasso that says most."""

from __future__ import annotations

from collections.abc import Iterator
from random import Random

import msgspec
import pytest

from podrace.analysis.chain import verdict_on
from podrace.analysis.request.plan import Run
from podrace.checker.core.exploration import Budget
from podrace.checker.core.interpreter import Interpreter
from podrace.model.history import resolve
from podrace.model.language import Component, Expr
from podrace.properties import PROPERTIES, instrument
from podrace.properties.base.property import Property
from podrace.reports.document import Finding
from podrace.reports.text.explanation import explain
from podrace.scenarios import find_scenarios, parse_scenario

APART = """\
nodes: {nodes}
pods:
  old:   {{cpu: 2, nodeName: n1}}
  web-a: {{cpu: 1, labels: {{app: web}}, podAntiAffinity: {{required: [{{topologyKey: {key}, matchLabels: {{app: web}}}}]}}}}
  web-b: {{cpu: 1, labels: {{app: web}}, podAntiAffinity: {{required: [{{topologyKey: {key}, matchLabels: {{app: web}}}}]}}}}
scope: {{pod_events: 2, flush: false, pod_deletions: 1, lost_replies: 1}}
"""
HOST, ZONE = "kubernetes.io/hostname", "topology.kubernetes.io/zone"


def found(text: str, release: str, prop: str) -> Finding:
    return verdict_on(Run(parse_scenario(text), resolve(release), prop), Budget(max_states=200_000))


@pytest.mark.parametrize(
    ("nodes", "key", "terms", "end"),
    [
        ("{n1: {cpu: 2}}", HOST, "must not share a node with pods with app=web", "both on n1"),
        (
            "{n1: {cpu: 2, labels: {topology.kubernetes.io/zone: z}}}",
            ZONE,
            "must not share a zone with pods with app=web",
            "both on n1",
        ),
    ],
)
def test_who_is_too_close_is_said(nodes: str, key: str, terms: str, end: str) -> None:
    finding = found(APART.format(nodes=nodes, key=key), "1.34", "S-AFF")
    assert (finding.verdict, finding.wrong) == (
        "VIOLATED",
        (f"web-a and web-b, which must be apart, are {end}.",),
    )
    told = explain(finding)
    assert told.outcome[0] == f"web-a and web-b, which must be apart, are {end}."
    assert (
        f"Pod web-a asks for 1 cpu, has priority 0 and is pending. It has the label app=web and {terms}."
        in told.opening
    )


STUCK_VICTIM = """\
nodes: {n1: {cpu: 1, conditions: {Ready: Unknown}}, n2: {cpu: 1}}
pods:
  v1: {cpu: 1, nodeName: n1}
  v2: {cpu: 1, nodeName: n2}
  p:  {cpu: 1, priority: 10}
scope: {pod_events: 1, node_events: 1, flush: false, backoff: false}
"""


def test_of_two_nodes_the_one_is_told_where_nothing_was_done() -> None:
    """p has preempted on n1, where the victim never ends: that it may not do so on n2 is the point."""
    finding = found(STUCK_VICTIM, "1.36.4", "L-INV")
    assert finding.lasso is not None
    assert finding.lasso.case == "p waits indefinitely for room that pods of lower priority have on n2"
    assert (finding.states, len(finding.trace or ())) == (217, 21)
    assert "Node n1 has the condition Ready=Unknown." in explain(finding).opening


ENDINGS = [
    ("missed-deletion", "S-LEAK", "a is gone, and the cache still has it."),
    ("gate-outlives-removal", "S-STUCK", "p waits, and fits on n1."),
    ("scenarios/hazards/ghost.yaml", "S-GHOST", "p is in a sub-queue, and the queue's handler knows that it is bound or gone."),
    ("update-in-flight", "S-CYCLE", "p is in a sub-queue while the scheduling cycle has it."),
    ("scenarios/hazards/update-before-requeue.yaml", "S-UNIQ", "p is in a sub-queue and in its binding cycle at the same time."),
    ("scenarios/hazards/budget-overdrawn.yaml", "S-PDB", "w2 is evicted for r, and its budget web has no room."),
    ("scenarios/hazards/twin.yaml", "S-TWIN", "web and web-again, which has its name, run at the same time."),
    ("bound-between", "S-VOL", "b is bound where it cannot use the volume of c1."),
]  # fmt: skip


@pytest.mark.ci
@pytest.mark.parametrize(("name", "prop", "sentence"), ENDINGS)
def test_each_violation_names_its_objects(name: str, prop: str, sentence: str) -> None:
    (scenario,) = find_scenarios(name)
    composition = resolve(scenario.release or "1.36", gates=dict(scenario.feature_gates))
    finding = verdict_on(Run(scenario, composition, prop), Budget(max_states=200_000))
    assert finding.verdict == "VIOLATED"
    assert finding.wrong is not msgspec.UNSET
    assert sentence in finding.wrong


UNSAID = {"S-DRAIN", "S-EXIT", "S-GAIN"}
"""They are about what one step does to a whole cycle or process; the last step says it."""


def test_a_property_of_states_says_what_is_wrong_in_one() -> None:
    """All others remember what a step did, and that step is the last of the counterexample."""
    silent = {
        identifier
        for identifier, cls in PROPERTIES.items()
        if cls.kind != "liveness" and cls.wrong is Property.wrong and cls.observe is Component.observe
    }
    assert silent == UNSAID


def test_what_is_not_wrong_holds() -> None:
    """A property says what can be wrong, or what holds; one that says neither holds nowhere."""
    (scenario,) = find_scenarios("kept-name")
    classes = resolve("1.36").classes

    class NobodyExists(Property):
        """No pod exists."""

        id = "NOBODY"

        def wrong(self) -> Iterator[tuple[str, Expr]]:
            for pod in self.pods:
                yield f"{pod.name} exists", self.api.pod[pod].exists

    class SaysNothing(Property):
        """Nothing is said."""

        id = "NOTHING"

    system = instrument(scenario.spec, classes, [NobodyExists])
    assert not Interpreter(system).holds(system.invariants["NOBODY"], system.initial)
    with pytest.raises(NotImplementedError):
        instrument(scenario.spec, classes, [SaysNothing])


AGREEING = [
    "missed-deletion", "device-twice", "volume-told-early", "scenarios/hazards/budget-overdrawn.yaml",
    "scenarios/hazards/twin.yaml", "kept-name",
]  # fmt: skip


@pytest.mark.ci
@pytest.mark.parametrize("name", AGREEING)
def test_what_is_wrong_agrees_with_what_holds(name: str) -> None:
    """In the states of a random walk, an invariant is broken exactly where a sentence is true."""
    (scenario,) = find_scenarios(name)
    composition = resolve(scenario.release or "1.36", gates=dict(scenario.feature_gates))
    for identifier, cls in PROPERTIES.items():
        if cls.kind != "invariant" or cls.wrong is Property.wrong or identifier == "S-CAP":
            continue
        if cls.holds is Property.holds:  # it is what is not wrong
            continue
        system = instrument(scenario.spec, composition.classes, [cls])
        said = system.explainer.said_of(identifier, "wrong")
        interpreter, random, state = Interpreter(system), Random(f"{name} {identifier}"), system.initial
        for _ in range(20):
            holds = bool(interpreter.evaluate(system.invariants[identifier], state))
            assert holds is not any(interpreter.evaluate(when, state) for when in said.values()), identifier
            enabled = interpreter.enabled(state)
            if not enabled:
                break
            state = interpreter.successor(state, random.choice(enabled))
