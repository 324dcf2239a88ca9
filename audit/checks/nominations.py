"""Who takes room that preemption has made for somebody else: a sign, for what the scheduler had promised when is in no log of the API."""

from __future__ import annotations

from ..history.objects import PodHistory
from ..reading.records import Pod, Write
from .check import Check, Found, Trust, at

MOST_SIGNS = 100


class Nominations(Check):
    """Looks at Bindings to nodes to which another pod is nominated."""

    id = "S-NOM"
    sentence = "Room that was made for a nominated pod is taken by no pod of the same or a lower priority."

    def __init__(self) -> None:
        super().__init__()
        self.signs: list[str] = []
        self._nominated: dict[str, dict[PodHistory, int]] = {}
        self._of: dict[PodHistory, str] = {}

    def seen(self, pod: PodHistory, body: Pod, write: Write | None) -> None:
        """Note where a pod is nominated to."""
        node = body.status.nominatedNodeName or ""
        if body.spec.nodeName or pod.gone:
            node = ""
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
        if pod is None or not write.accepted or not (write.sub == "binding" or write.resource == "bindings"):
            return
        if pod in self._of:
            self._nominated[self._of.pop(pod)].pop(pod, None)
        node = write.binding.target.name if write.binding else ""
        for other, since in self._nominated.get(node, {}).items():
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

    def found(self, trust: Trust) -> list[Found]:
        """Signs decide nothing."""
        return []
