"""The whole system: a scheduler, and everything that runs beside it."""

from __future__ import annotations

from collections.abc import Sequence

from .environment.actors import Kubelet, PodGC, Users
from .environment.api import APIServer
from .environment.disturbances import Disturbances
from .environment.objects import Budget, ClusterSpec, Node, Pod
from .environment.watch import NodeWatch, PodWatch
from .language import Component, Model, Universe, build
from .scheduler import (
    Binding,
    Cache,
    EventHandlers,
    FailureHandler,
    Filters,
    Nominator,
    Preemption,
    PriorityQueue,
    Sampling,
    Scheduler,
    Scores,
    Snapshot,
)


class Cluster(Model):
    """A cluster with one kube-scheduler."""

    api: APIServer
    pod_watch: PodWatch
    node_watch: NodeWatch
    scheduler: Scheduler
    binding: Binding
    failure: FailureHandler
    queue: PriorityQueue
    nominator: Nominator
    cache: Cache
    snapshot: Snapshot
    filters: Filters
    scores: Scores
    sampling: Sampling
    preemption: Preemption
    handlers: EventHandlers
    disturbances: Disturbances
    kubelet: Kubelet
    pod_gc: PodGC
    users: Users


def build_cluster(spec: ClusterSpec, changes: Sequence[type[Component]] = ()) -> Cluster:
    """The model of `spec` with these changes applied (see `build`)."""
    universe = Universe({Pod: spec.pods, Node: spec.nodes, Budget: spec.budgets}, spec.scope)
    return build(Cluster, universe, changes)
