"""What the lines of a log say against each other: by it, a log shows that it lacks lines, that clocks differ, or that it is older than the state at the start."""

import heapq
from collections import Counter

from ..reading.records import EVER, Pod, Write
from .amounts import written_requests
from .objects import BEFORE, NodeHistory, PodHistory

FINISHED = ("Succeeded", "Failed")

_FINISHES = "a pod that has finished, and no line says so"
_CHANGES = "a pod that asks for something else than before, and no line changed it"


class Contradictions:
    """Told of what bodies show, in the order in which their requests began.

    `against_versions`: by so many microseconds times say the opposite of resourceVersions, at most. `early_until`: until then the log has lines of before the
    state at the start, BEFORE if it has none.
    """

    def __init__(self, gaps: Counter[str]) -> None:
        self.gaps = gaps
        self.against_versions = 0
        self.early_until = BEFORE
        self._shown: list[tuple[int, int]] = []
        self._highest = (-1, BEFORE)
        self._odd: list[tuple[int, int, PodHistory, int | None]] = []
        self._number = 0

    def settle(self, now: int) -> None:
        """Everything is known that began before `now`."""
        while self._shown and self._shown[0][0] < now:
            end, number = heapq.heappop(self._shown)
            self._highest = max(self._highest, (number, end))
        while self._odd and self._odd[0][0] < now:
            _, _, pod, since = heapq.heappop(self._odd)
            if since is None and not pod.can_finish:
                self.gaps[_FINISHES] += 1
            elif since is not None and pod.changed_at < since:
                self.gaps[_CHANGES] += 1

    def may_change(self, pod: PodHistory, write: Write, latest: int) -> None:
        """A write of a pod that was not refused, and its last moment."""
        if write.verb not in ("update", "patch"):
            return
        if write.sub in ("", "resize"):
            pod.changed_at = max(pod.changed_at, latest)
        elif write.sub == "status" and (
            write.pod is None or not write.accepted or write.pod.status.phase in FINISHED
        ):
            pod.can_finish = True

    def shown(self, pod: PodHistory, body: Pod, number: int | None, write: Write) -> None:
        """A body that a write shows, before the pod has taken it."""
        if number is not None:
            self._in_order(pod, number, write)
            if self._is_early(pod, number, write.end):
                return
        before = pod.body
        if before is None or write.creates:
            return
        if (
            body.status.phase in FINISHED
            and before.status.phase not in FINISHED
            and not (pod.can_finish or write.sub == "status")
        ):
            self._later(write.end, pod, None)
        may = write.verb in ("update", "patch") and write.sub in ("", "resize")
        if not may and _asks_otherwise(before, body):
            self._later(write.end, pod, pod.body_at)

    def node_shown(self, node: NodeHistory, number: int | None, end: int) -> None:
        """A body of a node."""
        if number is not None:
            self._is_early(node, number, end)

    def is_of_before(self, thing: PodHistory | NodeHistory, end: int) -> None:
        """A line brought about what the state at the start has already."""
        thing.early = True
        self.early_until = max(self.early_until, end)

    def _is_early(self, thing: PodHistory | NodeHistory, number: int, end: int) -> bool:
        """Whether this version is that of the state at the start, or an older one."""
        if thing.at_start is None:
            return False
        if number > thing.at_start:
            thing.at_start = None
            return False
        if number < thing.at_start:
            thing.early = True
        if thing.early:
            self.early_until = max(self.early_until, end)
        return True

    def _in_order(self, pod: PodHistory, number: int, write: Write) -> None:
        """What ended before something else of the same pod began has no greater version; nor has it a greater one than what another pod got then. Else the clocks differ."""
        version, end = pod.newest
        if version > number and end < write.begin:
            self.against_versions = max(self.against_versions, write.begin - end)
        # What changes nothing shows the version that was there, and a Binding shows none.
        known = pod.body is not None and pod.body.spec.nodeName and pod.at_start is None
        is_new = write.creates or (known and number > version)
        if number > version:
            pod.newest = number, write.end
        version, end = self._highest
        if is_new and version > number:
            self.against_versions = max(self.against_versions, write.begin - end)
        heapq.heappush(self._shown, (write.end, number))

    def _later(self, end: int, pod: PodHistory, since: int | None) -> None:
        """What brought it about may be a request that began later than this one, and before its end."""
        self._number += 1
        heapq.heappush(self._odd, (min(end, EVER - 1), self._number, pod, since))


def _asks_otherwise(before: Pod, now: Pod) -> bool:
    """Whether the specifications ask for other amounts."""
    old, new = before.spec, now.spec
    same = (
        old.containers == new.containers and old.initContainers == new.initContainers
        and old.resources == new.resources and old.overhead == new.overhead
    )  # fmt: skip
    return not same and written_requests(before) != written_requests(now)
