"""The cluster right after `kubectl drain NODE`: the node is cordoned, what budgets let go is being deleted, and its controllers create it again.

In which order a drain asks for pods is not known: where a budget lets only some go, those that come first in the dump go.
"""

from collections import Counter
from collections.abc import Container, Iterator, Sequence
from copy import copy
from dataclasses import replace

from ..base.problems import Problem
from ..base.structs import Data
from ..base.text import listed, nearest_names, one_line
from .inventory import Inventory
from .members import ClusterNode, ClusterPod

TIED = {"DaemonSet": "of a DaemonSet", "Node": "a static pod of its kubelet"}
"""The controllers whose pods `kubectl drain --ignore-daemonsets` leaves alone."""


class Drained(Data):
    """The cluster without a node, the names of the pods that are created again, and what is to be said of it."""

    inventory: Inventory
    again: Container[str]
    account: Sequence[str]


def drained(inventory: Inventory, name: str) -> Drained:
    """The same cluster once a node is drained as far as budgets let it. Raises Problem if that leaves nothing to be scheduled."""
    if name not in {node.name for node in inventory.nodes}:
        known = nearest_names(name, [node.name for node in inventory.nodes])
        raise Problem(
            f"--drain: no node `{one_line(name, 120)}` is among the objects; {known}name one of them"
        )
    spent: Counter[str] = Counter()
    stays = {pod: why for pod in inventory.on(name) if (why := _why_it_stays(pod, inventory, spent))}
    evicted = [pod for pod in inventory.on(name) if pod not in stays and not pod.terminating]
    again = [replace(pod.again(), source=pod.source) for pod in evicted if pod.owner]
    if not again:
        why = f": {'; '.join(_lines(stays))}" if stays else ""
        raise Problem(
            f"--drain {name}: no pod is evicted that a controller creates again, so nothing is to be scheduled{why}"
        )
    gone = {pod: replace(pod, terminating=True) for pod in evicted}
    cordons = any("NodeUnschedulable" not in p.without for p in inventory.configuration.profiles.values())
    after = replace(
        inventory,
        nodes=[_cordoned(node) if node.name == name and cordons else node for node in inventory.nodes],
        bound=[gone.get(pod, pod) for pod in inventory.bound],
        pending=[*again, *inventory.pending],
        budgets=[
            replace(budget, allowed=budget.allowed - spent[budget.meta.shown]) for budget in inventory.budgets
        ],
    )
    created = listed([pod.name for pod in again])
    told = f"drained: {name} is cordoned; evicted: {listed([pod.name for pod in evicted])}; created again: {created}"
    account = [told, *(f"  {line}" for line in _lines(stays))]
    return Drained(after, {pod.name for pod in again}, account)


def _why_it_stays(pod: ClusterPod, inventory: Inventory, spent: Counter[str]) -> str:
    """Why a drain leaves a pod where it is; empty if it is evicted, for which `spent` counts what it takes from its budget."""
    kind = pod.owner.partition("/")[0]
    if kind in TIED:
        return TIED[kind]
    budgets = [budget for budget in inventory.budgets if budget.protects(pod.entity)]
    if len(budgets) > 1:
        return "has several budgets, so the API server refuses its eviction"
    for budget in budgets:
        if pod.unstarted or (not pod.ready and budget.always_allow):
            continue
        if budget.allowed <= spent[budget.meta.shown]:
            return f"{budget.meta.name} allows no eviction of it now"
        spent[budget.meta.shown] += 1
    return ""


def _cordoned(node: ClusterNode) -> ClusterNode:
    entity = copy(node.entity)
    entity.unschedulable = True
    return replace(node, unschedulable=True, entity=entity)


def _lines(stays: dict[ClusterPod, str]) -> Iterator[str]:
    for why in dict.fromkeys(stays.values()):
        yield f"stays: {listed([pod.name for pod, reason in stays.items() if reason == why])}: {why}"
