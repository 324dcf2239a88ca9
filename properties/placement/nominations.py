"""Properties of nominations: the room that preemption makes is kept for the preemptor."""

from collections.abc import Iterator, Sequence
from functools import partial

from ...model.environment.objects import Node, Pod
from ...model.environment.watch import Handler
from ...model.language import Expr, all_of, any_of, before, boolean, per, ref, when
from ..base import truth
from ..base.property import Property


class NominationMonitor(Property):
    """Remembers each nomination from its decision on, and whether somebody took its room.

    `promised[p]` is the node that preemption chose for p, until the promise is over.
    """

    concerns = "the nominated pod"

    promised = per(Pod, ref(Node))
    broken = boolean()

    def over(self, pod: Pod, node: Node) -> Expr:
        """Whether the promise of `node` to `pod` has ended: kept, void, or withdrawn."""
        current = self.api.pod[pod]
        gone = ~current.exists | current.terminating
        withdrawn = before(lambda: self.api.pod[pod].nominated == node) & (current.nominated != node)
        nowhere = (
            ~self.scheduler.decided(pod, node)
            & ~self.nominator.nominated_to(pod, node)
            & (current.nominated != node)
        )
        return self.cache.is_assumed(pod) | current.node.is_some | gone | withdrawn | nowhere

    @classmethod
    def caveat(cls, nodes: Sequence[Node], pods: Sequence[Pod] = ()) -> str:
        return "; ".join(filter(None, (truth.largest_counts(nodes), truth.least_counts(pods))))

    def at_the_expense_of(self, pod: Pod, node: Node) -> Expr:
        """Whether a pod of no higher priority was assumed on the node in this step, and `pod` no longer fits."""

        def assumed(q: Pod) -> Expr:
            return self.cache.is_assumed(q) & self.cache.on(q, node)

        taken = any_of(
            (q.priority <= pod.priority) & assumed(q) & ~before(partial(assumed, q))
            for q in self.pods
            if q is not pod
        )
        if taken.is_const and not taken.value:  # most steps assume nobody
            return taken

        def stays(q: Pod) -> Expr:
            there = self.cache.on(q, node) & self.api.pod[q].exists & ~self.api.pod[q].terminating
            return there | (q is pod)

        return taken & truth.exceeds(self, node, stays)

    def decided(self, pod: Pod, node: Node) -> Expr:
        """Whether the node was chosen for the pod, in a cycle that is not over yet."""
        return self.scheduler.decided(pod, node)

    def observe(self) -> None:
        for pod in self.subjects:
            for node in self.nodes:
                promised = self.promised[pod] == node
                with when(promised & self.at_the_expense_of(pod, node)):
                    self.broken = True
                newly = self.decided(pod, node) & ~before(partial(self.decided, pod, node))
                with when(newly):
                    self.promised[pod] = node
                with when((self.promised[pod] == node) & self.over(pod, node)):
                    self.promised[pod] = None

    def holds(self) -> Expr:
        return ~self.broken

    def may_be_taken(self, pod: Pod, node: Node) -> Expr:
        """Whether the room for `pod` on the node can be taken at all: some pod of no higher priority is still to be scheduled,
        and there is no room for all that can be there. The numbers of the scenario decide, and what pods ask of a node's labels.
        """
        rivals = [q for q in self.pods if q is not pod and q.node is None and truth.asks_for(q, node)]
        return any_of(q.priority <= pod.priority for q in rivals) & truth.may_be_crowded(self, node)

    def witnesses(self) -> dict[str, Expr]:
        chosen = (
            (self.promised[p] == n) & self.may_be_taken(p, n) for p in self.subjects for n in self.nodes
        )
        return {"preemption chooses a node that another pod may take": any_of(chosen)}


class NominationRespected(NominationMonitor):
    """Once preemption has chosen a node for a pod, no other pod of the same or a lower priority is assumed there unless the nominated pod still fits
    next to it. This ends when the nominated pod is assumed or deleted, or when its nomination is withdrawn.
    """

    id = "S-NOM"
    consequence = "A pod takes the room that preemption freed. The preemptor stays Pending although pods were evicted for it, until it preempts again or other room comes free."
    issues = (72124, 74931)


class NominationVisible(NominationMonitor):
    """After preemption has chosen a node for a pod, and until this nomination first reaches the scheduler's memory, no other pod of the same or
    a lower priority is assumed there unless the preemptor still fits next to it.

    S-NOMVIS is the part of S-NOM that change 72259 fixed. If an eviction or a write fails and the scheduling
    cycle gives up its choice, the room need not stay reserved.
    """

    id = "S-NOMVIS"
    consequence = "A pod takes the room that preemption has just freed. The preemptor stays Pending although pods were evicted for it, until it preempts again or other room comes free."
    issues = (72124,)

    def over(self, pod: Pod, node: Node) -> Expr:
        decided = partial(self.scheduler.decided, pod, node)
        given_up = before(decided) & ~decided() & self.scheduler.in_flight(pod)
        return super().over(pod, node) | self.nominator.nominated_to(pod, node) | given_up


class NominationsLive(Property):
    """Every pod in the nominator exists in the informer's store, or the queue's handler has not handled its deletion yet."""

    id = "S-NOMLIVE"
    consequence = "The scheduler reserves room for a pod that no longer exists. Until the scheduler restarts, other pods stay Pending although a node is empty."
    concerns = "the pod that the nominator holds"
    issues = (102339,)

    def holds(self) -> Expr:
        return all_of(
            ~any_of(self.nominator.nominated_to(p, n) for n in self.nodes)
            | self.pod_watch.lister[p].exists
            | self.pod_watch.seen[Handler.QUEUE][p].exists
            for p in self.subjects
        )

    def wrong(self) -> Iterator[tuple[str, Expr]]:
        for p in self.subjects:
            held = any_of(self.nominator.nominated_to(p, n) for n in self.nodes)
            known = self.pod_watch.lister[p].exists | self.pod_watch.seen[Handler.QUEUE][p].exists
            yield f"The nominator holds {p.name}, which is gone", held & ~known

    def witnesses(self) -> dict[str, Expr]:
        gone = (
            self.nominator.nominated_to(p, n) & ~self.api.pod[p].exists
            for p in self.subjects
            for n in self.nodes
        )
        return {"a pod is gone, and the nominator holds it": any_of(gone)}
