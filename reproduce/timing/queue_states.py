"""Where each pod is in the queue, read from a state without decoding the rest, and what a step does to its entry."""

from itertools import combinations

from ...model.environment.names import Recreation
from ...model.environment.objects import Pod, PodGroup
from ...model.environment.pod_groups import Member
from ...model.language import State, Transition, TransitionSystem
from ...model.scheduler.podgroups.pod_group_cycle import GroupStatus
from ...model.scheduler.queue.scheduling_queue import SubQueue

NONE, ACTIVE, BACKOFF, PARKED = (list(SubQueue).index(q) for q in SubQueue)

POPS = ("pop", "pop_amid_move")
TAKES = ("pod_group_cycle", "pop_member")
"""Another pod of the group is taken out of the queue, whichever sub-queue it is in."""
REQUEUES = (("failure", "requeue"), ("failure", "requeue_too_soon"))
"""The steps in which the failure handler returns a pod to the queue."""
UPDATES = (("handlers", "handle_for_queue"), ("handlers", "handle_swap_for_queue"))
EXITS = ("handlers", "handle_swap_for_cache")
"""In which the scheduler may end its own process, because the cache has another pod under the name."""


class QueueStates:
    """Where each pod is in a state, read from it without decoding the rest."""

    def __init__(self, system: TransitionSystem) -> None:
        self.pods: tuple[Pod, ...] = tuple(system.universe[Pod])
        place = {variable.name: i for i, variable in enumerate(system.variables)}
        self._sub_queue = {p: place.get(f"queue.sub_queue[{p.name}]") for p in self.pods}
        self._in_flight = {p: place.get(f"queue.in_flight[{p.name}]") for p in self.pods}
        self._rejected = {
            p: [i for name, i in place.items() if name.startswith(f"queue.rejected_by[{p.name}][")]
            for p in self.pods
        }

        self._older = {
            (p, q): place[f"clock.older[{p.name}][{q.name}]"] for p, q in combinations(self.pods, 2)
        }
        self._attempts = {
            p: [place.get(f"{part}.phase[{p.name}]") for part in ("binding", "failure")] for p in self.pods
        }
        entries = "pod_group_cycle.finishing" in place
        self._groups = {m.pod: m.group for m in system.universe[Member] if entries}
        self._incomplete = {p: place[f"queue.incomplete[{p.name}]"] for p in self._groups}
        self._status = place.get("pod_group_cycle.status")
        self._recreations: tuple[Recreation, ...] = tuple(system.universe[Recreation])
        self._seen = {
            r: place.get(f"pod_watch.seen[QUEUE][{r.after.name}].exists") for r in self._recreations
        }
        self._ended = [place.get(f"handlers.ended[{r.after.name}]") for r in self._recreations]

    def is_refused(self, transition: Transition, before: State, after: State) -> bool:
        """Whether the failure handler returns a pod, and the queue takes neither it nor another pod of its name."""
        pod = pod_of(transition)
        if pod is None or (transition.part, transition.step) not in REQUEUES:
            return False
        return not any(self._leaves(q, after, before) for q in self.pods if self.share_name(q, pod))

    def starts_anew(self, transition: Transition, before: State, after: State) -> bool:
        """Whether another process goes on after the step; also where it is one in which the scheduler ends its own."""
        if transition.part == "process":
            return transition.step != "land"
        if (transition.part, transition.step) != EXITS:
            return False
        return any(after[at] and not before[at] for at in self._ended if at is not None)

    def share_name(self, pod: Pod, other: Pod) -> bool:
        """Whether two pods are one, or have the same name one after the other."""
        return pod is other or any({pod, other} == {r.before, r.after} for r in self._recreations)

    def heirs(self, transition: Transition, before: State, after: State) -> dict[Pod, Pod]:
        """The pods whose entry, found by its name, an update makes that of another pod in this step, with all that it counts; and whose it is then."""
        if (transition.part, transition.step) not in UPDATES:
            return {}
        swapped = (transition.part, transition.step) == UPDATES[1]
        return {
            r.before: r.after
            for r in self._recreations
            if self._leaves(r.before, before, after)
            and self._leaves(r.after, after, before)
            and (swapped or ((at := self._seen[r]) is not None and before[at]))
        }

    def _leaves(self, pod: Pod, before: State, after: State) -> bool:
        return self.of(pod, before) != NONE and self.of(pod, after) == NONE

    def group_of(self, pod: Pod) -> PodGroup | None:
        """The group in whose entry the pod waits; None where it has a place of its own."""
        return self._groups.get(pod)

    def is_incomplete(self, pod: Pod, state: State) -> bool:
        """Whether the pod was put aside until the queue is told of its group."""
        at = self._incomplete.get(pod)
        return at is not None and bool(state[at])

    def share_entry(self, pod: Pod, other: Pod) -> bool:
        """Whether two pods wait in one entry, if they wait."""
        return pod is other or (pod in self._groups and self._groups[pod] is self._groups.get(other))

    def first_of_entry(self, pod: Pod, state: State) -> Pod:
        """The first pod in the entry of one that waits."""
        if self.of(pod, state) == NONE:
            return pod
        return next(q for q in self.pods if self.share_entry(pod, q) and self.of(q, state) != NONE)

    def status_of_group(self, state: State) -> GroupStatus:
        """What has come of the cycle of the group that runs."""
        assert self._status is not None
        return list(GroupStatus)[state[self._status]]

    def of(self, pod: Pod, state: State) -> int:
        """The sub-queue that the pod is in."""
        at = self._sub_queue[pod]
        return NONE if at is None else state[at]

    def precedes(self, pod: Pod, other: Pod, state: State) -> bool:
        """Whether activeQ has the pod before the other, as the model's clock says, which knows the place of an entry; of those that are open to each other, the first in the scenario."""
        one, two = int(pod.priority.value), int(other.priority.value)
        if one != two:
            return one > two
        at = self._older.get((pod, other))
        return bool(state[at]) if at is not None else not state[self._older[other, pod]]

    def is_in_flight(self, pod: Pod, state: State) -> bool:
        """Whether the pod was popped, and Done was not called for it."""
        at = self._in_flight[pod]
        return at is not None and bool(state[at])

    def is_tried(self, pod: Pod, state: State) -> bool:
        """Whether an attempt of the pod still runs, in its binding cycle or in the failure handler."""
        return any(state[at] for at in self._attempts[pod] if at is not None)

    def is_rejected(self, pod: Pod, state: State) -> bool:
        """Whether a plugin is known to have rejected the pod, as an idle scheduler looks at it: of the entry of a group none is."""
        return pod not in self._groups and any(state[i] for i in self._rejected[pod])


def pod_of(transition: Transition) -> Pod | None:
    """The first pod that a step is about, if it is about one."""
    return next((value for _, value in transition.args if isinstance(value, Pod)), None)


def taken_out(transition: Transition) -> Pod | None:
    """Whom the step takes out of the queue, to be scheduled; None if it is none that does so."""
    if (transition.part, transition.step) == TAKES:
        return dict(transition.args)["other"]
    return pod_of(transition) if transition.step in POPS else None
