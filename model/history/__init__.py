"""How the scheduler used to be: one small class per upstream change, and the releases made of them."""

from .change import CHANGES, Change, before
<<<<<<< HEAD
from .gates import GateProblem
from .releases import Composition, Patch, find_change, in_order, resolve
from .unknown import UnknownName
from .versions import LATER, PATCH_VERSIONS, RELEASE_ORDER
=======
from .releases import Composition, Patch, UnknownName, find_change, in_order, resolve
from .versions import LATER, PATCH_VERSIONS, RELEASE_ORDER, version_of
>>>>>>> survey

RELEASES = RELEASE_ORDER

__all__ = [
<<<<<<< HEAD
    "CHANGES", "LATER", "PATCH_VERSIONS", "RELEASES", "RELEASE_ORDER", "Change", "Composition", "GateProblem", "Patch", "UnknownName",
    "before", "find_change", "in_order", "resolve",
=======
    "CHANGES", "LATER", "PATCH_VERSIONS", "RELEASES", "RELEASE_ORDER", "Change", "Composition", "Patch", "UnknownName",
    "before", "find_change", "in_order", "resolve", "version_of",
>>>>>>> survey
]  # fmt: skip
