"""Which steps of a run can be forced on the real scheduler, beside those that lie within one lock.

A list after an interruption fills the informer's store at once (A-RELIST): the model's informer takes one outcome after the other, and readers may look in
between, where the real one cannot be held. So a run for the real scheduler has nothing between the first outcome that is stored and the last. And there is one deletion at most
among them, because the order of several is that of a Go map.

A pod whose last condition was of an error, and that was bound meanwhile, keeps PodScheduled=True when it is said to be unschedulable, because the PATCH has the new
reason only. So does one that was said to be unschedulable before, and is tried again from an object that says so: there is nothing new to write. Nor does another
pod that has the name by then get more of it. Where the scope has nothing that can take a condition back but the scheduler's own Bindings, the model does not know what the
object said (A-CONDITION).

A standby's informers have been as far as the old leader's, and the driver makes them so (A-STANDBY). Three things it does not make: that the standby's watch was interrupted
where the old leader's was, what the standby's nominator learnt from an object that its lister has replaced since, and that a pod which was created under way comes
to its queue before one that was there. And its queue still knows of a pod that it was gated, and the list that its informer begins with may show
that a pod is a victim, or not yet.

A deletion whose last state is unknown carries the nomination that the store's object had, also where the queue's handler was through with it before, and where the pod was bound
meanwhile; the model knows no such nomination (A-RELIST). In all releases from 1.26 on, a preemptor with a nomination waits for pods that terminate because of a preemption only, and in the model for any (A-DISRUPTION).

PreFilter of a pod with claims reads which devices are allocated and which are in flight within one call. The flush of the parked pods counts for a pod in flight whatever its
claims are; the model asks whether they are there, where they come and go (A-CLAIM-LIVES).

Restore of a claim whose write the informer has delivered before it was assumed makes an event in which nothing changes; the model makes none (A-CLAIM-EMIT).

The handler of groups of pods takes one event after the other, and the model's tells of the groups in any order. Where several pods wait for their group, the order in which they come into its entry is that of a Go map. A member that somebody else has bound while its group's cycle
has it counts twice in the snapshot, where it is assumed as well; in the model it is there once (A-GROUP-SNAPSHOT). From 1.38 on, handlers tell a tracker of pods after the cache, where PreEnqueue counts them; the driver holds
a handler between the two calls, which are one step of the model (A-GROUP-TRACKER). After a panic of the plugin there is no process; the model's goes on (A-GROUP-MANAGER).

What the binder of volumes does within one call is in `binder_calls`. A few steps the driver does not play at all.

The allocator tries the devices in one order for all claims of a pod, so an administrator's claim is given what an earlier claim of the pod was given, if it can have that.

Preemption goes on for the pod that the lister shows under its preemptor's name; where that is another pod by now, the driver cannot force its steps, which are not those of the cycle's pod.
"""

from copy import copy
from typing import Any

from ...model.environment.cluster.scope import passing_claims
from ...model.environment.names import Recreation
from ...model.environment.objects import Claim, Device, Node, Pod, PodGroup
from ...model.language import State, Transition, TransitionSystem
from ...model.scheduler.cycles.failure import loses_conditions
from ...model.scheduler.event_handlers import Addition
from ...model.scheduler.framework.status import Phase
from ..timing.queue_states import UPDATES, QueueStates, pod_of
from ..timing.timing import FLUSHES, INTERRUPTION, NODE_INTERRUPTION, STORES
from .binder_calls import BinderCalls

PATCH = ("failure", "patch")
HAND_OVER = ("process", "change_leader")
WAKES = ("handlers", "wake_queue")
TELLS_QUEUE = ("handlers", "handle_for_queue")
UNGATES = ("users", "remove_gates")
DELETES = ("users", "delete_pod")
REREADS = ("scheduler", "reread_preemptor")
LEARNS = ("handlers", "learn_of_condition")

ASSUMES = tuple(("dynamic_resources", step) for step in ("assume_claim", "lose_name", "assume_unwritten"))
RESTORES = ("dynamic_resources", "restore_claim")
RESERVES = ("dynamic_resources", "reserve_claim")
LISTS = ("dynamic_resources", "list_devices")
DELIVERS = ("claim_cache", "deliver")

