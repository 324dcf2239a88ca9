"""The pods that controllers still owe: replicas that are wanted and not there."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import count, islice

from .members import ClusterPod, Maker
from .pods import WrittenPod
from .workloads import Workload

NAMED = 8
"""So many missing pods of one workload are told apart; no representative needs more of one kind."""


def owed_pods(
    workloads: Sequence[Workload], pods: Sequence[WrittenPod], make: Maker, taken: set[str]
) -> Iterator[ClusterPod]:
    """The missing pods of every workload; the last that is named stands for those beyond it.

    A Deployment with ReplicaSets among the objects leaves its pods to them. Names are those that the controller would
    give where it numbers pods, and otherwise the workload's with `-new-1` and so on.
    """
    parents = {_owner_of(w) for w in workloads if _owner_of(w)}
    for workload in workloads:
        shown = workload.meta.shown
        if shown in parents or workload.meta.deleted:
            continue
        missing = workload.wanted - sum(_is_of(pod, workload) for pod in pods)
        if missing <= 0:
            continue
        if not {k for c in workload.spec.spread for k in c.keys} <= workload.labels.keys():
            make.remarks.add(
                "matchLabelKeys of a topology spread constraint names a label that only the controller sets: it is left out "
                "for the pods that are owed, and the verdict is not about which revision these belong to",
                shown,
            )
        names = list(islice(_names(workload, taken), min(missing, NAMED)))
        for i, name in enumerate(names):
            pod = make.of(name, workload.meta.namespace, workload.labels, workload.spec, shown)
            stands_for = missing - NAMED + 1 if i == NAMED - 1 else 1
            yield replace(pod, node=None, stands_for=stands_for, ignored=workload.ignored)


def _names(workload: Workload, taken: set[str]) -> Iterator[str]:
    start, infix = (0, "-") if workload.meta.kind == "StatefulSet" else (1, "-new-")
    names = (f"{workload.meta.name}{infix}{i}" for i in count(start))
    return (n for n in names if f"Pod/{n}" not in taken)


def _owner_of(workload: Workload) -> str:
    owner = workload.meta.owner
    return f"{owner.kind}/{workload.meta.namespace}/{owner.name}" if owner else ""


def _is_of(pod: WrittenPod, workload: Workload) -> bool:
    """Whether a pod counts as one of the workload's."""
    meta, owner = pod.meta, pod.meta.owner
    if pod.finished or meta.deleted or owner is None or meta.namespace != workload.meta.namespace:
        return False
    if owner.kind == workload.meta.kind:
        return f"{meta.namespace}/{owner.name}" == workload.meta.name
    # Its ReplicaSets are not among the objects.
    by_set = workload.meta.kind == "Deployment" and owner.kind == "ReplicaSet"
    return by_set and workload.selector is not None and workload.selector.matches(meta.labels)
