"""The condition DisruptionTarget of a victim, as far as it mattered to preemption whether the object at hand carried it.

Before a victim is deleted, the condition is patched into its status, unless the object at hand carries it: that of the snapshot. Its own event
comes to the cache's handler before that of the deletion (framework/preemption/preemption.go, 1.32 to 1.34).
"""

from collections.abc import Mapping
from enum import Enum
from typing import Any

from ....environment.api import APIServer
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
    enum,
    otherwise,
    per,
    require,
    select,
    step,
    tells,
    when,
)
from ....scheduler import AsyncPreemption, EventHandlers, Scheduler
from ....scheduler.cache.snapshot import Snapshot
from ....scheduler.framework.events import POD_UPDATE
from ....scheduler.preemption.eviction_words import eviction
from ...registry.change import before, yes

_restores = before(
    "gone-victims-condition",
    "the PATCH of a victim that is already gone is not an error",
    first_in="1.34",
    since="1.32",
    reverts=("1.34.2",),
)
"""1.34.0 and 1.34.1 had it, too. Up to 1.31 each call for a victim that is gone was an error (gone-victims)."""


class Told(Enum):
    """What the cache's handler knows of the condition of a victim."""

    NONE = 0  # there is none to be told
    APART = 1  # its event comes before that of the deletion
    WITHIN = 2  # the next event shows both
    TOLD = 3  # the cached object carries it


@_restores
class ConditionIsWatched(PodWatch):
    """The condition's event came before that of the deletion.

    Only that of a pod that was bound, and not terminating yet: of others the condition that a preemption writes shows nowhere before they are gone.
    """

    condition = per(Pod, enum(Told))

    phrases = UNTOLD

    def written(self, pod: Pod) -> None:
        """The condition is written, and the deletion follows."""
        current: Any = self.api.pod[pod]
        with when(current.assigned & ~as_expr(current.terminating)):
            self.condition[pod] = Told.APART

    def approach(self, pod: Pod) -> None:
        """The cache's handler is given the condition: its next event is the deletion that follows; what came before that is in the store."""
        require(self.condition[pod] == Told.APART)
        position = self.next[Handler.CACHE]
        here = ((position == i, self.log.entry(i)) for i in range(self.log.capacity))
        require(any_of(at & (event.pod == pod) & self._ends(event.object) for at, event in here))
        self._store_up_to(position - 1)
        self.condition[pod] = Told.TOLD

    def handled(self, pod: Pod, new: PodObject) -> None:
        """The cache's handler is given the next event of the pod."""
        with when(self._ends(new) & (self.condition[pod] != Told.NONE)):
            self.condition[pod] = select(new.exists, Told.TOLD, Told.NONE)

    def _ends(self, new: PodObject) -> Expr:
        return ~as_expr(new.exists) | as_expr(new.terminating)

    def resume(self) -> None:
        """Of a condition that was missed a list shows no more than what became of the pod."""
        super().resume()
        self._list_conditions(Told.WITHIN)

    def relist(self, handled: bool) -> None:
        """A new informer is given objects as they are."""
        conditions = {pod: self.condition[pod] for pod in self.universe[Pod]}
        super().relist(handled)
        for pod, condition in conditions.items():
            self.condition[pod] = condition
        self._list_conditions(Told.TOLD if handled else Told.WITHIN)

    def _list_conditions(self, shown: Told) -> None:
        for pod in self.universe[Pod]:
            open_ = (self.condition[pod] == Told.APART) | (self.condition[pod] == Told.WITHIN)
            told = (self.condition[pod] == Told.TOLD) & (shown is Told.TOLD)
            with when(open_ | told):
                self.condition[pod] = select(self.api.pod[pod].exists, shown, Told.NONE)


@_restores
class VictimIsPatched(APIServer):
    """A PATCH came before the DELETE."""

    pod_watch: ConditionIsWatched

    def end_victim(self, pod: Pod) -> None:
        self.pod_watch.written(pod)
        super().end_victim(pod)


@_restores
class ConditionIsHandled(EventHandlers):
    """The cache's handler could be told of the condition, and not of the deletion yet."""

    pod_watch: ConditionIsWatched

    @step(actor="cache handler")
    @tells(
        "The watch delivers to the cache's handler that {pod} is a victim (condition DisruptionTarget), ahead of its deletion."
    )
    def learn_of_condition(self, pod: Pod) -> None:
        """UpdatePod with the condition, and of the moves that follow those that any plugin asked for."""
        require(~self.cache_busy)
        self.queue.goes_on(self.goroutine_of(Handler.CACHE))
        self.pod_watch.approach(pod)
        if self.queue.hears_of_updates():
            self.queue.move_all(POD_UPDATE, about=pod)
            self.queue.moved_by(self.goroutine_of(Handler.CACHE))

    def handle_for_cache(self, pod: Pod) -> None:
        super().handle_for_cache(pod)
        self.pod_watch.handled(pod, self.pod_watch.take(Handler.CACHE, pod)[1])

    def swapped_out(self, pod: Pod) -> None:
        super().swapped_out(pod)
        self.pod_watch.condition[pod] = Told.NONE


@_restores
class ConditionInSnapshot(Snapshot):
    """The object at hand was that of the snapshot."""

    pod_watch: ConditionIsWatched

    carries = per(Pod, boolean())

    phrases = UNTOLD

    def update(self) -> Expr:
        inconsistent = super().update()
        for pod in self.universe[Pod]:
            self.carries[pod] = self.cache.knows(pod) & (self.pod_watch.condition[pod] == Told.TOLD)
        return inconsistent

    def clear(self) -> None:
        super().clear()
        for pod in self.universe[Pod]:
            self.carries[pod] = False


@_restores
class GoneVictimFailsPatch(Scheduler):
    """The PATCH of a victim that was gone failed, and with it PostFilter, unless the snapshot's object carried the condition."""

    snapshot: ConditionInSnapshot

    @tells(
        *eviction("it counts as deleted")[:6],
        changes("scheduler.nominee", after=NOTHING),
        "The scheduler's PATCH of {victim} fails with 404, because the pod is gone: PostFilter ends in an error.",
        *eviction("it counts as deleted")[6:],
    )
    def evict(self, pod: Pod, victim: Pod, ok: bool) -> None:
        super().evict(pod, victim, ok)

    def victim_was_gone(self, victim: Pod) -> None:
        with when(self.snapshot.carries[victim]):
            super().victim_was_gone(victim)
        with otherwise():
            self.eviction_failed()


@_restores
class GoneVictimFailsGoroutine(AsyncPreemption):
    """The PATCH of a victim that was gone failed, which activated the preemptor, unless the object at hand carried the condition.

    `carries[p][v]`: the object of v that p's goroutine has.
    """

    snapshot: ConditionInSnapshot

    carries = per(Pod, per(Pod, boolean()))

    phrases = UNTOLD

    def start(self, pod: Pod, node: Node | None, victims: Mapping[Pod, Value], last: Value) -> None:
        super().start(pod, node, victims, last)
        for victim, chosen in victims.items():
            self.carries[pod][victim] = as_expr(chosen) & self.snapshot.carries[victim]

    def gone_is_error(self, pod: Pod, victim: Pod) -> Expr:
        return ~as_expr(self.carries[pod][victim])

    may_fail = yes

    def end(self, pod: Pod) -> None:
        super().end(pod)
        for victim in self.universe[Pod]:
            self.carries[pod][victim] = False
