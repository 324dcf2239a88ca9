"""S-AFF: pods that must be apart are apart."""

from collections.abc import Iterator
from functools import partial

from ...base.structs import Data
from ...model.environment.cluster.placement_rules import Term
from ...reports.audit_report import Hit
from ..history.objects import NodeHistory, PodHistory, Stay
from .capacity import MOST_CANDIDATES
from .cases import Case, Involved, Sender, in_doubt
from .check import Check, Found, Trust, at


class _Pair(Data):
    """Two pods that were too close at a moment, if both were still there."""

    since: int
    moment: int
    one: Stay
    other: Stay
    term: Term
    cause: str
    nodes: tuple[NodeHistory, NodeHistory]
    lives: tuple[int, int]
    by_binding: bool


class AntiAffinity(Check):
    """Looks at pairs whenever a pod, or a node, may or must have come."""

    id = "S-AFF"
    sentence = "No two bound pods break a required anti-affinity term of one of them on existing nodes, when one of them is bound or a node of theirs returns."
    needs = ("bodies of pods", "bodies of Bindings", "bodies of nodes")
    kinds = ("pods", "pods/binding", "nodes")

    def __init__(self) -> None:
        super().__init__()
        self.pairs: list[_Pair] = []
        self.by_others: list[tuple[int, str]] = []
        self._with_terms: dict[PodHistory, None] = {}

    def seen(self, pod: PodHistory, body: object, write: object) -> None:
        """Note the pods that have terms."""
        if pod.terms is None or pod.terms:
            self._with_terms[pod] = None
        elif pod in self._with_terms:
            del self._with_terms[pod]
        if pod.gone:
            self._with_terms.pop(pod, None)

    def possible(self, node: NodeHistory, moment: int, stay: Stay | None) -> None:
        """Whether in some order two pods may be too close."""
        if not node.may_be_there(moment):
            return
        for one in [stay] if stay is not None else list(node.stays):
            if one.may_come > moment or not one.pod.may_be_there(moment):
                continue
            for other in self._others(one):
                where = self.history.nodes[other.node]
                if (
                    other.may_come > moment
                    or not other.pod.may_be_there(moment)
                    or not where.may_be_there(moment)
                ):
                    continue
                if not one.pod.known:  # then nothing can be said of any other: it is said once
                    self.leave_open("the labels and terms of a pod are not known", one.pod.key)
                    break
                if not other.pod.known:
                    self.leave_open("the labels and terms of a pod are not known", other.pod.key)
                    continue
                for term in _may_repel(one.pod, other.pod):
                    if term is None:
                        self.leave_open(
                            "a term of anti-affinity goes by what the log does not have", one.pod.key
                        )
                    elif one.node == other.node or self._may_share(term.topology_key, node, where, moment):
                        self.suspect(
                            "in some order of what the log has, two pods are too close",
                            f"{one.pod.key} and {other.pod.key} at {at(moment)}",
                        )

    def certain(self, node: NodeHistory, since: int, moment: int, stay: Stay | None) -> None:
        """Whether two pods are too close, if both are still there."""
        for one in [stay] if stay is not None else list(node.stays):
            if one.must_come > moment or moment >= one.pod.must_leave or not one.pod.known:
                continue  # of whom nothing is known, nothing is sure
            for other in self._others(one):
                if other.must_come > moment or moment >= other.pod.must_leave:
                    continue
                where = self.history.nodes[other.node]
                if not (node.exists(moment) and where.exists(moment)):
                    continue
                for term in _surely_repel(one.pod, other.pod, since, moment):
                    if self._surely_share(term.topology_key, node, where, since, moment):
                        cause = (
                            f"the Binding of {one.pod.key} was accepted last" if stay is not None and stay.binding
                            else f"{one.pod.key} came last, and by no Binding" if stay is not None
                            else f"node {node.name} came back"
                        )  # fmt: skip
                        if len(self.pairs) < MOST_CANDIDATES:
                            lives = node.life, where.life
                            self.pairs.append(
                                _Pair(
                                    since,
                                    moment,
                                    one,
                                    other,
                                    term,
                                    cause,
                                    (node, where),
                                    lives,
                                    stay is not None,
                                )
                            )

    def found(self, trust: Trust) -> list[Found]:
        """Those pairs of which both are known to have been there, on nodes that were."""
        found = []
        told = set[tuple[int, str]]()
        for pair in self.pairs:
            both = (pair.one, pair.other)
            if not all(stay.pod.stays_until(pair.moment, trust.complete) for stay in both):
                continue
            # Where a line may be missing, a node was there if it was seen later, in the same life.
            seen = all(node.seen_at >= pair.moment for node in pair.nodes)
            same = pair.lives == tuple(node.life for node in pair.nodes)
            if not trust.complete and not (seen and same and self._stable(pair)):
                continue
            pods = tuple(stay.pod.key for stay in both)
            key = pair.term.topology_key
            words = f"{pods[0]} on {pair.one.node} and {pods[1]} on {pair.other.node} share {key}, and a required anti-affinity keeps them apart; {pair.cause}"
            if (pair.moment, words) in told:  # each of the two has such a term
                continue
            told.add((pair.moment, words))
            # What came by no Binding, and may have come later, is nothing that the Binding overlooked.
            later = not pair.other.binding and pair.other.must_come > pair.one.may_come
            if pair.by_binding and (later or not pair.one.binding):
                whose = "or it was another actor" if pair.one.binding else "by another actor"
                self.by_others.append((pair.moment, f"{at(pair.moment)}: {words}: {whose} than a scheduler"))
                continue
            hit = Hit(at(pair.moment), words, pods, pair.one.node, pair.one.by)
            found.append(Found(pair.moment, hit, partial(_case, pair)))
        return found

    def _stable(self, pair: _Pair) -> bool:
        """Whether labels are the same also in what comes next, where a line may be missing."""
        for stay, node in zip((pair.one, pair.other), pair.nodes, strict=True):
            labels = stay.pod.labels.possible(pair.since, pair.moment, also_next=True)
            if len(labels) != 1 or labels[0] is None:
                return False
            states = node.states.possible(pair.since, pair.moment, also_next=True)
            if len({dict(s.labels).get(pair.term.topology_key) for s in states}) != 1:
                return False
        return True

    def _others(self, one: Stay) -> Iterator[Stay]:
        """The pods that can have a term about this pod, or that one of its terms can select."""
        if one.pod in self._with_terms or not one.pod.known:
            yield from (s for s in self.history.live() if s.pod is not one.pod)
            return
        for pod in list(self._with_terms):
            yield from (s for s in pod.stays if pod is not one.pod)

    def _may_share(self, key: str, one: NodeHistory, other: NodeHistory, moment: int) -> bool:
        if not one.known or not other.known:
            return True
        first = {dict(s.labels).get(key) for s in one.states.possible(moment, moment)}
        second = {dict(s.labels).get(key) for s in other.states.possible(moment, moment)}
        return bool((first & second) - {None})

    def _surely_share(self, key: str, one: NodeHistory, other: NodeHistory, since: int, moment: int) -> bool:
        values = {dict(s.labels).get(key) for n in (one, other) for s in n.states.possible(since, moment)}
        return one.known and other.known and len(values) == 1 and None not in values


