"""The enumerations of the model: a name is a value of its own."""

from __future__ import annotations

import importlib
import inspect
import pkgutil
from enum import Enum, Flag

import podrace.model


def enumerations() -> dict[str, type[Enum]]:
    found = {}
    for module in pkgutil.walk_packages(podrace.model.__path__, "podrace.model."):
        for _, cls in inspect.getmembers(importlib.import_module(module.name), inspect.isclass):
            if (
                issubclass(cls, Enum)
                and not issubclass(cls, Flag)
                and cls.__module__.startswith("podrace.model.")
            ):
                found[f"{cls.__module__}.{cls.__qualname__}"] = cls
    return found


def test_no_name_stands_for_another() -> None:
    """Two members of one value would be one: two phases of the scheduler that nothing tells apart."""
    found = enumerations()
    assert "podrace.model.scheduler.framework.status.Phase" in found
    assert len(found) >= 20
    aliases = {
        name: sorted(set(cls.__members__) - {member.name for member in cls}) for name, cls in found.items()
    }
    assert {name: names for name, names in aliases.items() if names} == {}
