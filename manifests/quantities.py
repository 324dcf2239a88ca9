"""Quantities of manifests (apimachinery, resource.Quantity) as the scheduler counts them: whole milli-CPUs, bytes, pieces.

The scheduler asks a quantity for MilliValue or Value, which round up; nothing here passes through floating point.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from fractions import Fraction
from math import ceil

from ..model.environment.objects import NATIVE, is_scalar_resource
from ..scenarios.reader.document import Value
from ..scenarios.reader.quantity import MAX_BYTES, MAX_CORES, MAX_COUNT

_FORM = re.compile(
    r"\+?(?=\.?[0-9])([0-9]{0,19})(?:\.([0-9]{0,18}))?([eE][+-]?[0-9]{1,2}|[KMGTPE]i|[numkMGTPE])?", re.ASCII
)
_DECIMAL = {letter: Fraction(10) ** (3 * power) for power, letter in enumerate("num", -3)}
_DECIMAL |= {letter: Fraction(10) ** (3 * power) for power, letter in enumerate("kMGTPE", 1)}
_BINARY = {f"{letter}i": Fraction(1 << (10 * power)) for power, letter in enumerate("KMGTPE", 1)}

Amounts = Mapping[str, int]
"""By resource: thousandths of a CPU, bytes of memory, storage and huge pages, pieces of anything else."""


def parse_quantity(text: str) -> Fraction | None:
    """The number that a quantity such as 2, 0.5, 500m, 128Mi, 1.5G or 1e9 stands for; None if it is none, or negative."""
    match = _FORM.fullmatch(text)
    if match is None:
        return None
    digits, suffix = Fraction(f"{match[1] or 0}.{match[2] or 0}"), match[3] or ""
    if suffix[:1] in ("e", "E") and suffix[1:] not in ("", "i"):
        return digits * Fraction(10) ** int(suffix[1:])
    return digits * {"": Fraction(1), **_DECIMAL, **_BINARY}[suffix]


def is_counted(resource: str) -> bool:
    """Whether the scheduler counts this resource."""
    return resource in NATIVE or is_scalar_resource(resource)


def read_amount(resource: str, value: Value) -> int:
    """How much of a resource, rounded up as the scheduler does."""
    quantity = parse_quantity(value.scalar(_wanted(resource)))
    if quantity is None:
        value.expect(_wanted(resource))
    if resource == "cpu":
        quantity *= 1000
    elif not _in_bytes(resource) and quantity.denominator != 1:
        value.expect(_wanted(resource))
    amount = ceil(quantity)
    if amount > _most(resource):
        value.expect(_wanted(resource))
    return amount


def read_amounts(value: Value | None) -> dict[str, int]:
    """The amounts of a resource list that the scheduler counts."""
    if value is None:
        return {}
    pairs = value.items("a mapping from resources to quantities")
    return {key.node.value: read_amount(key.node.value, v) for key, v in pairs if is_counted(key.node.value)}


def write_amount(resource: str, amount: int) -> str | int:
    """An amount as a scenario has it."""
    if resource == "cpu":
        return amount // 1000 if amount % 1000 == 0 else f"{amount}m"
    if amount and _in_bytes(resource):
        for suffix, scale in reversed(_BINARY.items()):
            if amount % scale == 0:
                return f"{amount // int(scale)}{suffix}" if suffix != "Ei" else amount
    return amount


def _in_bytes(resource: str) -> bool:
    return resource in ("memory", "ephemeral-storage") or resource.startswith("hugepages-")


def _most(resource: str) -> int:
    return MAX_CORES * 1000 if resource == "cpu" else MAX_BYTES if _in_bytes(resource) else MAX_COUNT


def _wanted(resource: str) -> str:
    if resource == "cpu":
        return f"a CPU quantity from 0 to {MAX_CORES} such as 2, 0.5 or 500m"
    if _in_bytes(resource):
        return "a quantity of bytes from 0 to 1Pi such as 1000, 128Mi or 1.5G"
    return f"a whole number from 0 to {MAX_COUNT}"
