"""Properties of single states: capacity, errors, lost pods; what the API server commits, and what bound pods keep among
themselves. And what is remembered for properties that are only about the pods which the scheduler itself has bound.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from itertools import combinations, permutations
from typing import Any

from ...model.environment.cluster.placement_rules import SpreadConstraint
from ...model.environment.cluster.pod_versions import in_form
from ...model.environment.cluster.scope import last_version
from ...model.environment.faults import Fault
from ...model.environment.objects import Node, Pod, Term
from ...model.environment.watch import Handler
from ...model.language import (
    Expr,
    Value,
    all_of,
    any_of,
    as_expr,
    before,
    boolean,
    integer,
    per,
    select,
    smallest,
    when,
)
from ...model.scheduler.framework.placement import Placement
from ..base import truth
from ..base.property import NeverHappens, Property


class Capacity(Property):
    """The pods that are bound to or assumed on a node never request more than the node can allocate, and no two of these pods have the same host
    port.

    The number of pods does not exceed the limit of the node, either. The kubelet rejects a pod for which the
    node has no room or no free port: such a pod fails (S-ADMIT). If a node is updated in the run, the
    property uses its largest version, because a node that shrinks is not the scheduler's mistake. For a pod,
    the property uses the requests at the moment of the Binding, because a bound pod that grows is not the
    scheduler's mistake, either.
    """

    id = "S-CAP"
    consequence = "The node is overfull: the kubelet rejects one of the pods (OutOfcpu, OutOfmemory, or NodePorts for a host port). It ends as Failed, and its controller, if it has one, creates another."

    bound_as = per(Pod, integer(0, last_version))  # the version in which the pod was bound

    @classmethod
    def caveat(cls, nodes: Sequence[Node], pods: Sequence[Pod] = ()) -> str:
        resized = truth.resized_pods(pods)
        grown = f"what {', '.join(resized)} asks for beyond what it was bound with does not count"
        return "; ".join(filter(None, (truth.largest_counts(nodes), grown if resized else "")))

    def observe(self) -> None:
        for pod in {version.pod: None for version in self.pod_versions}:
            current = self.api.pod[pod]
            was_bound = before(lambda pod=pod: self.api.pod[pod].assigned)  # type: ignore[misc]
            with when(current.assigned & ~was_bound):
                self.bound_as[pod] = current.version

    def holds(self) -> Expr:
        return ~any_of(self._overfull(n) for n in self.nodes)

    def apart(self) -> Iterator[tuple[str, Expr]]:
        """The nodes on which it does not hold, for questions about one of them; reports find the pods that overfilled it."""
        yield from ((f"{node.name} is overfull", self._overfull(node)) for node in self.nodes)

    def _overfull(self, node: Node) -> Expr:
        taken = partial(self._taken, node)
        return truth.exceeds(self, node, taken, _request_when_bound) | self._share_port(node)

    def wrong(self) -> Iterator[tuple[str, Expr]]:
        for node in self.nodes:
            for pod, other in combinations(self.pods, 2):
                if pod.wants_port_of(other):
                    both = self._taken(node, pod) & self._taken(node, other)
                    yield (
                        f"{pod.name} and {other.name}, which want the same host port, are both on {node.name}",
                        both,
                    )

    def _share_port(self, node: Node) -> Expr:
        return any_of(
            self._taken(node, pod) & self._taken(node, other)
            for pod in self.pods
            for other in self.pods[pod.index + 1 :]
            if pod.wants_port_of(other)
        )

    def _taken(self, node: Node, pod: Pod) -> Expr:
        return truth.taken(self, pod, node)

    def _may_be_overfull(self, node: Node) -> bool:
        coming = [p for p in self.pods if p.node is node or (p.node is None and truth.asks_for(p, node))]
        if any(p.later for p in coming) or any(p.wants_port_of(q) for p, q in combinations(coming, 2)):
            return True
        return truth.may_be_crowded(self, node)

    def witnesses(self) -> dict[str, Expr]:
        crowded = list(filter(self._may_be_overfull, self.nodes))
        assumed = (self.cache.is_assumed(p) & self.cache.on(p, n) for p in self.pods for n in crowded)
        return {"a pod is assumed where not all fit": any_of(assumed)}


def _request_when_bound(prop: Property, pod: Pod, resource: str) -> Expr:
    """What the pod asks for; of a bound one, no more than it was bound with."""
    assert isinstance(prop, Capacity)
    if not pod.later:
        return pod.request(resource)

    def asked(number: Value) -> Expr:
        return in_form(prop.universe, pod, number, lambda form: form.request(resource))

    current = prop.api.pod[pod]
    now = asked(current.version)
    return select(current.assigned, smallest(now, asked(prop.bound_as[pod])), now)


class NoErrorForAbsentNode(Property):
    """Scheduling a pod ends in an error only if a call or a plugin fails, never because a node is absent.

    The property ignores one error: AssumePod refuses a pod that is already in the cache, as in issue 52914.
    S-UNIQ and S-CYCLE check that such a pod is not tried at all.
    """

    id = "S-ERR"
    consequence = "The attempt ends with an internal error instead of Unschedulable. The pod is retried after a backoff (1 to 10 seconds), and an autoscaler creates no node for it."
    issues = (50813,)

    def holds(self) -> Expr:
        return ~(self.scheduler.error & ~self.scheduler.has_no_nodes())

    def wrong(self) -> Iterator[tuple[str, Expr]]:
        for p in self.pods:
            error = self.scheduler.error & self.scheduler.in_flight(p) & ~self.scheduler.has_no_nodes()
            yield f"The cycle of {p.name} ends in an error", error

    def witnesses(self) -> dict[str, Expr]:
        absent = any_of(~as_expr(self.api.node_exists[n]) for n in self.nodes)
        return {
            "a pod is tried while a node is absent": absent & any_of(map(self.scheduler.in_flight, self.pods))
        }


class NoPodLost(Property):
    """Every pending pod that the queue's handler knows is in a sub-queue, or some goroutine still holds it.

    The queue may drop a pod that is being deleted and only waits for its finalizers, because nothing can bind this pod any more.
    """

    id = "S-CONS"
    consequence = "The scheduler has lost the pod. It stays Pending indefinitely, and no flush finds it: only an update of the pod, its re-creation or a restart of the scheduler helps."
    concerns = "the pod that is lost"

    def held(self, pod: Pod) -> Expr:
        """Whether a goroutine of the scheduler still has the pod in its hands."""
        return (
            self.scheduler.in_flight(pod)
            | self.cache.is_assumed(pod)
            | self.binding.active(pod)
            | self.failure.awaits_requeue(pod)
            | self.queue.keeps_aside(pod)
        )

    def awaited(self, pod: Pod) -> Expr:
        """Whether the pod is still to be bound."""
        pending: Expr = self.api.pod[pod].pending
        return pending & ~self.api.pod[pod].terminating if pod.finalizers else pending

    def holds(self) -> Expr:
        return all_of(
            ~(self.awaited(p) & self.pod_watch.seen[Handler.QUEUE][p].pending)
            | self.queue.contains(p)
            | self.held(p)
            for p in self.subjects
        )

    def wrong(self) -> Iterator[tuple[str, Expr]]:
        for p in self.subjects:
            known = self.pod_watch.seen[Handler.QUEUE][p].pending
            lost = self.awaited(p) & known & ~self.queue.contains(p) & ~self.held(p)
            yield (
                f"{p.name} is pending, and is neither in a sub-queue nor with a goroutine of the scheduler",
                lost,
            )

    def witnesses(self) -> dict[str, Expr]:
        return {"a pod is taken from the queue": any_of(self.scheduler.in_flight(p) for p in self.subjects)}


class AntiAffinityKept(Property):
    """No two bound or assumed pods on existing nodes violate a required anti-affinity term of either pod.

    A relabelled node is not the scheduler's mistake. So if labels of nodes are updated in the run, the
    property treats two nodes as one domain only if all versions of both nodes have the same value. If labels
    of a pod are updated, a term must select all versions of the pod.
    """

    id = "S-AFF"
    consequence = "Two pods share a zone or a node although their anti-affinity forbids it. Nothing corrects this. One failure can take down both pods until one of them is re-created."
    concerns = "both pods"
    issues = (100140,)

    @classmethod
    def caveat(cls, nodes: Sequence[Node], pods: Sequence[Pod] = ()) -> str:
        moved = [n.name for n in nodes if any(other.labels != n.labels for other in n.later.values())]
        renamed = [p.name for p in pods if any(other.labels != p.labels for other in p.later.values())]
        said = []
        if moved:
            said.append(f"of {', '.join(moved)}, only domains count that it is in with all of its versions")
        if renamed:
            said.append(f"of {', '.join(renamed)}, only terms count that mean it in all of its versions")
        return "; ".join(said)

    def together(self, pod: Pod, other: Pod, key: str) -> Expr:
        """Whether both are on existing nodes with the same value of the topology key."""
        return any_of(
            self._on(pod, n) & self._on(other, m)
            for n in self.nodes
            for m in self.nodes
            if self._share(n, m, key)
        )

    def _share(self, node: Node, other: Node, key: str) -> bool:
        """Whether two nodes have the same value of a topology key, whatever becomes of them: that one is relabelled is nobody's mistake."""
        own, others = self.contents(node), self.contents(other)
        if node is other:
            return all(key in n.labels for n in own)
        return all(key in n.labels and n.labels[key] == m.labels.get(key) for n in own for m in others)

    def _on(self, pod: Pod, node: Node) -> Expr:
        return truth.taken(self, pod, node) & self.api.node_exists[node] & self.api.pod[pod].exists

    def wrong(self) -> Iterator[tuple[str, Expr]]:
        for pod in self.pods:
            for other in self.pods:
                for term in self._kept_apart(pod, other):
                    yield from self._too_close(pod, other, term.topology_key)

    def _kept_apart(self, pod: Pod, other: Pod) -> list[Term]:
        """The terms of the pod that the other one breaks where they are together."""
        if other is pod or {pod, other}.isdisjoint(self.subjects):
            return []
        return [t for t in pod.terms if t.required and t.anti and _is_meant_always(t, other)]

    def _too_close(self, pod: Pod, other: Pod, key: str) -> Iterator[tuple[str, Expr]]:
        first, second = sorted((pod, other), key=lambda p: p.index)
        who = f"{first.name} and {second.name}, which must be apart"
        for n in self.nodes:
            for m in self.nodes:
                if self._share(n, m, key):
                    both = f"on {n.name} and {m.name}, both with {key}={n.labels[key]}"
                    where = f"both on {n.name}" if n is m else both
                    yield f"{who}, are {where}", self._on(first, n) & self._on(second, m)

    def witnesses(self) -> dict[str, Expr]:
        near = [
            truth.waits(self, pod) & self._on(other, m)
            for pod, other in permutations(self.pods, 2)
            for term in (*self._kept_apart(pod, other), *self._kept_apart(other, pod))
            for n in self.nodes
            for m in self.nodes
            if self._share(n, m, term.topology_key) and truth.asks_for(pod, n)
        ]
        return {"a pod waits while one that must be apart from it is where it could go": any_of(near)}


