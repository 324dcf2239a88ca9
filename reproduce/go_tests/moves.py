"""Names for the steps of the model that a reader of a Go test understands without it: those of `driver/testing/moves.go`."""

from collections.abc import Mapping, Sequence

from ...base.structs import Data
from ...reports.step import ShownStep, Value


class Move(Data):
    """A step's name. With `by`, the value of that argument decides between several names, and is no argument of theirs."""

    name: str
    by: str = ""
    names: Mapping[Value, str] | None = None
    first: str = ""

    def name_for(self, args: Mapping[str, Value]) -> str:
        """The name for a step with these arguments."""
        return self.name if self.names is None else self.names[args[self.by]]

    def arguments(self, args: Mapping[str, Value]) -> tuple[Value, ...]:
        """What the call is given."""
        rest = tuple(value for name, value in args.items() if name != self.by)
        return (self.first, *rest) if self.first else rest


def _either(yes: str, no: str) -> Move:
    return Move("", "ok", {True: yes, False: no})


QUEUE_HANDLER, CACHE_HANDLER, NODE_HANDLER = "queue handler", "cache handler", "node handler"

MOVES: dict[str, Move] = {
    # users, kubelets
    "users.create_pod": Move("CreatePod"),
    "users.delete_pod": Move("DeletePod"),
    "stateful_sets.recreate": Move("RecreatePod"),
    "users.create_node": Move("CreateNode"),
    "users.update_node": Move("UpdateNode"),
    "users.update_pod": Move("UpdatePod"),
    "updates.wake_queue": Move("NodeHandlerTellsChange"),
    "users.delete_node": Move("DeleteNode"),
    "users.bind_pod": Move("SomebodyElseBinds"),
    "users.remove_gates": Move("RemoveSchedulingGates"),
    "kubelet.finish_termination": Move("KubeletRemoves"),
    "kubelet.reject": Move("KubeletRejects"),
    "finalizer_owners.release": Move("FinalizersAreRemoved"),
    # the scheduling cycle
    "scheduler.pop": Move("SchedulerPops"),
    "scheduler.skip": Move("SchedulerSkips"),
    "scheduler.take_snapshot": Move("SchedulerTakesSnapshot"),
    "scheduler.filter": Move("SchedulerFilters"),
    "scheduler.filter_nominated": Move("SchedulerFiltersNominated"),
    "scheduler.reread_preemptor": Move("PreemptionBegins"),
    "scheduler.dry_run": Move("PreemptionTriesNode"),
    "scheduler.choose_candidate": Move("PreemptionChooses"),
    "scheduler.assume": Move("SchedulerAssumes"),
    "scheduler.start_binding": Move("SchedulerStartsBinding"),
    "scheduler.fail": Move("SchedulerRejects"),
    # the failure handler
    "failure.read": Move("FailureHandlerReads"),
    "failure.requeue": Move("FailureHandlerRequeues"),
    "failure.nominate": Move("FailureHandlerNominates"),
    "failure.patch": Move("FailureHandlerPatches"),
    # the binding cycle
    "binding.announce": Move("BindingCycleAnnounces"),
    "binding.pre_bind": _either("PreBindSucceeds", "PreBindFails"),
    "binding.bind": Move("", "reply", {"ANSWERED": "Binds", "LOST": "BindsButReplyIsLost", "FAILED": "BindFails"}),
    "binding.forget": Move("BindingCycleForgets"),
    "binding.wake_queue": Move("BindingCycleWakesOthers"),
    "binding.fail": Move("BindingCycleFails"),
    # the goroutine of asynchronous preemption
    "async_preemption.begin": Move("PreemptionGoroutineBegins"),
    "async_preemption.leave": Move("PreemptionGoroutineLeaves"),
    "async_preemption.evict": _either("PreemptionGoroutineEvicts", "PreemptionGoroutineFailsToEvict"),
    "async_preemption.evict_last": _either("PreemptionGoroutineEvictsLast", "PreemptionGoroutineFailsToEvictLast"),
    "async_preemption.leave_last": Move("PreemptionGoroutineEnds"),
    "async_preemption.activate": Move("PreemptionGoroutineActivates"),
    # calls that nobody waits for
    "binding.queue_binding": Move("BindingCycleQueuesBinding"),
    "api_dispatcher.execute": Move("DispatcherTakes"),
    "api_dispatcher.patch": Move("DispatcherPatches"),
    "api_dispatcher.finalize": Move("DispatcherEnds"),
    # watches and handlers
    "pod_watch.store": Move("InformerStores"),
    "pod_watch.resume": Move("WatchIsInterrupted"),
    "node_watch.resume": Move("NodeWatchIsInterrupted"),
    "handlers.handle_for_queue": Move("DeliverTo", first=QUEUE_HANDLER),
    "handlers.handle_for_cache": Move("DeliverTo", first=CACHE_HANDLER),
    "handlers.handle_node": Move("DeliverTo", first=NODE_HANDLER),
    "handlers.update_queue": Move("QueueHandlerUpdates"),
    "handlers.look_whether_assumed": Move("QueueHandlerLooksWhetherAssumed"),
    "handlers.fetch_assumed": Move("QueueHandlerFetches"),
    "handlers.forget_assumed": Move("QueueHandlerForgets"),
    "handlers.wake_queue_for_room": Move("QueueHandlerWakesOthers"),
    "handlers.wake_queue": Move("CacheHandlerWakesOthers"),
    "handlers.learn_of_condition": Move("CacheHandlerLearnsOfCondition"),
    "handlers.remove_node": Move("NodeHandlerRemovesFromCache"),
    "handlers.wake_queue_for_node": Move("NodeHandlerWakesPods"),
    # timers
    "queue.flush_backoff": Move("BackoffEnds"),
    "queue.flush_unschedulable": Move("FlushLeftover"),
    "cache.expire": Move("AssumptionExpires"),
}  # fmt: skip
"""`part.step` of the model, and its name. Arguments are given in the order of the model's."""


