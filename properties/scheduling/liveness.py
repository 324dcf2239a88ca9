"""Progress: pods that starve, wake-ups that never come, attempts that never end, deadlocks, states with no way back."""

from collections.abc import Iterator
from itertools import product

from ...model.environment.objects import Node, Pod
from ...model.language import Case, Expr, all_of, any_of
from ...model.scheduler.queue.scheduling_queue import SubQueue
from ..base import truth
from ..base.property import Property


def waits_in_vain(prop: Property, pod: Pod) -> Expr:
    """Whether the pod waits, and some existing node has room for it, counting what is bound or assumed."""
    return truth.waits(prop, pod) & truth.fits_somewhere(prop, pod)


class Liveness(Property):
    """Base class of livenesses about pods that wait although they fit."""

    kind = "liveness"

    @property
    def waiting(self) -> tuple[Pod, ...]:
        """The pods that are not on a node from the start."""
        return tuple(pod for pod in self.pods if pod.node is None)

    @property
    def subjects(self) -> tuple[Pod, ...]:
        """Those of them whose violations count."""
        return tuple(pod for pod in super().subjects if pod.node is None)

    def witnesses(self) -> dict[str, Expr]:
        return {"a pod waits although it fits": any_of(waits_in_vain(self, p) for p in self.subjects)}


class PendingPodsAreScheduled(Liveness):
    """No pod waits indefinitely while at every moment some node has room for it. Bound and assumed pods take room, nominated pods do not.

    A pod waits as long as it exists, is not being deleted, and is neither bound nor assumed. The API server's objects say which nodes have room,
    not the scheduler's memory.

    The scope limits how often nodes and pods change. So at some moment they stop changing, and from then on the pod may not wait
    indefinitely next to free room.

    The property is about a pod of a gang only if this pod completes the gang: all other pods that minCount
    requires are bound. L-GANG is about the whole gang.
    """

    id = "L-PEND"
    consequence = "A pod stays Pending indefinitely although some node has room for it at every moment. The periodic flush (5 to 5.5 minutes) helps only where the pod is in the queue that is flushed."
    concerns = "the pod that waits"
    issues = (72124, 73216)

    def cases(self) -> Iterator[Case]:
        for pod in self.subjects:
            yield Case(f"{pod.name} waits indefinitely although it fits", waits_in_vain(self, pod))


class ParkedPodsAreWoken(Liveness):
    """No pod stays parked in unschedulableQ indefinitely while at every moment some node has room for it.

    The event that made the room is delivered eventually, because every watch and every handler is fair. The property assumes no periodic flush,
    unless the scope says so.
    """

    id = "L-WAKE"
    consequence = "A pod stays parked although some node has room for it: until the periodic flush, 5 to 5.5 minutes (sooner in old releases), or indefinitely without one."
    concerns = "the pod that waits"
    issues = (73216, 72122)

    def cases(self) -> Iterator[Case]:
        for pod in self.subjects:
            parked = self.queue.sub_queue[pod] == SubQueue.UNSCHEDULABLE
            yield Case(
                f"{pod.name} is parked indefinitely although it fits", parked & waits_in_vain(self, pod)
            )


class AttemptsEnd(Property):
    """Every attempt to schedule a pod ends, every binding cycle ends, and while activeQ has pods the scheduler pops one."""

    id = "L-PROG"
    consequence = "The scheduler stops working: an attempt or a binding never ends. Pods stay Pending until it restarts."
    concerns = "the pod whose attempt never begins or never ends"
    kind = "liveness"

    def cases(self) -> Iterator[Case]:
        for pod in self.subjects:
            yield Case(f"the attempt at {pod.name} never ends", self.scheduler.in_flight(pod))
            yield Case(f"the binding cycle of {pod.name} never ends", self.binding.active(pod))
        busy = any_of(self.scheduler.in_flight(p) for p in self.pods)
        queued = any_of(self.queue.sub_queue[p] == SubQueue.ACTIVE for p in self.subjects)
        yield Case("activeQ has pods and none is popped", queued & ~busy)

    def witnesses(self) -> dict[str, Expr]:
        return {
            "a pod is taken from the queue": any_of(self.scheduler.in_flight(p) for p in self.subjects),
            "a binding cycle runs": any_of(self.binding.active(p) for p in self.subjects),
        }