def _case(pair: _Pair) -> Case:
    both = sorted((pair.one, pair.other), key=lambda s: (s.must_come, s.may_come))
    return Case(
        tuple(Involved(s.pod.key, s.pod.priority) for s in both),
        tuple(Sender.of_binding(s.pod, s.node) for s in both),
        both[0].may_come,
        pair.moment,
        together=pair.one.node == pair.other.node,
        in_doubt=any(in_doubt(s.pod, s.node) for s in both),
        undecided=""
        if all(s.binding for s in both) and pair.by_binding
        else "the model is asked of two pods that are bound one after the other",
    )


def _means(term: Term, pod: PodHistory, labels: tuple[tuple[str, str], ...]) -> bool | None:
    """Whether a term means a pod with these labels; None if that depends on the labels of its namespace."""
    if not term.selects(dict(labels)):
        return False
    if pod.namespace in term.namespaces or (
        term.namespace_selector is not None and term.namespace_selector.empty
    ):
        return True
    return False if term.namespace_selector is None else None


def _may_repel(one: PodHistory, other: PodHistory) -> Iterator[Term | None]:
    for holder, meant in ((one, other), (other, one)):
        if holder.terms is None:
            yield None
            continue
        for term in holder.terms:
            answers = {
                None if version.value is None else _means(term, meant, version.value)
                for version in meant.labels.known
            }
            if True in answers:
                yield term
            elif None in answers:
                yield None


def _surely_repel(one: PodHistory, other: PodHistory, since: int, moment: int) -> Iterator[Term]:
    for holder, meant in ((one, other), (other, one)):
        for term in holder.terms or ():
            labels = meant.labels.possible(since, moment)
            if labels and all(values is not None and _means(term, meant, values) for values in labels):
                yield term