class Composed(Data):
    """One name for several steps that a goroutine takes without a break.

    `pattern` are the steps; one with a star may come any number of times. The call has the pod, and the nodes of the starred steps.
    `told` are the steps whose sentences are said.
    """

    name: str
    pattern: tuple[str, ...]
    told: tuple[str, ...]
    least: int = 2

    def length(self, steps: Sequence[ShownStep], at: int) -> int:
        """How many steps from a position on it stands for; 0 if it does not begin there."""
        begun = at
        pod = steps[at].args.get("pod")
        for wanted in self.pattern:
            name = wanted.rstrip("*")
            if not wanted.endswith("*"):
                if at >= len(steps) or not _is(steps[at], name, pod):
                    return 0
                at += 1
            else:
                while at < len(steps) and _is(steps[at], name, pod):
                    at += 1
        return at - begun if at - begun >= self.least else 0

    def arguments(self, steps: Sequence[ShownStep]) -> tuple[Value, ...]:
        """The pod, and the nodes."""
        starred = {name.rstrip("*") for name in self.pattern if name.endswith("*")}
        nodes = [step.args["node"] for step in steps if f"{step.component}.{step.step}" in starred]
        return (steps[0].args["pod"], *nodes)

    def said(self, steps: Sequence[ShownStep]) -> str:
        """What is told of them."""
        return " ".join(step.sentence for step in steps if f"{step.component}.{step.step}" in self.told)


def _is(step: ShownStep, name: str, pod: Value) -> bool:
    return f"{step.component}.{step.step}" == name and step.args.get("pod") == pod


COMPOSED: tuple[Composed, ...] = (
    Composed(
        "SchedulerTries",
        ("scheduler.pop", "scheduler.take_snapshot", "scheduler.filter", "scheduler.filter*"),
        ("scheduler.pop", "scheduler.filter"),
    ),
    Composed(
        "PreemptionTries",
        ("scheduler.reread_preemptor", "scheduler.dry_run", "scheduler.dry_run*"),
        ("scheduler.dry_run",),
    ),
    Composed(
        "FailureHandlerRuns",
        ("failure.read", "failure.requeue", "failure.nominate", "failure.patch"),
        ("failure.requeue", "failure.patch"),
    ),
)
"""The first that fits is taken."""