def _is_meant_always(term: Term, other: Pod) -> bool:
    return all(term.matches(version) for version in (other, *other.later.values()))


class BoundAmiss(Property):
    """Base class of what remembers that a pod was assumed on a node that was not one for it, and was bound there."""

    concerns = "the pod that is bound"

    broken: Any

    def note(self, amiss: Any, pod: Pod, suits_not: Mapping[Node, Callable[[], Expr]]) -> None:
        """Keep in `amiss` whether a node was not one for the pod before it was assumed there."""
        for node, is_amiss in suits_not.items():
            assumed, bound = partial(self._is_assumed_on, pod, node), partial(self._is_bound_to, pod, node)
            with when(assumed() & ~before(assumed)):
                amiss[pod] = before(is_amiss)
            with when(before(assumed) & amiss[pod] & bound() & ~before(bound)):
                self.broken = True
        with when(~self.cache.is_assumed(pod)):
            amiss[pod] = False

    def _is_assumed_on(self, pod: Pod, node: Node) -> Expr:
        return self.cache.is_assumed(pod) & self.cache.on(pod, node)

    def _is_bound_to(self, pod: Pod, node: Node) -> Expr:
        return self.api.pod[pod].node == node

    def holds(self) -> Expr:
        return ~self.broken


class SpreadKept(BoundAmiss):
    """No pod is bound to the node on which it was assumed if this placement violated a hard topology spread constraint of the pod
    (DoNotSchedule). The property counts the pods in the attempt's snapshot, and also bound and assumed pods that the snapshot lacked.

    Later changes are not the scheduler's mistake: deleted pods, and nodes that are created, deleted or
    relabelled. So the property uses the nodes of the snapshot. It also counts pods that the snapshot shows in
    other domains, even if these pods are gone. It does not check pods that another client binds, or that are
    placed as members of a group. It ignores constraints, and fields of constraints, that the release ignores.
    """

    id = "S-SPREAD"
    consequence = "The replicas are spread less evenly than the hard constraint allows. Nothing corrects it until pods are re-created."

    uneven = per(Pod, boolean())  # it was assumed against one of its constraints
    broken = boolean()

    def observe(self) -> None:
        for pod in self._spread():
            self.note(self.uneven, pod, {node: partial(self._breaks, pod, node) for node in self.nodes})

    def _spread(self) -> list[Pod]:
        """The pods with constraints that the scheduler places one by one."""
        if not any(plugin == self.filters.topology_spread for plugin in self.filters.plugins().values()):
            return []
        forms = {pod: (pod, *pod.later.values()) for pod in self.subjects}
        return [
            pod
            for pod, every in forms.items()
            if any(form.spread for form in every) and self.pod_groups.member(pod) is None
        ]

    def _breaks(self, pod: Pod, node: Node) -> Expr:
        """Whether the pod would lie unevenly on the node."""

        def of_form(form: Pod) -> Expr:
            return any_of(self._is_broken(form, constraint, node) for constraint in form.spread)

        return in_form(self.universe, pod, self.scheduler.copy.version, of_form)

    def _is_broken(self, pod: Pod, constraint: SpreadConstraint, node: Node) -> Expr:
        def ask(content: Node, seen: Placement) -> Expr:
            if constraint.topology_key not in content.labels:
                return as_expr(True)
            return ~self.filters.is_even(pod, constraint, content, seen)

        return self._counted(pod, constraint.topology_key, node).ask(node, ask)

    def _counted(self, pod: Pod, key: str, node: Node) -> Placement:
        """The snapshot with what it lacks, and without what has gone from the domain of the node."""
        shown = self.snapshot.placement()

        def counts(other: Pod, place: Node) -> Expr:
            there = truth.taken(self, other, place)
            apart = ~self._share(shown, place, node, key)
            return (there & ~as_expr(other.index == pod.index)) | (apart & shown.on[other][place])

        def is_shown(other: Pod) -> Expr:
            return any_of(shown.on[other].values())

        return replace(
            shown,
            on={other: {place: counts(other, place) for place in self.nodes} for other in self.pods},
            leaving={
                other: self.api.pod[other].terminating & (~is_shown(other) | shown.is_leaving(other))
                for other in self.pods
            },
            held={
                v: select(is_shown(v.pod), shown.held[v], self.api.pod[v.pod].version == v.number)
                for v in self.pod_versions
            },
        )

    def _share(self, shown: Placement, node: Node, other: Node, key: str) -> Expr:
        """Whether two nodes have the same value of a topology key, as the placement shows them."""
        return any_of(
            one_is & other_is
            for one_is, one, _ in shown.versions(node)
            for other_is, two, _ in shown.versions(other)
            if key in one.labels and one.labels[key] == two.labels.get(key)
        )

    def witnesses(self) -> dict[str, Expr]:
        tried = [
            self.scheduler.in_flight(pod) & self._breaks(pod, node)
            for pod in self._spread()
            for node in self.nodes
            if truth.asks_for(pod, node)
        ]
        return {"a pod is tried that a node could not take by the pod's constraints": any_of(tried)}


