"""What nodes have and pods request: read, compared, and brought to one small unit for each resource."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import field
from fractions import Fraction
from typing import Any

from ...base.structs import Data
from ...model.environment.objects import NATIVE, is_scalar_resource
from .quantity import (
    MAX_CORES,
    MAX_COUNT,
    bytes_in_suffix,
    count_in_suffix,
    cpu_in_suffix,
    parse_bytes,
    parse_count,
    parse_cpu,
    show_bytes,
    show_cpu,
    unit_of,
)
from .ranges import Range, RangeParameter, is_range, read_range
from .yaml_values import Value

Written = tuple[str, str, int]
"""The name of a pod or node, a resource, and an amount in the model's unit."""


class ResourceKind(Data):
    """How quantities of a kind of resource are written."""

    wanted: str
    parse: Callable[[str], Fraction | None]
    show: Callable[[Fraction], str]
    range: str
    in_suffix: Callable[[Fraction, Sequence[str]], tuple[int, str]]


_CPU = ResourceKind(
    f"a CPU quantity from 0 to {MAX_CORES} such as 2, 0.5 or 500m",
    parse_cpu,
    show_cpu,
    "500m..2000m",
    cpu_in_suffix,
)
_BYTES = ResourceKind(
    "a whole number of bytes from 0 to 1Pi such as 1000, 128Mi or 1.5G",
    parse_bytes,
    show_bytes,
    "1Gi..4Gi",
    bytes_in_suffix,
)
_COUNT = ResourceKind(f"a whole number from 0 to {MAX_COUNT}", parse_count, str, "1..4", count_in_suffix)


def kind_of(resource: str) -> ResourceKind:
    """The kind of a resource."""
    if resource == "cpu":
        return _CPU
    return _BYTES if resource in NATIVE or resource.startswith("hugepages-") else _COUNT


class Amounts(Data):
    """Amounts by resource, or ranges of them, and where each is written. What is not written is zero."""

    amount: dict[str, Fraction | Range] = field(default_factory=dict)
    place: dict[str, Value] = field(default_factory=dict)

    def least(self, resource: str) -> Fraction:
        """The least amount of a resource that it may be."""
        found = self.amount.get(resource, Fraction(0))
        return found.least if isinstance(found, Range) else found

    def most(self, resource: str) -> Fraction:
        """The greatest amount of a resource that it may be."""
        found = self.amount.get(resource, Fraction(0))
        return found.most if isinstance(found, Range) else found

    def at(self, resource: str, words: str) -> str:
        """These words if the amount is a range, of which only one end is meant."""
        return words if isinstance(self.amount.get(resource), Range) else ""


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
    amount: Fraction | Range | None
    if is_range(value):
        amount = read_range(value, kind.parse, kind.wanted, kind.range)
    else:
        amount = kind.parse(value.scalar(kind.wanted))
    if amount is None:
        value.expect(kind.wanted)
    found.amount[resource], found.place[resource] = amount, value


def _check_name(key: Value) -> None:
    name = key.node.value
    if name in (*NATIVE, "pods"):
        key.fail(f"`{name}` is no extended resource: write it next to `resources`, not below it")
    if not is_scalar_resource(name):
        key.fail(f"the scheduler ignores {key.described}: give it a domain, such as example.com/{name}")


class Units(Data, slots=False):
    """The unit of each resource, in which every amount of the scenario is a whole number."""

    unit: Mapping[str, Fraction]

    def written(self, everything: Mapping[str, Amounts]) -> dict[Written, str]:
        """The texts of the amounts of these pods or nodes, by name, resource and amount."""
        found = {}
        for name, amounts in everything.items():
            for resource, amount in amounts.amount.items():
                if not isinstance(amount, Range):
                    text = str(amounts.place[resource].node.value)
                    found[name, resource, int(amount / self.unit[resource])] = text
        return found

    def shown(self, written: Mapping[Written, str]) -> dict[str, tuple[int, str]]:
        """The units as numbers and suffixes, which are among those that are written, if they can be."""
        texts: dict[str, list[str]] = {}
        for (_, resource, _), text in written.items():
            texts.setdefault(resource, []).append(text)
        return {r: kind_of(r).in_suffix(unit, texts.get(r, [])) for r, unit in self.unit.items()}

    def scaled(self, amounts: Amounts) -> dict[str, Any]:
        """Amounts as the model's constructors take them."""
        number = {r: _in_units(amount, self.unit[r]) for r, amount in amounts.amount.items()}
        extended = {r: n for r, n in number.items() if r not in NATIVE}
        return {
            "cpu": number.get("cpu", 0),
            "memory": number.get("memory", 0),
            "ephemeral": number.get("ephemeral-storage", 0),
            "extended": extended,
        }


def _in_units(amount: Fraction | Range, unit: Fraction) -> int | RangeParameter:
    return amount.open(unit) if isinstance(amount, Range) else int(amount / unit)


def units_of(everything: Iterable[Amounts]) -> Units:
    """The greatest units in which all these amounts, and all that may be chosen for a range, are whole numbers."""
    seen: dict[str, list[Fraction]] = {}
    for amounts in everything:
        for resource, amount in amounts.amount.items():
            seen.setdefault(resource, []).append(amount.step if isinstance(amount, Range) else amount)
    return Units({resource: unit_of(amounts) for resource, amounts in seen.items()})


def refuse_oversize(pods: Mapping[str, Amounts], nodes: Mapping[str, Amounts]) -> None:
    """Refuse a pod that asks for more of a resource than any node has, whatever is chosen for ranges."""
    for asked in pods.values():
        for resource in asked.amount:
            largest = max(nodes, key=lambda n: nodes[n].most(resource))
            most, show = nodes[largest].most(resource), kind_of(resource).show
            amount = asked.least(resource)
            if amount <= most:
                continue
            least = asked.at(resource, "at least ")
            if not any(resource in n.place for n in nodes.values()):
                asked.place[resource].fail(
                    f"the pod requests {least}{show(amount)}, but no node says how much {resource} it has: "
                    "give it to a node, too, or remove it here"
                )
            asked.place[resource].fail(
                f"the pod requests {least}{show(amount)}, but the largest node, {largest}, has "
                f"{nodes[largest].at(resource, 'at most ')}{show(most)}: "
                "lower the request or enlarge a node"
            )


def refuse_overcommitted(node: Value, has: Amounts, bound: Mapping[str, Amounts]) -> None:
    """Refuse a node that is too small for the pods that are bound to it at the start, whatever is chosen for ranges."""
    for resource in dict.fromkeys(r for asked in bound.values() for r in asked.amount):
        show = kind_of(resource).show
        takers = {name: asked for name, asked in bound.items() if resource == "cpu" or asked.most(resource)}
        used = sum((asked.least(resource) for asked in takers.values()), Fraction(0))
        if used > has.most(resource):
            of = "" if resource == "cpu" else f" of {resource}"
            least = max(asked.at(resource, "at least ") for asked in takers.values())
            node.fail(
                f"the pods bound to the node ({', '.join(takers)}) request {least}{show(used)}{of}, but it has "
                f"{has.at(resource, 'at most ')}{show(has.most(resource))}: lower a request, enlarge the node, or unbind a pod"
            )
