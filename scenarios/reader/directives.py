"""Which nodes a pod asks for: required node affinity.

Taints of nodes, tolerations of pods; the same mistakes are refused as by the API server.
Topology spread constraints of pods.
"""

from __future__ import annotations

from collections.abc import Mapping

from ...model.environment.objects import NodeAffinity, NodeTerm, Operator, Taint, Toleration
from ...model.environment.placement_rules import NODE_NAME, SpreadConstraint
from .document import Value
from .labels import SELECTOR_FIELDS, label_key, label_value, read_requirements, read_selector, selector_in
from .terms import AFFINITY_FIELDS, PREFERRED, REQUIRED, one_spelling

NODE_AFFINITY_FIELDS = AFFINITY_FIELDS
NODE_SELECTOR_FIELDS = ("nodeSelectorTerms",)
NODE_TERM_FIELDS = ("matchExpressions", "matchFields")


def read_node_affinity(value: Value | None) -> NodeAffinity | None:
    """The required part of nodeAffinity; the preferred one is refused, because the model has no such score."""
    if value is None:
        return None
    fields = value.fields(NODE_AFFINITY_FIELDS, "a mapping with `required`")
    for name in ("preferred", PREFERRED):
        if name in fields:
            fields[name].fail("node preferences are scores that the model does not have: remove them")
    required = one_spelling(fields, "required", REQUIRED)
    if required is None:
        value.fail("`required` is missing: give `nodeSelectorTerms` below it")
    return read_node_selector(required)


def read_node_selector(required: Value) -> NodeAffinity:
    """A node selector: a list of terms, of which one must match."""
    inner = required.fields(NODE_SELECTOR_FIELDS, "a mapping with `nodeSelectorTerms`")
    if "nodeSelectorTerms" not in inner:
        required.fail("`nodeSelectorTerms` is missing: give a list of terms, of which one must match")
    terms = inner["nodeSelectorTerms"].elements("a list of terms with `matchExpressions` or `matchFields`")
    if not terms:
        inner["nodeSelectorTerms"].fail("the list is empty: give at least one term, or remove the affinity")
    return NodeAffinity(tuple(_term(term) for term in terms))


def _term(value: Value) -> NodeTerm:
    fields = value.fields(NODE_TERM_FIELDS, "a term with `matchExpressions` or `matchFields`")
    names = read_requirements(fields.get("matchFields"), (Operator.IN, Operator.NOT_IN), _field)
    wrong = next((i for i, r in enumerate(names) if len(r.values) != 1), None)
    if wrong is not None:
        place = fields["matchFields"].elements("")[wrong]
        place.fail("a field is compared with one name: give exactly one in `values`, or several terms")
    return NodeTerm(read_requirements(fields.get("matchExpressions"), tuple(Operator)), names)


def _field(value: Value) -> str:
    return value.one_of([NODE_NAME], "a field of a node")


TAINT_FIELDS = ("key", "value", "effect")
TOLERATION_FIELDS = ("key", "operator", "value", "effect")
EFFECTS = ("NoSchedule", "PreferNoSchedule", "NoExecute")


def read_taints(value: Value | None) -> list[Taint]:
    """The taints of a node."""
    return [] if value is None else [_taint(v) for v in value.elements("a list of taints")]


def _taint(value: Value) -> Taint:
    fields = value.fields(TAINT_FIELDS, "a taint with `key` and `effect`")
    for needed in ("key", "effect"):
        if needed not in fields:
            value.fail(f"`{needed}` is missing: a taint needs `key` and `effect`")
    return Taint(label_key(fields["key"]), _value(fields), fields["effect"].one_of(EFFECTS, "an effect"))


def read_tolerations(value: Value | None) -> list[Toleration]:
    """The tolerations of a pod."""
    return [] if value is None else [_toleration(v) for v in value.elements("a list of tolerations")]


def _toleration(value: Value) -> Toleration:
    fields = value.fields(TOLERATION_FIELDS, "a toleration: a mapping with key, operator, value, effect")
    operator = (
        fields["operator"].one_of(("Equal", "Exists"), "an operator") if "operator" in fields else "Equal"
    )
    if operator == "Exists" and "value" in fields:
        fields["value"].fail("Exists compares with nothing: remove `value`, or make the operator Equal")
    if operator == "Equal" and "key" not in fields:
        value.fail("`key` is missing: without it the operator must be Exists, which tolerates every taint")
    return Toleration(
        label_key(fields["key"]) if "key" in fields else "",
        operator,
        _value(fields),
        fields["effect"].one_of(EFFECTS, "an effect") if "effect" in fields else "",
    )


def _value(fields: Mapping[str, Value]) -> str:
    return label_value(fields["value"]) if "value" in fields else ""


SPREAD_FIELDS = ("maxSkew", "topologyKey", "whenUnsatisfiable", "labelSelector", *SELECTOR_FIELDS, "others")
MAX_SKEW = 1 << 31
MAX_OTHERS = 1_000_000


def read_spread(value: Value | None) -> list[SpreadConstraint]:
    """The hard constraints of a pod."""
    return [] if value is None else [_constraint(v) for v in value.elements("a list of constraints")]


def _constraint(value: Value) -> SpreadConstraint:
    fields = value.fields(SPREAD_FIELDS, "a constraint with `maxSkew` and `topologyKey`")
    for needed in ("maxSkew", "topologyKey"):
        if needed not in fields:
            value.fail(f"`{needed}` is missing: a constraint needs `maxSkew` and `topologyKey`")
    if "whenUnsatisfiable" in fields:
        said = fields["whenUnsatisfiable"]
        if said.one_of(("DoNotSchedule", "ScheduleAnyway"), "what to do") == "ScheduleAnyway":
            said.fail("ScheduleAnyway is a score that the model does not have: remove the constraint")
    beside = next((name for name in SELECTOR_FIELDS if name in fields), None)
    if "labelSelector" not in fields and beside is None:
        value.fail("`matchLabels` is missing: give the labels of the pods that are counted")
    if "labelSelector" in fields and beside is not None:
        fields[beside].fail(f"`labelSelector` is there, too: move `{beside}` into it")
    selector = read_selector(fields["labelSelector"]) if "labelSelector" in fields else selector_in(fields)
    return SpreadConstraint(
        label_key(fields["topologyKey"]),
        selector,
        fields["maxSkew"].integer(1, MAX_SKEW),
        _others(fields["others"]) if "others" in fields else {},
    )


def _others(value: Value) -> dict[str, int]:
    pairs = value.items("a mapping from values of the topology key to numbers of pods")
    return {label_value(domain): number.integer(0, MAX_OTHERS) for domain, number in pairs}
