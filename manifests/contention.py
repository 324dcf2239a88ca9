"""The questions that a cluster raises: who can preempt whom where, and who wants the same room.

They are asked for groups of pods and nodes that are alike in everything the scheduler compares but for their names. Labels count
only where some selector among the objects asks for their key. As the hostname makes every node a domain of its own, it counts
only if a pod that waits asks for one by name.
"""

from collections import Counter
from collections.abc import Hashable, Iterable, Sequence

from ..base.structs import Data
from .inventory import Inventory
from .members import ClusterNode, ClusterPod, asked_of_nodes, keys_of_selector, selected_of_nodes
from .reading.cluster_objects import HOSTNAME
from .situation import Pods, Situation


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
        of_groups = {group.topology_key for group in inventory.groups.values()}
        self._of_nodes = (asked_of_nodes(everyone) | of_groups) - {HOSTNAME} | by_hostname
        self._by_name = any(
            t.fields for p in inventory.pending if p.node_affinity for t in p.node_affinity.terms
        )
        self._users = Counter(name for p in everyone for name in (*p.claims.volumes, *p.claims.devices))
        reached = (inventory.claims.reach(p.claims) for p in inventory.pending)
        self._reached = list(dict.fromkeys(nodes for nodes in reached if nodes is not None))
        self._features = frozenset(f for p in inventory.pending for f in p.features)
        self._pods: dict[int, Hashable] = {}
        self.of_pods = Counter(map(self.pod, everyone))
        self.of_nodes = Counter(map(self.node, inventory.nodes))

    def pod(self, pod: ClusterPod) -> Hashable:
        """What is the same for all pods that are like this one."""
        if id(pod) not in self._pods:
            self._pods[id(pod)] = (
                pod.owner, pod.namespace, pod.group, pod.node is None, tuple(sorted(pod.requests.items())), pod.priority,
                pod.preempts, pod.scheduler, pod.grace == 0, pod.terminating, bool(pod.labels),
                tuple(sorted(pod.ignored.items())),
                tuple(sorted((k, v) for k, v in pod.labels.items() if k in self.asked_of_pods)),
                self.inventory.claims.like(pod.claims, self._users) if pod.node is None else (),
                repr((pod.tolerations, sorted(pod.node_selector.items()), pod.node_affinity, pod.terms, pod.spread, pod.host_ports, sorted(pod.features))),
            )  # fmt: skip
        return self._pods[id(pod)]

    def node(self, node: ClusterNode) -> Hashable:
        """What is the same for all nodes that are like this one, their pods included."""
        return (
            tuple(sorted(node.allocatable.items())), node.pods, node.repelling, node.ready, node.deleted, node.features & self._features,
            tuple(sorted((k, v) for k, v in node.labels.items() if k in self._of_nodes)),
            node.name if self._by_name else "",
            tuple(node.name in nodes for nodes in self._reached), self.inventory.claims.free_at(node.name),
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


class ClusterQuestion(Data):
    """A pod that waits, the node where most is at stake for it, and who is involved.

    `victims` would have to go there; `rivals` are pods that wait as well, are not more important, and cannot be there
    together with the pod. `nodes` is on how many nodes it is so: the pod fits, or where it fits on none, could preempt, or where that is nowhere,
    fits once those are gone that are being deleted there, which are `leaving`.
    """

    pod: ClusterPod
    node: ClusterNode | None
    victims: Sequence[ClusterPod]
    rivals: Sequence[ClusterPod]
    nodes: int
    leaving: Sequence[ClusterPod] = ()

    @property
    def rank(self) -> tuple[bool, bool, bool, int, int, int, int]:
        """The greater, the more contested; of equal ones, where the least important pods would have to go.

        Most is asked where room is made that another pod may take: only there can a nomination be disregarded.
        """
        return (
            self.tests_nominations, self.node is not None and bool(self.rivals), bool(self.victims),
            -len(self.victims) - len(self.leaving), self.pod.priority, sum(r.stands_for for r in self.rivals),
            -max((v.priority for v in self.victims), default=0),
        )  # fmt: skip

    @property
    def tests_nominations(self) -> bool:
        """Whether room is made that another pod may take."""
        return bool(self.victims and self.contenders)

    @property
    def contenders(self) -> list[ClusterPod]:
        """The pods that may take the room instead: the rivals, and what controllers create in place of the victims."""
        return [*self.rivals, *self.replacements]

    @property
    def replacements(self) -> list[ClusterPod]:
        """The pods that the controllers of the victims create in their place."""
        return [v.again() for v in self.victims if v.owner and not v.is_static]

    @property
    def needs(self) -> int:
        """How many pods cannot be left out."""
        return 1 + len(self.victims) + len(self.leaving)

    @property
    def needs_with_contender(self) -> int:
        """The same with one pod, if there is any, that may take the room instead."""
        return self.needs + bool(self.contenders)


MOST_NODES = 100
"""Of so many kinds of nodes where a pod could go, the one where most is at stake is chosen."""


class Asker:
    """Finds the questions; pods and nodes that are alike are asked for once."""

    def __init__(
        self, situation: Situation, groups: Groups, waiting: Sequence[ClusterPod], stay: bool = False
    ) -> None:
        """`stay`: pods that are being deleted do not go in the scenario."""
        self.situation, self.groups, self.waiting, self._stay = situation, groups, waiting, stay
        self._rivals = groups.firsts(waiting)
        seen: set[object] = set()
        self.nodes = [
            n
            for n in situation.sound_nodes
            if (k := groups.node(n)) not in seen and not seen.add(k)  # type: ignore[func-returns-value]
        ]
        self._alike = groups.of_nodes

    def ask_all(self) -> list[ClusterQuestion]:
        """One question for each group of pods that wait, the most contested first."""
        found = [self.ask(group[0]) for group in self._rivals]
        return sorted(found, key=lambda q: q.rank, reverse=True)

    def ask(self, pod: ClusterPod) -> ClusterQuestion:
        """The question that a pod raises."""
        fitting = [n for n in self.nodes if self.situation.fits(pod, n)]
        where = fitting or [n for n in self.nodes if self.situation.can_preempt(pod, n)]
        ways = [(n, [] if fitting else self.situation.victims(pod, n)) for n in where[:MOST_NODES]]
        if not where and not self._stay and (going := self._vacated(pod)):
            number = sum(self._alike[self.groups.node(n)] for n, _ in going)
            later = [
                ClusterQuestion(pod, n, (), self.rivals(pod, n, gone), number, gone)
                for n, gone in going[:MOST_NODES]
            ]
            return max(later, key=lambda q: q.rank)
        number = sum(self._alike[self.groups.node(n)] for n in where)
        asked = [
            ClusterQuestion(pod, n, victims, self.rivals(pod, n, victims), number) for n, victims in ways
        ]
        return max(asked, key=lambda q: q.rank, default=ClusterQuestion(pod, None, (), (), 0))

    def _vacated(self, pod: ClusterPod) -> list[tuple[ClusterNode, list[ClusterPod]]]:
        """The nodes that the pod fits once those have gone that are being deleted there, with these."""
        found = []
        for node in self.nodes:
            gone = [p for p in self.situation.inventory.on(node.name) if p.terminating]
            if gone and self.situation.fits(pod, node, gone):
                found.append((node, gone))
        return found

    def rivals(self, pod: ClusterPod, node: ClusterNode, gone: Pods) -> list[ClusterPod]:
        """The pods that wait and want the room that is left without those that are gone, and of which the pods of its group that wait may take the rest."""
        found = []
        together = [p for p in self.situation.inventory.together(pod.group) if p.node is None]
        for group in self._rivals:
            others = [q for q in group if q is not pod and q not in together]
            if not others or others[0].priority > pod.priority:
                continue
            q = others[0]
            if not self.situation.fits(q, node, gone):
                continue
            if self.situation.clash(pod, q, node, gone) or (
                together and not self.situation.fits(q, node, gone, together)
            ):
                found += others
        return sorted(found, key=lambda q: (q.owner == pod.owner, -q.priority))
