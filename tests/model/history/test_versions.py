"""Patch versions: what each has that the first version of its release had not, and what it took back."""

from __future__ import annotations

import pytest

from podrace.model.history import CHANGES, PATCH_VERSIONS, RELEASE_ORDER
from podrace.model.history.registry.change import Change
from podrace.model.history.versions import Reading, canonical, exact, reading_of, version_of

DIFFERENCES: dict[str, tuple[set[str], set[str]]] = {
    "1.13.2": ({"70366", "71488", "72259"}, set()),
    "1.18.20": ({"91252", "93355", "93938", "95130"}, set()),
    "1.19.16": ({"93044", "95130", "102498"}, set()),
    "1.22.17": ({"106102", "108366", "109245", "109442"}, {"139522"}),
    "1.23.17": ({"108366", "109245", "109442", "nominating-mode"}, set()),
    "1.29.6": ({"missing-status"}, set()),
    "1.30.4": ({"missing-status"}, set()),
    "1.30.14": ({"128307", "missing-status"}, set()),
    "1.31.14": ({"128307"}, set()),
    "1.32.2": (set(), set()),
    "1.32.13": ({"136269", "136269-events"}, set()),
    "1.33.6": (set(), set()),
    "1.33.13": ({"136269", "136269-events"}, set()),
    "1.34.2": ({"134400"}, {"133167", "gone-victims-condition", "terminating-victims"}),
    "1.34.3": ({"134400"}, {"133167", "gone-victims-condition", "terminating-victims"}),
    "1.34.4": (
        {"134400", "136269", "136269-events"},
        {"133167", "gone-victims-condition", "terminating-victims"},
    ),
    "1.34.11": (
        {"134400", "136269", "136269-events", "138324"},
        {"133167", "gone-victims-condition", "terminating-victims"},
    ),
    "1.35.4": ({"134400", "136269", "136269-events"}, set()),
    "1.35.8": ({"134400", "136269", "136269-events", "138324", "139162"}, set()),
    "1.36.1": (set(), set()),
    "1.36.3": (set(), set()),
    "1.36.4": ({"139162"}, set()),
    "1.36.5": ({"139162"}, set()),
    "1.37.1": (set(), set()),
    "1.37.2": ({"142289"}, set()),
}
"""For each patch version the changes that it has and its release's first version has not, and those that it took back."""


def test_a_pre_release_lies_between_the_releases() -> None:
    """It comes before the release that it is of, and after all that were released."""
    order = ["1.37", "1.37.2", "1.38.0-alpha.3", "1.38.0-beta.0", "1.38.0-rc.0", "1.38", "later"]
    assert [version_of(name) for name in order] == sorted(map(version_of, order))
    assert len(set(map(version_of, order))) == len(order)
    assert version_of("1.38.0-beta.0").minor == "1.38"
    assert [canonical(name) for name in ("1.38.0-beta.0", "1.38", "1.38.0-alpha.3")] == [
        "1.38.0-beta.0",
        None,
        None,
    ]
    assert exact("1.38.0-beta.0") == "1.38.0-beta.0"


def in_version(name: str) -> set[str]:
    """The changes that a version has."""
    return {key for key, change in CHANGES.items() if change.is_in(name)}


@pytest.mark.parametrize("name", PATCH_VERSIONS)
def test_what_a_patch_version_has_and_lacks_beside_its_first_version(name: str) -> None:
    first, here = in_version(version_of(name).minor), in_version(name)
    assert (here - first, first - here) == DIFFERENCES[name]


@pytest.mark.parametrize("key", ["terminating-victims", "gone-victims-condition", "133167"])
def test_what_1_34_2_took_back(key: str) -> None:
    having = [
        v for v in ("1.33", "1.33.13", "1.34", "1.34.2", "1.34.4", "1.35", "1.36.3") if v in versions(key)
    ]
    assert having == (["1.34"] if key == "133167" else ["1.34", "1.35", "1.36.3"])


def versions(key: str) -> set[str]:
    """All versions that have a change."""
    return {v for v in (*RELEASE_ORDER, *PATCH_VERSIONS) if CHANGES[key].is_in(v)}


@pytest.mark.parametrize("key", ["missing-status"])
def test_a_backport_holds_for_the_rest_of_its_release_only(key: str) -> None:
    having = [
        v for v in ("1.28", "1.29", "1.29.6", "1.30", "1.30.4", "1.30.14", "1.31") if v in versions(key)
    ]
    assert having == ["1.29.6", "1.30.4", "1.30.14", "1.31"]


def test_a_revert_holds_for_the_rest_of_its_release_only() -> None:
    change = Change("x", "x", "1.34", (), (), backports=("1.33.6",), reverts=("1.33.13", "1.34.3"))
    having = [v for v in ("1.33", *PATCH_VERSIONS, "1.34", "1.35") if change.is_in(v)]
    assert having == [
        "1.33.6", "1.34.2", "1.35.4", "1.35.8", "1.36.1", "1.36.3", "1.36.4", "1.36.5", "1.37.1", "1.37.2", "1.34", "1.35",
    ]  # fmt: skip


FIRST = {
    "waiting-victims-rejected": "1.16",
    "reject-on-delete": "1.17",
    "permit-timers": "1.17",
    "score-scale": "1.17",
    "permit-in-cycle": "1.18",
    "buffered-signal": "1.18",
    "preempt-before-failure": "1.18",
    "even-pods-spread": "1.18",
    "86230": "1.18",
    "budget-countdown": "1.18",
    "86964": "1.18",
    "removed-not-preempted": "1.18",
    "nominated-status": "1.19",
    "preemption-policy": "1.19",
    "disrupted-pods": "1.19",
}
"""What came with 1.16 to 1.19, as the sources of these and their neighbours have it."""


@pytest.mark.parametrize("key", FIRST)
def test_which_of_1_16_to_1_19_was_the_first_to_have_a_change(key: str) -> None:
    around = ("1.15", "1.16", "1.17", "1.18", "1.19")
    lacking = [r for r in around if not CHANGES[key].is_in(r)]
    before = list(around[: around.index(FIRST[key])])
    since = {"86964": before, "removed-not-preempted": ["1.17"]}
    assert lacking == since.get(key, before)


OTHER_DATES = {
    "70366": ("1.13", "1.14"),
    "requeue-ignores-condition": ("1.13", "1.14"),
    "93938": ("1.18", "1.19"),
    "95130": ("1.19", "1.20"),
    "assigned-not-requeued": ("1.20", "1.21"),
    "plugin-events": ("1.20", "1.21"),
    "plugins-register": ("1.21", "1.22"),
    "nominating-mode": ("1.23", "1.24"),
    "109245": ("1.23", "1.24"),
    "empty-spread-selector": ("1.26", "1.27"),
}
"""Changes of which a patch version has what its first version had not: the last release without, the first with."""


@pytest.mark.parametrize("key", OTHER_DATES)
def test_a_release_is_its_first_version_and_no_later_one(key: str) -> None:
    without, having = OTHER_DATES[key]
    assert (CHANGES[key].is_in(without), CHANGES[key].is_in(having)) == (False, True)


def test_from_1_29_on_the_sources_of_every_version_were_read() -> None:
    by_change = [v for v in (*RELEASE_ORDER, *PATCH_VERSIONS) if reading_of(v) is Reading.CHANGES]
    patches = ["1.13.2", "1.18.20", "1.19.16", "1.22.17", "1.23.17"]
    assert by_change == [*RELEASE_ORDER[: RELEASE_ORDER.index("1.29")], *patches]
    assert exact("1.35") == "1.35.0"
