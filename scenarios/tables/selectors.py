"""Selectors of labels, and the requirements of which they and node affinity consist."""

from collections.abc import Callable, Mapping, Sequence

from ...model.environment.cluster.placement_rules import whole_number
from ...model.environment.objects import Operator, Requirement, Selector
from ..values.labels import OF_LABELS, label_key, label_value, read_labels, read_object_name
from ..values.yaml_values import Value
from .placement import REQUIREMENTS, SELECTORS


def limit(value: Value, operator: Operator) -> str:
    """What Gt and Lt compare with."""
    written = value.text("a whole number")
    if whole_number(written) is None:
        value.expect("a whole number")
    if not written[0].isdigit():
        value.fail(
            f"a number with a sign is no label value, so {operator.value} would match no node: write one without a sign"
        )
    return written


def read_selector(value: Value) -> Selector:
    """A label selector; an empty one matches everything."""
    return selector_in(value.fields(SELECTORS.names, "a selector with `matchLabels` or `matchExpressions`"))


def selector_in(fields: Mapping[str, Value]) -> Selector:
    """The label selector whose two fields are among these."""
    return Selector(
        read_labels(fields, "matchLabels"), read_requirements(fields.get("matchExpressions"), OF_LABELS)
    )


def read_requirements(
    value: Value | None,
    operators: Sequence[Operator],
    key_of: Callable[[Value], str] = label_key,
    value_of: Callable[[Value], str] = label_value,
    limit_of: Callable[[Value, Operator], str] = limit,
) -> tuple[Requirement, ...]:
    """A list of matchExpressions or matchFields; none if the field is not there."""
    if value is None:
        return ()
    elements = value.elements("a list of requirements with `key` and `operator`")
    return tuple(_requirement(element, operators, key_of, value_of, limit_of) for element in elements)


def _requirement(
    value: Value,
    operators: Sequence[Operator],
    key_of: Callable[[Value], str],
    value_of: Callable[[Value], str],
    limit_of: Callable[[Value, Operator], str],
) -> Requirement:
    fields = REQUIREMENTS.fields(value, "a requirement with `key` and `operator`")
    key = key_of(fields["key"])
    operator = Operator(fields["operator"].one_of([o.value for o in operators], "an operator"))
    given = fields["values"].elements("a list of label values") if "values" in fields else []
    if operator in (Operator.EXISTS, Operator.DOES_NOT_EXIST):
        if given:
            fields["values"].fail(f"{operator.value} compares with nothing: remove `values`")
        return Requirement(key, operator)
    if operator in (Operator.GREATER, Operator.LESS):
        if len(given) != 1:
            value.fail(f"{operator.value} compares with one number: give exactly one in `values`")
        return Requirement(key, operator, (limit_of(given[0], operator),))
    if not given:
        value.fail(f"`values` is missing: {operator.value} needs at least one")
    return Requirement(key, operator, tuple(value_of(v) for v in given))


def node_name(value: Value) -> str:
    """The name of a node, which may be longer than a label value."""
    value.text("the name of a node")
    return read_object_name(value)
