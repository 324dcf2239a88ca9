"""The small clusters of the survey, and the faults, each alone."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from podrace.model.environment.cluster.placement_rules import Selector, SpreadConstraint
from podrace.model.environment.objects import ClusterSpec, Node, Pod, Scope

FAULTS: dict[str, dict[str, int]] = {
    "nothing": {},
    "pod deletion": {"pod_deletions": 1},
    "node deletion": {"node_deletions": 1, "node_creations": 1},
    "bind failure": {"bind_failures": 1},
    "lost reply": {"lost_replies": 1},
    "write failure": {"write_failures": 1},
    "expiry": {"assume_expiries": 1},
    "restart": {"restarts": 1},
    "hand-over": {"leader_changes": 1},
    "external binding": {"external_binds": 1},
    "interrupted watch": {"relists": 1, "pod_deletions": 1},
}
"""What may go wrong once in a run; of node deletions and interruptions, what belongs to them."""


def clusters() -> Iterator[ClusterSpec]:
    """One node of two units and one or two pods, waiting or bound, with gates or not; or two zones and a spread constraint.

    All pods leave at once when they are deleted.
    """
    yield from (waiting(1), waiting(1, 2), waiting(2, 1, above=1))
    yield from (bound(1), bound(1, 1), bound(1, 2), bound(2, 1, above=1))
    yield replace(waiting(1, gated=True), name="gated")
    yield replace(bound(2, 1, above=1, gated=True), name="gated preemptor")
    yield spread_over_zones()


def disturbed(cluster: ClusterSpec, fault: str) -> ClusterSpec:
    """The cluster with this fault, two undelivered events, and without the periodic flush."""
    scope = Scope(pod_events=2, flush=False, **FAULTS[fault])  # type: ignore[arg-type]
    return replace(cluster, scope=scope)


def cluster_named(name: str) -> ClusterSpec:
    """The cluster of this name."""
    return next(c for c in clusters() if c.name == name)


def waiting(one: int, two: int = 0, *, above: int = 0, gated: bool = False) -> ClusterSpec:
    """No pod is bound."""
    node = Node(0, "n", 2)
    pods = [Pod(0, "a", one, graceful=False, gated=gated)]
    if two:
        pods.append(Pod(1, "b", two, above, graceful=False))
    return ClusterSpec(_name(f"{one} waits", two, above), tuple(pods), (node,))


def bound(one: int, two: int = 0, *, above: int = 0, gated: bool = False) -> ClusterSpec:
    """The first pod is bound."""
    node = Node(0, "n", 2)
    pods = [Pod(0, "a", one, node=node, graceful=False)]
    if two:
        pods.append(Pod(1, "b", two, above, graceful=False, gated=gated))
    return ClusterSpec(_name(f"{one} bound", two, above), tuple(pods), (node,))


def spread_over_zones() -> ClusterSpec:
    """The first pod is bound in one zone; the node of the other is too small for the second, which must keep the balance."""
    east, west = Node(0, "e", 3, labels={"zone": "east"}), Node(1, "w", 1, labels={"zone": "west"})
    even = SpreadConstraint("zone", Selector({"app": "web"}))
    a = Pod(0, "a", 1, node=east, labels={"app": "web"}, graceful=False)
    b = Pod(1, "b", 2, labels={"app": "web"}, spread=[even], graceful=False)
    return ClusterSpec("zones", (a, b), (east, west))


def _name(first: str, two: int, above: int) -> str:
    return first + (f", {two} waits" if two else "") + (" above it" if above else "")
