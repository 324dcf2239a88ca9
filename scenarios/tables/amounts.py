"""Amounts of resources as a scenario file writes them."""

from collections.abc import Mapping
from typing import Any

from ...model.environment.objects import NATIVE, ClusterSpec, Quantity
from ..values.ranges import RangeParameter

_PLAIN = {"cpu": (1, ""), "memory": (1, "Gi"), "ephemeral-storage": (1, "Gi")}
"""The units of a cluster that says none: s of it is s cores, s GiB of memory, or s of any other resource."""


class Amounts:
    """The amounts of one cluster: as its file wrote them where it did, and else in its units."""

    def __init__(self, spec: ClusterSpec) -> None:
        self._spec = spec

    def of(self, owner: str, amounts: Mapping[str, Quantity]) -> dict[str, Any]:
        """The fields of `node NAME` or `pod NAME` that are about resources; those for 0 may be left out, but for the CPU."""
        told = {resource: self._text(owner, resource, amount) for resource, amount in amounts.items()}
        extended = {resource: text for resource, text in told.items() if resource not in NATIVE}
        return {**{resource: told[resource] for resource in NATIVE}, "resources": extended}

    def _text(self, owner: str, resource: str, amount: Quantity) -> int | str:
        if isinstance(amount, int):
            written = self._spec.written.get((owner, resource, amount))
            number, suffix = self._spec.units.get(resource) or _PLAIN.get(resource, (1, ""))
            return as_number(written or (f"{amount * number}{suffix}" if amount else "0"))
        return quantity_in_words(amount)


def quantity_in_words(quantity: Quantity) -> int | str:
    """A number, or a range as its file wrote it."""
    if isinstance(quantity, int):
        return quantity
    if isinstance(quantity, RangeParameter):
        return quantity.written
    raise ValueError(f"{quantity.name} is unknown, and no file gave a range for it")


def said_number(quantity: Quantity | None) -> int | str | None:
    """A number or a range, if it is said at all."""
    return None if quantity is None else quantity_in_words(quantity)


def as_number(text: str) -> int | str:
    """A text, or the number that YAML would make of it."""
    return int(text) if text.isdecimal() and str(int(text)) == text else text
