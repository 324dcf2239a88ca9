"""Why a filter fails, in kube-scheduler's words: asked of the model, for the state in which the filters ran."""

from __future__ import annotations

import pickle
from collections import deque

import pytest

from podrace.analysis.request.plan import Selection, plan
from podrace.analysis.shown.steps import reasons_for, steps_of
from podrace.analysis.systems import system_of
from podrace.checker.core.interpreter import Interpreter
from podrace.checker.trace.execution import replay
from podrace.model.history import resolve
from podrace.model.language import TransitionSystem
from podrace.model.scheduler.framework.status import NodeStatus
from podrace.properties import PROPERTIES, instrument
from podrace.scenarios import parse_scenario


def system(nodes: str, pods: str, release: str = "1.34") -> TransitionSystem:
    text = (
        f"name: one\ntitle: One\nproperties: [S-CAP]\nnodes:\n  n1: {nodes}\npods:\n"
        + "".join(f"  {pod}\n" for pod in pods.splitlines())
    )  # fmt: skip
    spec = parse_scenario(text, "one.yaml").spec
    return instrument(spec, resolve(release).classes, [PROPERTIES["S-CAP"]])


def told(traced: TransitionSystem, *labels: str) -> str:
    """The sentence of the last of these steps."""
    numbers = {t.label: n for n, t in enumerate(traced.transitions)}
    return steps_of(traced, replay(traced, tuple(numbers[label] for label in labels)))[-1].sentence


FILTER = ("scheduler.pop(pod=p)", "scheduler.take_snapshot(pod=p)", "scheduler.filter(pod=p, node=n1)")
TWO_NODES = "{cpu: 2}\n  n2: {cpu: 9}"
UNLIKE = "{matchLabels: {app: web}, topologyKey: kubernetes.io/hostname}"

CASES = {
    "cpu": (
        "{cpu: 2, memory: 4}", "v: {cpu: 2, memory: 1, nodeName: n1}\np: {cpu: 1, memory: 3}",
        "does not fit on n1: Insufficient cpu.",
    ),
    "both": (
        "{cpu: 2, memory: 4}", "v: {cpu: 2, memory: 2, nodeName: n1}\np: {cpu: 1, memory: 3}",
        "does not fit on n1: Insufficient cpu, Insufficient memory.",
    ),
    "extended": (
        "{cpu: 2, resources: {example.com/gpu: 1}}", "v: {cpu: 1, resources: {example.com/gpu: 1}, nodeName: n1}\np: {cpu: 1, resources: {example.com/gpu: 1}}",
        "does not fit on n1: Insufficient example.com/gpu.",
    ),
    "pods": ("{cpu: 4, pods: 1}", "v: {cpu: 1, nodeName: n1}\np: {cpu: 1}", "does not fit on n1: Too many pods."),
    "too small": (
        TWO_NODES, "p: {cpu: 3}", "can never fit on n1, whatever is evicted: Insufficient cpu.",
    ),
    "unschedulable": (
        "{cpu: 2, unschedulable: true}", "p: {cpu: 1}",
        "can never fit on n1, whatever is evicted: node(s) were unschedulable.",
    ),
    "taint": (
        "{cpu: 2, taints: [{key: dedicated, value: a, effect: NoSchedule}]}", "p: {cpu: 1}",
        "can never fit on n1, whatever is evicted: node(s) had untolerated taint(s).",
    ),
    "selector": (
        "{cpu: 2}", "p: {cpu: 1, nodeSelector: {disk: ssd}}",
        "can never fit on n1, whatever is evicted: node(s) didn't match Pod's node affinity/selector.",
    ),
    "affinity": (
        "{cpu: 2}", f"p: {{cpu: 1, podAffinity: {{required: [{UNLIKE}]}}}}",
        "can never fit on n1, whatever is evicted: node(s) didn't match pod affinity rules.",
    ),
    "own anti-affinity": (
        "{cpu: 2}", f"v: {{cpu: 1, labels: {{app: web}}, nodeName: n1}}\np: {{cpu: 1, podAntiAffinity: {{required: [{UNLIKE}]}}}}",
        "does not fit on n1: node(s) didn't match pod anti-affinity rules.",
    ),
    "anti-affinity of others": (
        "{cpu: 2}", f"v: {{cpu: 1, nodeName: n1, podAntiAffinity: {{required: [{UNLIKE}]}}}}\np: {{cpu: 1, labels: {{app: web}}}}",
        "does not fit on n1: node(s) didn't satisfy existing pods anti-affinity rules.",
    ),
    "spread, no label": (
        "{cpu: 2}",
        "p: {cpu: 1, topologySpreadConstraints: [{maxSkew: 1, topologyKey: zone, whenUnsatisfiable: DoNotSchedule, labelSelector: {matchLabels: {a: b}}}]}",
        "can never fit on n1, whatever is evicted: node(s) didn't match pod topology spread constraints (missing required label).",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", CASES)
def test_the_reason_is_named_as_kube_scheduler_names_it(name: str) -> None:
    nodes, pods, wanted = CASES[name]
    assert told(system(nodes, pods), *FILTER) == f"The filters fail: p {wanted}"


def test_what_passes_has_no_reason() -> None:
    assert told(system("{cpu: 2}", "p: {cpu: 1}"), *FILTER) == "The filters pass: p fits on n1."


def test_the_sentence_is_that_of_the_release() -> None:
    """Up to 1.33 preemption tried also a node that could never hold the pod."""
    traced = system(TWO_NODES, "p: {cpu: 3}", "1.33")
    assert told(traced, *FILTER) == "The filters fail: p does not fit on n1: Insufficient cpu."


@pytest.mark.parametrize(
    "name",
    [
        "72124", "53647", "waiting-victim", "protected-by-budget", "assigned-pod-in-empty-zone", "new-node-in-zone", "dead-node-in-snapshot",
        "starved-by-a-nomination", "restart-before-handlers",
    ],
)  # fmt: skip
def test_every_rejection_has_a_reason_and_nothing_else_has(name: str) -> None:
    """In the first states of a search: a live node is rejected for at least one reason, one that passes for none."""
    run = plan(Selection(names=(name,)))[0]
    traced = system_of(run)
    interpreter = Interpreter(traced)
    seen, waiting, looked = {traced.initial}, deque([traced.initial]), 0
    while waiting and looked < 60 and len(seen) < 700:
        state = waiting.popleft()
        before = traced.describe(state)
        for number in interpreter.enabled(state):
            following = interpreter.successor(state, number)
            if following not in seen:
                seen.add(following)
                waiting.append(following)
            transition = traced.transitions[number]
            if transition.step != "filter":
                continue
            looked += 1
            node = dict(transition.args)["node"].name
            status = traced.describe(following)[f"scheduler.verdict[{node}]"]
            said = reasons_for(interpreter, transition, state)
            live = before.get(f"snapshot.live[{node}]", True)
            rejected = status in (NodeStatus.REJECTED, NodeStatus.UNRESOLVABLE)
            if traced.describe(following)["scheduler.pod"] is not None:
                assert bool(said) == (rejected and live)
    assert looked


def test_a_copy_in_another_process_gives_no_reasons() -> None:
    traced = system(TWO_NODES, "p: {cpu: 3}")
    number = next(n for n, t in enumerate(traced.transitions) if t.label == FILTER[-1])
    assert traced.explainer.reasons(traced.transitions[number])
    copied = pickle.loads(pickle.dumps(traced.explainer))
    assert copied.reasons(traced.transitions[number]) == {}
