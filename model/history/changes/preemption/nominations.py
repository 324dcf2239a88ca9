"""Nominations as they were."""

from dataclasses import replace

from ....environment.faults import Fault
from ....environment.objects import Node, Pod, PodObject, node_or_none
from ....language import (
    SOMETHING,
    UNTOLD,
    Expr,
    Value,
    as_expr,
    boolean,
    changes,
    finds,
    otherwise,
    per,
    require,
    step,
    tells,
    when,
)
from ....scheduler import FailureHandler, Nominator, PriorityQueue, Scheduler
from ....scheduler.cycles.failure import FailedAttempt, FailurePhase
from ....scheduler.framework.status import Phase
from ...registry.change import always, before

_POST_FILTER = "preemption returns the nomination, and the failure handler records it after the requeue"


@before("post-filter", _POST_FILTER, first_in="1.19")
class BeforePostFilter(Scheduler):
    """preempt() nominated in memory, wrote the nomination to the API server, then evicted (1.14 to 1.18).

    A failed write rolled the nomination in memory back, and evicted nobody. The preemptor was read from
    the API server.
    """

    def read_preemptor(self, pod: Pod) -> PodObject:
        return self.api.pod[pod]

    def after_choice(self, pod: Pod, node: Node) -> None:
        self.phase = self.first_nomination_phase()

    def first_nomination_phase(self) -> Phase:
        """Memory comes before the API server."""
        return Phase.NOMINATE

    @step(actor="scheduler")
    @tells(
        changes("nominator.node", after=SOMETHING),
        "The scheduler notes in its own memory, the nominator, that {pod} is nominated to {after}.",
        "The scheduler updates the nominator about {pod}, which changes nothing there.",
    )
    def nominate(self, pod: Pod) -> None:
        """UpdateNominatedPodForNode: the next cycles already know of the nomination."""
        require(self.at(Phase.NOMINATE, pod))
        self.nominator.add(pod, self.nominee, self.api.pod[pod].nominated)
        self.phase = Phase.PATCH_NOMINATION

    @step(actor="scheduler")
    @tells(
        changes("api.pod.nominated", after=SOMETHING),
        "The scheduler writes to the API server that {pod} is nominated to {after}.",
        changes("faults.left"),
        "The scheduler sends {pod}'s nomination to the API server, and the write fails.",
        finds("api.pod.exists", "pod", False),
        "The scheduler sends {pod}'s nomination to the API server: 404, the pod is gone.",
        "The scheduler sends {pod}'s nomination to the API server, which has no effect there.",
    )
    def write_nomination(self, pod: Pod, ok: bool) -> None:
        """SetNominatedNodeName at the API server; an error ends the preemption."""
        require(self.at(Phase.PATCH_NOMINATION, pod))
        if not ok:
            self.faults.spend(Fault.WRITE_FAILURE, pod)
            self.nomination_failed()
            return
        with when(self.api.pod[pod].exists):
            self.api.set_nomination(pod, self.nominee)
            self.advance_preemption()
        with otherwise():
            self.nomination_failed()

    def nomination_failed(self) -> None:
        """What follows a failed write: the nomination in memory goes."""
        self.phase = Phase.ROLL_BACK

    @step(actor="scheduler")
    @tells("The write has failed: the scheduler takes {pod}'s nomination out of its memory again.")
    def roll_back(self, pod: Pod) -> None:
        """DeleteNominatedPodIfExists, because the API server does not have the nomination."""
        require(self.at(Phase.ROLL_BACK, pod))
        self.nominator.delete(pod)
        self.give_up()

    def give_up(self) -> None:
        """Nobody is nominated, nobody is evicted."""
        self.nominee = None
        self._after_preemption()

    def eviction_failed(self) -> None:
        self._after_preemption()

    def nominee_to_record(self) -> Value:
        return None


@before("post-filter", _POST_FILTER, first_in="1.19")
class FailureHandlerWithoutNomination(FailureHandler):
    """The failure handler wrote the condition only."""

    def phase_after_requeue(self) -> FailurePhase:
        return FailurePhase.PATCH


@before(
    "72259",
    "a nomination is in the scheduler's memory before it is written to the API server",
    first_in="1.14",
    issues=(72124,),
    backports=("1.12.5", "1.13.2"),
)
class Before72259(BeforePostFilter):
    """The nomination reached memory only through the API server and the pod watch."""

    def first_nomination_phase(self) -> Phase:
        return Phase.PATCH_NOMINATION

    def nomination_failed(self) -> None:
        self.give_up()


@before(
    "109245",
    "the nominator does not record a pod that the lister shows on a node",
    first_in="1.24",
    issues=(109236,),
    backports=("1.21.12", "1.22.17", "1.23.17"),
)
class Before109245(Nominator):
    """A pod that had been bound meanwhile was nominated all the same."""

    def accepts(self, pod: Pod) -> Expr:
        return self.pod_watch.under_name(pod).exists


@before(
    "102498",
    "the nominator records only pods that the lister has",
    first_in="1.22",
    issues=(102339,),
    backports=("1.19.12", "1.20.8", "1.21.2"),
)
class Before102498(Nominator):
    """Any pod was recorded, also one that had been deleted during its scheduling cycle."""

    accepts = always


@before("125820", "the nominator keeps names, and looks the pods up in the queue", first_in="1.31")
class NominatorKeepsObjects(Nominator):
    """The nominator kept the object with which a pod was last nominated or updated, wherever the pod was.

    `carries[p]`: that object has status.nominatedNodeName.
    """

    carries = per(Pod, boolean())

    phrases = UNTOLD

    has_object = always

    def carries_field(self, pod: Pod) -> Expr:
        return as_expr(self.carries[pod])

    def add(self, pod: Pod, node: Value, field: Value) -> None:
        super().add(pod, node, field)
        self.carries[pod] = as_expr(self.node[pod]).is_some & node_or_none(field).is_some

    def delete(self, pod: Pod) -> None:
        super().delete(pod)
        self.carries[pod] = False


@before(
    "77990",
    "an update without the nomination field keeps the nomination in memory",
    first_in="1.15",
    issues=(74931,),
)
class Before77990(Nominator):
    """An update dropped the nomination in memory unless the new object carried the field."""

    def update(self, pod: Pod, old_field: Value, new_field: Value) -> None:
        self.add(pod, None, new_field)


@before("70898", "a popped pod keeps its nomination", first_in="1.13", backports=("1.12.4",))
class Before70898(Nominator):
    """Pop removed the popped pod's nomination, so that a preemptor lost it while it was retried."""

    def popped(self, pod: Pod) -> None:
        self.delete(pod)


@before(
    "nominating-mode",
    "a failed attempt withdraws the nomination of a pod that preemption cannot help",
    first_in="1.24",
    backports=("1.23.2",),
)
class NominationsStay(FailureHandler):
    """A failure recorded a nomination, or else what the pod's object said: none was withdrawn by it."""

    def withdrawal_of(self, attempt: FailedAttempt, nominated: Value) -> Expr:
        return super().withdrawal_of(replace(attempt, withdraws=False), nominated)


@before("nominated-pods-map", "nominations are kept apart from the queued pods", first_in="1.12")
class NominationsOfQueuedPods(Nominator):
    """A nomination was seen only on the object of a pod that sat in the queue (1.9)."""

    queue: PriorityQueue

    def nominated_to(self, pod: Pod, node: Node) -> Expr:
        in_queue: Expr = self.queue.contains(pod)
        return in_queue & (self.queue.copy[pod].nominated == node)
