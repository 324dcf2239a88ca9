"""A version as users write it, resolved to the version of the model that it means; and the versions that can be asked for."""

import re

from ...base.problems import UsageProblem
from ...base.text import one_line
from ...model.history.releases import resolve
from ...model.history.versions import COMING, PATCH_VERSIONS, PRE_RELEASES, RELEASE_ORDER, canonical, exact

LATEST = "latest"
"""The word for the newest version of the newest release."""

_VERSION = re.compile(
    r"v?([0-9]{1,3})\.([0-9]{1,3})(?:\.([0-9]{1,4})([-+][0-9a-z.+-]{1,60})?)?", re.ASCII | re.IGNORECASE
)
_PRE_RELEASE = re.compile(r"-(?:alpha|beta|rc)\.[0-9]+")


def parse_release(text: str) -> str:
    """The model's name of the version that a user means. Raises UsageProblem, with the nearest, for one that the model does not have.

    `1.34` and `v1.34` mean the newest patch version of 1.34 that was read, `1.34.0` its first version, `latest` the newest of all. A pre-release is meant only where it
    is written in full. Blanks around it are passed over.
    """
    text = text.strip()
    if text.lower() == LATEST:
        return NEWEST
    match = _VERSION.fullmatch(text)
    if match is None:
        raise UsageProblem(
            f"unknown release `{one_line(text)}`: write for example 1.34, 1.34.3 or {LATEST}; {_RANGE}"
        )
    minor = f"{int(match[1])}.{int(match[2])}"
    if match[3] is None and minor in RELEASE_ORDER:
        return newest_of(minor)
    known = None if match[3] is None else canonical(f"{minor}.{int(match[3])}{(match[4] or '').lower()}")
    if known is None:
        patch = None if match[3] is None else int(match[3])
        raise UsageProblem(f"unknown release `{one_line(text)}`; {_remedy(minor, patch, match[4] or '')}")
    return known


def full_name(text: str) -> str:
    """The version that a user means, in full, such as 1.34.11. Raises UsageProblem."""
    return exact(parse_release(text))


def newest_of(minor: str) -> str:
    """The model's name of the newest version of a release: 1.34.11 of 1.34."""
    return next((v for v in reversed(PATCH_VERSIONS) if v.startswith(f"{minor}.")), minor)


NEWEST = newest_of(RELEASE_ORDER[-1])
"""The model's name of the newest version that was released and read; what is checked where no release is named."""


def versions_of(minor: str) -> tuple[str, ...]:
    """The model's names of all versions of a release, oldest first."""
    return tuple(
        v for v in (*RELEASE_ORDER, *PATCH_VERSIONS, *PRE_RELEASES) if v == minor or v.startswith(f"{minor}.")
    )


def known_releases() -> tuple[str, ...]:
    """All versions of the model that were released, in full (1.34.0), oldest first."""
    return tuple(exact(v) for v in _released())


def pre_releases() -> tuple[str, ...]:
    """The pre-releases of the model, which are asked for in full only."""
    return PRE_RELEASES


def nearest_read(numbers: tuple[int, int, int]) -> str:
    """The model's name of the version that is nearest to one that a cluster runs: itself, or the newest before it, or the first of all."""
    before = [v for v in _released() if _patch(v) <= numbers]
    return before[-1] if before else _released()[0]


def like_its_neighbours(numbers: tuple[int, int, int]) -> str:
    """The next version read after one that was not, if it has the same changes as the version read before it; else nothing."""
    before, after = nearest_read(numbers), [v for v in _released() if _patch(v) > numbers]
    if not after or not _patch(before)[:2] == numbers[:2] == _patch(after[0])[:2]:
        return ""
    return after[0] if resolve(before).missing == resolve(after[0]).missing else ""


def _released() -> list[str]:
    return [v for minor in RELEASE_ORDER for v in versions_of(minor)]


def _patch(version: str) -> tuple[int, ...]:
    return tuple(int(n) for n in exact(version).partition("-")[0].split("."))


_RANGE = f"the model has {exact(RELEASE_ORDER[0])} to {exact(NEWEST)}, and {PRE_RELEASES[-1]}"


def _remedy(minor: str, patch: int | None, suffix: str) -> str:
    """Which version to ask for instead of one that the model does not have."""
    if minor == COMING:
        return f"{_kind_of(PRE_RELEASES[-1])}; write it in full"
    if minor not in RELEASE_ORDER:
        return f"the nearest: {exact(_nearest(minor))}; {_RANGE}"
    known = [exact(v) for v in versions_of(minor)]
    before = [v for v in known if patch is not None and int(v.split(".")[2].partition("-")[0]) <= patch]
    nearest = before[-1] if before else known[0]
    if suffix and not _PRE_RELEASE.fullmatch(suffix):
        return f"what a vendor adds is not modelled; the nearest: {nearest}"
    if suffix:
        return f"known of {minor}: {', '.join(known)}; the nearest: {known[0]}"
    return f"known of {minor}: {', '.join(known)}; take {nearest}, and add with --with-fix what came after it"


def _kind_of(pre_release: str) -> str:
    """The stage that it is at, in words."""
    stage = pre_release.partition("-")[2].partition(".")[0]
    return f"{pre_release} is {'an alpha' if stage == 'alpha' else f'a {stage}' if stage == 'beta' else 'a release candidate'}"


def _nearest(minor: str) -> str:
    """The version that is nearest to a release that the model does not have: the newest of the one before it, or the first of all."""
    wanted = _numbers(minor)
    before = [release for release in RELEASE_ORDER if _numbers(release) < wanted]
    return newest_of(before[-1]) if before else RELEASE_ORDER[0]


def _numbers(minor: str) -> tuple[int, ...]:
    return tuple(int(n) for n in minor.split("."))
