"""Every two options and sections act in one scenario, or the reader refuses them together, or a table says why one keeps the other from acting."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import fields
from itertools import combinations

import pytest

from podrace.model.asked_for import VIEWS
from podrace.model.environment.objects import Scope
from tests.scenarios.acting import parts_and_idle, read, refusal
from tests.scenarios.features import FEATURES, combined

Pair = frozenset[str]

MOST = 6
"""So many features are put together in one scenario, if the reader takes them."""

WIDE = 4000
"""So many states go on at each step where a pair is tried by itself: an eviction is rare before a node is drained."""

LOST = frozenset({"heartbeat_losses", "node_failures"})
"""They give nodes versions that multiply: each is in pairs only."""

EXCLUDED: Mapping[Pair, str] = {}
"""Which features keep one another from acting, and why."""

NEVER_ALONE = {
    "config": "the section of that name",
    "facts": "follow from the cluster",
    "aims": "says which objects faults strike",
    "assume_expiries": "up to 1.24",
    "pod_gc": "on by default",
    "flush": "on by default",
    "fair_flush": "what liveness counts on",
    "time": "how long steps take",
    "slow": "how long steps take",
    "file_order": "an order of arrival",
    "backoff": "on by default",
}
"""Options of the scope without a feature."""


def test_every_option_of_a_scope_is_one_of_the_features() -> None:
    asked = {option for name in FEATURES for option in combined([name])["scope"]}
    automatic = {
        "node_creations", "node_updates", "pod_creations", "pod_updates", "volume_creations", "claim_creations"
    }  # fmt: skip
    missing = {f.name for f in fields(Scope)} - asked - automatic - set(VIEWS)
    assert missing == NEVER_ALONE.keys() - {"flush", "backoff"}


def pairs(names: Iterable[str] = FEATURES) -> list[Pair]:
    return [frozenset(pair) for pair in combinations(names, 2)]


def in_order(names: Iterable[str]) -> tuple[str, ...]:
    return tuple(name for name in FEATURES if name in set(names))


def together(asked: list[Pair]) -> Iterator[tuple[str, ...]]:
    """Scenarios that have each of these pairs, as the reader takes them: each is filled up with the features that bring most of the pairs that are left."""
    left = dict.fromkeys(pair for pair in asked if refusal(in_order(pair)) is None)
    while left:
        names = in_order(next(iter(left)))
        while len(names) < MOST and LOST.isdisjoint(names):
            brings = {
                name: sum(frozenset((name, other)) in left for other in names)
                for name in FEATURES
                if name not in names
            }
            best = sorted((name for name in brings if brings[name]), key=brings.__getitem__, reverse=True)
            wider = (in_order((*names, name)) for name in best)
            found = next((one for one in wider if LOST.isdisjoint(one) and read(one)), None)
            if found is None:
                break
            names = found
        for pair in pairs(names):
            left.pop(pair, None)
        yield names


def acting(names: tuple[str, ...], width: int = 500) -> set[str]:
    """Those of the features all parts of which act in the scenario that has them all."""
    _, idle = parts_and_idle(names, 80 if width < WIDE else 100, width)
    return {name for name in names if not idle or idle.isdisjoint(parts_and_idle((name,), 0, 1)[0])}


def without_both(scenarios: Iterable[tuple[str, ...]]) -> list[Pair]:
    """The pairs of which not both act: neither in any of these scenarios, nor in one of their own."""
    asked, seen = dict[Pair, None](), set[Pair]()
    for names in scenarios:
        asked |= dict.fromkeys(pairs(names))
        seen |= set(pairs(in_order(acting(names))))
    return [pair for pair in asked if pair not in seen and acting(in_order(pair), WIDE) != pair]


SAMPLE = [
    ("bound_finalizers", "controllers"),
    ("scale_down_taints", "controllers"),
    ("scale_down_looks_again", "scale_down_keeps_room"),
    ("autoscaler", "updates of a node"),
    ("restarts", "a volume claim"),
]


@pytest.mark.ci
@pytest.mark.parametrize("names", SAMPLE)
def test_both_act(names: tuple[str, str]) -> None:
    assert acting(in_order(names)) == set(names)


def test_who_may_not_be_together_is_told_in_one_line() -> None:
    said = [told for pair in pairs()[::15] if (told := refusal(in_order(pair))) is not None]
    assert said
    assert all(told.startswith("features.yaml:1: ") and "\n" not in told for told in said)


@pytest.mark.campaign
def test_of_all_pairs_both_act_or_the_table_says_why_not() -> None:
    assert set(without_both(together(pairs()))) == EXCLUDED.keys()
