"""S-CAP: no Binding overfills a node."""

from collections.abc import Collection, Sequence
from functools import partial

from ...base.structs import Data
from ...manifests.reading.resource_amounts import Amounts, write_amount
from ...model.environment.objects import NATIVE
from ...reports.audit_report import Bar, Hit, Timeline
from ..history.amounts import PODS, clashing
from ..history.objects import BEFORE, NodeHistory, NodeState, Stay
from ..reading.records import EVER
from .cases import Case, Involved, Sender, in_doubt
from .check import Check, Found, Trust, at, listed

MOST_CANDIDATES = 10_000

_OF_NODES = frozenset({*NATIVE, PODS})
"""Every node has them."""


class _Candidate(Data):
    """A node that was overfull at a moment, at which the pod of `stay` came last, if all these were still there."""

    node: NodeHistory
    since: int
    moment: int
    stay: Stay
    stays: tuple[Stay, ...]
    around: tuple[Stay, ...]


class Capacity(Check):
    """Looks at each node whenever a Binding may, or must, have put a pod there."""

    id = "S-CAP"
    sentence = "The requests of the pods that are bound to a node, and not finished, never exceed what it can allocate when a Binding is accepted."
    needs = ("bodies of pods", "bodies of Bindings", "bodies of nodes")
    kinds = ("pods", "pods/binding", "nodes")

    def __init__(self) -> None:
        super().__init__()
        self.candidates: list[_Candidate] = []
        self.by_others: list[tuple[int, str]] = []

    def possible(self, node: NodeHistory, moment: int, stay: Stay | None) -> None:
        """Whether in some order there may be too much on the node."""
        there = [s for s in node.stays if s.may_come <= moment and s.pod.may_be_there(moment)]
        bound = [s for s in there if s.binding and (s is stay or s.must_come >= moment)]
        if not bound:
            return
        unknown = [s for s in there if not s.pod.known or _is_unknown(s, moment)]
        states = node.states.possible(moment, moment)
        if not node.known or not states or any(state.amounts is None for state in states):
            self.leave_open("what a node can allocate is not known", node.name)
        elif unknown:
            self.leave_open("what a pod asks for is not known", unknown[0].pod.key)
        else:
            among = {resource for s in bound for resource, amount in _most(s, moment).items() if amount}
            too_much = _exceeded([_most(s, moment) for s in there], states, least=True, among=among)
            if too_much is not None:
                resource, asked, has = too_much
                self.suspect(
                    "in some order of what the log has, a node is overfull",
                    f"{node.name} at {at(moment)}, {_of(resource, asked, has)}",
                )
            elif _port(there) is not None:
                self.suspect("in some order of what the log has, two pods have one port of a node", node.name)

    def certain(self, node: NodeHistory, since: int, moment: int, stay: Stay | None) -> None:
        """Whether the node is overfull, if the pods that arrived are still there."""
        if stay is None or len(self.candidates) >= MOST_CANDIDATES:
            return
        there = tuple(s for s in node.stays if s.must_come <= moment and moment < s.pod.must_leave)
        states = node.states.possible(since, moment)
        known = [state for state in states if state.amounts is not None]
        if not known or len(known) < len(states):
            return
        asked = [_least(s, since, moment, False) for s in there]
        if _exceeded(asked, states, least=False) is not None or _port(there) is not None:
            self.candidates.append(_Candidate(node, since, moment, stay, there, tuple(node.stays)))

    def found(self, trust: Trust) -> list[Found]:
        """Those candidates of which everybody is known to have been there."""
        found: dict[tuple[str, int], Found] = {}
        signs: list[tuple[tuple[str, int], str]] = []
        for candidate in self.candidates:
            hit, at_once = self._hit(candidate, trust), (candidate.node.name, candidate.moment)
            if isinstance(hit, str):
                signs.append((at_once, hit))
            elif hit is not None and at_once not in found:
                timeline = hit.timeline
                case = None if timeline is None else partial(_case, candidate, timeline, trust)
                found[at_once] = Found(candidate.moment, hit, case)
        self.by_others += [(at_once[1], words) for at_once, words in signs if at_once not in found]
        return [*found.values()]

    def _hit(self, candidate: _Candidate, trust: Trust) -> Hit | str | None:
        """The hit, or a sign where it was no Binding that did it, or may have been none."""
        node, since, moment, last = candidate.node, candidate.since, candidate.moment, candidate.stay
        there = [s for s in candidate.stays if s.pod.stays_until(moment, trust.complete)]
        states = node.states.possible(since, moment, also_next=not trust.complete)
        if last not in there or any(state.amounts is None for state in states):
            return None
        if not trust.complete and node.seen_at < moment:
            return None
        asked = [_least(s, since, moment, not trust.complete) for s in there]
        # The filter asks of a node only what the pod itself asks for.
        among = {resource for resource, amount in asked[there.index(last)].items() if amount}
        by_last = _exceeded(asked, states, least=False, among=among)
        too_much = by_last or _exceeded(asked, states, least=False)
        port = _port(there)
        # What came by no Binding, and may have come later, is nothing that this one overlooked.
        before = [s for s in there if s.binding or s.must_come <= last.may_come]
        overlooked = [of for s, of in zip(there, asked, strict=True) if s in before]
        sure = _exceeded(overlooked, states, least=False, among=among) or _port(before, last)
        if too_much is None and port is None:
            return None
        pods = [s.pod.key for s in sorted(there, key=lambda s: (s.must_come, s.pod.key))]
        if too_much is None:
            assert port is not None
            words = f"{listed(pods)} are on {node.name}, and two of them have the port {port[1]}/{port[0]} of the node"
            timeline = None
        else:
            resource, amount, has = too_much
            words = f"{node.name} is overfull: {_of(resource, amount, has)} with {listed(pods)}"
            timeline = _timeline(candidate, resource, has, moment, set(map(id, there)))
        if not last.binding or sure is None:
            how = (
                "and by no Binding: by another actor than a scheduler" if not last.binding
                else "or what came by no Binding" if by_last or _port(there, last)
                else "and asks for nothing of that: by another actor than a scheduler"
            )  # fmt: skip
            return f"{at(moment)}: {words}; {last.pod.key} came last, {how}"
        words += f"; the Binding of {last.pod.key} was accepted last"
        return Hit(at(moment), words, tuple(pods), node.name, last.by, timeline)


