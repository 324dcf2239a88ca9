"""S-COND: a pod that is bound does not say that it could not be scheduled."""

from functools import partial

from ...reports.audit_report import Hit
from ..history.objects import BEFORE, PodHistory
from ..reading.records import Pod, Write
from .cases import Case, Involved, Sender, in_doubt
from .check import Check, Found, Trust, at

MOST_HITS = 10_000


class Conditions(Check):
    """One body is enough: it shows the node and the condition of one moment."""

    id = "S-COND"
    sentence = "No bound pod has the condition PodScheduled=False."
    needs = ("bodies of pods",)
    kinds = ("pods", "pods/status")
    in_one_line = True

    def __init__(self) -> None:
        super().__init__()
        self._found: dict[PodHistory, Found] = {}
        self._sent: dict[PodHistory, int] = {}

    def seen(self, pod: PodHistory, body: Pod, write: Write | None) -> None:
        """Look at a body."""
        if pod.gone:
            self._sent.pop(pod, None)
        says = any(c.type == "PodScheduled" and c.status == "False" for c in body.status.conditions or ())
        if not says or not body.spec.nodeName or pod in self._found or len(self._found) >= MOST_HITS:
            return
        node = body.spec.nodeName
        if write is None:
            words = f"{pod.key} is on {node} and says PodScheduled=False, as it did when the log began"
            self._found[pod] = Found(BEFORE, Hit("at the start", words, (pod.key,), node))
            return
        words = f"{pod.key} is bound to {node}, and its status says PodScheduled=False"
        hit = Hit(at(write.end), words, (pod.key,), node, write.user)
        self._found[pod] = Found(
            write.end, hit, partial(_case, pod, node, write.begin, write.end, Sender.of(write))
        )

    def patched(self, pod: PodHistory, sent: Pod, write: Write) -> None:
        """A condition that was sent for a pod that may be bound by then, or soon."""
        if any(c.type == "PodScheduled" and c.status == "False" for c in sent.status.conditions or ()):
            self._sent[pod] = write.end
            if any(stay.may_come <= write.end for stay in pod.stays):
                self._leave_open(pod)

    def wrote(self, write: Write, pod: PodHistory | None) -> None:
        """A write that ran into an error may have been carried out; a Binding may overtake a status."""
        if write.resource == "pods" and write.sub in ("", "status") and not (write.accepted or write.refused):
            self.leave_open("a write of a pod ran into an error, and may have been carried out", write.key)
        elif pod is not None and write.of_binding:
            if not write.refused and self._sent.pop(pod, BEFORE) >= write.begin:
                self._leave_open(pod)

    def _leave_open(self, pod: PodHistory) -> None:
        self.suspect(
            "PodScheduled=False was sent for a pod that may have been bound, and no body shows what came of it",
            pod.key,
        )

    def found(self, trust: Trust) -> list[Found]:
        """What was seen."""
        return list(self._found.values())


def _case(pod: PodHistory, node: str, begin: int, end: int, sender: Sender) -> Case:
    """The Binding, and the request whose body says that there was none."""
    sent = pod.sent_to(node)
    since = min(sent.begin, begin) if sent is not None else begin
    senders = (Sender.of_binding(pod, node), sender)
    return Case((Involved(pod.key, pod.priority),), senders, since, end, in_doubt=in_doubt(pod, node))
