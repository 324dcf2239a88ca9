"""The section `extender`: what it makes, and what it refuses."""

from __future__ import annotations

import pytest

from podrace.model.environment.cluster.workloads import ExtenderSpec, Noting
from podrace.scenarios.reader.scenario_reader import parse_scenario
from podrace.scenarios.reader.values.yaml_values import ScenarioError

CLUSTER = """\
nodes: {n1: {cpu: 4, resources: {x/gpu: 2}}, n2: {cpu: 4}}
pods:
  p: {cpu: 1, resources: {x/gpu: 1}}
  q: {cpu: 1}
"""


def test_an_extender() -> None:
    plain = parse_scenario(CLUSTER + "extender: {resource: x/gpu, verbs: [filter]}\n").spec.extender
    assert plain == ExtenderSpec("x/gpu", filters=True)
    text = "extender: {resource: x/gpu, ignoredByScheduler: true, verbs: [bind, preempt], ignorable: true, counts: bound}\n"
    spec = parse_scenario(CLUSTER + text + "scope: {extender_failures: 2}\n").spec
    assert spec.extender == ExtenderSpec("x/gpu", True, False, True, True, True, Noting.BOUND)
    assert spec.scope.extender_failures == 2


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("extender: {verbs: [filter]}", "extender: `resource` is missing: an extender has a `resource` and `verbs`"),
        ("extender: {resource: x/gpu}", "extender: `verbs` is missing: an extender has a `resource` and `verbs`"),
        ("extender: {resource: memory, verbs: [bind]}", "extender.resource: an extender manages an extended resource, such as example.com/gpu"),
        ("extender: {resource: x/gpu, verbs: []}", "extender.verbs: an extender without verbs is never called: name one"),
        ("extender: {resource: x/gpu, verbs: [score]}", "extender.verbs[0]: there is no such verb: `score`; known: filter, bind, preempt"),
        ("extender: {resource: x/gpu, verbs: [bind], counts: filtered}", "extender.counts: it is never called for that: add `filter` to `verbs`"),
        ("extender: {resource: x/gpu, verbs: [filter], counts: bound}", "extender.counts: it is never called for that: add `bind` to `verbs`"),
        ("extender: {resource: x/tpu, verbs: [bind]}", "extender: no pod asks for x/tpu: let one, or remove the section"),
        ("extender: {resource: x/gpu, verbs: [bind]}\nscope: {restarts: 1}", "scope: what a new process makes of calls under way is not modelled: remove `restarts` or `extender`"),
        ("extender: {resource: x/gpu, verbs: [bind]}\nconfig: {scored: true}", "extender: what an extender scores is not modelled: remove it, or `scored: true`"),
        ("extender: {resource: x/gpu, verbs: [bind]}\ncontrollers: {w: {kind: ReplicaSet, pods: [q]}}", "extender: an extender beside `controllers` is not modelled: remove one of them"),
        ("scope: {extender_failures: 1}", "scope: there is no extender to fail: remove `extender_failures`"),
    ],
)  # fmt: skip
def test_mistakes(text: str, message: str) -> None:
    with pytest.raises(ScenarioError) as refused:
        parse_scenario(CLUSTER + text + "\n", "s.yaml")
    assert message in str(refused.value)


@pytest.mark.parametrize(
    "field", ["updates: {b: {labels: {a: b}}}", "extenderSelector: {a: b}", "schedulerName: other"]
)
def test_what_is_not_modelled_of_a_pod_that_it_is_asked_about(field: str) -> None:
    text = CLUSTER.replace("resources: {x/gpu: 1}}", "resources: {x/gpu: 1}, " + field + "}")
    name = field.split(":")[0]
    assert parse_scenario(text).spec.pods[0].name == "p"
    with pytest.raises(
        ScenarioError,
        match=f"of a pod that an extender is asked about, this is not modelled: remove `{name}`",
    ):
        parse_scenario(text + "extender: {resource: x/gpu, verbs: [filter]}\n")


def test_nodes_that_are_resized() -> None:
    text = CLUSTER.replace("n2: {cpu: 4}", "n2: {cpu: 4, updates: {larger: {cpu: 8}}}")
    with pytest.raises(
        ScenarioError, match="what an extender makes of nodes that are resized is not modelled"
    ):
        parse_scenario(text + "extender: {resource: x/gpu, verbs: [filter]}\n")
