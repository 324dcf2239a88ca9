"""A case of the queue's table being played: the model's parts, and what its sub-queues hold."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, cast

from ..model.environment.objects import Pod, PodObject
from ..model.scheduler.framework.events import Plugin
from ..model.scheduler.queue.numbered import CountingClock, CountingQueue, OrderedNominator
from ..model.scheduler.queue.scheduling_queue import SubQueue
from .outcome import Case, Differs, NotTranslated
from .queue_cast import Cast, Version
from .script import Script, keys_of

PLACES = {"active": SubQueue.ACTIVE, "backoff": SubQueue.BACKOFF, "unschedulable": SubQueue.UNSCHEDULABLE}
NAMES = {place: name for name, place in PLACES.items()}

COMPARED = {
    "pop": {"expect", "expect_not", "expect_attempts", "expect_initial_attempt"},
    "pop_backoff": {"expect", "expect_not"},
    "drain_backoff": {"expect"},
    "add_unschedulable": {"expect_error"},
}
"""What an operation may expect of itself."""


class Stage(Script):
    """What every operation needs."""

    def __init__(self, case: Case, cast_: Cast) -> None:
        self.case, self.cast, self.model = case, cast_, cast_.model
        self.queue = cast(CountingQueue, self.model.part("queue"))
        self.clock = cast(CountingClock, self.model.part("clock"))
        self.nominator = cast(OrderedNominator, self.model.part("nominator"))
        self.bound: dict[str, Version] = {}
        self.saved: dict[str, int] = {}

    def perform(self, number: int, op: Case) -> Any:
        for name, expected in op.items() if isinstance(op, Mapping) else ():
            if name.startswith("expect") and name not in COMPARED.get(str(op.get("op")), ()) and expected:
                raise NotTranslated(f"operation {number} ({op.get('op')}): nobody compares {name}")
        return super().perform(number, op)

    def prepare(self) -> None:
        """The cycle numbers, and the pods that the lister knows (all, unless the case names them)."""
        params, known = self.case.get("params") or {}, self.case.get("known_pods")
        self.queue.cycle = params.get("start_cycle", 0)
        self.queue.move_cycle = params.get("start_move_request_cycle", -1)
        lister = self.model.part("pod_watch").lister
        for key, version in self.cast.versions.items():
            if known is None:
                lister[version.pod] = PodObject(exists=True)
            elif key in known:
                lister[version.pod] = PodObject(exists=True, node=version.bound_to)

    def places(self) -> dict[Pod, SubQueue]:
        """Where every pod is."""
        found = self.model.get(lambda: {p: self.queue.sub_queue[p] for p in self.cast.pods})
        return cast(dict[Pod, SubQueue], found)

    def place(self, name: str) -> SubQueue:
        """A sub-queue by name."""
        if name not in PLACES:
            raise NotTranslated(f"there is no queue {name}")
        return PLACES[name]

    def members(self, place: SubQueue) -> list[Pod]:
        """The pods of a sub-queue."""
        return [pod for pod, at in self.places().items() if at is place]

    def version(self, key: str) -> Version:
        """The object behind a key of the case, or behind a `$name` that an earlier operation bound."""
        known = self.bound if key.startswith("$") else self.cast.versions
        if key.removeprefix("$") not in known:
            raise NotTranslated(f"there is no pod {key}")
        return known[key.removeprefix("$")]

    def holds(self, key: str, copy: Mapping[str, Any]) -> bool:
        """Whether a queue's copy is one of the object behind a key."""
        return key.startswith("$") or self.version(key).is_copied_in(copy)

    def rejecting(self, op: Case) -> dict[Plugin, bool]:
        """For each plug-in whether it rejected the pod."""
        named = op.get("unschedulable_plugins") or ()
        return {plugin: name in named for name, plugin in self.cast.plugins.items()}

    def choose(self, heads: Sequence[Pod], op: Case) -> Pod:
        """Of the pods that may leave next, the one that the operation names, or one that it does not refuse."""
        if not heads:
            raise Differs("there is nothing to pop")
        if op.get("expect") is not None:
            expected = self.version(op["expect"]).pod
            if expected not in heads:
                raise Differs(f"next is {heads[0]}, expected {expected}")
            return expected
        refused = [self.version(k).pod for k in keys_of(op.get("expect_not"))]
        allowed = [p for p in heads if p not in refused]
        if not allowed:
            raise Differs(f"next is {heads[0]}")
        return allowed[0]

    def bind(self, op: Case, pod: Pod, copy: Mapping[str, Any]) -> None:
        """A name for the popped object, if the operation gives one."""
        if op.get("bind"):
            known = {name: copy[name] for name in ("nominated", "failed", "terminating", "version")}
            self.bound[op["bind"].removeprefix("$")] = Version(pod, **known)

    def backoff_ends(self) -> dict[Pod, int]:
        """When the backoff of each pod ends."""
        found = self.model.get(lambda: {p: self.clock.backoff_end(p) for p in self.cast.pods})
        return cast(dict[Pod, int], found)
