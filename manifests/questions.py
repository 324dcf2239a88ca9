"""The questions that a cluster raises: who can preempt whom where, and who wants the same room."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from .groups import Groups
from .members import ClusterNode, ClusterPod
from .situation import Pods, Situation


@dataclass(frozen=True, slots=True)
class Question:
    """A pod that waits, the node where most is at stake for it, and who is involved.

    `victims` would have to go there; `rivals` are pods that wait as well, are not more important, and cannot be there
    together with the pod. `nodes` is on how many nodes it is so: the pod fits, or where it fits on none, could preempt.
    """

    pod: ClusterPod
    node: ClusterNode | None
    victims: Sequence[ClusterPod]
    rivals: Sequence[ClusterPod]
    nodes: int

    @property
    def rank(self) -> tuple[bool, bool, int, int, int, int]:
        """The greater, the more contested; of equal ones, where the least important pods would have to go."""
        return (
            self.node is not None and bool(self.rivals), bool(self.victims), -len(self.victims),
            self.pod.priority, sum(r.stands_for for r in self.rivals),
            -max((v.priority for v in self.victims), default=0),
        )  # fmt: skip

    @property
    def needs(self) -> int:
        """How many pods cannot be left out."""
        return 1 + len(self.victims)


MOST_NODES = 100
"""Of so many kinds of nodes where a pod could go, the one where most is at stake is chosen."""


class Asker:
    """Finds the questions; pods and nodes that are alike are asked for once."""

    def __init__(self, situation: Situation, groups: Groups, waiting: Sequence[ClusterPod]) -> None:
        self.situation, self.groups, self.waiting = situation, groups, waiting
        self._rivals = groups.firsts(waiting)
        seen: set[object] = set()
        self.nodes = [
            n
            for n in situation.sound_nodes
            if (k := groups.node(n)) not in seen and not seen.add(k)  # type: ignore[func-returns-value]
        ]
        self._alike = groups.of_nodes

    def ask_all(self) -> list[Question]:
        """One question for each group of pods that wait, the most contested first."""
        found = [self.ask(group[0]) for group in self._rivals]
        return sorted(found, key=lambda q: q.rank, reverse=True)

    def ask(self, pod: ClusterPod) -> Question:
        """The question that a pod raises."""
        fitting = [n for n in self.nodes if self.situation.fits(pod, n)]
        where = fitting or [n for n in self.nodes if self.situation.can_preempt(pod, n)]
        ways = [(n, [] if fitting else self.situation.victims(pod, n)) for n in where[:MOST_NODES]]
        number = sum(self._alike[self.groups.node(n)] for n in where)
        asked = [Question(pod, n, victims, self.rivals(pod, n, victims), number) for n, victims in ways]
        return max(asked, key=lambda q: q.rank, default=Question(pod, None, (), (), 0))

    def rivals(self, pod: ClusterPod, node: ClusterNode, gone: Pods) -> list[ClusterPod]:
        """The pods that wait and want the room that is left without those that are gone."""
        found = []
        for group in self._rivals:
            others = [q for q in group if q is not pod]
            if not others or others[0].priority > pod.priority:
                continue
            q = others[0]
            if self.situation.fits(q, node, gone) and self.situation.clash(pod, q, node, gone):
                found += others
        return sorted(found, key=lambda q: (q.owner == pod.owner, -q.priority))
