"""Selectors, terms and budgets."""

import pytest

from podrace.model.environment.cluster.placement_rules import NodeTerm, parsed
from podrace.model.environment.objects import (
    DisruptionBudget,
    Node,
    Operator,
    Pod,
    Requirement,
    Selector,
    Term,
)


@pytest.mark.parametrize(
    ("operator", "values", "labels", "holds"),
    [
        (Operator.IN, ("a", "b"), {"k": "a"}, True),
        (Operator.IN, ("a",), {"k": "c"}, False),
        (Operator.IN, ("a",), {}, False),
        (Operator.NOT_IN, ("a",), {"k": "a"}, False),
        (Operator.NOT_IN, ("a",), {"k": "c"}, True),
        (Operator.NOT_IN, ("a",), {}, True),
        (Operator.EXISTS, (), {"k": ""}, True),
        (Operator.EXISTS, (), {}, False),
        (Operator.DOES_NOT_EXIST, (), {}, True),
        (Operator.DOES_NOT_EXIST, (), {"k": "a"}, False),
    ],
)
def test_requirements(operator, values, labels, holds):
    assert Requirement("k", operator, values).holds(labels) is holds


def test_an_empty_selector_matches_everything_and_one_that_is_not_set_nothing():
    assert Selector().matches({})
    assert Selector().empty
    assert not Selector(nothing=True).matches({})
    assert not Selector(nothing=True).empty
    both = Selector({"a": "1"}, (Requirement("b", Operator.EXISTS),))
    assert both.matches({"a": "1", "b": "2"})
    assert not both.matches({"a": "1"})


def test_values_that_no_label_can_have():
    assert Selector({"a": "x-1.y_z"}).valid
    assert Selector({"a": ""}).valid
    assert not Selector({"a": "-x"}).valid
    assert not Selector({"a": "x" * 64}).valid
    assert not Selector({}, (Requirement("a", Operator.IN, ("{{bad}}",)),)).valid


@pytest.mark.parametrize(
    ("operator", "values", "valid"),
    [
        (Operator.IN, (), False),
        (Operator.IN, ("",), True),
        (Operator.NOT_IN, (), False),
        (Operator.NOT_IN, ("a", "b"), True),
        (Operator.NOT_IN, ("a", "-b"), False),
        (Operator.EXISTS, (), True),
        (Operator.EXISTS, ("a",), False),
        (Operator.DOES_NOT_EXIST, ("a",), False),
        (Operator.GREATER, ("7",), True),
        (Operator.GREATER, ("7", "8"), False),
        (Operator.LESS, (), False),
        (Operator.LESS, ("seven",), False),
        (Operator.LESS, ("-7",), False),
    ],
)
def test_requirements_that_can_be_parsed(operator, values, valid):
    assert Requirement("k", operator, values).valid is valid


def test_only_terms_of_node_affinity_compare_numbers():
    more = Requirement("k", Operator.GREATER, ("7",))
    assert not Selector({}, (more,)).valid
    assert not Term({}, "zone", expressions=(more,)).valid
    assert NodeTerm((more,)).matches("n", {"k": "8"})


def test_a_term_that_cannot_be_parsed_takes_its_group_with_it():
    broken = Term({"a": "-x"}, "zone")
    beside, against = Term({"a": "x"}, "zone"), Term({"a": "x"}, "zone", anti=True)
    liked = Term({"a": "x"}, "zone", required=False)
    assert parsed([broken, beside, against, liked]) == [against, liked]
    assert parsed([beside, against]) == [beside, against]


def test_namespaces_of_a_term():
    def means(term, **pod):
        owner = Pod(0, "o", 1, namespace="mine", terms=[term])
        return owner.terms[0].matches(Pod(1, "p", 1, labels={"app": "x"}, **pod))

    plain = Term({"app": "x"}, "zone")
    assert means(plain, namespace="mine")
    assert not means(plain, namespace="yours")
    listed = Term({"app": "x"}, "zone", namespaces=("yours",))
    assert means(listed, namespace="yours")
    assert not means(listed, namespace="mine")
    labelled = Term({"app": "x"}, "zone", namespace_selector=Selector({"team": "a"}))
    assert means(labelled, namespace="n", namespace_labels={"team": "a"})
    assert not means(labelled, namespace="mine")
    everywhere = Term({"app": "x"}, "zone", namespace_selector=Selector())
    assert means(everywhere, namespace="anything")


def test_what_a_budget_protects():
    budget = DisruptionBudget(0, "b", Selector({"app": "x"}), 1, namespace="mine")
    assert budget.selects(Pod(0, "p", 1, labels={"app": "x"}, namespace="mine"))
    assert not budget.selects(Pod(0, "p", 1, labels={"app": "x"}))
    assert not budget.selects(Pod(0, "p", 1, namespace="mine"))
    unreadable = Selector({}, (Requirement("app", Operator.NOT_IN, ("-",)),))
    assert not DisruptionBudget(0, "b", unreadable, 1).selects(Pod(0, "p", 1, labels={"app": "x"}))
    everybody = DisruptionBudget(0, "b", Selector())
    assert everybody.selects(Pod(0, "p", 1, labels={"app": "x"}))
    assert everybody.selects(Pod(0, "p", 1))
    assert not everybody.selects(Pod(0, "p", 1, namespace="mine"))
    assert not DisruptionBudget(0, "b", Selector(nothing=True)).selects(Pod(0, "p", 1))


def test_a_resource_without_a_domain_is_ignored():
    names = ("gpu", "requests.example.com/gpu", "example.com/gpu", "hugepages-2Mi")
    pod = Pod(0, "p", 1, extended=dict.fromkeys(names, 1))
    assert pod.resources == ("cpu", "memory", "ephemeral-storage", "example.com/gpu", "hugepages-2Mi")
    assert Node(0, "n", 1, labels={"a": "b"}, hostname_label=False).labels == {"a": "b"}
