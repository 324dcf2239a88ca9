"""The whole system: a scheduler, and everything that runs beside it."""

from __future__ import annotations

from collections.abc import Sequence

from .environment.actors import Kubelet, PodGC, Users
from .environment.api import APIServer
from .environment.disturbances import Disturbances
from .environment.objects import ClusterSpec, Node, Pod
from .environment.watch import NodeWatch, PodWatch
from .language import Component, Model, Universe, build
from .scheduler import (
    Binding,
    Cache,
    Clock,
    EventHandlers,
    FailureHandler,
    Filters,
    Nominator,
    Preemption,
    PriorityQueue,
    Scheduler,
    Snapshot,
)
from .scheduler.events import Plugin, default_plugins


class Cluster(Model):
    """A cluster with one kube-scheduler."""

    api: APIServer
    pod_watch: PodWatch
    node_watch: NodeWatch
    scheduler: Scheduler
    binding: Binding
    failure: FailureHandler
    queue: PriorityQueue
    clock: Clock
    nominator: Nominator
    cache: Cache
    snapshot: Snapshot
    filters: Filters
    preemption: Preemption
    handlers: EventHandlers
    disturbances: Disturbances
    kubelet: Kubelet
    pod_gc: PodGC
    users: Users


def build_cluster(
    spec: ClusterSpec,
    changes: Sequence[type[Component]] = (),
    plugins: Sequence[Plugin] | None = None,
) -> Cluster:
    """The model of `spec` with these changes applied (see `build`); `plugins` are by default the model's filters."""
    rejecting = default_plugins() if plugins is None else plugins
    universe = Universe({Pod: spec.pods, Node: spec.nodes, Plugin: rejecting}, spec.scope)
    return build(Cluster, universe, changes)
