"""Where a pod may go: affinity and anti-affinity between pods, node affinity, taints and tolerations, topology spread.

Affinity between pods may be in Kubernetes' words or in podrace's shorter ones. The same mistakes are refused as by the API server.
"""

from collections.abc import Callable, Mapping
from dataclasses import replace

from ...model.environment.cluster.placement_rules import NODE_NAME, PreferredNodes, SpreadConstraint
from ...model.environment.objects import (
    NodeAffinity,
    NodeTerm,
    Operator,
    Requirement,
    Selector,
    Taint,
    Term,
    Toleration,
)
from ..values.labels import label_key, label_value, read_name
from ..values.yaml_values import Value
from .placement import (
    COUNT,
    EFFECT,
    INCLUSION,
    MAX_SECONDS,
    NODE_AFFINITY,
    NODE_SELECTORS,
    NODE_TERMS,
    POD_AFFINITY,
    POD_TERMS,
    SELECTORS,
    SKEW,
    SPREAD,
    TAINTS,
    TOLERATIONS,
    WEIGHT,
)
from .selectors import node_name, read_requirements, read_selector, selector_in

REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"
PREFERRED = "preferredDuringSchedulingIgnoredDuringExecution"
TERM_FIELDS = tuple(name for name in POD_TERMS.names if name not in ("weight", "podAffinityTerm"))
_TERM = "a term with `matchLabels` and `topologyKey`"


def read_terms(value: Value | None, anti: bool) -> list[Term]:
    """The terms below podAffinity or podAntiAffinity."""
    if value is None:
        return []
    fields = value.fields(POD_AFFINITY.names, "a mapping with `required` or `preferred`")
    found: list[Term] = []
    for short, long in (("required", REQUIRED), ("preferred", PREFERRED)):
        if terms := one_spelling(fields, short, long):
            for element in terms.elements("a list of terms with `matchLabels` and `topologyKey`"):
                read = required_term if short == "required" else _preferred
                found.append(read(element, anti))
    return found


def one_spelling(fields: Mapping[str, Value], short: str, long: str) -> Value | None:
    """The field under one of its two names; refused if it is there under both."""
    if short in fields and long in fields:
        fields[short].fail(f"`{short}` is short for `{long}`, which is there, too: remove one of them")
    return fields.get(short, fields.get(long))


def required_term(element: Value, anti: bool, unselected: Selector | None = None) -> Term:
    """A required term of pod affinity or anti-affinity; one without a selector has `unselected`, or is refused."""
    return _pod_term(element, element.fields(TERM_FIELDS, _TERM), 1, True, anti, unselected)


def _preferred(element: Value, anti: bool) -> Term:
    fields = element.fields(POD_TERMS.names, _TERM)
    weight = WEIGHT.read(fields["weight"]) if "weight" in fields else 1
    if "podAffinityTerm" not in fields:
        return _pod_term(element, fields, weight, False, anti)
    beside = next((name for name in TERM_FIELDS if name in fields), None)
    if beside is not None:
        fields[beside].fail(f"`podAffinityTerm` is there, too: move `{beside}` into it")
    inner = fields["podAffinityTerm"]
    return _pod_term(inner, inner.fields(TERM_FIELDS, _TERM), weight, False, anti)


def _pod_term(
    place: Value,
    fields: Mapping[str, Value],
    weight: int,
    required: bool,
    anti: bool,
    unselected: Selector | None = None,
) -> Term:
    given = _selects(fields)
    if not given and unselected is None:
        place.fail("`matchLabels` is missing: a term needs `matchLabels` and `topologyKey`")
    if "topologyKey" not in fields:
        place.fail("`topologyKey` is missing: a term needs `matchLabels` and `topologyKey`")
    selector = _selector(fields) if given or unselected is None else unselected
    key = fields["topologyKey"].text("a node label such as kubernetes.io/hostname")
    spaces = fields.get("namespaceSelector")
    return Term(
        selector.match_labels,
        key,
        required,
        anti,
        expressions=selector.expressions,
        namespaces=_namespaces(fields.get("namespaces")),
        namespace_selector=None if spaces is None else read_selector(spaces),
        weight=weight,
    )


def _selects(fields: Mapping[str, Value]) -> bool:
    return any(name in fields for name in ("labelSelector", *SELECTORS.names))


def _selector(fields: Mapping[str, Value]) -> Selector:
    if "labelSelector" not in fields:
        return selector_in(fields)
    beside = next((name for name in SELECTORS.names if name in fields), None)
    if beside is not None:
        fields[beside].fail(f"`labelSelector` is there, too: move `{beside}` into it")
    return read_selector(fields["labelSelector"])