class NominationsBlockNobodyForEver(Liveness):
    """No nomination lasts indefinitely if the nominated pod does not fit on its node but another pod does,
    while the scheduler tries both pods again and again in vain.

    This is the part of L-PEND that is about preemption: room is reserved for a pod that cannot use it.
    """

    id = "L-NOM"
    consequence = "A nomination blocks a node indefinitely: neither the nominated pod nor another that fits there is scheduled, until one of them is deleted."
    concerns = "the nominated pod and the pod that it excludes"
    issues = (72124,)

    @property
    def pairs(self) -> tuple[tuple[Pod, Pod], ...]:
        """Each pod that may hold a nomination with each other pod that may wait, if violations of one of them count."""
        pairs = product(self.waiting, self.waiting)
        return tuple(
            (holder, pod)
            for holder, pod in pairs
            if pod is not holder and not {holder, pod}.isdisjoint(self.subjects)
        )

    def blocks(self, holder: Pod, pod: Pod, node: Node) -> Expr:
        """Whether `holder` is nominated to a node that has room for `pod` only, and both wait."""
        where = truth.placement(self)
        return all_of(
            (
                pod.priority <= holder.priority,
                self.api.pod[holder].nominated == node,
                truth.waits(self, holder),
                truth.waits(self, pod),
                where.live[node],
                ~truth.fits(self, holder, node, where),
                truth.fits(self, pod, node, where),
            )
        )

    def cases(self) -> Iterator[Case]:
        for holder, pod in self.pairs:
            for node in self.nodes:
                yield Case(
                    f"{holder.name} is nominated to {node.name} and does not fit, {pod.name} fits and waits indefinitely",
                    self.blocks(holder, pod, node),
                    (self.scheduler.in_flight(holder), self.scheduler.in_flight(pod)),
                )

    def witnesses(self) -> dict[str, Expr]:
        return {
            "a pod waits while another is nominated": any_of(
                self.api.pod[holder].nominated.is_some & truth.waits(self, pod) for holder, pod in self.pairs
            )
        }


class NotStuck(Property):
    """When the scheduler, the watches, the kubelets and the timers can take no step, no pending pod fits a live node.

    The property does not assume the periodic flush, which hides stuck pods for minutes. The property is about
    a pod of a gang only if this pod completes the gang: all other pods that minCount requires are bound.
    L-GANG is about the whole gang.
    """

    id = "S-STUCK"
    consequence = "A pod stays Pending although a node has room for it: until the periodic flush, 5 to 5.5 minutes (sooner in old releases), or indefinitely if it is not in the queue that is flushed."
    concerns = "the pod that waits"
    kind = "deadlock freedom"
    issues = (72124, 73216)

    def holds(self) -> Expr:
        return ~truth.some_pod_waits_in_vain(self)

    def wrong(self) -> Iterator[tuple[str, Expr]]:
        yield from truth.pods_in_vain(self)

    def witnesses(self) -> dict[str, Expr]:
        return {"a pod waits although it fits": truth.some_pod_waits_in_vain(self)}


class PodsOfRemovedNodesDoNoHarm(Property):
    """While pods of a removed node are cached, a pod that fits a live node can still be scheduled. The scheduler, the watches and the kubelets alone
    can reach a state in which no such pod waits.

    In a violation, these actors cannot reach a state in which no such pod waits, in any order of their steps.
    """

    id = "L-ISO"
    consequence = "Pods of a removed node keep others from being scheduled. They stay Pending until the scheduler restarts or the removed node's pods are deleted."
    concerns = "the pod that waits"
    kind = "resettability"
    issues = (50813,)

    def pods_on_removed_nodes(self) -> Expr:
        """Whether the cache holds a pod on a node that does not exist."""
        return any_of(self.cache.on(p, n) & ~self.api.node_exists[n] for p in self.pods for n in self.nodes)

    def holds(self) -> Expr:
        return ~self.pods_on_removed_nodes() | ~truth.some_pod_waits_in_vain(self)

    def wrong(self) -> Iterator[tuple[str, Expr]]:
        for told, waits in truth.pods_in_vain(self):
            yield told, self.pods_on_removed_nodes() & waits

    def witnesses(self) -> dict[str, Expr]:
        return {
            "a pod that fits waits while a removed node's pods are cached": self.pods_on_removed_nodes()
            & truth.some_pod_waits_in_vain(self)
        }
