"""The section `extender`: what it makes, and what it refuses."""

from __future__ import annotations

import pytest

from podrace.base.problems import Problem
from podrace.model.environment.cluster.workloads import ExtenderSpec, Noting
from podrace.scenarios.reader.scenario_reader import parse_scenario

CLUSTER = """\
nodes: {n1: {cpu: 4, resources: {x/gpu: 2}}, n2: {cpu: 4}}
pods:
  p: {cpu: 1, resources: {x/gpu: 1}}
  q: {cpu: 1}
"""


def test_an_extender() -> None:
    plain = parse_scenario(CLUSTER + "extender: {resource: x/gpu, verbs: [filter]}\n").spec.extenders
    assert plain == (ExtenderSpec("x/gpu", filters=True),)
    text = "extender: {resource: x/gpu, ignoredByScheduler: true, verbs: [bind, preempt], ignorable: true, counts: bound}\n"
    spec = parse_scenario(CLUSTER + text + "scope: {extender_failures: 2}\n").spec
    assert spec.extenders == (ExtenderSpec("x/gpu", True, False, True, True, True, Noting.BOUND),)
    assert spec.scope.extender_failures == 2


def test_several_in_their_order() -> None:
    text = """\
extenders:
  quota: {verbs: [filter, prioritize], nodes: [n2], unresolvable: true, scores: {n1: 10, n2: 3}, weight: 5}
  gpu: {resource: x/gpu, verbs: [filter], counts: filtered}
config: {scored: true}
scope: {late_answers: 1}
"""
    spec = parse_scenario(CLUSTER + text).spec
    quota = ExtenderSpec(
        filters=True, name="quota", nodes=frozenset({"n2"}), scores=(("n1", 10), ("n2", 3)), weight=5, unresolvable=True,
    )  # fmt: skip
    assert spec.extenders == (
        quota, ExtenderSpec("x/gpu", filters=True, noting=Noting.FILTERED, name="gpu"),
    )  # fmt: skip
    assert spec.scope.late_answers == 1


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("extender: {resource: x/gpu}", "extender: `verbs` is missing: say what the extender is called for"),
        ("extender: {verbs: [bind], ignoredByScheduler: true}", "extender.ignoredByScheduler: it manages no resource: add `resource`, or remove this"),
        ("extender: {verbs: [bind], counts: bound}", "extender.counts: it manages no resource: add `resource`, or remove this"),
        ("extender: {verbs: [bind], nodes: [n1]}", "extender.nodes: it is never called for that: add `filter` to `verbs`"),
        ("extender: {verbs: [filter], scores: {n1: 3}}", "extender.scores: it is never called for that: add `prioritize` to `verbs`"),
        ("extender: {verbs: [prioritize]}", "extender: `scores` is missing: say which score it gives to which node"),
        ("extender: {verbs: [prioritize], scores: {n1: 11}}\nconfig: {scored: true}", "extender.scores.n1: expected a whole number from 0 to 10"),
        ("extender: {verbs: [prioritize], scores: {n9: 1}}", "there is no node `n9`; known: n1, n2"),
        ("extender: {verbs: [filter], nodes: [n1, n3]}", "extender.nodes[1]: there is no node `n3`; known: n1, n2"),
        ("extender: {verbs: [prioritize], scores: {n1: 1}}", "without scores every node may win, whatever an extender says: add `config: {scored: true}`, or remove `prioritize`"),
        ("extender: {verbs: [bind]}\nextenders: {b: {verbs: [bind]}}", "extender: there are `extenders`, too: name this one among them"),
        ("extenders: {a: {verbs: [bind]}, b: {verbs: [bind]}}", "extenders: kube-scheduler takes one extender that binds: remove `bind` from the others"),
        ("extenders: {a: {resource: x/gpu, verbs: [filter]}, b: {resource: x/gpu, verbs: [bind]}}", "extenders: kube-scheduler takes one extender for x/gpu: let it have one"),
        ("extenders: {}", "extenders: there are 0 extenders: name 1 to 3, or remove the section"),
        ("extenders: {a: {verbs: [bind]}, b: {verbs: [bind]}, c: {verbs: [bind]}, d: {verbs: [bind]}}", "extenders: there are 4 extenders: name 1 to 3, or remove the section"),
        ("extender: {resource: x/gpu, verbs: [filter]}\nscope: {late_answers: 1}", "scope: no extender does anything before it answers: add `counts: filtered`, or remove `late_answers`"),
        ("scope: {late_answers: 1}", "scope.late_answers: there is no extender to fail: remove `late_answers`"),
        ("extender: {resource: memory, verbs: [bind]}", "extender.resource: an extender manages an extended resource, such as example.com/gpu"),
        ("extender: {resource: x/gpu, verbs: []}", "extender.verbs: an extender without verbs is never called: name one"),
        ("extender: {resource: x/gpu, verbs: [score]}", "extender.verbs[0]: there is no such verb: `score`; known: filter, prioritize, bind, preempt"),
        ("extender: {resource: x/gpu, verbs: [bind], counts: filtered}", "extender.counts: it is never called for that: add `filter` to `verbs`"),
        ("extender: {resource: x/gpu, verbs: [filter], counts: bound}", "extender.counts: it is never called for that: add `bind` to `verbs`"),
        ("extender: {resource: x/tpu, verbs: [bind]}", "extender: no pod asks for x/tpu: let one, or remove the section"),
        ("extender: {resource: x/gpu, verbs: [bind]}\nscope: {restarts: 1}", "scope.restarts: what a new process makes of calls under way is not modelled: remove `restarts` or `extender`"),
        ("extender: {resource: x/gpu, verbs: [filter]}\ncontrollers: {w: {kind: ReplicaSet, pods: [p]}}", "extender: what an extender counts and binds of pods that `controllers` recreate is not modelled: let it manage a resource that other pods ask for"),
        ("extender: {verbs: [bind]}\ncontrollers: {w: {kind: ReplicaSet, pods: [q]}}", "extender: what an extender counts and binds of pods that `controllers` recreate is not modelled"),
        ("scope: {extender_failures: 1}", "scope.extender_failures: there is no extender to fail: remove `extender_failures`"),
    ],
)  # fmt: skip
def test_mistakes(text: str, message: str) -> None:
    with pytest.raises(Problem) as refused:
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
        Problem,
        match=f"of a pod that an extender is asked about, this is not modelled: remove `{name}`",
    ):
        parse_scenario(text + "extender: {resource: x/gpu, verbs: [filter]}\n")


def test_nodes_that_are_resized() -> None:
    text = CLUSTER.replace("n2: {cpu: 4}", "n2: {cpu: 4, updates: {larger: {cpu: 8}}}")
    with pytest.raises(Problem, match="what an extender makes of nodes that are resized is not modelled"):
        parse_scenario(text + "extender: {resource: x/gpu, verbs: [filter]}\n")
