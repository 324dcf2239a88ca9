"""Which nodes a pod asks for: required node affinity."""

from __future__ import annotations

from ..model.environment.node_affinity import NODE_NAME
from ..model.environment.objects import NodeAffinity, NodeTerm, Operator
from .document import Value
from .labels import read_requirements
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