def _namespaces(value: Value | None) -> tuple[str, ...]:
    if value is None:
        return ()
    return tuple(read_name(v) for v in value.elements("a list of namespaces"))


def read_node_affinity(value: Value | None) -> NodeAffinity | None:
    """The required part of nodeAffinity."""
    if value is None:
        return None
    fields = value.fields(NODE_AFFINITY.names, "a mapping with `required` or `preferred`")
    required = one_spelling(fields, "required", REQUIRED)
    if required is None:
        if one_spelling(fields, "preferred", PREFERRED) is None:
            value.fail("`required` is missing: give `nodeSelectorTerms` below it, or `preferred`")
        return None
    return read_node_selector(required)


def read_preferred_nodes(value: Value | None) -> tuple[PreferredNodes, ...]:
    """The preferred part of nodeAffinity, which scores."""
    if value is None:
        return ()
    fields = value.fields(NODE_AFFINITY.names, "a mapping with `required` or `preferred`")
    terms = one_spelling(fields, "preferred", PREFERRED)
    elements = () if terms is None else terms.elements("a list of terms with `weight` and `matchExpressions`")
    return tuple(_preferred_nodes(element) for element in elements)


def _preferred_nodes(element: Value) -> PreferredNodes:
    fields = element.fields(("weight", "preference", "matchExpressions"), "a term with `matchExpressions`")
    place, told = element, fields
    if "preference" in fields:
        if "matchExpressions" in fields:
            fields["matchExpressions"].fail("`preference` is there, too: move `matchExpressions` into it")
        place = fields["preference"]
        told = place.fields(("matchExpressions",), "a mapping with `matchExpressions`")
    if "matchExpressions" not in told:
        place.fail("`matchExpressions` is missing: say which nodes the pod prefers")
    expressions = read_requirements(told["matchExpressions"], tuple(Operator))
    return PreferredNodes(WEIGHT.read(fields["weight"]) if "weight" in fields else 1, NodeTerm(expressions))


ReadExpressions = Callable[[Value | None], tuple[Requirement, ...] | None]


def read_expressions(value: Value | None) -> tuple[Requirement, ...]:
    """The matchExpressions of a term."""
    return read_requirements(value, tuple(Operator))


def read_node_selector(required: Value, expressions: ReadExpressions = read_expressions) -> NodeAffinity:
    """A node selector: a list of terms, of which one must match. One for whose `expressions` there is None matches no node."""
    inner = NODE_SELECTORS.fields(required, "a mapping with `nodeSelectorTerms`")
    terms = inner["nodeSelectorTerms"].elements("a list of terms with `matchExpressions` or `matchFields`")
    if not terms:
        inner["nodeSelectorTerms"].fail("the list is empty: give at least one term, or remove the affinity")
    return NodeAffinity(tuple(_term(term, expressions) for term in terms))


def _term(value: Value, expressions: ReadExpressions = read_expressions) -> NodeTerm:
    fields = value.fields(NODE_TERMS.names, "a term with `matchExpressions` or `matchFields`")
    names = read_requirements(fields.get("matchFields"), (Operator.IN, Operator.NOT_IN), _field, node_name)
    wrong = next((i for i, r in enumerate(names) if len(r.values) != 1), None)
    if wrong is not None:
        place = fields["matchFields"].elements("")[wrong]
        place.fail("a field is compared with one name: give exactly one in `values`, or several terms")
    found = expressions(fields.get("matchExpressions"))
    return NodeTerm() if found is None else NodeTerm(found, names)


def _field(value: Value) -> str:
    return value.one_of([NODE_NAME], "a field of a node")


def read_taints(value: Value | None) -> list[Taint]:
    """The taints of a node."""
    return [] if value is None else [_taint(v) for v in value.elements("a list of taints")]


def _taint(value: Value) -> Taint:
    fields = TAINTS.fields(value, "a taint with `key` and `effect`")
    return Taint(label_key(fields["key"]), _value(fields), EFFECT.read(fields["effect"]))


def read_tolerations(value: Value | None) -> list[Toleration]:
    """The tolerations of a pod."""
    return [] if value is None else [read_toleration(v) for v in value.elements("a list of tolerations")]


