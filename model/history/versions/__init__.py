"""Versions of upstream, how the sources of each were read, and its feature gates."""

from .numbers import (
    AFTER_ALL,
    COMING,
    LATER,
    NOT_YET,
    PATCH_VERSIONS,
    PRE_RELEASES,
    RELEASE_ORDER,
    Reading,
    Version,
    canonical,
    exact,
    reading_of,
    version_of,
)

__all__ = [
    "AFTER_ALL", "COMING", "LATER", "NOT_YET", "PATCH_VERSIONS", "PRE_RELEASES", "RELEASE_ORDER", "Reading", "Version", "canonical", "exact", "reading_of", "version_of",
]  # fmt: skip
