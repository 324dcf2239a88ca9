"""The scheduler cache as it was."""

from ....environment.faults import Fault, Faults
from ....environment.objects import Node, Pod, PodObject
from ....environment.watch import Handler, PodWatch
from ....language import (
    NOTHING,
    UNTOLD,
    Expr,
    Value,
    any_of,
    as_expr,
    boolean,
    changes,
    otherwise,
    per,
    require,
    select,
    step,
    tells,
    when,
)
from ....scheduler import Cache, EventHandlers
from ....scheduler.cache.scheduler_cache import CachedPod
from ....scheduler.process import Process
from ...registry.change import before, never


@before(
    "93938",
    "the pods of a removed node stay in the cache until their own events arrive",
    first_in="1.19",
    issues=(86920, 89552),
    since="1.18",
    backports=("1.18.9",),
)
class Before93938(Cache):
    """RemoveNode dropped the NodeInfo with its pods (86964), although the cache still counted them as added.

    When the node came back it looked empty: no event for its pods was due. A NodeInfo that was made for a pod
    stayed when its last pod went, and an update of a pod made none (89908).
    """

    dropped = per(Pod, boolean())
    made_for_pod = per(Node, boolean())

    phrases = UNTOLD

    def node_of(self, pod: Pod) -> Expr:
        return select(self.dropped[pod], None, self.pod[pod].node)

    def has_entry(self, node: Node) -> Expr:
        return self.live[node] | self.made_for_pod[node]

    def update_pod(self, pod: Pod, new: PodObject, version: Value = None) -> Expr:
        known = any_of((new.node == node) & self.has_entry(node) for node in self.universe[Node])
        confirmed = self.knows(pod) & ~self.is_assumed(pod)
        with when(known):
            super().update_pod(pod, new, version)
        with otherwise(confirmed):
            self.pod[pod] = CachedPod(node=new.node, terminating=new.terminating)
            self._is_now(pod, version)
        return ~confirmed

    def _lose(self, node: Node) -> None:
        for pod in self.universe[Pod]:
            with when(self.pod[pod].node == node):
                self.dropped[pod] = True
        self.made_for_pod[node] = False
        super()._lose(node)

    def _put(self, pod: Pod, cached: CachedPod, version: Value) -> None:
        self.made_for_pod[cached.node] = self.made_for_pod[cached.node] | ~self.live[cached.node]
        super()._put(pod, cached, version)

    def _take_out(self, pod: Pod) -> None:
        super()._take_out(pod)
        self.dropped[pod] = False


@before(
    "110925", "an assumed pod never expires: it is confirmed, forgotten or removed", "1.25", issues=(106361,)
)
class AssumedPodsExpire(Cache):
    """An assumed pod whose bind was reported finished left the cache if no event confirmed it in time."""

    faults: Faults

    @step(actor="cache timers", fair=False)
    @tells("The cache waits for {pod} no longer: the assumed pod expires.")
    def expire(self, pod: Pod) -> None:
        """cleanupAssumedPods: the bind was reported finished, and no event confirmed it in time."""
        require(self.may_expire(pod))
        self.faults.spend(Fault.ASSUME_EXPIRY, pod)
        self._drop(pod)


@before(
    "confirmed-object", "a confirmed pod's NodeInfo gets the object that the watch shows", first_in="1.25"
)
class ConfirmedAsAssumed(Cache):
    """Confirmed on the same node, the pod stayed in the NodeInfo as the object that was assumed."""

    def _confirm(self, pod: Pod, cached: CachedPod, version: Value) -> None:
        self.pod[pod] = cached


@before(
    "134157",
    "one handler receives all events of pods, and forgets an assumed pod that is deleted",
    first_in="1.35",
)
class GonePodsNotForgotten(Cache):
    """ForgetPod failed for a pod that the cache did not know: a binding cycle whose pod was gone from it woke nobody."""

    is_forgotten = never


_MISSED_DELETION = "a deletion takes an assumed pod out of the cache, too"


@before("106102", _MISSED_DELETION, first_in="1.23", backports=("1.20.14", "1.21.14", "1.22.17"))
class TombstonesFiltered(PodWatch):
    """A deletion whose last state is unknown was given to the handlers by what its old object said."""

    tombstones_for_all = never


@before("106102", _MISSED_DELETION, first_in="1.23", backports=("1.20.14", "1.21.14", "1.22.17"))
class AssumedPodsStay(Cache):
    """RemovePod refused an assumed pod."""

    def removable(self, pod: Pod) -> Expr:
        return super().removable(pod) & ~self.is_assumed(pod)


_AS_SHOWN = "a pod that was assumed on a node other than the one in the watch event is cached on the node of the event"


@before("55262", _AS_SHOWN, first_in="1.9", issues=(50916,))
class KeptAsAssumed(Cache):
    """AddPod put such a pod into the NodeInfo of the other node, and left its pod state with the object that was assumed (schedulercache/cache.go, 1.8.0).

    `mistaken[p]`: the pod state of p names another node than the one whose NodeInfo has it.
    """

    mistaken = per(Pod, boolean())

    phrases = UNTOLD

    def add_pod(self, pod: Pod, new: PodObject, version: Value = None) -> Expr:
        elsewhere = self.is_assumed(pod) & (self.pod[pod].node != new.node)
        failed = super().add_pod(pod, new, version)
        if self.may_be_elsewhere():
            self.mistaken[pod] = self.mistaken[pod] | elsewhere
        return failed


@before("55262", _AS_SHOWN, first_in="1.9", issues=(50916,))
class MistakenStateEndsProcess(EventHandlers):
    """UpdatePod and RemovePod compared the nodes of pod state and object, and ended the process where they differ ("Schedulercache is corrupted").

    `corrupted[p]`: they did, because of p; once for each pod, after that its state counts as mended. What other handlers are amid of is lost with
    the rest of the memory, so that the process might as well end when they are idle.
    """

    cache: KeptAsAssumed
    process: Process

    end_process = True

    corrupted = per(Pod, boolean())

    phrases = UNTOLD

    def ends(self) -> tuple[Expr, ...]:
        if not self.cache.may_be_elsewhere():
            return super().ends()
        return (*super().ends(), *(as_expr(self.corrupted[p]) for p in self.universe[Pod]))

    @step(actor="cache handler")
    @tells(
        changes("handlers.corrupted"),
        "The watch delivers an event about {pod} to the cache's handler: the cache had it assumed on another node, takes itself for corrupted, and the scheduler ends itself.",
        changes("cache.pod.node", after=NOTHING),
        "The watch delivers to the cache's handler that {pod} is gone: its room on {before} is free in the cache.",
        "The watch delivers an event about {pod} to the cache's handler.",
    )
    def handle_for_cache(self, pod: Pod) -> None:
        """The cache's handler takes its next event, which ends the process if the pod state is mistaken."""
        if not self.cache.may_be_elsewhere():
            super().handle_for_cache(pod)
            return
        ends = self.cache.mistaken[pod] & ~self.corrupted[pod]
        require(~ends | (~self.cache_busy & self.is_queue_idle() & ~self.node_busy))
        with when(ends):
            self.pod_watch.take(Handler.CACHE, pod)
            self.process.start_anew()
            self.corrupted[pod] = True
        with otherwise():
            super().handle_for_cache(pod)
