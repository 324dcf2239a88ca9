"""Preemption (core/generic_scheduler.go up to 1.18, framework/plugins/defaultpreemption from 1.19)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..environment.objects import Node, Pod, node_or_none
from ..language import Component, Expr, Value, all_of, any_of, as_expr, boolean, count, per, select, total
from .verdicts import NodeVerdict

if TYPE_CHECKING:
    from .cycle import Scheduler
    from .filters import Filters
    from .nominator import Nominator
    from .snapshot import Snapshot

# The chooser adds this to each victim's priority, so that a further victim never lowers the sum.
SHIFT = 1 << 31


class Preemption(Component):
    """The preemption of one scheduling cycle: dry run per node, victims, choice, what is left to do.

    `victim[p]`: p would be evicted from (and is in the snapshot on) the node that the dry run looked at;
    after the choice, from the chosen node. `to_clear[p]`: p's nomination to the chosen node is to be withdrawn.
    """

    scheduler: Scheduler
    snapshot: Snapshot
    filters: Filters
    nominator: Nominator

    victim = per(Pod, boolean())
    to_clear = per(Pod, boolean())

    def eligible(self, pod: Pod, nominated: Value) -> Expr:
        """PodEligibleToPreemptOthers: not while a lower-priority pod on its nominated node terminates."""
        target = node_or_none(nominated)
        waits = any_of(
            (target == node)
            & self.snapshot.on(q, node)
            & self.snapshot.pod[q].terminating
            & (q.priority < pod.priority)
            for node in self.universe[Node]
            for q in self.universe[Pod]
            if q is not pod
        )
        return ~waits

    def more_important(self, a: Pod, b: Pod) -> Expr:
        """The order of victims: higher priority first; the scenario's order stands for start times."""
        if a is b:
            return as_expr(False)
        earlier = a.index < b.index
        return (a.priority > b.priority) | ((a.priority == b.priority) & earlier)

    def dry_run(self, pod: Pod, node: Node) -> tuple[Expr, dict[Pod, Expr]]:
        """selectVictimsOnNode: remove every lower-priority pod, then reprieve the most important first.

        Gives whether the node is a candidate, and for each pod whether it is a victim there.
        """
        placement = self.snapshot.placement()
        snapshot = placement.present(pod, node)
        potential = {q: here & (q.priority < pod.priority) for q, here in snapshot.items()}
        present = {q: here & ~potential[q] for q, here in snapshot.items()}
        feasible = self.filters.fits_with_nominated(pod, node, placement.with_present(node, present))
        pods = list(snapshot)
        rank = {q: count(self.more_important(r, q) for r in pods) for q in pods}
        for place in range(len(pods)):
            back = {q: present[q] | (potential[q] & (rank[q] == place)) for q in pods}
            spared = self.filters.fits_with_nominated(pod, node, placement.with_present(node, back))
            present = {q: select(spared, back[q], present[q]) for q in pods}
        return feasible, {q: feasible & potential[q] & ~present[q] for q in pods}

    # --- choice ------------------------------------------------------------------------------------

    def victims_on(self, node: Node) -> dict[Pod, Expr]:
        """The victims that the dry run found on a node."""
        return {q: self.victim[q] & self.snapshot.on(q, node) for q in self.universe[Pod]}

    def preferred(self, a: Node, b: Node) -> Expr:
        """pickOneNodeForPreemption: whether the chooser strictly prefers candidate `a` to candidate `b`.

        No victims at all; lowest highest-priority victim; lowest sum of priorities; fewest victims.
        """
        one, two = self.victims_on(a), self.victims_on(b)
        n_one, n_two = count(one.values()), count(two.values())
        top_one, top_two = self._highest(one), self._highest(two)
        sum_one = total(select(v, q.priority + SHIFT, 0) for q, v in one.items())
        sum_two = total(select(v, q.priority + SHIFT, 0) for q, v in two.items())
        by_sum = (sum_one < sum_two) | ((sum_one == sum_two) & (n_one < n_two))
        by_top = (top_one < top_two) | ((top_one == top_two) & by_sum)
        return select(n_two == 0, False, select(n_one == 0, True, by_top))

    def _highest(self, victims: dict[Pod, Expr]) -> Expr:
        # Only compared between nodes that both have victims.
        highest: Expr | None = None
        for q, is_victim in victims.items():
            if highest is None:
                highest = select(is_victim, q.priority, -SHIFT)
            else:
                highest = select(is_victim & (q.priority > highest), q.priority, highest)
        assert highest is not None
        return highest

    def may_be_chosen(self, node: Node) -> Expr:
        """Whether the chooser can return this node: a candidate that no other candidate beats."""
        verdict = self.scheduler.verdict
        better = [
            (verdict[n] == NodeVerdict.CANDIDATE) & self.preferred(n, node)
            for n in self.universe[Node]
            if n is not node
        ]
        return (verdict[node] == NodeVerdict.CANDIDATE) & ~any_of(better)

    def commit(self, pod: Pod, node: Node) -> None:
        """Keep the victims of the chosen node; note which lower-priority nominations it makes void."""
        for q in self.universe[Pod]:
            self.victim[q] = self.victim[q] & self.snapshot.on(q, node)
            if q is not pod:
                self.to_clear[q] = self.nominator.nominated_to(q, node) & (q.priority < pod.priority)

    # --- what is left to do --------------------------------------------------------------------------

    def is_next_victim(self, pod: Pod) -> Expr:
        """Victims are evicted one by one, the most important first."""
        before = [self.victim[q] & self.more_important(q, pod) for q in self.universe[Pod] if q is not pod]
        return self.victim[pod] & ~any_of(before)

    def none_left(self, table: str) -> Expr:
        """Whether no `victim`, or nothing `to_clear`, is left."""
        return all_of(~getattr(self, table)[q] for q in self.universe[Pod])

    def clear(self) -> None:
        """The preemption is over, or given up."""
        for q in self.universe[Pod]:
            self.victim[q] = False
            self.to_clear[q] = False
