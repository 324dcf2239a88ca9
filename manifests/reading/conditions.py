"""Conditions in the status of a pod or a node."""

from __future__ import annotations

from collections.abc import Mapping

from .manifest_files import Manifest

Conditions = Mapping[str, tuple[str, str]]
"""By type: the status, and the reason, which may be empty."""


def read_conditions(value: Manifest | None) -> Conditions:
    """The conditions in a status; a status is True where none is written, and Unknown where it is no status."""
    found = {}
    for element in value.elements("a list of conditions") if value is not None else ():
        said = element.fields(("type", "status", "reason"), "a condition with `type` and `status`")
        if "type" not in said:
            continue
        given = said["status"].scalar("True, False or Unknown") if "status" in said else "True"
        reason = said["reason"].text("a reason, one word") if "reason" in said else ""
        kind = said["type"].text("a type such as Ready")
        found[kind] = (given if given in ("True", "False") else "Unknown", reason)
    return found
