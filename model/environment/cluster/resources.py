"""Amounts of resources: constants in explicit checking, unknown in symbolic checking."""

from __future__ import annotations

from collections.abc import Mapping

from ...language import Parameter

Quantity = int | Parameter

NATIVE = ("cpu", "memory", "ephemeral-storage")


def is_scalar_resource(name: str) -> bool:
    """Whether the scheduler counts a resource that is not native: a name without a domain is ignored."""
    return "/" in name or name.startswith(("hugepages-", "attachable-volumes-"))


def amounts(
    cpu: Quantity, memory: Quantity, ephemeral: Quantity, extended: Mapping[str, Quantity] | None
) -> dict[str, Quantity]:
    """The resources that the scheduler counts, by name."""
    counted = {name: amount for name, amount in (extended or {}).items() if is_scalar_resource(name)}
    return {"cpu": cpu, "memory": memory, "ephemeral-storage": ephemeral, **counted}
