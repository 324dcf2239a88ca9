"""Small clusters for tests of the model."""

from collections.abc import Callable
from typing import Any

from podrace.model.cluster import build_cluster
from podrace.model.environment.objects import ClusterSpec, Node, Pod, Scope
from podrace.model.history import resolve
from podrace.model.language import Concrete, NotEnabled


def nodes(*cpus: int) -> tuple[Node, ...]:
    """Nodes n0, n1, ... with these capacities."""
    return tuple(Node(i, f"n{i}", cpu) for i, cpu in enumerate(cpus))


def spec(pods: list[Pod], on: tuple[Node, ...], **scope: Any) -> ClusterSpec:
    """A cluster of these pods and nodes."""
    return ClusterSpec("test", tuple(pods), on, Scope(**{"file_order": True, **scope}))


def concrete(cluster: ClusterSpec, release: str = "1.19", with_fixes=(), without=(), **_: object) -> Concrete:
    """The cluster's model in its initial state."""
    return Concrete(build_cluster(cluster, resolve(release, with_fixes, without).classes))


def enabled(model: Concrete, call: Callable[..., object]) -> bool:
    """Whether a step can run now; it does not run."""
    try:
        model.get(lambda: (call(), None)[1])
    except NotEnabled:
        return False
    return True


def race_72124(**scope: Any) -> ClusterSpec:
    """The cluster of upstream issue 72124: v fills n0, p wants all of it, q a half."""
    (n0,) = nodes(2)
    pods = [Pod(0, "v", 2, 0, node=n0, graceful=False), Pod(1, "p", 2, 10), Pod(2, "q", 1, 10)]
    return spec(pods, (n0,), **scope)
