"""Scores of resources: upstream's own tables (noderesources/least_allocated_test.go, most_allocated_test.go and balanced_allocation_test.go), and its floating point."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from functools import partial
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from podrace.model.environment.cluster.scope import LEAST_ALLOCATED, MOST_ALLOCATED
from podrace.model.environment.objects import Config, Node, Pod
from podrace.model.language import as_expr
from podrace.model.language.expressions.errors import ModelError
from tests.model.clusters import concrete, spec
from tests.profiles import examples

Amounts = tuple[int, int]


def scores(
    plugin: str,
    asked: Amounts,
    nodes: Sequence[Amounts],
    pods: Sequence[tuple[int, Amounts]] = (),
    release: str = "1.36",
    strategy: str = LEAST_ALLOCATED,
) -> list[int]:
    """What a plugin gives to each of the nodes, which have these amounts of cpu and memory, and these pods, by the number of their node."""
    on = tuple(Node(i, f"node{i + 1}", cpu, memory=memory) for i, (cpu, memory) in enumerate(nodes))
    there = [
        Pod(i, f"q{i}", cpu, memory=memory, node=on[number]) for i, (number, (cpu, memory)) in enumerate(pods)
    ]
    pod = Pod(len(there), "p", asked[0], memory=asked[1])
    of = spec([*there, pod], on, config=Config(scored=True, scoring_strategy=strategy))
    model = concrete(of, release)
    model.do(model.part("snapshot").update)
    part, snapshot = model.part("resource_scores"), model.part("snapshot")
    feasible = dict.fromkeys(on, as_expr(True))

    def given(node: Node) -> Any:
        return getattr(part, plugin)(pod, feasible, snapshot.placement())[node]

    return [model.get(partial(given, node)) for node in on]


BIG, SIZES = ((10000, 20000), (10000, 20000)), ((10000, 20000), (10000, 50000))
ASKED = (3000, 5000)
ONE_EACH = ((0, (3000, 0)), (1, (3000, 5000)))
TWO_EACH = ((0, (3000, 0)), (0, (3000, 0)), (1, (3000, 0)), (1, (3000, 5000)))


@pytest.mark.parametrize(
    ("asked", "nodes", "pods", "wanted"),
    [
        ((0, 0), ((4000, 10000),) * 2, (), [100, 100]),
        (ASKED, ((4000, 10000), (6000, 10000)), (), [37, 50]),
        ((0, 0), BIG, TWO_EACH, [70, 57]),
        (ASKED, BIG, ONE_EACH, [57, 45]),
        (ASKED, SIZES, ONE_EACH, [57, 60]),
        ((3000, 0), ((4000, 10000),) * 2, ONE_EACH, [50, 25]),
    ],
)  # fmt: skip
@pytest.mark.parametrize("release", ["1.18", "1.36"])
def test_upstreams_table_of_least_allocated(release: str, asked: Amounts, nodes: Any, pods: Any, wanted: list[int]) -> None:  # fmt: skip
    assert scores("fit", asked, nodes, pods, release) == wanted


@pytest.mark.parametrize(
    ("asked", "nodes", "pods", "wanted"),
    [
        ((0, 0), ((4000, 10000),) * 2, (), [0, 0]),
        (ASKED, ((4000, 10000), (6000, 10000)), (), [62, 50]),
        ((0, 0), BIG, TWO_EACH, [30, 42]),
        (ASKED, BIG, ONE_EACH, [42, 55]),
    ],
)  # fmt: skip
def test_upstreams_table_of_most_allocated(asked: Amounts, nodes: Any, pods: Any, wanted: list[int]) -> None:
    assert scores("fit", asked, nodes, pods, strategy=MOST_ALLOCATED) == wanted


ROWS = [
    (ASKED, ((4000, 10000), (6000, 10000)), (), {"1.36": [68, 75], "1.22": [87, 100], "1.18": [75, 100]}),
    (ASKED, BIG, ONE_EACH, {"1.36": [73, 74], "1.22": [82, 95], "1.18": [65, 90]}),
    (ASKED, SIZES, ONE_EACH, {"1.36": [73, 70], "1.22": [82, 80], "1.18": [65, 60]}),
    ((0, 5000), ((3000, 5000),) * 2, ((0, (3000, 0)),), {"1.36": [100, 50]}),
    ((3000, 0), ((6000, 10000),) * 2, ONE_EACH, {"1.36": [62, 62], "1.22": [50, 75]}),
    ((3000, 0), ((4000, 10000),) * 2, ONE_EACH, {"1.18": [0, 0]}),
    ((0, 0), BIG, TWO_EACH, {"1.22": [70, 82], "1.18": [40, 65]}),
]
"""The last one is skipped from 1.33 on, as a pod that asks for nothing of either has no such score; no scenario has one."""


@pytest.mark.parametrize(("asked", "nodes", "pods", "wanted"), ROWS)
def test_upstreams_tables_of_balance(
    asked: Amounts, nodes: Any, pods: Any, wanted: dict[str, list[int]]
) -> None:
    for release, found in wanted.items():
        assert scores("balanced", asked, nodes, pods, release) == found, release


def test_up_to_1_16_the_scale_ends_at_ten() -> None:
    assert scores("fit", ASKED, BIG, ONE_EACH, "1.13") == [5, 4]
    assert scores("balanced", ASKED, BIG, ONE_EACH, "1.13") == [6, 9]


def by_floats(used: Amounts, node: Amounts) -> int:
    """balancedResourceScore, as Go computes it."""
    first, second = (min(u / most, 1.0) for u, most in zip(used, node, strict=True))
    return int((1 - abs((first - second) / 2)) * float(100))


def test_floating_point_may_come_to_less_than_the_quotient() -> None:
    node, used = (10, 100), (3, 44)
    wrong = [
        (a, b) for a in range(11) for b in range(101)
        if by_floats((a, b), node) != int(100 - 50 * abs(Fraction(a, 10) - Fraction(b, 100)))
    ]  # fmt: skip
    assert wrong, "else the table of exceptions has no use"
    used = wrong[0]
    assert scores("balanced", used, [node], release="1.35") == [by_floats(used, node)]


def test_floating_point_may_come_to_less_where_a_share_is_small() -> None:
    node, used = (200, 200), (1, 137)
    assert (by_floats(used, node), 100 - 50 * (137 - 1) // 200) == (65, 66)
    assert scores("balanced", used, [node], release="1.35") == [65]


@settings(max_examples=examples(60), deadline=None)
@given(st.data())
def test_balance_is_that_of_floating_point(data: st.DataObject) -> None:
    amounts = st.tuples(st.integers(1, 12), st.integers(1, 300))
    node = (data.draw(st.integers(12, 64)), data.draw(st.integers(300, 4096)))
    own, others = data.draw(amounts), data.draw(st.lists(amounts, max_size=3))
    before = tuple(map(sum, zip((0, 0), *others, strict=True)))
    after = (before[0] + own[0], before[1] + own[1])
    pods = [(0, other) for other in others]
    assert scores("balanced", own, [node], pods, "1.35") == [by_floats(after, node)]
    gain = by_floats(after, node) - by_floats((before[0], before[1]), node)
    assert scores("balanced", own, [node], pods) == [50 + (50 + gain) // 2]


def test_more_cases_than_are_looked_at() -> None:
    pods = [(0, (1 << i, 1 << i)) for i in range(13)]
    with pytest.raises(ModelError, match="the scores of resources have too many cases"):
        scores("balanced", (1, 1), [(1 << 14, 1 << 14)], pods)
