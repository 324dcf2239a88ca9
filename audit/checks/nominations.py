"""Pods that take the room that preemption made for another pod, and pods that wait for it in vain. These are signs: no log of the API shows what the scheduler promised when."""

from ..history.objects import PodHistory
from ..reading.records import Pod, Write
from .check import Check, Found, Trust, at

MOST_SIGNS = 100

STARVED = 300_000_000
"""A pod that is nominated for so long while others are bound to its node starves."""


class Nominations(Check):
    """Looks at Bindings to nodes to which another pod is nominated."""

    id = "S-NOM"
    sentence = "Room that was made for a nominated pod is taken by no pod of the same or a lower priority."

    def __init__(self) -> None:
        super().__init__()
        self.signs: list[str] = []
        self._nominated: dict[str, dict[PodHistory, int]] = {}
        self._of: dict[PodHistory, str] = {}
        self._since: dict[PodHistory, tuple[int, int]] = {}

    def seen(self, pod: PodHistory, body: Pod, write: Write | None) -> None:
        """Note where a pod is nominated to."""
        node = body.status.nominatedNodeName or ""
        if body.spec.nodeName or pod.gone:
            node = ""
            self._since.pop(pod, None)
        elif node and pod not in self._since:
            self._since[pod] = (write.end if write is not None else 0), 0
        before = self._of.get(pod, "")
        if before == node:
            return
        if before:
            self._nominated[before].pop(pod, None)
            del self._of[pod]
        if node:
            self._nominated.setdefault(node, {})[pod] = write.end if write is not None else 0
            self._of[pod] = node

    def wrote(self, write: Write, pod: PodHistory | None) -> None:
        """Look at a Binding."""
        if pod is None or not write.accepted or not write.of_binding:
            return
        waited = self._since.pop(pod, None)
        if waited is not None:
            self._starved(pod, waited, write.begin, "it is bound")
        if pod in self._of:
            self._nominated[self._of.pop(pod)].pop(pod, None)
        node = write.binding.target.name if write.binding else ""
        for other, since in self._nominated.get(node, {}).items():
            if other in self._since:
                first, number = self._since[other]
                self._since[other] = first, number + 1
            if (
                since < write.begin
                and pod.known
                and pod.priority <= other.priority
                and len(self.signs) < MOST_SIGNS
            ):
                self.signs.append(
                    f"{at(write.end)}: {pod.key} (priority {pod.priority}) is bound to {node}, to which {other.key} (priority "
                    f"{other.priority}) is nominated since {at(since)}: whether there was room for both is in the scheduler's memory (S-NOM)"
                )

    def at_the_end(self) -> list[str]:
        """All signs, with the pods that are still nominated in the end."""
        for pod, waited in self._since.items():
            self._starved(pod, waited, self.history.last, "the log ends")
        return self.signs

    def _starved(self, pod: PodHistory, waited: tuple[int, int], until: int, end: str) -> None:
        since, number = waited
        if number and since and until - since >= STARVED and len(self.signs) < MOST_SIGNS:
            others = "1 other pod was" if number == 1 else f"{number:,} other pods were"
            self.signs.append(
                f"{at(until)}: {pod.key} (priority {pod.priority}) was nominated since {at(since)} when {end}, and {others} bound to its "
                "node in the meantime: the nomination starves"
            )

    def found(self, trust: Trust) -> list[Found]:
        """Signs decide nothing."""
        return []
