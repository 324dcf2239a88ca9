"""A-TWICE and A-LEASE: one Binding a pod, by the scheduler that holds the lease. Both can be asked of a log without bodies, too."""

from collections.abc import Iterable
from dataclasses import dataclass
from functools import partial

from ...base.structs import Data
from ...reports.audit_report import Hit
from ..history.objects import PodHistory, Sent
from ..reading.prefixes import ANY
from ..reading.records import Write
from .cases import Case, Involved, Sender
from .check import Check, Found, Trust, at

MOST_SECONDS = 10_000
MOST_AGENTS = 100
MOST_USERS = 1000

_OWN = "the API server's own machine"

SCHEDULER = "system:kube-scheduler"


class _Second(Data):
    """A Binding that came after another one for a pod of the name. `sure`: both name the same UID."""

    pod: str
    first: Sent
    second: Sent
    sure: bool


class OneBinding(Check):
    """No pod is sent another Binding once one was accepted."""

    id = "A-TWICE"
    sentence = "No pod is sent another Binding once one was accepted."
    kinds = ("pods", "pods/binding")

    def __init__(self) -> None:
        super().__init__()
        self.seconds: list[_Second] = []

    def wrote(self, write: Write, pod: PodHistory | None) -> None:
        """Look at a Binding."""
        if write.verb != "create" or not write.of_binding:
            return
        if pod is None or not pod.bindings:
            return
        *before, now = pod.bindings
        earlier = next((sent for sent in before if 200 <= sent.code < 300), None)
        if earlier is None:
            if any(not 300 <= sent.code < 500 for sent in before):
                self.suspect(
                    "a Binding ran into an error, may have been carried out, and another one came", pod.key
                )
            return
        if earlier.end >= now.begin:
            self.suspect("two Bindings of a pod were under way at the same time", pod.key)
        elif len(self.seconds) < MOST_SECONDS:
            sure = bool(now.uid) and now.uid == earlier.uid
            self.seconds.append(_Second(pod.key, earlier, now, sure))

    def found(self, trust: Trust) -> list[Found]:
        """Pairs of Bindings of surely the same pod."""
        found = []
        for second in self.seconds:
            if not second.sure and not trust.complete:
                self.suspect("two Bindings of a pod of one name, which may be two pods", second.pod)
                continue
            first, now = second.first, second.second
            same = (
                f"from {now.address}, like the first"
                if now.address == first.address
                else f"from {now.address}, the first from {first.address}"
            )
            words = (
                f"{second.pod} was bound at {at(first.end)}, and is sent another Binding{_to(now)}, "
                f"which got {now.code or 'no answer'} ({same})"
            )
            hit = Hit(at(now.begin), words, (second.pod,), now.node, now.user)
            found.append(Found(now.begin, hit, partial(_case, second)))
        return found


def _case(second: _Second) -> Case:
    both = (second.first, second.second)
    senders = tuple(Sender(sent.user, sent.address) for sent in both)
    return Case((Involved(second.pod),), senders, second.first.begin, second.second.end)


def _to(sent: Sent) -> str:
    return f" to {sent.node}" if sent.node else ""


@dataclass(slots=True)
class _Holding:
    """The last writer of the lease: its address, its user, the number of transitions, and the time."""

    address: str
    identity: str
    transitions: int
    begin: int
    end: int


