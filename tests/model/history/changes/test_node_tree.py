"""The node tree as an iterator, which left out nodes (1.12 to 1.18)."""

from __future__ import annotations

from functools import partial

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from podrace.model.cluster import build_cluster
from podrace.model.environment.objects import Node, Pod
from podrace.model.history import resolve
from podrace.model.language import Concrete
from tests.model.clusters import spec
from tests.profiles import examples

ZONE = "topology.kubernetes.io/zone"
ON = tuple(Node(i, f"{z}{i}", 1, {ZONE: z}) for i, z in enumerate("abbacb"))


class Iterator:
    """internal/cache/node_tree.go call by call, up to 1.16 or from 1.17 on (`first`: resetExhausted also sets zoneIndex)."""

    def __init__(self, first: bool) -> None:
        self.first, self.turn = first, 0
        self.zones: dict[str, tuple[list[Node], list[int]]] = {}

    def add(self, node: Node) -> None:
        names, _ = self.zones.setdefault(node.labels[ZONE], ([], [0]))
        if node not in names:
            names.append(node)

    def remove(self, node: Node) -> None:
        names, _ = self.zones.get(node.labels[ZONE], ([], [0]))
        if node in names:
            names.remove(node)
            if not names:
                del self.zones[node.labels[ZONE]]

    def next(self) -> Node:
        exhausted = 0
        while True:
            order = list(self.zones.values())
            self.turn = 0 if self.turn >= len(order) else self.turn
            names, given_ = order[self.turn]
            self.turn += 1
            if given_[0] < len(names):
                given_[0] += 1
                return names[given_[0] - 1]
            exhausted += 1
            if exhausted >= len(order):
                for _, each in order:
                    each[0] = 0
                self.turn = 0 if self.first else self.turn

    def list(self) -> list[Node]:
        return [self.next() for names, _ in list(self.zones.values()) for _ in names]


def tree_of(release: str, *there: Node) -> Concrete:
    on = tuple(Node(n.index, n.name, 1, n.labels, exists=n in there) for n in ON)
    return Concrete(build_cluster(spec([Pod(0, "p", 1)], on, node_creations=6), resolve(release).classes))


@pytest.mark.representatives(2)
@pytest.mark.parametrize("release", ["1.12", "1.16", "1.17", "1.18"])
@settings(max_examples=examples(120), deadline=None)
@given(steps=st.lists(st.sampled_from([*range(6), "list", "list", "list"]), max_size=16))
def test_the_same_nodes_are_given_as_by_the_iterator_call_by_call(
    release: str, steps: list[int | str]
) -> None:
    """Adding a node that is there takes it away."""
    model, iterator = tree_of(release), Iterator(first=release in ("1.17", "1.18"))
    tree = model.part("node_tree")
    there: set[int] = set()
    for step in [*steps, "list", "list"]:
        if isinstance(step, int):
            node = model.model.entities[Node][step]
            mine, upstreams = (tree.remove, iterator.remove) if step in there else (tree.add, iterator.add)
            upstreams(node)
            model.do(partial(mine, node, tree.zone_by_labels(node)))
            there ^= {step}
            continue
        expected = iterator.list()
        found = model.do(lambda: [(v.once, v.twice) for v in tree.visit_all().values()])
        assert found == [(expected.count(n) >= 1, expected.count(n) == 2) for n in model.model.entities[Node]]
        assert all(expected.count(n) <= 2 for n in expected)


@pytest.mark.parametrize(
    ("release", "lost"), [("1.12", False), ("1.16", False), ("1.17", True), ("1.18", True)]
)
def test_a_node_that_comes_to_the_smaller_zone_has_another_left_out(release: str, lost: bool) -> None:
    """a0 and b1, b2 were listed; a3 comes, and is given first. From 1.17 on it was given once more, instead of b2."""
    model = tree_of(release, *ON[:3])
    tree = model.part("node_tree")
    model.do(tree.visit_all)
    node = model.model.entities[Node][3]
    model.do(lambda: tree.add(node, tree.zone_by_labels(node)))
    visits = model.do(lambda: {n.name: (v.once, v.twice) for n, v in tree.visit_all().items()})
    assert visits == {
        "a0": (True, False), "b1": (True, False), "b2": (not lost, False), "a3": (True, lost), "c4": (False, False), "b5": (False, False),
    }  # fmt: skip
