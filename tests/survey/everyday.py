"""The survey of everyday changes: what is violated with each, and whether it goes away with the patches of all open hazards at once.

`everyday.tsv` is what was found: the change, the cluster, how many states the search came to, and the properties that are violated with the steps of a
shortest counterexample. A `?` after them says that the search with the patches was given up.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from podrace.checker.core.exploration import Budget
from podrace.checker.core.result import Result
from podrace.checker.search import check
from podrace.model.environment.objects import ClusterSpec
from podrace.model.history import resolve
from podrace.model.language import Component
from podrace.properties import PROPERTIES, instrument
from tests import hazard_patches

FILE = Path(__file__).with_name("everyday.tsv")
RELEASE = "1.36.3"
MOST_STATES, MOST_PATCHED = 40_000, 120_000

PATCHES: tuple[type[Component], ...] = tuple(
    getattr(hazard_patches, name)
    for name in (
        "FreshRequeue", "GhostsRefused", "RegisteredToTheEnd", "VersionedCondition", "AlwaysActivated", "NodeRemovedFirst", "GoneNotAssumed",
        "GoneNoted", "PlacedNotAdded", "TombstonesWakeLikeDeletions", "TermsOfOthersHeard", "CountedNodesHeard", "LostDomainsHeard",
        "RelabelledPeersHeard", "AnyTermHeard", "VictimsAwaitedByUID", "WrittenByUID", "NominatedByUID", "LooksAgain", "VictimsPaidFor",
    )
)  # fmt: skip
"""Those of docs/hazards.md that go together."""

_ELSEWHERE = (".claims", ".volumes", ".groups", ".admissions")

ASKED = [
    name
    for name, prop in PROPERTIES.items()
    if name.startswith("S-") and name != "S-EXIT" and not prop.__module__.endswith(_ELSEWHERE)
]
"""The safety properties that speak of what these clusters have."""


@dataclass(frozen=True)
class Row:
    """What was found with one change in one cluster."""

    change: str
    cluster: str
    states: int
    violated: dict[str, int]
    undecided: bool


def read() -> list[Row]:
    """The table."""
    rows = []
    for line in FILE.read_text(encoding="utf-8").splitlines():
        change, cluster, states, found = line.split("\t")
        pairs = (item.split(":") for item in found.split() if item != "?")
        rows.append(
            Row(change, cluster, int(states), {name: int(n) for name, n in pairs}, found.endswith("?"))
        )
    return rows


def decide(spec: ClusterSpec, name: str, *, patched: bool) -> Result:
    """The verdict on one property, on the release as it is or with all patches."""
    classes = (*(PATCHES if patched else ()), *resolve(RELEASE).classes)
    budget = Budget(max_states=MOST_PATCHED if patched else MOST_STATES)
    (result,) = check(instrument(spec, classes, [PROPERTIES[name]]), [name], budget)
    return result