class LeaseHeld(Check):
    """While one scheduler holds the lease, no other one that held it before binds pods."""

    id = "A-LEASE"
    sentence = "No scheduler sends a Binding while another one holds the lease."
    needs = ("bodies of the scheduler's lease",)
    kinds = ("pods/binding",)

    def __init__(self) -> None:
        super().__init__()
        self._holding: _Holding | None = None
        self._before: dict[str, str] = {}
        self._suspects: list[tuple[_Holding, Write]] = []
        self._found: list[tuple[_Holding, str, Found]] = []
        self._machines: set[str] = set()
        self._users = {SCHEDULER}
        self._bound_by: dict[str, set[str]] = {}
        self._from: dict[str, set[str]] = {}
        self.renewals = 0
        self.agents: set[str] = set()
        self._terms: list[tuple[str, int, int, int]] = []

    def wrote(self, write: Write, pod: PodHistory | None) -> None:
        """A write of the lease names its holder; a Binding shows which process goes on."""
        if write.resource == "leases":
            if write.accepted and len(self._users) < MOST_USERS:
                self._users.add(write.user)
            self._lease(write)
        elif write.of_binding:
            if write.user in self._bound_by or len(self._bound_by) < MOST_USERS:
                self._bound_by.setdefault(write.user, set()).add(_machine(write))
            else:
                self.leave_open("more users send Bindings than are kept")
            if write.user not in self._users:
                return
            if len(self.agents) < MOST_AGENTS:
                self.agents.add(write.agent)
            holding = self._holding
            if holding is None or write.address == holding.address or holding.end >= write.begin:
                return
            if self._before.get(write.address, holding.identity) != holding.identity:
                self._suspects.append((holding, write))

    def one_process(self, since: int, until: int, senders: Iterable[Sender | None]) -> bool:
        """Whether one process surely held the lease all this time: it wrote it before and after, and nobody in between; and they all sent from where it wrote it."""
        addresses = {sender.address if sender is not None else "" for sender in senders}
        return any(
            begin <= since and until <= end and addresses <= self._from.get(name, set())
            for name, _, begin, end in self._terms
        )

    def are_schedulers(self, senders: Iterable[Sender | None]) -> bool:
        """Whether all of them are users that write the scheduler's lease."""
        return all(sender is not None and sender.user in self._users for sender in senders)

    def several_processes(self, senders: Iterable[Sender | None]) -> bool:
        """Whether some of them surely are different processes: each has an address of its own, from which the lease was written in one name."""
        names = set[str]()
        for sender in senders:
            address = sender.address if sender is not None else ""
            known = [name for name, addresses in self._from.items() if address in addresses]
            if len(known) != 1 or len(self._from[known[0]]) != 1:
                return False
            names.add(known[0])
        return len(names) > 1

    def _lease(self, write: Write) -> None:
        if not write.accepted:
            if not write.refused:
                self.leave_open(
                    "a write of the scheduler's lease ran into an error, and may have been carried out"
                )
            return
        if write.lease is None:
            self.history.missing["bodies of the scheduler's lease"] += 1
            self._machines.add(_machine(write))
            return
        spec = write.lease.spec
        if not spec.holderIdentity:
            self._released(write)
            return
        now = _Holding(
            write.address, spec.holderIdentity or "", spec.leaseTransitions, write.begin, write.end
        )
        self.renewals += 1
        if self._terms and self._terms[-1][:2] == (now.identity, now.transitions):
            self._terms[-1] = (*self._terms[-1][:3], now.begin)
        else:
            self._terms.append((now.identity, now.transitions, now.end, now.begin))
        self._machines.add(_machine(write))
        self._from.setdefault(now.identity, set()).add(now.address)
        for holding, binding in self._suspects:
            # The same holder before and after, and nobody in between: it held the lease all the time.
            if (now.identity, now.transitions) == (
                holding.identity,
                holding.transitions,
            ) and now.begin > binding.end:
                before = self._before.get(binding.address, "?")
                words = (
                    f"{binding.key} is sent a Binding from {binding.address} ({before}), "
                    f"while {holding.identity} holds the lease since {at(holding.end)} at the latest"
                )
                hit = Hit(at(binding.begin), words, (binding.key,), "", binding.user)
                self._found.append((holding, binding.address, Found(binding.begin, hit)))
        self._suspects = [(h, b) for h, b in self._suspects if now.begin <= b.end]
        if self._holding is not None and self._holding.identity != now.identity:
            self._before[self._holding.address] = self._holding.identity
        if now.address in self._before:
            del self._before[now.address]
        self._holding = now

    def _released(self, write: Write) -> None:
        """A scheduler that ends in order gives the lease back: nobody holds it."""
        self._machines.add(_machine(write))
        self.renewals += 1
        self._terms.append(("", -1, write.end, write.begin))
        self._suspects = [(h, b) for h, b in self._suspects if write.begin <= b.end]
        if self._holding is not None:
            self._before[self._holding.address] = self._holding.identity
        self._holding = None

    def found(self, trust: Trust) -> list[Found]:
        """What was seen; where more than one scheduler was there, nothing is excluded."""
        senders = [machines for user, machines in self._bound_by.items() if user in self._users]
        self._machines.update(*senders)
        if not senders:
            self.leave_open("no Binding was sent by a user who writes the scheduler's lease")
        if len(self._machines) > 1 or len(self._from) > 1:
            self.leave_open(
                "the lease changed hands, or schedulers sent from more than one address",
                ", ".join(sorted(self._machines)),
            )
        if any(machine in ("", _OWN) for machine in self._machines):
            self.leave_open(
                "schedulers are told apart by their addresses, and one is that of a machine of an API server, of which the log does not say which"
            )
        if self.renewals == 0 and not trust.missing.get("bodies of the scheduler's lease"):
            self.leave_open("the log has no write of the scheduler's lease")
        found = []
        for holding, address, hit in self._found:
            # An address that several processes share does not tell them apart, nor do several addresses of one process.
            if address not in self._from[holding.identity] and len(self._from[holding.identity]) == 1:
                found.append(hit)
            else:
                self.leave_open("a scheduler wrote the lease from more than one address", holding.identity)
        return found


def _machine(write: Write) -> str:
    """Where a request came from. An address of the loopback network is another machine for each API server."""
    address = write.address
    if not address.startswith(("127.", "::1")):
        return address
    return _OWN if write.server in ("", ANY) else f"{address} of {write.server}"
