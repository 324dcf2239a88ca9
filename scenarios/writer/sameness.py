"""Whether two clusters are the same, in whatever units their amounts are counted: all of both is compared, field by field."""

from collections.abc import Iterator, Mapping
from dataclasses import fields, is_dataclass
from enum import Enum
from math import gcd
from typing import Any

from ...model.environment.cluster.scope import BOUNDS
from ...model.environment.objects import ClusterSpec, Node, Pod, Quantity
from ...model.language import Entity, Parameter
from ..reader.sections.pod_section import NAMESPACE_NAME
from ..values.ranges import RangeParameter

_NOT_COMPARED = ("name", "units", "written")
"""Of a cluster: how it is called, and how amounts are shown."""


def difference(one: ClusterSpec, other: ClusterSpec) -> str:
    """Where the two differ, as words such as `pods p labels`; empty if they are the same cluster."""
    return _difference(_plain_cluster(one), _plain_cluster(other))


def _difference(one: Any, other: Any) -> str:
    """The path to the first difference."""
    if isinstance(one, dict) and isinstance(other, dict):
        for key in dict.fromkeys([*one, *other]):
            if key not in one or key not in other:
                return str(key)
            if one[key] != other[key]:
                return f"{key} {_difference(one[key], other[key])}".strip()
        return "order" if list(one) != list(other) else ""
    return ""


def _plain_cluster(spec: ClusterSpec) -> dict[str, Any]:
    units = _units(spec)
    found: dict[str, Any] = {}
    for field in fields(ClusterSpec):
        value = getattr(spec, field.name)
        if field.name == "scope":
            # Without what follows from the rest of the cluster.
            found["scope"] = {n: _plain(getattr(value, n), units) for n in (*BOUNDS, "aims", "config")}
        elif field.name not in _NOT_COMPARED:
            found[field.name] = (
                {one.name: _plain(one, units) for one in value} if _named(value) else _plain(value, units)
            )
    return found


def _named(value: Any) -> bool:
    return isinstance(value, tuple) and all(hasattr(one, "name") for one in value)


def _units(spec: ClusterSpec) -> dict[str, int]:
    """The greatest number by resource of which all amounts are multiples, and all that may be chosen for a range."""
    found: dict[str, int] = {}
    for resource, amount in _amounts(spec):
        step = amount.stride if isinstance(amount, RangeParameter) else amount
        found[resource] = gcd(found.get(resource, 0), step if isinstance(step, int) else 1)
    return {resource: unit or 1 for resource, unit in found.items()}


def _amounts(spec: ClusterSpec) -> Iterator[tuple[str, Quantity]]:
    for node in spec.nodes:
        for form in (node, *node.later.values()):
            yield from form.room[0].items()
    for pod in spec.pods:
        for asking in (pod, *pod.later.values()):
            yield from asking.requests.items()


def _plain(value: Any, units: Mapping[str, int]) -> Any:
    """A value as plain data, whose equality is that of all that it consists of."""
    if isinstance(value, Parameter):
        return _parameter(value, 1)
    if isinstance(value, (Node, Pod)):
        return _object(value, units)
    if isinstance(value, Entity):
        return {name: _plain(of, units) for name, of in vars(value).items()}
    if is_dataclass(value):
        return {f.name: _plain(getattr(value, f.name), units) for f in fields(value)}
    if isinstance(value, Enum):
        return value.value
    if isinstance(value, Mapping):
        return {key: _plain(of, units) for key, of in value.items()}
    if isinstance(value, (set, frozenset)):
        return sorted(str(_plain(of, units)) for of in value)
    if isinstance(value, (list, tuple)):
        return [_plain(of, units) for of in value]
    return value


def _object(value: Node | Pod, units: Mapping[str, int]) -> dict[str, Any]:
    counted = ("_allocatable", "_requests")
    found = {name: _plain(of, units) for name, of in vars(value).items() if name not in counted}
    amounts = value.room[0] if isinstance(value, Node) else value.requests
    found["amounts"] = {r: _scaled(amount, units[r]) for r, amount in amounts.items()}
    if isinstance(value, Pod):
        # The API server labels every namespace with its name.
        found["namespace_labels"] = {NAMESPACE_NAME: value.namespace, **value.namespace_labels}
    return found


def _scaled(amount: Quantity, unit: int) -> Any:
    return amount // unit if isinstance(amount, int) else _parameter(amount, unit)


def _parameter(value: Parameter, unit: int) -> Any:
    stride = value.stride if isinstance(value, RangeParameter) else unit
    return ["range", value.lo // unit, value.hi // unit, stride // unit]
