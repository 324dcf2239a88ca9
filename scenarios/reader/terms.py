"""Pod affinity and anti-affinity terms, in Kubernetes' words or in podrace's shorter ones."""

from __future__ import annotations

from collections.abc import Mapping

from ...model.environment.objects import Selector, Term
from .document import Value
from .labels import SELECTOR_FIELDS, read_selector, selector_in
from .names import read_name

REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"
PREFERRED = "preferredDuringSchedulingIgnoredDuringExecution"
AFFINITY_FIELDS = ("required", "preferred", REQUIRED, PREFERRED)
TERM_FIELDS = ("topologyKey", "labelSelector", *SELECTOR_FIELDS, "namespaces", "namespaceSelector")
PREFERRED_FIELDS = ("weight", "podAffinityTerm", *TERM_FIELDS)

_TERM = "a term with `matchLabels` and `topologyKey`"


def read_terms(value: Value | None, anti: bool) -> list[Term]:
    """The terms below podAffinity or podAntiAffinity."""
    if value is None:
        return []
    fields = value.fields(AFFINITY_FIELDS, "a mapping with `required` or `preferred`")
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


def required_term(element: Value, anti: bool) -> Term:
    """A required term of pod affinity or anti-affinity."""
    return _term(element, element.fields(TERM_FIELDS, _TERM), 1, True, anti)


def _preferred(element: Value, anti: bool) -> Term:
    fields = element.fields(PREFERRED_FIELDS, _TERM)
    weight = fields["weight"].integer(1, 100) if "weight" in fields else 1
    if "podAffinityTerm" not in fields:
        return _term(element, fields, weight, False, anti)
    beside = next((name for name in TERM_FIELDS if name in fields), None)
    if beside is not None:
        fields[beside].fail(f"`podAffinityTerm` is there, too: move `{beside}` into it")
    inner = fields["podAffinityTerm"]
    return _term(inner, inner.fields(TERM_FIELDS, _TERM), weight, False, anti)


def _term(place: Value, fields: Mapping[str, Value], weight: int, required: bool, anti: bool) -> Term:
    if not any(name in fields for name in ("labelSelector", *SELECTOR_FIELDS)):
        place.fail("`matchLabels` is missing: a term needs `matchLabels` and `topologyKey`")
    if "topologyKey" not in fields:
        place.fail("`topologyKey` is missing: a term needs `matchLabels` and `topologyKey`")
    selector = _selector(fields)
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


def _selector(fields: Mapping[str, Value]) -> Selector:
    if "labelSelector" not in fields:
        return selector_in(fields)
    beside = next((name for name in SELECTOR_FIELDS if name in fields), None)
    if beside is not None:
        fields[beside].fail(f"`labelSelector` is there, too: move `{beside}` into it")
    return read_selector(fields["labelSelector"])


def _namespaces(value: Value | None) -> tuple[str, ...]:
    if value is None:
        return ()
    return tuple(read_name(v) for v in value.elements("a list of namespaces"))
