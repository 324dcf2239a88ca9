"""Pods and nodes as a log knows them: what they surely were, and what they may have been."""

from __future__ import annotations

from dataclasses import dataclass, field

from ...base.structs import Data
from ...manifests.reading.resource_amounts import Amounts
from ...model.environment.cluster.placement_rules import Term
from ..reading.records import EVER, Pod
from .amounts import Ports, Range
from .versions import Versions

BEFORE = -EVER
"""Before the log begins."""


@dataclass(slots=True, eq=False)
class PodHistory:
    """A pod. `born`: when the request began that created it. `unbound_at`: the last moment at which it surely was on no node. `alive_at`: the last at which it surely was there and not finished.

    `doubt`: from then on it may be gone or finished, though no line says so; what is seen of it after `doubted` ends the doubt. It has left for good between `must_leave` and `may_leave`.
    `asks` are its versions, None where one cannot be read; `terms` and `ports` are those of its last `body`, which a request showed that began at `body_at`. `newest`: its greatest resourceVersion, and when
    the request ended that showed it. `can_finish`: a line may have finished it. `changed_at`: until when a line may have changed its specification.
    `at_start`: its resourceVersion in the state at the start, until a later one is seen; `early`: a line is of before that state.
    """

    key: str
    uid: str
    born: int = BEFORE
    unbound_at: int = BEFORE
    alive_at: int = BEFORE
    doubt: int = EVER
    doubted: int = BEFORE
    gone: bool = False
    must_leave: int = EVER
    may_leave: int = EVER
    asks: Versions[Range | None] = field(default_factory=Versions)
    labels: Versions[tuple[tuple[str, str], ...] | None] = field(default_factory=Versions)
    terms: tuple[Term, ...] | None = None
    ports: Ports = frozenset()
    known: bool = False
    priority: int = 0
    newest: tuple[int, int] = (-1, EVER)
    body: Pod | None = None
    body_at: int = BEFORE
    can_finish: bool = False
    changed_at: int = BEFORE
    at_start: int | None = None
    early: bool = False
    stays: list[Stay] = field(default_factory=list)
    bindings: list[Sent] = field(default_factory=list)

    def may_have_gone(self, begin: int, end: int) -> None:
        """Somebody did something to it between these that may have ended it."""
        self.doubt, self.doubted = min(self.doubt, begin), max(self.doubted, end)

    def sent_to(self, node: str) -> Sent | None:
        """The Binding that brought it to the node; None where none or several may have done it."""
        sent = [s for s in self.bindings if s.node == node and not 300 <= s.code < 500]
        return sent[0] if len(sent) == 1 else None

    @property
    def namespace(self) -> str:
        """Its namespace."""
        return self.key.partition("/")[0]

    def stays_until(self, moment: int, complete: bool) -> bool:
        """Whether it surely was there, and not finished, at this moment (if it had come by then)."""
        if moment >= self.must_leave:
            return False
        return moment <= self.alive_at or (complete and moment < self.doubt)

    def may_be_there(self, moment: int) -> bool:
        """Whether it may still have been there."""
        return moment < self.may_leave


@dataclass(slots=True, eq=False)
class Stay:
    """A pod on a node: there from a moment between `may_come` and `must_come` on, EVER if nothing proves that it came at all.

    `by`: who bound it, as far as the log says. `binding`: it came by a Binding.
    """

    pod: PodHistory
    node: str
    may_come: int
    must_come: int
    by: str = ""
    binding: bool = False


class Sent(Data):
    """A Binding that was sent for a pod, and what the API server answered."""

    begin: int
    end: int
    node: str
    code: int
    user: str
    address: str
    uid: str


class NodeState(Data):
    """What can be allocated on a node, None if that is not known, and its labels."""

    amounts: Amounts | None
    labels: tuple[tuple[str, str], ...]


@dataclass(slots=True, eq=False)
class NodeHistory:
    """A node by its name, and who is or may be on it. `seen_at`: the last moment at which a body showed it.

    `life` counts how often it was created; what is known of its existence is of the last life. `at_start` and `early` as of a pod.
    """

    name: str
    uid: str = ""
    life: int = 0
    known: bool = False
    seen_at: int = BEFORE
    states: Versions[NodeState] = field(default_factory=Versions)
    may_exist: int = EVER
    must_exist: int = EVER
    must_go: int = EVER
    may_go: int = EVER
    stays: list[Stay] = field(default_factory=list)
    at_start: int | None = None
    early: bool = False

    def exists(self, moment: int) -> bool:
        """Whether the node surely was there, unless a line is missing."""
        return self.must_exist <= moment < self.must_go

    def may_be_there(self, moment: int) -> bool:
        """Whether it may have been there; of a node that nothing is known of, one cannot say no."""
        return not self.known or self.may_exist <= moment < self.may_go