CHANGES_DEVICES = (
    ("claim_cache", "tell_tracker"),
    ("dynamic_resources", "settle_claim"),
    ("dynamic_resources", "fail_claim"),
    ("dynamic_resources", "unreserve_claim"),
)
"""Steps that change which devices are allocated or in flight, which PreFilter reads within one call."""

STORES_GROUP = ("pod_groups", "store_group")
TELLS_OF_GROUP = ("gang_scheduling", "tell_queue")
GROUP_SNAPSHOT = ("pod_group_cycle", "take_snapshot")
GROUP_PREEMPTS = ("pod_group_cycle", "preempt")

UNPLAYED = frozenset({
    ("process", "bind_in_doubt"), ("process", "land_late"), ("claim_cache", "take"), ("claim_cache", "tell_late"),
    ("pod_watch", "stall"), ("node_watch", "stall"), ("dynamic_resources", "give_up_search"),
})  # fmt: skip
"""Steps for which the driver has no rule."""

OBJECTS = ("api.pod", "pod_watch.lister")

TWO = 2


class Forcing:
    """What can be forced, as far as it depends on the run so far. Goes along with a run."""

    def __init__(self, system: TransitionSystem) -> None:
        self._place = {variable.name: i for i, variable in enumerate(system.variables)}
        self._queue = QueueStates(system)
        self._pods: tuple[Pod, ...] = tuple(system.universe[Pod])
        self._nodes: tuple[Node, ...] = tuple(system.universe[Node])
        self._to_store = 0
        self._to_handle = self._nodes_to_handle = 0
        self._amid = False
        self._erred: set[Pod] = set()
        self._said: set[Pod] = set()
        self._knows_what_was_said = loses_conditions(system.universe)
        self._ungated = self._ended_by_user = False
        self._said_to_be_victims: set[Pod] = set()
        self._taken_by: dict[str, list[str]] = {}
        for recreation in system.universe[Recreation]:
            self._taken_by.setdefault(recreation.before.name, []).append(recreation.after.name)
        self._assumed_again: set[Claim] = set()
        self._given: dict[Claim, Device] = {}
        passing = passing_claims(system.universe.scope)
        self._claimants = [pod.name for pod in self._pods if passing and pod.claims]
        self._groups = [group.name for group in system.universe[PodGroup]]
        self._binder = BinderCalls(system)
        self._late = [pod for pod in self._pods if self._is_created(pod, system)]
        written = {variable for step in system.transitions for variable in step.updates}
        tracked = any(v.name.startswith("pod_group_states.tracked[") for v in written)
        self._gates = {v for v in system.variables if tracked and v.name.startswith("queue.gated[")}

    def for_another(self) -> "Forcing":
        """What can be forced in another run, which has come as far as this one."""
        found = copy(self)
        found._binder = self._binder.for_another()
        found._erred, found._said = set(self._erred), set(self._said)
        found._said_to_be_victims = set(self._said_to_be_victims)
        found._assumed_again, found._given = set(self._assumed_again), dict(self._given)
        return found

    def allows(self, transition: Transition, before: State) -> bool:
        """Whether the step can be forced in this state."""
        name = (transition.part, transition.step)
        if self._is_held_up(name, transition, before):
            return False
        if self._amid or name == STORES[0]:
            return name == STORES[0]
        if name == INTERRUPTION:
            return sum(self._is_missed(pod, before) for pod in self._pods) < TWO
        if name == NODE_INTERRUPTION:
            return sum(self._is_node_missed(node, before) for node in self._nodes) < TWO
        if name == PATCH:
            return not self._says_less(pod_of(transition), before)
        if name == HAND_OVER:
            told = not self._to_handle and not self._nodes_to_handle
            return told and not self._may_know_more(before)
        if name == WAKES:
            return not self._was_nominated(pod_of(transition), before)
        if name in (REREADS, GROUP_PREEMPTS) and not all(
            self._rereads_itself(one, before) for one in self._preemptors(name, pod_of(transition))
        ):
            return False
        if name == TELLS_QUEUE and self._is_lost_with_nomination(pod_of(transition), before):
            return False
        if name == LEARNS:
            return not self._to_store
        return not 0 < self._stored(transition, before) < self._to_store

    def _is_held_up(self, name: tuple[str, str], transition: Transition, before: State) -> bool:
        """Whether the driver does not play the step, or something that it cannot make wait comes first."""
        if name in UNPLAYED or self._binder.tears(transition, before):
            return True
        if name == RESTORES and _claim_of(transition) in self._assumed_again:
            return True
        if name == RESERVES and self._is_out_of_order(transition):
            return True
        if name in CHANGES_DEVICES and self._lists_devices(before):
            return True
        if name == FLUSHES[1] and any(
            self._is_set(before, f"queue.in_flight[{pod}]") for pod in self._claimants
        ):
            return True
        if self._is_set(before, "pod_group_states.panicked"):
            return True
        if name == STORES_GROUP and self._groups_to_tell(before):
            return True
        if self._tells_tracker(before) and self._asks_tracker(transition):
            return True
        if name == TELLS_OF_GROUP and self._several_wait_for(dict(transition.args)["group"], before):
            return True
        return name == GROUP_SNAPSHOT and any(self._is_bound_by_others(pod, before) for pod in self._pods)

    def _may_know_more(self, before: State) -> bool:
        """Whether a component may know of a pod what the watch of the new scheduler does not show it."""
        older = any(
            self._knows_older(pod, before) or self._is_set(before, f"pod_watch.condition[{pod.name}]")
            for pod in self._pods
        )
        victims = any(
            self._is_there(pod, before) or self._is_set(before, f"cache.pod[{pod.name}].node")
            for pod in self._said_to_be_victims
        )
        late = any(self._comes_late(pod, before) for pod in self._late)
        return self._ungated or older or victims or late

    def _is_bound_by_others(self, pod: Pod, state: State) -> bool:
        """Whether the cycle of a group has the pod in its hands, and the cache knows it on a node without having assumed it there."""
        held, cached = f"pod_group_cycle.held[{pod.name}]", f"cache.pod[{pod.name}]"
        assumed = self._is_set(state, f"{cached}.assumed")
        return self._is_set(state, held) and self._is_set(state, f"{cached}.node") and not assumed

    def _tells_tracker(self, state: State) -> bool:
        """Whether the handler of pods is held between its calls of the cache and of the tracker that PreEnqueue asks."""
        begun = self._is_set(state, "handlers.cache_busy") or self._is_set(state, "handlers.queue_waking")
        return begun or any(self._is_adding(pod, state) for pod in self._pods)

    def _is_adding(self, pod: Pod, state: State) -> bool:
        """Whether the handler has added the pod to the state of its group, and not yet to the queue."""
        at = self._place.get(f"handlers.adding[{pod.name}]")
        return at is not None and state[at] == list(Addition).index(Addition.ADD)

    def _asks_tracker(self, transition: Transition) -> bool:
        """Whether the step may ask PreEnqueue, and is none of a handler, which goes on first."""
        return transition.part != "handlers" and not self._gates.isdisjoint(transition.updates)

    def _several_wait_for(self, group: object, state: State) -> bool:
        """Whether several pods have been put aside until the queue is told of their group."""
        waiting = [
            pod
            for pod in self._pods
            if isinstance(group, PodGroup)
            and pod.group == group.name
            and self._is_set(state, f"queue.incomplete[{pod.name}]")
        ]
        return len(waiting) >= TWO

    def _groups_to_tell(self, state: State) -> bool:
        """Whether the queue is not yet notified of a group that is in the informer's store."""
        return any(
            self._is_set(state, f"pod_groups.listed[{group}]")
            and not self._is_set(state, f"pod_groups.told[{group}]")
            for group in self._groups
        )

    def _is_out_of_order(self, transition: Transition) -> bool:
        """Whether an administrator's claim is to have another device than an earlier claim of the pod, which asks for the same, was given in this attempt."""
        claim, device = _given_by(transition)
        return claim.admin and any(
            set(claim.wishes) & set(other.wishes)
            and not set(device.parts or (device,)) & set(given.parts or (given,))
            for other, given in self._given.items()
        )

    def _lists_devices(self, state: State) -> bool:
        """Whether PreFilter of a pod with claims has read which devices are allocated, and not yet which are in flight."""
        at = self._place["scheduler.phase"]
        return state[at] == list(Phase).index(Phase.ADD_IN_FLIGHT)

    def go(self, transition: Transition, before: State, after: State) -> None:
        """Go on by a step that was taken."""
        name, about = (transition.part, transition.step), pod_of(transition)
        self._binder.go(transition, after)
        self._ungated |= name == UNGATES
        victim = next((value for key, value in transition.args if key == "victim"), None)
        if isinstance(victim, Pod) and self._is_set(before, f"api.pod[{victim.name}].terminating"):
            self._said_to_be_victims.add(victim)
        if name == LISTS:
            self._given.clear()
        if name == RESERVES:
            claim, device = _given_by(transition)
            self._given[claim] = device
        if name in (*ASSUMES, DELIVERS):
            self._note_claim(name, _claim_of(transition), before, after)
        if name == DELETES and about is not None:
            self._ended_by_user |= self._is_set(after, f"api.pod[{about.name}].terminating")
        length = self._place["pod_watch.log.length"]
        if (transition.part, transition.step) == INTERRUPTION:
            self._to_store = self._to_handle = after[length]
        elif self._queue.starts_anew(transition, before, after):
            self._binder.start_again()
            self._to_store = self._to_handle = self._nodes_to_handle = 0
        else:
            stored = min(self._stored(transition, before), self._to_store)
            self._to_store -= stored
            self._amid = bool(stored and self._to_store)
            self._to_handle -= min(self._to_handle, max(0, before[length] - after[length]))
        nodes = self._place["node_watch.log.length"]
        if name == NODE_INTERRUPTION:
            self._nodes_to_handle = after[nodes]
        else:
            self._nodes_to_handle -= min(self._nodes_to_handle, max(0, before[nodes] - after[nodes]))
        pod = pod_of(transition)
        if pod is not None and (transition.part, transition.step) == PATCH:
            says = self._is_set(before, f"failure.unschedulable[{pod.name}]")
            (self._erred.discard if says else self._erred.add)(pod)
            if says:
                self._said.update(self._written_to(pod, before))

    def _note_claim(self, name: tuple[str, str], claim: Claim, before: State, after: State) -> None:
        """Keep of which claims the assume cache may have one version twice: as the informer's object, and as what a write has returned."""
        latest, stored = (
            self._place[f"claim_cache.{which}_lag[{claim.name}]"] for which in ("latest", "stored")
        )
        devices = {
            after[self._place[f"claim_cache.{which}[{claim.name}].device"]] for which in ("latest", "stored")
        }
        if name in ASSUMES and after[latest] == after[stored] and len(devices) == 1:
            self._assumed_again.add(claim)
        elif name == DELIVERS and after[latest] != before[latest]:
            self._assumed_again.discard(claim)

    def _preemptors(self, name: tuple[str, str], pod: Pod | None) -> list[Pod | None]:
        """The pod for which preemption looks, or all of its group."""
        if name == REREADS or pod is None:
            return [pod]
        return [one for one in self._pods if one.group == pod.group]

    def _rereads_itself(self, pod: Pod | None, state: State) -> bool:
        """Whether preemption goes on with its preemptor, and waits for the pods that the model has it wait for."""
        if pod is None:
            return True
        if any(
            self._is_set(state, f"pod_watch.lister[{other}].exists")
            for other in self._taken_by.get(pod.name, ())
        ):
            return False
        nominated = any(self._is_set(state, f"{whose}[{pod.name}].nominated") for whose in OBJECTS)
        return not (self._ended_by_user and nominated)

    def _stored(self, transition: Transition, before: State) -> int:
        """How many events of pods the step brings into the store."""
        name = (transition.part, transition.step)
        if name not in STORES:
            return 0
        if name == STORES[0]:
            return 1
        handler = "QUEUE" if name in UPDATES else "CACHE"
        position = before[self._place[f"pod_watch.next[{handler}]"]]
        return max(0, position + 1 - before[self._place["pod_watch.listed"]])

    def _says_less(self, pod: Pod | None, state: State) -> bool:
        """Whether the PATCH writes less than the model's, and that shows."""
        if pod is None or not (
            self._is_set(state, f"api.pod[{pod.name}].node") or self._is_replaced(pod, state)
        ):
            return False
        repeats = pod in self._said and not self._knows_what_was_said
        return (pod in self._erred or repeats) and self._is_set(state, f"failure.unschedulable[{pod.name}]")

    def _is_replaced(self, pod: Pod, state: State) -> bool:
        """Whether the API server has another pod under the name."""
        return any(other is not pod for other in self._written_to(pod, state))

    def _written_to(self, pod: Pod, state: State) -> list[Pod]:
        """The pod, and who has its name in the API server: a PATCH goes by the name."""
        others = self._taken_by.get(pod.name, ())
        return [
            pod,
            *(q for q in self._pods if q.name in others and self._is_set(state, f"api.pod[{q.name}].exists")),
        ]

    def _is_missed(self, pod: Pod, state: State) -> bool:
        """Whether the pod is gone, and the lister has it."""
        there = self._is_set(state, f"pod_watch.lister[{pod.name}].exists")
        return there and not self._is_set(state, f"api.pod[{pod.name}].exists")

    def _is_node_missed(self, node: Node, state: State) -> bool:
        """The same of a node."""
        there = self._is_set(state, f"node_watch.lister[{node.name}]")
        return there and not self._is_set(state, f"api.node_exists[{node.name}]")

    def _knows_older(self, pod: Pod, state: State) -> bool:
        """Whether the queue's handler was given a nominated pod that is bound or gone for the lister."""
        seen, lister = f"pod_watch.seen[QUEUE][{pod.name}]", f"pod_watch.lister[{pod.name}]"
        if not self._is_set(state, f"{seen}.exists") or not self._is_set(state, f"{seen}.nominated"):
            return False
        return self._is_set(state, f"{lister}.node") or not self._is_set(state, f"{lister}.exists")

    def _is_created(self, pod: Pod, system: TransitionSystem) -> bool:
        return f"api.pod[{pod.name}].exists" in self._place and not self._is_set(
            system.initial, f"api.pod[{pod.name}].exists"
        )

    def _comes_late(self, pod: Pod, state: State) -> bool:
        """Whether the pod was created under way, and is before another one in the scenario."""
        others = [q for q in self._pods if q.index > pod.index]
        return self._is_there(pod, state) and any(self._is_there(q, state) for q in others)

    def _is_there(self, pod: Pod, state: State) -> bool:
        variable = f"api.pod[{pod.name}].exists"
        return variable not in self._place or self._is_set(state, variable)

    def _was_nominated(self, pod: Pod | None, state: State) -> bool:
        """Whether the cache's handler tells of a pod without a node that is gone, and the queue's handler was through with it before."""
        if pod is None or self._is_there(pod, state):
            return False
        cached, seen = f"pod_watch.seen[CACHE][{pod.name}].node", f"pod_watch.seen[QUEUE][{pod.name}].exists"
        return seen in self._place and not self._is_set(state, cached) and not self._is_set(state, seen)

    def _is_lost_with_nomination(self, pod: Pod | None, state: State) -> bool:
        """Whether the queue's handler is told that a pod is gone which has a node and a nomination."""
        if pod is None or self._is_there(pod, state):
            return False
        cached = f"pod_watch.seen[CACHE][{pod.name}]"
        return self._is_set(state, f"{cached}.node") and self._is_set(state, f"{cached}.nominated")

    def _is_set(self, state: State, variable: str) -> bool:
        at = self._place.get(variable)
        return at is not None and bool(state[at])


def _given_by(transition: Transition) -> tuple[Claim, Device]:
    """The claim that Reserve is at, and what it is to have."""
    args: dict[str, Any] = dict(transition.args)
    return args["use"].claim, args["device"]


def _claim_of(transition: Transition) -> Claim:
    """The claim that a step is about, or the one that its use is of."""
    ((_, about),) = transition.args
    claim = about if isinstance(about, Claim) else about.claim
    assert isinstance(claim, Claim)
    return claim