def _is_unknown(stay: Stay, moment: int) -> bool:
    asks = stay.pod.asks.known
    return asks[0].value is None if len(asks) == 1 else None in stay.pod.asks.possible(moment, moment)


def _most(stay: Stay, moment: int) -> Amounts:
    asks = stay.pod.asks.known
    if len(asks) == 1:
        return asks[0].value.most if asks[0].value is not None else {}
    versions = [r for r in stay.pod.asks.possible(moment, moment) if r is not None]
    found: dict[str, int] = {}
    for version in versions:
        for resource, amount in version.most.items():
            found[resource] = max(found.get(resource, 0), amount)
    return found


def _least(stay: Stay, since: int, moment: int, also_next: bool) -> Amounts:
    asks = stay.pod.asks.known
    if len(asks) == 1:
        return asks[0].value.least if asks[0].value is not None else {}
    versions = stay.pod.asks.possible(since, moment, also_next)
    known = [r.least for r in versions if r is not None]
    if not known or len(known) < len(versions):
        return {}
    resources = set.intersection(*map(set, known))
    return {resource: min(version[resource] for version in known) for resource in resources}


def _exceeded(
    asked: Sequence[Amounts], states: Sequence[NodeState], least: bool, among: Collection[str] | None = None
) -> tuple[str, int, int] | None:
    """A resource of which is asked for more than there is, at least or at most, with both amounts; one of `among` if that is given."""
    totals: dict[str, int] = {}
    for amounts in asked:
        for resource, amount in amounts.items():
            totals[resource] = totals.get(resource, 0) + amount
    choose = min if least else max
    for resource, amount in totals.items():
        if among is not None and resource not in among:
            continue
        if not least and resource not in _OF_NODES and any(resource not in (s.amounts or ()) for s in states):
            continue  # of something else than the node: a ResourceClaim, or an extender's business
        has = choose(_amount(state, resource) for state in states)
        if amount > has:
            return resource, amount, has
    return None


