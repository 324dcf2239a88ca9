"""How the scheduler used to be: one small class per upstream change, and the releases made of them."""

from .registry.change import CHANGES, Change, before
from .registry.other_numbers import key_of
from .releases import Composition, Patch, find_change, resolve
from .versions import LATER, PATCH_VERSIONS, PRE_RELEASES, RELEASE_ORDER, version_of
from .versions.gates import GateProblem
from .versions.unknown import UnknownName

RELEASES = RELEASE_ORDER

__all__ = [
    "CHANGES", "LATER", "PATCH_VERSIONS", "PRE_RELEASES", "RELEASES", "RELEASE_ORDER", "Change", "Composition", "GateProblem", "Patch", "UnknownName",
    "before", "find_change", "key_of", "resolve", "version_of",
]  # fmt: skip
