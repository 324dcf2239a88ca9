"""The extension points of the scheduling framework between AssumePod and the Binding."""

from __future__ import annotations

from enum import Enum


class ExtensionPoint(Enum):
    """Where a plugin has work to do for a pod; the value is how a scenario names it."""

    RESERVE = "reserve"
    PERMIT = "permit"
    PRE_BIND = "preBind"
