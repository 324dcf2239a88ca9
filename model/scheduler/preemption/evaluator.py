"""Preemption: victims, candidates and the choice among them (framework/preemption/preemption.go and
framework/plugins/defaultpreemption, 1.34; core/generic_scheduler.go up to 1.18).

Nothing here is a step: the scheduling cycle asks, and keeps what it was told.
"""

from collections.abc import Mapping
from functools import partial

from ...environment.cluster.pod_versions import forms, in_form
from ...environment.controllers.budgets import Budgets
from ...environment.extender import Extender
from ...environment.objects import NOW, DisruptionBudget, Node, Pod, node_or_none
from ...language import (
    Component,
    Expr,
    Fact,
    Knowledge,
    Value,
    Words,
    all_of,
    any_of,
    as_expr,
    boolean,
    count,
    largest,
    per,
    select,
    smallest,
    total,
    when,
)
from ...language.expressions.sorts import sort_of_ref
from ..cache.snapshot import Snapshot
from ..framework.filters import Filters
from ..framework.interface import NodeToStatus
from ..framework.placement import Placement, with_ports_of, without_ports_of
from ..framework.status import NodeStatus
from ..queue.nominator import Nominator

# The chooser adds this to each victim's priority, so that a further victim never lowers the sum.
SHIFT = 1 << 31


def highest(victims: Mapping[Pod, Expr]) -> Expr:
    """The highest priority among the victims; below every priority if there are none."""
    found = as_expr(-SHIFT)
    for q, is_victim in victims.items():
        found = select(is_victim & (q.priority > found), q.priority, found)
    return found


