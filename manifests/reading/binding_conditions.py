"""What has become of the binding conditions of an allocated device (resource.k8s.io, 1.34; dynamicresources.hasBindingConditions and isClaimReadyForBinding, 1.36)."""

from collections.abc import Sequence

from .manifest_values import Fields


def names_in(fields: Fields, name: str) -> list[str]:
    """The conditions that a device, or the result of an allocation, names."""
    return fields.texts(name, "a list of conditions", "a condition")


def read_readiness(results: Sequence[Fields], status: Fields) -> str:
    """In the words of a scenario: failed if a failure condition of a device is true, met if all binding conditions are, else pending; "" without any.

    `results` are those of the allocation, which has the conditions of each device as they were then; `status` is that of the claim.
    """
    true = _true(status)
    found = ""
    for result in results:
        needed, fatal = names_in(result, "bindingConditions"), names_in(result, "bindingFailureConditions")
        if not needed:
            continue
        said = true.get(_key(result), set())
        if said & set(fatal):
            return "failed"
        found = "met" if set(needed) <= said and found != "pending" else "pending"
    return found


def _key(fields: Fields) -> tuple[str, ...]:
    return tuple(fields.scalar(name, "a name") for name in ("driver", "pool", "device"))


def _true(status: Fields) -> dict[tuple[str, ...], set[str]]:
    """The conditions that are true, by device."""
    found: dict[tuple[str, ...], set[str]] = {}
    for element in status.elements("devices", "a list of devices"):
        fields = element.mapping("the status of a device")
        some = found.setdefault(_key(fields), set())
        for condition in fields.elements("conditions", "a list of conditions"):
            said = condition.mapping("a condition with `type` and `status`")
            if "type" in said and said.scalar("status", "True, False or Unknown") == "True":
                some.add(said["type"].text("a type"))
    return found