def read_toleration(value: Value) -> Toleration:
    """A toleration of a pod."""
    fields = value.fields(TOLERATIONS.names, "a toleration: a mapping with key, operator, value, effect")
    # To the API server an empty text is a field that is not there.
    empty = [name for name, given in fields.items() if getattr(given.node, "value", None) == ""]
    fields = {name: given for name, given in fields.items() if name not in empty}
    operator = TOLERATIONS["operator"].value(fields["operator"]) if "operator" in fields else "Equal"
    if operator == "Exists" and "value" in fields:
        fields["value"].fail("Exists compares with nothing: remove `value`, or make the operator Equal")
    if operator == "Equal" and "key" not in fields:
        value.fail("`key` is missing: without it the operator must be Exists, which tolerates every taint")
    return Toleration(
        label_key(fields["key"]) if "key" in fields else "",
        operator,
        _value(fields),
        EFFECT.read(fields["effect"]) if "effect" in fields else "",
        _seconds(fields),
    )


def _seconds(fields: Mapping[str, Value]) -> int | None:
    if "tolerationSeconds" not in fields:
        return None
    value = fields["tolerationSeconds"]
    if "effect" not in fields or fields["effect"].scalar("an effect") != "NoExecute":
        value.fail(
            "only the effect NoExecute has a time: add `effect: NoExecute`, or remove `tolerationSeconds`"
        )
    return max(0, value.integer(-MAX_SECONDS, MAX_SECONDS))  # to Kubernetes, less than none is none


def _value(fields: Mapping[str, Value]) -> str:
    return label_value(fields["value"]) if "value" in fields else ""


def read_spread(
    value: Value | None, labels: Mapping[str, str], *, soft: bool = False
) -> list[SpreadConstraint]:
    """The hard constraints of a pod with these labels, or the soft ones."""
    elements = () if value is None else value.elements("a list of constraints")
    return [_constraint(element, labels) for element in elements if _is_soft(element) is soft]


def _is_soft(value: Value) -> bool:
    fields = value.fields(SPREAD.names, "a constraint with `maxSkew` and `topologyKey`")
    said = fields.get("whenUnsatisfiable")
    return said is not None and SPREAD["whenUnsatisfiable"].value(said) == "ScheduleAnyway"


DEFAULT_SPREAD = (("kubernetes.io/hostname", 3), ("topology.kubernetes.io/zone", 5))
"""systemDefaultConstraints: topology keys with maxSkew."""


def read_default_spread(fields: Mapping[str, Value]) -> list[SpreadConstraint]:
    """The soft constraints of a pod that has none of its own, from the selector of its service or controller (buildDefaultConstraints)."""
    if "defaultSpread" not in fields:
        return []
    value = fields["defaultSpread"]
    if "topologySpreadConstraints" in fields:
        value.fail(
            "a pod with topology spread constraints of its own has none by default: remove one of them"
        )
    selector = read_selector(value)
    if selector.empty:
        value.fail("an empty selector makes no constraints: name a label")
    return [SpreadConstraint(key, selector, skew, by_default=True) for key, skew in DEFAULT_SPREAD]


def _constraint(value: Value, labels: Mapping[str, str]) -> SpreadConstraint:
    fields = SPREAD.fields(value, "a constraint with `maxSkew` and `topologyKey`")
    if "minDomains" in fields and _is_soft(value):
        fields["minDomains"].fail("ScheduleAnyway has no minDomains: remove it")
    if not _selects(fields):
        value.fail("`matchLabels` is missing: give the labels of the pods that are counted")
    selector = _selector(fields)
    if "matchLabelKeys" in fields:
        keys = [label_key(key) for key in fields["matchLabelKeys"].elements("a list of label keys")]
        own = tuple(Requirement(key, Operator.IN, (labels[key],)) for key in keys if key in labels)
        selector = replace(selector, expressions=(*selector.expressions, *own))
    return SpreadConstraint(
        label_key(fields["topologyKey"]),
        selector,
        SKEW.read(fields["maxSkew"]),
        _others(fields["others"]) if "others" in fields else {},
        SKEW.read(fields["minDomains"]) if "minDomains" in fields else 1,
        _honors(fields, "nodeAffinityPolicy", True),
        _honors(fields, "nodeTaintsPolicy", False),
    )


def _honors(fields: Mapping[str, Value], name: str, default: bool) -> bool:
    return INCLUSION.read(fields[name]) == "Honor" if name in fields else default


def _others(value: Value) -> dict[str, int]:
    pairs = value.items("a mapping from values of the topology key to numbers of pods")
    return {label_value(domain): COUNT.read(number) for domain, number in pairs}