class Preemption(Component):
    """The preemption of one scheduling cycle: the dry run for each node, the victims, the choice, and the phases that remain.

    `victim[p]`: p would be evicted from (and is in the snapshot on) the node that the dry run looked at;
    after the choice, from the chosen node. `to_clear[p]`: p's nomination to the chosen node is to be withdrawn.
    """

    snapshot: Snapshot
    filters: Filters
    nominator: Nominator
    budgets: Budgets
    scheduler: NodeToStatus
    extender: Extender

    victim = per(Pod, boolean())
    to_clear = per(Pod, boolean())

    phrases = {"victim": Words("victim: {0}")}
    knowledge = (Knowledge("scheduling cycle", {"victim": Fact("victim", "victim")}),)

    # --- who may preempt, and where --------------------------------------------------------------------------

    def eligible(self, pod: Pod, nominated: Value) -> Expr:
        """PodEligibleToPreemptOthers: false while a lower-priority pod on the preemptor's nominated node terminates.

        Unless this cycle found that no eviction there would help, or the snapshot has no such node (NodeToStatus.Get says
        UnschedulableAndUnresolvable of a node that was not tried; NodeInfos().Get finds none).
        """
        target = node_or_none(nominated)
        waits = any_of(
            (target == node)
            & ~self.is_retried(node)
            & self.shows_node(node)
            & self.snapshot.on(q, node)
            & self.ends_by_preemption(q)
            & self.may_evict(pod, q, node)
            for node in self.universe[Node]
            for q in self.universe[Pod]
            if q is not pod
        )
        return self.may_preempt(pod) & ~waits

    def ends_by_preemption(self, victim: Pod) -> Expr:
        """podTerminatingByPreemption. From 1.26 on it requires the condition DisruptionTarget, which no object in the model has: every terminating pod counts (A-DISRUPTION)."""
        return as_expr(self.snapshot.pod[victim].terminating)

    def may_preempt(self, pod: Pod) -> Expr:
        """preemptionPolicy: whether it is not Never."""
        return as_expr(pod.preempts)

    def is_retried(self, node: Node) -> Expr:
        """Whether the pod gives up its nominated node, and does not wait for the victims there."""
        return self.scheduler.verdict[node] == NodeStatus.UNRESOLVABLE

    def shows_node(self, node: Node) -> Expr:
        """Whether the snapshot has the NodeInfo of a node. It can still have pods after its Node object is gone."""
        return as_expr(self.snapshot.live[node])

    def might_help(self, node: Node) -> Expr:
        """nodesWherePreemptionMightHelp: every node except those on which no eviction helps."""
        hopeless: Expr = self.scheduler.verdict[node] == NodeStatus.UNRESOLVABLE
        unknown: Expr = self.scheduler.verdict[node] == NodeStatus.UNTRIED
        return ~hopeless & (self.tries_unfiltered() | ~unknown)

    def might_help_somewhere(self) -> Expr:
        """Whether any node of the cycle's list needs a dry run."""
        return any_of(self.snapshot.listed[n] & self.might_help(n) for n in self.universe[Node])

    def tries_unfiltered(self) -> bool:
        """Whether nodes that the filters did not check are tried."""
        return False

    def candidate(self, pod: Pod, node: Node) -> tuple[Expr, Expr, dict[Pod, Expr]]:
        """DryRunPreemption on one node: whether it becomes a candidate, whether it returns an error, and whether each pod is a victim there."""
        feasible, victims = self.select_victims(pod, node)
        violates = any_of(self.violations(pod, victims, node).values())
        accepted = self.has_room(pod, violates) & self.extenders_accept(pod, node)
        live = self.snapshot.live[node]
        return (
            live
            & (self.is_candidate(feasible, victims) | (feasible & self.is_placeholder(pod, victims)))
            & accepted,
            live & self.is_error(feasible, victims),
            victims,
        )

    def extenders_accept(self, pod: Pod, node: Node) -> Expr:
        """callExtenders: whether every extender that takes part in preemption accepts the candidate. There are none, unless a patch adds some."""
        return as_expr(True)

    def reasons(self, pod: Pod, node: Node) -> dict[str, Expr]:
        """PostFilter's reason for a node that is not a candidate: one of these, or several resources at once."""
        potential = self.potential_victims(pod, node)
        some = any_of(potential.values())
        placement = self.snapshot.placement()
        emptied = {q: here & ~potential[q] for q, here in placement.present(pod, node).items()}
        without = placement.with_present(
            node, emptied, without_ports_of(potential, placement.ports.get(node, {}))
        )
        tried = self.might_help(node) & some
        found = {"not helpful": ~self.might_help(node), "no victims": self.might_help(node) & ~some}
        never = as_expr(False)
        for is_form, form in forms(self.universe, pod, self.scheduler.copy.version):
            for shown, content, seen in without.versions(node):
                for name, rejects in self.filters.rejected_by(form, content, seen).items():
                    said = {name: as_expr(True)}
                    if name == "NodeResourcesFit":
                        lacking = self.filters.insufficient(form, content, seen)
                        said = {f"insufficient {resource}": lacks for resource, lacks in lacking.items()}
                    for text, why in said.items():
                        found[text] = found.get(text, never) | (is_form & shown & tried & rejects & why)
        return found

    # --- victims on one node ---------------------------------------------------------------------------------

    def more_important(self, a: Pod, b: Pod) -> Expr:
        """MoreImportantPod: higher priority, then the earlier start."""
        return (a.priority > b.priority) | ((a.priority == b.priority) & (as_expr(a.start) < b.start))

    def comes_before(self, a: Pod, b: Pod) -> Expr:
        """The order of victims; equally important pods are in the order of the scenario."""
        if a is b:
            return as_expr(False)
        if a.index < b.index:
            return ~self.more_important(b, a)
        return self.more_important(a, b)

    def potential_victims(self, pod: Pod, node: Node) -> dict[Pod, Expr]:
        """The lower-priority pods on a node of the snapshot."""
        present = self.snapshot.placement().present(pod, node)
        return {q: here & self.may_evict(pod, q, node) for q, here in present.items()}

    def may_evict(self, pod: Pod, victim: Pod, node: Node) -> Expr:
        """isPreemptionAllowed: whether the victim's priority is lower. (IsEligiblePod, 1.34, can restrict this; by default it does not.)"""
        return victim.priority < pod.priority

    def violating(self, pod: Pod, node: Node) -> dict[Pod, Expr]:
        """FilterVictimsWithPDBViolation: the victims whose eviction from the node a budget does not allow.

        Each budget is spent on potential victims in their order. A pod takes from its budgets, in the scenario's order, up to the first that has no
        room for it (A-BUDGETS).
        """
        potential = self.potential_victims(pod, node)
        return {
            q: here
            & any_of(self.takes_from(b, q) & self.exceeds(b, q, potential) for b in self.budgets_of(q))
            for q, here in potential.items()
        }

    def budgets_of(self, pod: Pod) -> list[DisruptionBudget]:
        """The pod's budgets that preemption checks."""
        return [budget for budget in self.universe[DisruptionBudget] if budget.selects(pod)]

    def takes_from(self, budget: DisruptionBudget, pod: Pod) -> Expr:
        """Whether evicting a pod uses a disruption of its budget: not if the budget has already counted it."""
        return ~self.budgets.has_paid_for(budget, pod)

    def exceeds(self, budget: DisruptionBudget, pod: Pod, potential: Mapping[Pod, Expr]) -> Expr:
        """Whether a budget is used up when the pod is checked."""
        before = count(
            here
            & self.comes_before(q, pod)
            & self.takes_from(budget, q)
            & self.is_spent(budget, q, potential)
            for q, here in potential.items()
            if budget in self.budgets_of(q)
        )
        return before >= self.budgets.allowance(budget)

    def is_spent(self, budget: DisruptionBudget, pod: Pod, potential: Mapping[Pod, Expr]) -> Expr:
        """Whether the check of the pod reaches this budget: no earlier budget refuses."""
        earlier = [b for b in self.budgets_of(pod) if b.index < budget.index]
        return ~any_of(self.takes_from(b, pod) & self.exceeds(b, pod, potential) for b in earlier)

    def dry_run(self, pod: Pod, node: Node) -> tuple[Expr, dict[Pod, Expr]]:
        """Whether the node could be a candidate, and for each pod whether it is a victim there."""
        feasible, victims = self.select_victims(pod, node)
        return self.is_candidate(feasible, victims), victims

    def select_victims(self, pod: Pod, node: Node) -> tuple[Expr, dict[Pod, Expr]]:
        """SelectVictimsOnNode: remove all lower-priority pods, then reprieve them in order, those that violate budgets first.

        Gives whether the pod fits on the node then, and for each pod whether it is a victim there.
        """
        placement = self.snapshot.placement()
        snapshot = placement.present(pod, node)
        potential, violating = self.potential_victims(pod, node), self.violating(pod, node)
        present = {q: here & ~potential[q] for q, here in snapshot.items()}
        ports = without_ports_of(potential, placement.ports.get(node, {}))
        tried = self.worth_trying(potential)
        with when(tried):
            without = placement.with_present(node, present, ports)
            feasible = tried & self._fits(pod, node, without)
        pods = list(snapshot)
        turn = {q: count(potential[r] & self.is_ahead(r, q, violating) for r in pods) for q in pods}
        for place in range(len(pods)):
            now = {q: potential[q] & (turn[q] == place) for q in pods}
            back = {q: present[q] | now[q] for q in pods}
            with when(feasible & any_of(now.values())):
                added = with_ports_of(now, ports)
                reprieved = placement.with_present(node, back, added)
                spared = self._fits(pod, node, reprieved)
            removed = without_ports_of(now, added)
            ports = {used: select(spared, listed, removed[used]) for used, listed in added.items()}
            present = {q: select(spared, back[q], present[q]) for q in pods}
        victims = {q: feasible & potential[q] & ~present[q] for q in pods}
        return feasible, victims

    def _fits(self, pod: Pod, node: Node, placement: Placement) -> Expr:
        def said(form: Pod) -> Expr:
            return placement.ask(node, partial(self.filters.fits_with_nominated, form))

        return in_form(self.universe, pod, self.scheduler.copy.version, said)

    def is_ahead(self, a: Pod, b: Pod, violating: Mapping[Pod, Expr]) -> Expr:
        """The order of reprieves: pods that violate budgets first."""
        alike = (violating[a] == violating[b]) & self.comes_before(a, b)
        return (violating[a] & ~violating[b]) | alike

    def worth_trying(self, potential: Mapping[Pod, Expr]) -> Expr:
        """Whether the node has a pod of lower priority; otherwise it is skipped."""
        return any_of(potential.values())

    def is_candidate(self, feasible: Expr, victims: Mapping[Pod, Expr]) -> Expr:
        """Whether some pod must be evicted from the node. Otherwise it is not a candidate, because the pod was found not to fit there."""
        return feasible & any_of(victims.values())

    def is_placeholder(self, pod: Pod, victims: Mapping[Pod, Expr]) -> Expr:
        """Whether a node where nobody would have to go is kept until the extenders that have a say were asked (hasInterestedPreemptExtender, 1.38)."""
        return as_expr(bool(self.extender.preempts(pod))) & ~any_of(victims.values())

    def is_error(self, feasible: Expr, victims: Mapping[Pod, Expr]) -> Expr:
        """Whether it is an error if the pod fits in a dry run because the nominator has changed since the filters ran."""
        return as_expr(False)

    # --- candidates ------------------------------------------------------------------------------------------

    def victims_on(self, node: Node) -> dict[Pod, Expr]:
        """The victims that the dry run found on a node."""
        return {q: self.victim[q] & self.snapshot.on(q, node) for q in self.universe[Pod]}

    def violations(self, pod: Pod, victims: Mapping[Pod, Expr], node: Node) -> dict[Pod, Expr]:
        """The victims on a node whose eviction a budget does not allow."""
        violating = self.violating(pod, node)
        return {q: victims[q] & v for q, v in violating.items()}

    def wanted(self, potential_nodes: Value) -> Expr:
        """calculateNumCandidates: how many candidates are enough for a given number of nodes."""
        config = self.scope.config
        nodes = as_expr(potential_nodes)
        share = nodes * config.min_candidates_percentage // 100
        return smallest(largest(share, config.min_candidates), nodes)

    def has_room(self, pod: Pod, violates: Value) -> Expr:
        """Whether the list of candidates that violate a budget, or of those that do not, has room for another."""
        if self._takes_all():
            return as_expr(True)
        clean, violating = self._candidates(pod)
        return select(violates, violating, clean) < self.wanted(self._potential_nodes())

    def has_enough(self, pod: Pod) -> Expr:
        """Whether the search ends: there are enough candidates, and one violates no budget."""
        if self._takes_all():
            return as_expr(False)
        clean, violating = self._candidates(pod)
        return (clean > 0) & (clean + violating >= self.wanted(self._potential_nodes()))

    def _takes_all(self) -> bool:
        # With room for every node, the search is over only when every node has been tried.
        return bool(self.scope.config.min_candidates >= len(self.universe[Node]))

    def _candidates(self, pod: Pod) -> tuple[Expr, Expr]:
        verdict = self.scheduler.verdict
        dirty = {n: any_of(self.violations(pod, self.victims_on(n), n).values()) for n in self.universe[Node]}
        found = {n: verdict[n] == NodeStatus.CANDIDATE for n in self.universe[Node]}
        return count(f & ~dirty[n] for n, f in found.items()), count(f & dirty[n] for n, f in found.items())

    def _potential_nodes(self) -> Expr:
        tried = (NodeStatus.REJECTED, NodeStatus.CANDIDATE, NodeStatus.NO_CANDIDATE, NodeStatus.ERROR)
        return count(any_of(self.scheduler.verdict[n] == v for v in tried) for n in self.universe[Node])

    # --- choice ------------------------------------------------------------------------------------

    def preferred(self, pod: Pod, a: Node, b: Node) -> Expr:
        """pickOneNodeForPreemption: whether candidate `a` is strictly better than candidate `b`."""
        result = as_expr(False)
        for one, two in reversed(list(zip(self.costs(pod, a), self.costs(pod, b), strict=True))):
            result = (one < two) | ((one == two) & result)
        return result

    def costs(self, pod: Pod, node: Node) -> list[Expr]:
        """The values that pickOneNodeForPreemption compares, in order; less is better.

        Violations of budgets; priority of the first victim; sum of priorities; number of victims; how long the
        earliest of the most important victims has been running.
        """
        victims = self.victims_on(node)
        return [
            count(self.violations(pod, victims, node).values()),
            self.first_priority(pod, victims, node),
            total(select(v, q.priority + SHIFT, 0) for q, v in victims.items()),
            count(victims.values()),
            -1 * self.earliest_start(victims),
        ]

    def first_priority(self, pod: Pod, victims: Mapping[Pod, Expr], node: Node) -> Expr:
        """The priority of the first victim in the list, which is the most important one."""
        return highest(victims)

    def earliest_start(self, victims: Mapping[Pod, Expr]) -> Expr:
        """GetEarliestPodStartTime, among the victims with the highest priority."""
        top = highest(victims)
        earliest = as_expr(NOW)
        for q, is_victim in victims.items():
            counts = is_victim & (q.priority == top)
            earliest = select(counts, smallest(q.start, earliest), earliest)
        return earliest

    def may_be_chosen(self, pod: Pod, node: Node) -> Expr:
        """Whether this node can be chosen: it is a candidate, and no other candidate is better."""
        verdict = self.scheduler.verdict
        better = [
            (verdict[n] == NodeStatus.CANDIDATE) & self.preferred(pod, n, node)
            for n in self.universe[Node]
            if n is not node
        ]
        return (verdict[node] == NodeStatus.CANDIDATE) & ~any_of(better)

    # --- what is left to do --------------------------------------------------------------------------

    def commit(self, pod: Pod, node: Node) -> None:
        """Keep the victims of the chosen node, and record the lower-priority nominations that become invalid."""
        for q in self.universe[Pod]:
            self.victim[q] = self.victim[q] & self.snapshot.on(q, node)
            due = self.nominator.is_withdrawn_by(pod, q, node)
            if due is not None:
                self.to_clear[q] = due

    def is_next_victim(self, preemptor: Pod, pod: Pod) -> Expr:
        """Whether the victim can be evicted next. Victims are evicted in parallel, so each of them can be."""
        return as_expr(self.victim[pod])

    def is_first_victim(self, preemptor: Pod, pod: Pod) -> Expr:
        """Whether the victim is the first one in the list."""
        others = [q for q in self.universe[Pod] if q is not preemptor]
        before = [self.victim[q] & self.is_listed_before(preemptor, q, pod) for q in others if q is not pod]
        return self.victim[pod] & ~any_of(before)

    def violators(self, preemptor: Pod) -> dict[Pod, Expr]:
        """The pods whose eviction from their nodes a budget does not allow."""
        return {
            q: any_of(self.snapshot.on(q, n) & self.violating(preemptor, n)[q] for n in self.universe[Node])
            for q in self.universe[Pod]
            if q is not preemptor
        }

    def is_listed_before(self, preemptor: Pod, a: Pod, b: Pod) -> Expr:
        """The order of the victims' list: the most important first, whatever their budgets."""
        return self.comes_before(a, b)

    def is_last(self, preemptor: Pod, pod: Pod, victims: Mapping[Pod, Expr]) -> Expr:
        """Whether none of these comes after the pod in the victims' list."""
        return ~any_of(
            v & self.is_listed_before(preemptor, pod, q) for q, v in victims.items() if q is not pod
        )

    def last_of(self, preemptor: Pod, victims: Mapping[Pod, Expr]) -> Expr:
        """The last of these to be evicted; none if there are none."""
        last = as_expr(None, sort_of_ref(Pod))
        for q, is_victim in victims.items():
            last = select(is_victim & self.is_last(preemptor, q, victims), q, last)
        return last

    def none_left(self, table: str) -> Expr:
        """Whether no `victim`, or no nomination `to_clear`, is left."""
        return all_of(~getattr(self, table)[q] for q in self.universe[Pod])

    def clear(self) -> None:
        """The preemption is finished or abandoned."""
        for q in self.universe[Pod]:
            self.victim[q] = False
            self.to_clear[q] = False
        self.budgets.forget()
