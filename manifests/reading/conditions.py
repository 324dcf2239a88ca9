"""Conditions in the status of a pod or a node."""

from collections.abc import Mapping

from .manifest_values import Fields

Conditions = Mapping[str, tuple[str, str]]
"""By type: the status, and the reason, which may be empty."""


def read_conditions(status: Fields) -> Conditions:
    """The conditions in a status; a status is True where none is written, and Unknown where it is no status."""
    found = {}
    for said in status.mappings("conditions", "a list of conditions", "a condition with `type` and `status`"):
        if "type" not in said:
            continue
        given = said.scalar("status", "True, False or Unknown") if "status" in said else "True"
        reason = said.text("reason", "a reason, one word")
        kind = said["type"].text("a type such as Ready")
        found[kind] = (given if given in ("True", "False") else "Unknown", reason)
    return found
