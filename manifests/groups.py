"""Which pods and nodes are interchangeable: alike in everything that the scheduler compares but for their names.

Labels count only where some selector among the objects asks for their key. As the hostname makes every node a domain of its
own, it counts only if a pod that waits asks for one by name.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterable, Iterator

from ..model.environment.objects import Selector
from .inventory import Inventory
from .members import ClusterNode, ClusterPod

HOSTNAME = "kubernetes.io/hostname"


def keys_of_selector(selector: Selector) -> Iterator[str]:
    """The label keys that a selector asks for."""
    yield from selector.match_labels
    yield from (e.key for e in selector.expressions)


def asked_of_nodes(pods: Iterable[ClusterPod]) -> set[str]:
    """The keys of node labels that these pods select by, or that make domains for them."""
    some = list(pods)
    by_term = {t.topology_key for pod in some for t in pod.terms}
    return selected_of_nodes(some) | by_term | {c.topology_key for pod in some for c in pod.spread}


def selected_of_nodes(pods: Iterable[ClusterPod]) -> set[str]:
    """The keys of node labels that these pods select by."""
    found: set[str] = set()
    for pod in pods:
        found.update(pod.node_selector)
        for term in pod.node_affinity.terms if pod.node_affinity else ():
            found.update(e.key for e in term.expressions)
    return found


class Groups:
    """Pods and nodes of an inventory by what they are alike in."""

    def __init__(self, inventory: Inventory) -> None:
        self.inventory = inventory
        everyone = [*inventory.bound, *inventory.pending]
        self.asked_of_pods: set[str] = {k for b in inventory.budgets for k in keys_of_selector(b.selector)}
        for pod in everyone:
            for selector in (*(t.selector for t in pod.terms), *(c.selector for c in pod.spread)):
                self.asked_of_pods.update(keys_of_selector(selector))
        by_hostname = {HOSTNAME} & selected_of_nodes(inventory.pending)
        self._of_nodes = asked_of_nodes(everyone) - {HOSTNAME} | by_hostname
        self._by_name = any(
            t.fields for p in inventory.pending if p.node_affinity for t in p.node_affinity.terms
        )
        self._pods: dict[int, Hashable] = {}
        self.of_pods = Counter(map(self.pod, everyone))
        self.of_nodes = Counter(map(self.node, inventory.nodes))

    def pod(self, pod: ClusterPod) -> Hashable:
        """What is the same for all pods that are like this one."""
        if id(pod) not in self._pods:
            self._pods[id(pod)] = (
                pod.owner, pod.namespace, pod.node is None, tuple(sorted(pod.requests.items())), pod.priority,
                pod.preempts, pod.scheduler, pod.grace == 0, pod.terminating, bool(pod.labels),
                tuple(sorted(pod.ignored.items())),
                tuple(sorted((k, v) for k, v in pod.labels.items() if k in self.asked_of_pods)),
                repr((pod.tolerations, sorted(pod.node_selector.items()), pod.node_affinity, pod.terms, pod.spread)),
            )  # fmt: skip
        return self._pods[id(pod)]

    def node(self, node: ClusterNode) -> Hashable:
        """What is the same for all nodes that are like this one, their pods included."""
        return (
            tuple(sorted(node.allocatable.items())), node.pods, node.repelling,
            tuple(sorted((k, v) for k, v in node.labels.items() if k in self._of_nodes)),
            node.name if self._by_name else "",
            frozenset(Counter(map(self.pod, self.inventory.on(node.name))).items()),
        )  # fmt: skip

    def like(self, pod: ClusterPod) -> int:
        """How many pods are like this one, itself included."""
        return self.of_pods[self.pod(pod)] + pod.stands_for - 1

    def firsts(self, pods: Iterable[ClusterPod]) -> list[list[ClusterPod]]:
        """These pods, group by group, in the order in which the groups appear."""
        found: dict[Hashable, list[ClusterPod]] = {}
        for pod in pods:
            found.setdefault(self.pod(pod), []).append(pod)
        return list(found.values())
