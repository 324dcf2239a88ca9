"""What nodes have and pods request: read, compared, and brought to one small unit for each resource."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

from ..model.environment.objects import NATIVE, is_scalar_resource
from .document import Value
from .quantity import MAX_CORES, parse_bytes, parse_count, parse_cpu, show_bytes, show_cpu, unit_of

RESOURCE_FIELDS = ("cpu", "memory", "ephemeral-storage", "resources")


@dataclass(frozen=True, slots=True)
class Kind:
    """How quantities of a kind of resource are written."""

    wanted: str
    parse: Callable[[str], Fraction | None]
    show: Callable[[Fraction], str]


_CPU = Kind(f"a CPU quantity from 0 to {MAX_CORES} such as 2, 0.5 or 500m", parse_cpu, show_cpu)
_BYTES = Kind("a whole number of bytes from 0 to 1Pi such as 1000, 128Mi or 1.5G", parse_bytes, show_bytes)
_COUNT = Kind("a whole number from 0 to 1000000", parse_count, str)


def kind_of(resource: str) -> Kind:
    """The kind of a resource."""
    if resource == "cpu":
        return _CPU
    return _BYTES if resource in NATIVE or resource.startswith("hugepages-") else _COUNT


@dataclass(frozen=True, slots=True)
class Amounts:
    """Amounts by resource, and where each is written."""

    amount: dict[str, Fraction] = field(default_factory=dict)
    place: dict[str, Value] = field(default_factory=dict)

    def of(self, resource: str) -> Fraction:
        """The amount of a resource; what is not written is zero."""
        return self.amount.get(resource, Fraction(0))


def read_amounts(owner: Value, fields: Mapping[str, Value], what: str) -> Amounts:
    """The fields of a node or a pod that are about resources; `what` they are in words."""
    if "cpu" not in fields:
        owner.fail(f"`cpu` is missing: give the {what} CPU, such as 2 or 500m")
    found = Amounts()
    for name in NATIVE:
        if name in fields:
            _read(found, name, fields[name])
    if "resources" in fields:
        wanted = "a mapping from extended resources, such as example.com/gpu, to whole numbers"
        for key, value in fields["resources"].items(wanted):
            _check_name(key)
            _read(found, key.node.value, value)
    return found


def _read(found: Amounts, resource: str, value: Value) -> None:
    kind = kind_of(resource)
    amount = kind.parse(value.scalar(kind.wanted))
    if amount is None:
        value.expect(kind.wanted)
    found.amount[resource], found.place[resource] = amount, value


def _check_name(key: Value) -> None:
    name = key.node.value
    if name in (*NATIVE, "pods"):
        key.fail(f"`{name}` is no extended resource: write it beside `resources`, not below it")
    if not is_scalar_resource(name):
        key.fail(f"the scheduler ignores {key.described}: give it a domain, such as example.com/{name}")


@dataclass(frozen=True)
class Units:
    """The unit of each resource, in which every amount of the scenario is a whole number."""

    unit: Mapping[str, Fraction]

    def scaled(self, amounts: Amounts) -> dict[str, Any]:
        """Amounts as the model's constructors take them."""
        number = {r: int(amount / self.unit[r]) for r, amount in amounts.amount.items()}
        extended = {r: n for r, n in number.items() if r not in NATIVE}
        return {
            "cpu": number.get("cpu", 0),
            "memory": number.get("memory", 0),
            "ephemeral": number.get("ephemeral-storage", 0),
            "extended": extended,
        }


def units_of(everything: Iterable[Amounts]) -> Units:
    """The greatest units in which all these amounts are whole numbers."""
    seen: dict[str, list[Fraction]] = {}
    for amounts in everything:
        for resource, amount in amounts.amount.items():
            seen.setdefault(resource, []).append(amount)
    return Units({resource: unit_of(amounts) for resource, amounts in seen.items()})


def refuse_oversize(pods: Mapping[str, Amounts], nodes: Mapping[str, Amounts]) -> None:
    """Refuse a pod that asks for more of a resource than any node has."""
    for asked in pods.values():
        for resource, amount in asked.amount.items():
            largest = max(nodes, key=lambda n: nodes[n].of(resource))
            most, show = nodes[largest].of(resource), kind_of(resource).show
            if amount <= most:
                continue
            if not any(resource in n.place for n in nodes.values()):
                asked.place[resource].fail(
                    f"the pod requests {show(amount)}, but no node says how much {resource} it has: "
                    "give it to a node, too, or remove it here"
                )
            asked.place[resource].fail(
                f"the pod requests {show(amount)}, but the largest node, {largest}, has {show(most)}: "
                "lower the request or enlarge a node"
            )


def refuse_overcommitted(node: Value, has: Amounts, bound: Mapping[str, Amounts]) -> None:
    """Refuse a node that is too small for the pods that are bound to it at the start."""
    for resource in dict.fromkeys(r for asked in bound.values() for r in asked.amount):
        show = kind_of(resource).show
        takers = {name: asked for name, asked in bound.items() if resource == "cpu" or asked.of(resource)}
        used = sum((asked.of(resource) for asked in takers.values()), Fraction(0))
        if used > has.of(resource):
            of = "" if resource == "cpu" else f" of {resource}"
            node.fail(
                f"the pods bound to the node ({', '.join(takers)}) request {show(used)}{of}, but it has "
                f"{show(has.of(resource))}: lower a request, enlarge the node, or unbind a pod"
            )
