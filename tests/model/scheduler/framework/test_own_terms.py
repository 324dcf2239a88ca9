"""Which pods a pod's own affinity terms mean in namespaces that they select by labels: by release in the filters, and never in the hints."""

from __future__ import annotations

import pytest

from podrace.checker.search import check
from podrace.model.environment.cluster.placement_rules import Operator, Requirement, Selector, Term
from podrace.model.environment.objects import Pod
from podrace.model.history import resolve
from podrace.model.language import Expr, any_of
from podrace.properties import Property, instrument
from podrace.scenarios import parse_scenario

CLUSTER = """
nodes: {n: {cpu: 2}}
namespaces:
  data: {labels: {team: a}}
pods:
  data/x: {cpu: 1, nodeName: n, labels: {app: db}}
  w:
    cpu: 1
    KIND:
      required:
        - topologyKey: kubernetes.io/hostname
          matchLabels: {app: db}
          namespaceSelector: {matchExpressions: [{key: team, operator: OPERATOR, values: [a]}]}
scope: {pod_events: 2, flush: false}
"""


class NeverBound(Property):
    """Pod w is on no node."""

    id = "T-BOUND"

    def holds(self) -> Expr:
        (pod,) = (pod for pod in self.pods if pod.name == "w")
        return ~any_of(self.api.pod[pod].node == node for node in self.nodes)


@pytest.mark.parametrize("release", ["1.22", "1.33", "1.34", "1.36.3", "1.37"])
@pytest.mark.parametrize("operator", ["In", "NotIn"])
@pytest.mark.parametrize("kind", ["podAffinity", "podAntiAffinity"])
def test_a_selector_that_excludes_a_namespace_takes_it_in_from_1_34_to_1_36(
    release: str, operator: str, kind: str
) -> None:
    text = CLUSTER.replace("KIND", kind).replace("OPERATOR", operator)
    system = instrument(parse_scenario(text).spec, resolve(release).classes, [NeverBound])
    (found,) = check(system, ["T-BOUND"])
    means = operator == "In" or release in ("1.34", "1.36.3")
    assert (found.verdict.name == "VIOLATED") is (means is (kind == "podAffinity"))


@pytest.mark.parametrize(
    ("selector", "by_labels", "by_name"),
    [
        (None, False, False),
        (Selector({}), True, True),
        (Selector({"team": "a"}), True, False),
        (Selector({"team": "b"}), False, False),
        (Selector({}, (Requirement("team", Operator.NOT_IN, ("a",)),)), False, True),
        (Selector({}, (Requirement("team", Operator.DOES_NOT_EXIST),)), False, True),
    ],
)
def test_who_is_meant_where_nobody_looks_at_the_labels_of_a_namespace(
    selector: Selector | None, by_labels: bool, by_name: bool
) -> None:
    pod = Pod(0, "x", 1, namespace="data", namespace_labels={"team": "a"}, labels={"app": "db"})
    term = Term({"app": "db"}, "zone", namespaces=("other",), namespace_selector=selector)
    assert (term.matches(pod), term.matches_by_name(pod)) == (by_labels, by_name)
    named = Term({"app": "db"}, "zone", namespaces=("data",), namespace_selector=selector)
    assert (named.matches(pod), named.matches_by_name(pod)) == (True, True)
