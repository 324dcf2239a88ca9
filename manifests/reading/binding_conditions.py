"""What has become of the binding conditions of an allocated device (resource.k8s.io, 1.34; dynamicresources.hasBindingConditions and isClaimReadyForBinding, 1.36)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from .manifest_files import Manifest


def names_in(fields: Mapping[str, Manifest], name: str) -> list[str]:
    """The conditions that a device, or the result of an allocation, names."""
    given = fields[name].elements("a list of conditions") if name in fields else []
    return [condition.text("a condition") for condition in given]


def read_readiness(results: Sequence[Manifest], statuses: Manifest | None) -> str:
    """In the words of a scenario: failed if a failure condition of a device is true, met if all binding conditions are, else pending; "" without any.

    `results` are those of the allocation, which has the conditions of each device as they were then; `statuses` is status.devices of the claim.
    """
    true = _true(statuses)
    found = ""
    for result in results:
        fields = result.fields((*_DEVICE, "bindingConditions", "bindingFailureConditions"), "a result")
        needed, fatal = names_in(fields, "bindingConditions"), names_in(fields, "bindingFailureConditions")
        if not needed:
            continue
        said = true.get(_key(fields), set())
        if said & set(fatal):
            return "failed"
        found = "met" if set(needed) <= said and found != "pending" else "pending"
    return found


_DEVICE = ("driver", "pool", "device")


def _key(fields: Mapping[str, Manifest]) -> tuple[str, ...]:
    return tuple(fields[name].scalar("a name") if name in fields else "" for name in _DEVICE)


def _true(statuses: Manifest | None) -> dict[tuple[str, ...], set[str]]:
    """The conditions that are true, by device."""
    found: dict[tuple[str, ...], set[str]] = {}
    for element in statuses.elements("a list of devices") if statuses is not None else ():
        fields = element.fields((*_DEVICE, "conditions"), "the status of a device")
        some = found.setdefault(_key(fields), set())
        for condition in (
            fields["conditions"].elements("a list of conditions") if "conditions" in fields else ()
        ):
            said = condition.fields(("type", "status"), "a condition with `type` and `status`")
            if (
                "type" in said
                and "status" in said
                and said["status"].scalar("True, False or Unknown") == "True"
            ):
                some.add(said["type"].text("a type"))
    return found
