"""Which orders of equal objects a verdict names."""

from __future__ import annotations

import pytest

from podrace.analysis.shown.orders import orders_of, orders_of_all
from podrace.model.history import resolve
from podrace.scenarios import parse_scenario

ZONES = "{a1: {cpu: 1, labels: {topology.kubernetes.io/zone: a}}, b1: {cpu: 1, labels: {topology.kubernetes.io/zone: b}}}"
ONE_ZONE = "{a1: {cpu: 1}, a2: {cpu: 1}}"


@pytest.mark.parametrize(
    ("nodes", "release", "named"),
    [(ZONES, "1.9", False), (ZONES, "1.12", True), (ZONES, "1.18", True), (ZONES, "1.19", False), (ONE_ZONE, "1.18", False)],
)  # fmt: skip
def test_the_order_of_nodes_where_a_cycle_may_leave_some_out(nodes: str, release: str, named: bool) -> None:
    spec = parse_scenario(f"nodes: {nodes}\npods: {{p: {{cpu: 1}}}}\n", "two.yaml").spec
    expected = {"nodes at the start": "in the order of the file"} if named else {}
    assert orders_of(spec, resolve(release).classes) == expected


@pytest.mark.parametrize(
    ("labels", "release", "named"),
    [("{x: 1, y: 1}", "1.36", False), ("{x: 1, y: 1}", "1.37", True), ("{x: 1}", "1.37", False)],
)
def test_the_order_of_budgets_where_the_first_without_room_decides(
    labels: str, release: str, named: bool
) -> None:
    quoted = labels.replace("1", "'1'")
    spec = parse_scenario(
        f"""
nodes: {{n: {{cpu: 1}}}}
podDisruptionBudgets:
  b1: {{selector: {{matchLabels: {{x: '1'}}}}, disruptionsAllowed: 0}}
  b2: {{selector: {{matchLabels: {{y: '1'}}}}, disruptionsAllowed: 1}}
pods: {{v: {{cpu: 1, nodeName: n, labels: {quoted}}}}}
""",
        "two.yaml",
    ).spec
    expected = {"budgets of one pod": "in the order of the file"} if named else {}
    assert orders_of(spec, resolve(release).classes) == expected


@pytest.mark.parametrize(
    ("scope", "release", "named"),
    [
        ("relists: 1", "1.36", True),
        ("restarts: 1", "1.27", True),
        ("restarts: 1", "1.28", False),
        ("pod_deletions: 1", "1.27", False),
    ],
)
def test_the_order_of_the_events_that_a_list_gives(scope: str, release: str, named: bool) -> None:
    text = f"nodes: {ONE_ZONE}\npods: {{p: {{cpu: 1}}}}\nscope: {{{scope}}}\n"
    expected = {"events of a new list": "in the order of the file"} if named else {}
    spec, classes = parse_scenario(text, "two.yaml").spec, resolve(release).classes
    assert orders_of(spec, classes) == expected
    of_all = {"equal victims", "equal members of groups", *expected}
    assert orders_of_all(spec.scope, classes, True) == dict.fromkeys(of_all, "in the order of their arrival")


@pytest.mark.parametrize(
    ("times", "named"),
    [
        ((1, 1), {"pods that wait alike": "in any order"}),
        ((1, 2), {"pods with a creationTimestamp": "in its order"}),
    ],
)
def test_an_order_by_times_of_creation_is_named(times: tuple[int, int], named: dict[str, str]) -> None:
    a, b = (f"{{cpu: 1, creationTimestamp: 2026-01-01T00:00:0{time}Z}}" for time in times)
    spec = parse_scenario(f"nodes: {ONE_ZONE}\npods: {{a: {a}, b: {b}}}\n", "two.yaml").spec
    assert orders_of(spec, resolve("1.36").classes) == named