def _amount(state: NodeState, resource: str) -> int:
    assert state.amounts is not None
    # A node that does not say how many pods it admits is one of a test.
    return state.amounts.get(resource, EVER if resource == "pods" else 0)


def _port(there: Sequence[Stay], one: Stay | None = None) -> tuple[str, int, str] | None:
    """A port of the node that two of them take, or this one and another."""
    with_ports = [stay for stay in there if stay.pod.ports]
    for i, stay in enumerate(with_ports):
        for other in with_ports[:i]:
            port = clashing(stay.pod.ports, other.pod.ports)
            if port is not None and (one is None or one in (stay, other)):
                return port
    return None


def _of(resource: str, asked: int, has: int) -> str:
    return f"{write_amount(resource, asked)} of {write_amount(resource, has)} {resource}"


def _case(candidate: _Candidate, timeline: Timeline, trust: Trust) -> Case:
    """The pods that overfilled the node, by the resource of the violation: the last to arrive, and the latest earlier pod without which it would have fit."""
    resource, since, moment = timeline.resource, candidate.since, candidate.moment
    there = [s for s in candidate.stays if s.pod.stays_until(moment, trust.complete)]
    there.sort(key=lambda s: (s is candidate.stay, s.must_come, s.may_come))
    amounts = {s: _least(s, since, moment, not trust.complete).get(resource, 0) for s in there}
    last, over = there[-1], sum(amounts.values()) - timeline.allocatable
    enough = [s for s in there[:-1] if over <= amounts[s]]
    by_bindings = [s for s in enough if s.binding]
    undecided = ""
    if not enough or over > amounts[last]:
        undecided = "more than one pod was too much, and the model is asked of two"
    elif not by_bindings:
        undecided = f"{enough[-1].pod.key} is there by no Binding, and the model binds every pod"
    larger = tuple(s.pod.key for s in there[:-1] if over <= amounts[s] - _smallest(s, resource, moment))
    both = (*by_bindings[-1:], last)
    return Case(
        tuple(Involved(s.pod.key, s.pod.priority) for s in both),
        tuple(Sender.of_binding(s.pod, s.node) for s in both),
        min([s.may_come for s in enough], default=since),
        moment,
        over <= amounts[last] - _smallest(last, resource, moment),
        larger,
        in_doubt=any(in_doubt(s.pod, s.node) for s in both),
        undecided=undecided,
    )


def _smallest(stay: Stay, resource: str, moment: int) -> int:
    """The least that the pod has ever asked for by then."""
    versions = [v.value for v in stay.pod.asks.known if v.begin <= moment]
    return min((v.least.get(resource, 0) if v is not None else 0 for v in versions), default=0)


def _timeline(candidate: _Candidate, resource: str, has: int, moment: int, counted: set[int]) -> Timeline:
    bars, total = [], 0
    for stay in sorted(candidate.around, key=lambda s: (s.must_come, s.pod.key)):
        amount = _least(stay, candidate.since, moment, False).get(resource, 0)
        came = None if stay.must_come in (BEFORE, EVER) else at(stay.must_come)
        left = None if stay.pod.must_leave == EVER else at(stay.pod.must_leave)
        total += amount if id(stay) in counted else 0
        asks = str(write_amount(resource, amount))
        bars.append(Bar(stay.pod.key, amount, came, left, id(stay) in counted, asks))
    asked, there = (str(write_amount(resource, number)) for number in (total, has))
    return Timeline(candidate.node.name, resource, has, at(moment), tuple(bars), asked, there)
