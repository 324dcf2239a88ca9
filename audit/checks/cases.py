"""What a violation comes down to: a few pods, and the senders of their requests. The model is asked about this."""

from __future__ import annotations

from ...base.structs import Data
from ..history.objects import PodHistory
from ..reading.records import Write


class Sender(Data):
    """The sender of a request: its user and its address."""

    user: str
    address: str

    @classmethod
    def of(cls, write: Write) -> Sender:
        """The sender."""
        return cls(write.user, write.address)

    @classmethod
    def of_binding(cls, pod: PodHistory, node: str) -> Sender | None:
        """The sender of the Binding that brought the pod to the node; None if it is not known."""
        sent = pod.sent_to(node)
        return None if sent is None else cls(sent.user, sent.address)


def in_doubt(pod: PodHistory, node: str) -> bool:
    """Whether the Binding that brought the pod to the node was answered with an error, and carried out all the same."""
    sent = pod.sent_to(node)
    return sent is not None and sent.code >= 500


class Involved(Data):
    """A pod."""

    pod: str
    priority: int = 0


class Case(Data):
    """The pods of a violation in the order in which they were bound, and the senders of the requests that brought it about, in the order of these.

    It began at `since`, and was surely so by `until`. `grown`: the last pod would have had room as it was created, or before it was changed; `larger`: pods that have asked for more
    since they were bound, and would have left room before. `together`: both pods are on one node. `in_doubt`: a Binding that brought one of them there was answered
    with an error. `undecided`: why the model is not asked.
    """

    pods: tuple[Involved, ...]
    senders: tuple[Sender | None, ...]
    since: int
    until: int
    grown: bool = False
    larger: tuple[str, ...] = ()
    together: bool = True
    in_doubt: bool = False
    undecided: str = ""
