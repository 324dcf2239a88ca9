"""Which nodes a pod asks for: the operators, terms ORed, requirements ANDed."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from podrace.model.environment.cluster.placement_rules import NODE_NAME, NodeAffinity, NodeTerm, whole_number
from podrace.model.environment.objects import Node, Operator, Pod, Requirement

LABELS = {"zone": "a", "cores": "8", "word": "eight"}


@pytest.mark.parametrize(
    ("key", "operator", "values", "holds"),
    [
        ("zone", Operator.IN, ("a", "b"), True),
        ("zone", Operator.IN, ("b",), False),
        ("none", Operator.IN, ("a",), False),
        ("zone", Operator.NOT_IN, ("a",), False),
        ("none", Operator.NOT_IN, ("a",), True),
        ("zone", Operator.EXISTS, (), True),
        ("none", Operator.EXISTS, (), False),
        ("zone", Operator.DOES_NOT_EXIST, (), False),
        ("none", Operator.DOES_NOT_EXIST, (), True),
        ("cores", Operator.GREATER, ("7",), True),
        ("cores", Operator.GREATER, ("8",), False),
        ("cores", Operator.LESS, ("10",), True),  # as numbers, not as texts
        ("cores", Operator.LESS, ("8",), False),
        ("word", Operator.GREATER, ("7",), False),
        ("word", Operator.LESS, ("7",), False),
        ("none", Operator.LESS, ("7",), False),
        ("cores", Operator.GREATER, ("seven",), False),
        ("cores", Operator.GREATER, ("-1",), False),  # no label value, so to the scheduler no requirement
        ("cores", Operator.LESS, ("+9",), False),
        ("cores", Operator.LESS, ("",), False),
        ("cores", Operator.GREATER, ("1", "2"), False),
    ],
)
def test_operators(key: str, operator: Operator, values: tuple[str, ...], holds: bool) -> None:
    assert Requirement(key, operator, values).holds(LABELS) is holds


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("9223372036854775807", (1 << 63) - 1),
        ("9223372036854775808", None),
        ("-9223372036854775808", -(1 << 63)),
        ("+05", 5),
        ("", None),
        ("1_0", None),
        ("٣", None),
        (" 1", None),
    ],
)
def test_numbers_are_those_of_64_bits(text: str, number: int | None) -> None:
    assert whole_number(text) == number


def test_a_term_without_requirements_matches_no_node() -> None:
    assert not NodeTerm().matches("n", LABELS)
    assert not NodeAffinity(()).matches("n", LABELS)
    assert not NodeAffinity((NodeTerm(),)).matches("n", LABELS)


def test_fields_name_one_node() -> None:
    def field(operator: Operator, *names: str) -> NodeTerm:
        return NodeTerm(fields=(Requirement(NODE_NAME, operator, names),))

    assert field(Operator.IN, "n").matches("n", {})
    assert not field(Operator.IN, "m").matches("n", {})
    assert field(Operator.NOT_IN, "m").matches("n", {})
    assert not field(Operator.IN, "n", "m").matches("n", {}), "upstream reads exactly one value"
    assert not field(Operator.EXISTS, "n").matches("n", {}), "no operator of fields"


def test_a_term_that_cannot_be_parsed_matches_no_node() -> None:
    one_value_too_many = Requirement("zone", Operator.EXISTS, ("a",))
    assert not NodeTerm((one_value_too_many,)).matches("n", LABELS)
    assert not NodeTerm((Requirement("none", Operator.NOT_IN, ()),)).matches("n", LABELS)


REQUIREMENTS = st.builds(
    Requirement,
    st.sampled_from(["zone", "cores", "none"]),
    st.sampled_from(list(Operator)),
    st.lists(st.sampled_from(["a", "8", "7"]), max_size=2).map(tuple),
)
TERMS = st.builds(NodeTerm, st.lists(REQUIREMENTS, max_size=3).map(tuple))


@given(st.lists(TERMS, max_size=3), st.dictionaries(st.sampled_from(["zone", "cores"]), st.just("8")))
def test_terms_are_alternatives_and_requirements_add_up(
    terms: list[NodeTerm], labels: dict[str, str]
) -> None:
    by_hand = any(t.expressions and all(r.valid and r.holds(labels) for r in t.expressions) for t in terms)
    assert NodeAffinity(terms).matches("n", labels) is by_hand


def test_a_pod_asks_with_both_selector_and_affinity() -> None:
    node = Node(0, "n", 1, {"zone": "a"})
    here, elsewhere = (
        NodeAffinity((NodeTerm((Requirement("zone", Operator.IN, (v,)),)),)) for v in ("a", "b")
    )

    def asks(selector: dict[str, str] | None, affinity: NodeAffinity | None) -> bool:
        return Pod(0, "p", 1, node_selector=selector, node_affinity=affinity).asks_for(node)

    assert asks(None, None)
    assert asks({"zone": "a"}, here)
    assert not asks({"zone": "b"}, here)
    assert not asks({"zone": "a"}, elsewhere)
    assert asks({"kubernetes.io/hostname": "n"}, None)