class BoundAsAssumed(NeverHappens):
    """The API server commits a Binding of a pod only if the scheduler's cache has the pod on the same node."""

    id = "S-BIND"
    consequence = "A pod runs on a node that the scheduler has not reserved for it, or no longer reserves. The node can become overfull, and the kubelet rejects a pod (OutOfcpu)."
    concerns = "the pod that is bound"
    issues = (106361,)

    def observe(self) -> None:
        for pod in self.subjects:
            for node in self.nodes:
                is_bound = self.api.pod[pod].node == node
                newly = is_bound & ~before(lambda pod=pod, node=node: self.api.pod[pod].node == node)  # type: ignore[misc]
                with when(newly & ~self.cache.on(pod, node)):
                    self.broken = True

    def witnesses(self) -> dict[str, Expr]:
        unbound = [p for p in self.subjects if p.node is None]
        return {"a pod is bound": any_of(self.api.pod[p].node.is_some for p in unbound)}


class AboutOwnBindings(Property):
    """Base class of the properties for which pods do not count that somebody else than the scheduler has bound.

    A Binding that the scheduler has sent is its own whenever it is executed, also when its binding cycle has given it up by then.
    """

    bound_by_others = per(Pod, boolean())

    def observe(self) -> None:
        if not self.scope.external_binds:
            return
        by_others = self._left() < before(self._left)
        for pod in self.pods:
            was_bound = before(lambda pod=pod: self.api.pod[pod].assigned)  # type: ignore[misc]
            with when(self.api.pod[pod].assigned & ~was_bound):
                self.bound_by_others[pod] = by_others

    def _left(self) -> Expr:
        return self.process.faults.left[Fault.EXTERNAL_BIND]

    def counts(self, pod: Pod) -> Expr:
        """Whether the pod is bound, and by nobody else."""
        return self.api.pod[pod].assigned & ~self.bound_by_others[pod]
