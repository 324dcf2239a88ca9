"""Extenders in the scheduling cycle: findNodesThatPassExtenders, and the extenders' part of prioritizeNodes (schedule_one.go, 1.36).

They are asked one after the other, in the order of the configuration, each about the nodes that those before it have left; about scores upstream asks all at once, which
makes no difference, as what they score does not change.
"""

from collections.abc import Mapping, Sequence

from ...environment.extender import Extender, HTTPExtender
from ...environment.faults import Fault, Faults
from ...environment.objects import Node, Pod
from ...language import (
    Expr,
    Lasts,
    any_of,
    as_expr,
    boolean,
    changes,
    count,
    otherwise,
    per,
    require,
    select,
    step,
    tells,
    total,
    when,
)
from ..framework.events import EXTENDER, Plugin
from ..framework.interface import ClaimPlugin
from ..framework.scores import Scores
from ..framework.status import NodeStatus, Phase
from .next_pod import NextPod


class FindNodes(NextPod):
    """What extenders make of the nodes that the plugins have let pass.

    `answered[e]`: the extender has answered about the pod of this cycle, and the next one is to be asked. `scored[e]`: what it said of the nodes counts.
    """

    faults: Faults
    scores: Scores
    extender: Extender
    dynamic_resources: ClaimPlugin

    answered = per(HTTPExtender, boolean())
    scored = per(HTTPExtender, boolean())

    def is_next(self, extender: HTTPExtender, asked: Sequence[HTTPExtender]) -> Expr:
        """Whether this extender is the next one to ask."""
        number = asked.index(extender)
        first = as_expr(True) if not number else as_expr(self.answered[asked[number - 1]])
        return first & ~as_expr(self.answered[extender])

    def passed(self, extender: HTTPExtender, asked: Sequence[HTTPExtender]) -> bool:
        """The extender has answered. Returns whether it was the last; then the next question begins with no answers."""
        if extender is not asked[-1]:
            self.answered[extender] = True
            return False
        self.nobody_has_answered()
        return True

    def nobody_has_answered(self) -> None:
        """The next question or the next cycle begins with the first extender."""
        if len(self.universe[HTTPExtender]) > 1:
            for extender in self.universe[HTTPExtender]:
                self.answered[extender] = False

    # --- filter ------------------------------------------------------------------------------------------------

    def phase_after_filters(self, pod: Pod, *, nominated: bool = False) -> Phase | Expr:
        """The phase after the plugins' filters have passed nodes."""
        if self.extender.filters(pod):
            return Phase.EXTENDERS_NOMINATED if nominated else Phase.EXTENDERS
        return self.phase_after_extenders(pod)

    def phase_after_extenders(self, pod: Pod) -> Phase | Expr:
        """Extenders score the nodes, if scores decide and there is more than one node."""
        if not (self.scope.config.scored and self.extender.prioritises(pod)):
            return Phase.SELECT
        left = count(self.verdict[n] == NodeStatus.FEASIBLE for n in self.universe[Node])
        return select(left > 1, Phase.EXTENDERS_SCORE, Phase.SELECT)

    def phase_after_fit_error(self) -> Phase:
        """The phase after a pod that fits no node: preemption, then the failure handler."""
        return Phase.REREAD_PREEMPTOR

    def note_extender(self) -> None:
        """findNodesThatPassExtenders has rejected a node. The scheduler does not know what the extender checks, so any event may help (122022)."""
        self.note_rejection(EXTENDER)

    def note_rejection(self, name: str) -> None:
        """The fit error names this plugin."""
        for plugin in self.universe[Plugin]:
            if plugin.name == name:
                self.rejected_by[plugin] = True

    def reject_everywhere(self, name: str) -> None:
        """PreFilter of this plugin returns UnschedulableAndUnresolvable, which becomes the status of every node."""
        for node in self.universe[Node]:
            self.verdict[node] = NodeStatus.UNRESOLVABLE
        self.note_rejection(name)
        self.phase = self.phase_after_fit_error()

    def _require_call(self, pod: Pod, extender: HTTPExtender) -> Expr:
        """Requires that it is this extender's turn. Returns whether the question is about the nominated node alone."""
        nominated: Expr = self.at(Phase.EXTENDERS_NOMINATED, pod)
        require(nominated | self.at(Phase.EXTENDERS, pod))
        require(self.is_next(extender, self.extender.filters(pod)))
        return nominated

    def _passing(self, pod: Pod, extender: HTTPExtender) -> tuple[dict[Node, Expr], dict[Node, Expr]]:
        """The nodes about which the extender is asked, and the nodes that it would accept."""
        managed = self.extender.managed(pod, extender)
        feasible = {n: self.verdict[n] == NodeStatus.FEASIBLE for n in self.universe[Node]}
        return feasible, {n: self.extender.has_room(managed, n) for n in self.universe[Node]}

    @step(actor="scheduler", lasts=Lasts.ANY_TIME)
    @tells(
        changes("faults.left"),
        "The scheduler asks {extender} about {pod}, and the call fails.",
        changes("scheduler.phase", after=Phase.REREAD_PREEMPTOR),
        "The scheduler asks {extender} about {pod}: no node is left.",
        "The scheduler asks {extender} which nodes {pod} may go to.",
    )
    def ask_extender(self, pod: Pod, extender: HTTPExtender, ok: bool) -> None:
        """findNodesThatPassExtenders: of the nodes that have passed, those remain that the extender accepts.

        An error of one that is ignorable leaves them all; any other is the attempt's, or, of the nominated node, has all nodes tried.
        """
        require(extender in self.extender.filters(pod))
        nominated = self._require_call(pod, extender)
        if not ok:
            self.faults.spend(Fault.EXTENDER_FAILURE, pod)
            self._extender_failed(pod, extender, nominated)
            return
        feasible, passes = self._passing(pod, extender)
        left = any_of(feasible[n] & passes[n] for n in self.universe[Node])
        if self.extender.picks(pod, extender):
            require(~left)
            self.extender.note(self.extender.managed(pod, extender), None)
        rejected = {n: feasible[n] & ~passes[n] for n in self.universe[Node]}
        self._keep(pod, extender, nominated, rejected, left)

    @step(actor="scheduler", random=True, lasts=Lasts.ANY_TIME)
    @tells(
        "The scheduler asks {extender} which nodes {pod} may go to: it says {node}, and counts the pod there."
    )
    def let_extender_pick(self, pod: Pod, node: Node, extender: HTTPExtender) -> None:
        """The same, for an extender that answers with one node, and keeps the place for the pod from then on."""
        require(self.extender.picks(pod, extender))
        nominated = self._require_call(pod, extender)
        feasible, passes = self._passing(pod, extender)
        require(feasible[node] & passes[node])
        self.extender.note(self.extender.managed(pod, extender), node)
        rejected = {n: feasible[n] if n is not node else as_expr(False) for n in self.universe[Node]}
        self._keep(pod, extender, nominated, rejected, as_expr(True))

    @step(actor="scheduler", random=True, lasts=Lasts.ANY_TIME)
    @tells(
        "The scheduler asks {extender} which nodes {pod} may go to: it counts the pod on {node}, and its answer comes too late."
    )
    def miss_extenders_pick(self, pod: Pod, node: Node, extender: HTTPExtender) -> None:
        """The call times out (httpTimeout), which is an error. The extender still keeps the place."""
        require(self.extender.picks(pod, extender) and bool(self.scope.late_answers))
        nominated = self._require_call(pod, extender)
        feasible, passes = self._passing(pod, extender)
        require(feasible[node] & passes[node])
        self.faults.spend(Fault.LATE_ANSWER, pod)
        self.extender.note(self.extender.managed(pod, extender), node)
        self._extender_failed(pod, extender, nominated)

    def status_of_rejected(self, extender: HTTPExtender) -> NodeStatus:
        """The status of the nodes that an extender rejects."""
        return NodeStatus.UNRESOLVABLE if extender.spec.unresolvable else NodeStatus.REJECTED

    def _keep(
        self, pod: Pod, extender: HTTPExtender, nominated: Expr, rejected: Mapping[Node, Expr], left: Expr
    ) -> None:
        status = self.status_of_rejected(extender)
        for node, is_rejected in rejected.items():
            with when(is_rejected):
                self.verdict[node] = select(nominated, NodeStatus.UNTRIED, status)
        with when(left):
            self._go_to_next(pod, extender)
        with otherwise(nominated):
            self.nobody_has_answered()
            self.phase = Phase.FILTERING
        with otherwise():
            self.note_extender()
            self.nobody_has_answered()
            self.phase = self.phase_after_fit_error()
            self.dynamic_resources.post_filter(pod)

    def _go_to_next(self, pod: Pod, extender: HTTPExtender) -> None:
        if self.passed(extender, self.extender.filters(pod)):
            self.phase = self.phase_after_extenders(pod)

    def _extender_failed(self, pod: Pod, extender: HTTPExtender, nominated: Expr) -> None:
        if extender.spec.ignorable:
            self._go_to_next(pod, extender)
            return
        self.nobody_has_answered()
        with when(nominated):
            for node in self.universe[Node]:
                self.verdict[node] = NodeStatus.UNTRIED
            self.phase = Phase.FILTERING
        with otherwise():
            self.end_in_error(pod)

    # --- prioritise --------------------------------------------------------------------------------------------

    @step(actor="scheduler", lasts=Lasts.ANY_TIME)
    @tells(
        changes("faults.left"),
        "The scheduler asks {extender} to score the nodes for {pod}, and the call fails.",
        "The scheduler asks {extender} to score the nodes for {pod}.",
    )
    def ask_for_scores(self, pod: Pod, extender: HTTPExtender, ok: bool) -> None:
        """The extenders' part of prioritizeNodes. An error is always ignored: this extender's scores are then missing."""
        asked = self.extender.prioritises(pod)
        require(extender in asked and bool(self.scope.config.scored))
        require(self.at(Phase.EXTENDERS_SCORE, pod) & self.is_next(extender, asked))
        if ok:
            self.scored[extender] = True
        else:
            self.faults.spend(Fault.EXTENDER_FAILURE, pod)
        if self.passed(extender, asked):
            self.phase = Phase.SELECT

    def extenders_scores(self, pod: Pod) -> dict[Node, Expr]:
        """What the extenders add to the score of each node. Their scores, up to 10 (MaxExtenderPriority), are scaled to the range of the plugins."""
        scale = self.scores.max_score() // 10
        return {
            node: total(
                select(self.scored[of], of.spec.prefers(node.name) * of.spec.weight * scale, 0)
                for of in self.extender.prioritises(pod)
            )
            for node in self.universe[Node]
        }

    def forget_scores(self, pod: Pod) -> None:
        """The node is chosen, and the scores are dropped."""
        for extender in self.extender.prioritises(pod):
            self.scored[extender] = False
