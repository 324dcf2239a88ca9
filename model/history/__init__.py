"""How the scheduler used to be: one small class per upstream change, and the releases made of them."""

from .change import CHANGES, LATER, RELEASE_ORDER, Change, before
from .releases import Composition, Patch, UnknownName, find_change, in_order, resolve

RELEASES = RELEASE_ORDER

__all__ = [
    "CHANGES", "LATER", "RELEASES", "RELEASE_ORDER", "Change", "Composition", "Patch", "UnknownName", "before",
    "find_change", "in_order", "resolve",
]  # fmt: skip
