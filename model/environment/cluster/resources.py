"""Amounts of resources: constants in explicit checking, unknown in symbolic checking."""

from collections.abc import Mapping

from ...language import Parameter

Quantity = int | Parameter

NATIVE = ("cpu", "memory", "ephemeral-storage")


def is_scalar_resource(name: str) -> bool:
    """Whether the scheduler counts a resource that is not native (IsScalarResourceName): a name without a domain is ignored, and so is a quota's."""
    if name.startswith(("hugepages-", "attachable-volumes-")) or "kubernetes.io/" in name:
        return True
    return "/" in name and not name.startswith("requests.")


def amounts(
    cpu: Quantity, memory: Quantity, ephemeral: Quantity, extended: Mapping[str, Quantity] | None
) -> dict[str, Quantity]:
    """The resources that the scheduler counts, by name."""
    counted = {name: amount for name, amount in (extended or {}).items() if is_scalar_resource(name)}
    return {"cpu": cpu, "memory": memory, "ephemeral-storage": ephemeral, **counted}
