"""How many pods use a claim that one only may use, as the snapshot counts them from 1.37 on (139238)."""

from __future__ import annotations

from functools import partial
from typing import Any

import pytest

from podrace.model.environment.objects import ClusterSpec, Node, Pod, Scope, StorageClass, Volume, VolumeClaim
from podrace.model.environment.storage.volumes import CountedClaim
from podrace.model.language import Concrete
from tests.model.clusters import concrete, nodes


class Counted:
    """Pods a on n0 and b on n1 that use the claim c, and the cache of a release."""

    def __init__(self, release: str = "1.37") -> None:
        self.on: tuple[Node, ...] = nodes(2, 2)
        self.a, self.b = (
            Pod(i, name, 1, node=self.on[i], volumes=("c",), exclusive=("c",)) for i, name in enumerate("ab")
        )
        of = StorageClass("local")
        volume = Volume(0, "v", of)
        claim = VolumeClaim(0, "c", of, volume, completed=True, exclusive=True)
        pods, scope = (self.a, self.b), Scope(node_deletions=1, node_creations=1)
        spec = ClusterSpec("counts", pods, self.on, scope, volumes=(volume,), volume_claims=(claim,))
        self.model: Concrete = concrete(spec, release)
        self.cache: Any = self.model.part("cache")
        self.snapshot: Any = self.model.part("snapshot")

    def do(self, *calls: Any) -> None:
        """Each call, with what it is about."""
        for call, about in zip(calls[::2], calls[1::2], strict=True):
            self.model.do(partial(call, about))

    @property
    def is_used(self) -> bool:
        """What a cycle that begins now takes the claim for."""
        (claim,) = self.snapshot.universe[CountedClaim]
        self.model.do(self.snapshot.update)
        return bool(self.model.get(lambda: self.snapshot.used[claim]))


def test_the_first_snapshot_counts_all() -> None:
    assert Counted().is_used


def test_pods_that_come_and_go_are_counted() -> None:
    one = Counted()
    assert one.is_used
    one.do(one.cache.remove_pod, one.a)
    assert one.is_used
    one.do(one.cache.remove_pod, one.b)
    assert not one.is_used


def test_a_node_that_is_back_before_the_next_snapshot_has_lost_its_users() -> None:
    one = Counted()
    one.do(one.cache.remove_pod, one.b)
    assert one.is_used
    one.do(one.cache.remove_node, one.on[0], one.cache.add_node, one.on[0])
    assert not one.is_used
    assert one.model.get(lambda: one.cache.node_of(one.a)) is one.on[0]


def test_a_snapshot_in_between_counts_anew() -> None:
    one = Counted()
    one.do(one.cache.remove_pod, one.b)
    assert one.is_used
    one.do(one.cache.remove_node, one.on[0])
    assert not one.is_used
    one.do(one.cache.add_node, one.on[0])
    assert one.is_used


def test_a_pod_of_a_node_that_is_gone_is_taken_off_twice() -> None:
    one = Counted()
    assert one.is_used
    one.do(one.cache.remove_node, one.on[0])
    assert one.is_used
    one.do(one.cache.remove_pod, one.a)
    assert not one.is_used
    assert one.model.get(lambda: one.cache.node_of(one.b)) is one.on[1]


def test_a_count_below_zero_has_all_counted_anew() -> None:
    """The node is registered anew twice: its pod is taken off twice."""
    one = Counted()
    one.do(one.cache.remove_pod, one.b)
    assert one.is_used
    for _ in range(2):
        one.do(one.cache.remove_node, one.on[0], one.cache.add_node, one.on[0])
    assert one.is_used


@pytest.mark.parametrize("release", ["1.36.4", "1.32"])
def test_earlier_releases_do_not_count(release: str) -> None:
    one = Counted(release)
    assert one.cache.keeps_counts() is False
    assert one.model.get(lambda: one.snapshot.placement().used is None)
