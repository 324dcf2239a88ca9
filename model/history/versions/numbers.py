"""Versions: the releases that the model has, their patch versions, and how the sources of each were read.

In the model a release is named by its minor version and stands for its first version: 1.34 is 1.34.0. A patch version is named in full.
What users write is resolved in `analysis/request/release_names.py`.
"""

from enum import Enum

from ....base.structs import dataclass

RELEASE_ORDER = (
    "1.8", "1.9", "1.12", "1.13", "1.14", "1.15", "1.16", "1.17", "1.18", "1.19", "1.20", "1.21", "1.22", "1.23", "1.24",
    "1.25", "1.26", "1.27", "1.28", "1.29", "1.30", "1.31", "1.32", "1.33", "1.34", "1.35", "1.36", "1.37",
)  # fmt: skip
"""The releases, oldest first; each stands for its first version (1.13 is 1.13.0)."""

PATCH_VERSIONS = (
    "1.13.2", "1.18.20", "1.19.16", "1.22.17", "1.23.17", "1.29.6", "1.30.4", "1.30.14", "1.31.14", "1.32.2", "1.32.13", "1.33.6", "1.33.13", "1.34.2", "1.34.3", "1.34.4",
    "1.34.11", "1.35.4", "1.35.8", "1.36.1", "1.36.3", "1.36.4", "1.36.5", "1.37.1", "1.37.2",
)  # fmt: skip
"""Later versions of a release whose sources are to be had, oldest first."""

PRE_RELEASES = ("1.38.0-beta.0",)
"""Versions of the release that is coming, oldest first. One of them is meant only where it is written in full."""

NOT_YET = {
    "1.38.0-beta.0": ("a claim with a negative capacity fails every PreFilter",),
}  # fmt: skip
"""The changes of a pre-release that the model does not have, as far as its sources were read."""

COMING = ".".join(PRE_RELEASES[0].split(".")[:2])
"""The release that they are of."""

LATER = "later"
"""The first release of a change that none of them has."""


class Reading(Enum):
    """How the sources of a version were read."""

    WHOLE = "its sources were read as a whole"
    CHANGES = "its sources were read by pull request, not as a whole"


_WHOLE_FROM = RELEASE_ORDER.index("1.29")
"""From here on the patch versions were read as a whole, and of their releases' first versions every difference to them."""


@dataclass(frozen=True, order=True, slots=True)
class Version:
    """A place in the order of versions: `release` counts the releases before it, `patch` is the last number; 1.38.0-beta.0 has `stage` beta and `number` 0."""

    release: int
    patch: int
    stage: str = "released"
    number: int = 0

    @property
    def minor(self) -> str:
        """The release that it belongs to."""
        return _MINORS[self.release]


_MINORS = (*RELEASE_ORDER, COMING)
AFTER_ALL = Version(len(_MINORS), 0)


def version_of(name: str) -> Version:
    """The version of a release or patch version, or what lies after all of them for LATER. Raises ValueError for other names."""
    if name == LATER:
        return AFTER_ALL
    numbers, _, before = name.partition("-")
    minor, _, patch = numbers.rpartition(".") if numbers.count(".") == 2 else (numbers, "", "0")
    stage, _, number = before.partition(".") if before else ("released", "", "0")
    return (
        Version(_MINORS.index(minor), int(patch), stage, int(number)) if minor in _MINORS else _unknown(name)
    )


def _unknown(name: str) -> Version:
    raise ValueError(f"no release of the model: {name}")


def canonical(name: str) -> str | None:
    """The name by which the model knows a version (1.34.0 is 1.34), or None if it does not have it."""
    short = name.removesuffix(".0") if name.count(".") == 2 else name
    return short if short in (*RELEASE_ORDER, *PATCH_VERSIONS, *PRE_RELEASES) else None


def exact(name: str) -> str:
    """The version that a release stands for: 1.34 is 1.34.0."""
    return name if name.count(".") >= 2 else f"{name}.0"


def reading_of(name: str) -> Reading:
    """How the sources of a known version were read."""
    if name in PRE_RELEASES:
        return Reading.CHANGES
    return Reading.WHOLE if version_of(name).release >= _WHOLE_FROM else Reading.CHANGES
