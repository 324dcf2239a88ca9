"""How the scheduler used to be: one small class per upstream change, and the releases made of them."""

from .change import CHANGES, Change, before
from .gates import GateProblem
from .releases import Composition, Patch, find_change, in_order, resolve
from .unknown import UnknownName
from .versions import LATER, PATCH_VERSIONS, RELEASE_ORDER, version_of

RELEASES = RELEASE_ORDER

__all__ = [
    "CHANGES", "LATER", "PATCH_VERSIONS", "RELEASES", "RELEASE_ORDER", "Change", "Composition", "GateProblem", "Patch", "UnknownName",
    "before", "find_change", "in_order", "resolve", "version_of",
]  # fmt: skip
