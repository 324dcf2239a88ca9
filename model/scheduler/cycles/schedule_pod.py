"""The scheduling cycle of a pod that may fit: schedulePod, assume, Reserve and Permit (schedule_one.go, 1.36).

The nodes are filtered one by one against the snapshot. Where the pod fits, it is assumed on a node, and its binding cycle starts once the
plugins of the extension points before that are through with it.
"""

from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from typing import Any

from ...environment.cluster.pod_versions import forms, in_form
from ...environment.faults import Fault
from ...environment.objects import ExtensionPoint, Node, Pod
from ...language import (
    SOMETHING,
    Expr,
    Value,
    all_of,
    any_of,
    as_expr,
    changes,
    otherwise,
    require,
    select,
    step,
    tells,
    when,
)
from ..framework.events import DYNAMIC_RESOURCES, VOLUME_BINDING, Plugin
from ..framework.filters import Filters
from ..framework.interface import CyclePlugin, GangPlugin, VolumePlugin
from ..framework.rejections import reasons
from ..framework.status import Code, NodeStatus, Phase
from ..framework.waiting_pods import PermitAnswer, WaitingPods
from ..queue.nominator import Nominator
from .binding import Binding
from .extenders import FindNodes

FILTERED = (
    changes("scheduler.missing", after=SOMETHING),
    "All nodes are tried for {pod}, {node} last, and the attempt ends in an error: there is no node {after} to be found.",
    changes("scheduler.error", after=True),
    "All nodes are tried for {pod}, {node} last, and the attempt ends in an error.",
    changes("scheduler.verdict", after=NodeStatus.ERROR),
    "Filter of DynamicResources fails: for {pod}, a selector cannot be evaluated on {node}.",
    changes("scheduler.verdict", after=NodeStatus.FEASIBLE),
    "The filters pass: {pod} fits on {node}.",
    changes("scheduler.verdict", after=NodeStatus.REJECTED),
    "The filters fail: {pod} does not fit on {node}{why}.",
    changes("scheduler.verdict", after=NodeStatus.UNRESOLVABLE),
    "The filters fail: {pod} can never fit on {node}, whatever is evicted{why}.",
    "The filters are run for {pod} on {node}.",
)


class SchedulePod(FindNodes):
    """From the snapshot to the start of the binding cycle."""

    nominator: Nominator
    filters: Filters
    waiting: WaitingPods
    binding: Binding
    volume_binding: VolumePlugin
    gang_scheduling: GangPlugin

    def ready_for_snapshot(self, pod: Pod) -> Expr:
        """Whether the next step takes the snapshot."""
        return self.at(Phase.POPPED, pod) & ~self.skips(pod)

    @step(actor="scheduler")
    @tells("The scheduler takes its snapshot of the cache. The rest of the cycle for {pod} relies on it.")
    def take_snapshot(self, pod: Pod) -> None:
        """UpdateSnapshot: this cycle works on a copy of the current cache."""
        require(self.ready_for_snapshot(pod))
        inconsistent = self.snapshot.update()
        self.phase = self.first_filtering()
        self.dynamic_resources.begin(pod)
        self.volume_binding.begin(pod)
        with when(inconsistent):
            self.end_in_error(pod)
        with otherwise(self.has_no_nodes()):
            self.error = True
            self.phase = Phase.FAIL

    def first_filtering(self) -> Expr:
        """A pod that is nominated to a node of the snapshot is tried there first (PreferNominatedNode)."""
        known = any_of((self.copy.nominated == n) & self.snapshot.listed[n] for n in self.universe[Node])
        return select(known, Phase.FILTERING_NOMINATED, Phase.FILTERING)

    def has_no_nodes(self) -> Expr:
        """ErrNoNodesAvailable: no node exists."""
        return all_of(~self.snapshot.listed[n] for n in self.universe[Node])

    @step(actor="scheduler")
    @tells(*FILTERED)
    def filter_nominated(self, pod: Pod, node: Node) -> None:
        """Run the filters for the nominated node alone. If it passes, it is chosen; otherwise all nodes are tried."""
        require(self.at(Phase.FILTERING_NOMINATED, pod) & (self.copy.nominated == node))
        with when(self._filtered(pod, node) == NodeStatus.FEASIBLE):
            self.verdict[node] = NodeStatus.FEASIBLE
            self.phase = self.phase_after_filters(pod, nominated=True)
        with otherwise():
            self.phase = Phase.FILTERING

    @step(actor="scheduler")
    @tells(*FILTERED)
    def filter(self, pod: Pod, node: Node) -> None:
        """Run the filters for one node, twice if pods are nominated to it (the nominator is read now)."""
        require(self.is_to_filter(pod, node))
        self.note_verdict(pod, node, self._filtered(pod, node))

    def is_to_filter(self, pod: Pod, node: Node) -> Expr:
        """Whether all nodes are tried, and this one is still to come."""
        untried = self.snapshot.listed[node] & (self.verdict[node] == NodeStatus.UNTRIED)
        return self.at(Phase.FILTERING, pod) & untried

    def note_verdict(self, pod: Pod, node: Node, verdict: Value) -> None:
        """What Filter says of a node; after the last one the search is over."""
        self.verdict[node] = verdict
        with when(self.no_node_is(NodeStatus.UNTRIED)):
            self._conclude_filtering(pod)

    def cycle_plugins(self, pod: Pod) -> dict[str, CyclePlugin]:
        """The plugins that filter by the state of the pod's claims, if it has claims."""
        return {
            **({DYNAMIC_RESOURCES: self.dynamic_resources} if pod.claims else {}),
            **({VOLUME_BINDING: self.volume_binding} if pod.volumes else {}),
        }

    def _of_filters(self, pod: Pod, node: Node) -> Expr:
        """What the filters without claims say."""
        placement, number = self.snapshot.placement(), self.copy.version

        def said(form: Pod) -> Expr:
            return placement.ask(node, partial(self.filters.run_with_nominated, form))

        return in_form(self.universe, pod, number, said)

    def reaches_devices(self, pod: Pod, node: Node) -> Expr:
        """Whether all filters before DynamicResources let the pod pass: a pod with claims has no volumes."""
        return (self._of_filters(pod, node) == Code.SUCCESS) & self.snapshot.live[node]

    def _volumes_reject(self, pod: Pod, node: Node) -> Expr:
        """Whether VolumeBinding is the first filter that rejects the pod."""
        if not pod.volumes:
            return as_expr(False)
        placement, number = self.snapshot.placement(), self.copy.version

        def reached(form: Pod) -> Expr:
            return placement.ask(node, partial(self.filters.reaches_volumes, form))

        is_asked = self.snapshot.live[node] & in_form(self.universe, pod, number, reached)
        return is_asked & ~self.volume_binding.passes(pod, node)

    def _filtered(self, pod: Pod, node: Node) -> Expr:
        by_volumes = self._volumes_reject(pod, node)
        with when(~by_volumes):
            self.diagnose(pod, node)
        placement, code = self.snapshot.placement(), self._of_filters(pod, node)
        for name, asked in self.cycle_plugins(pod).items():
            passes = asked.passes(pod, node)
            if name == DYNAMIC_RESOURCES:
                code = select(
                    (code == Code.SUCCESS) & self.dynamic_resources.errs(pod, node), Code.ERROR, code
                )
            reached = (code == Code.SUCCESS) & self.snapshot.live[node]
            asked.note_filtered(pod, node, reached)
            rejects = by_volumes if name == VOLUME_BINDING else reached & ~passes
            for plugin in self.universe[Plugin]:
                if plugin.name == name:
                    with when(rejects):
                        self.rejected_by[plugin] = True
            code = select(rejects, Code.UNRESOLVABLE, code)
        if pod.extender_selector:
            passes = placement.ask(node, lambda content, _: as_expr(pod.passes_extender(content)))
            rejects = (code == Code.SUCCESS) & ~passes
            with when(rejects & self.snapshot.live[node]):
                self.note_extender()
            code = select(rejects, Code.UNSCHEDULABLE, code)
        return select(self.snapshot.live[node], self.verdict_of(code), NodeStatus.REJECTED)

    def explains(self, step: str, args: Mapping[str, Any]) -> Mapping[str, Value]:
        if step not in ("filter", "filter_nominated"):
            return super().explains(step, args)
        pod, node = args["pod"], args["node"]
        why: dict[str, Expr] = {}
        for is_form, form in forms(self.universe, pod, self.copy.version):
            for shown, content, seen in self.snapshot.placement().versions(node):
                for text, given in reasons(self.filters, form, content, seen).items():
                    why[text] = why.get(text, as_expr(False)) | (is_form & shown & given)
        shown = self.snapshot.live[node] & ~self._volumes_reject(pod, node)
        return {text: shown & given for text, given in why.items()}

    def verdict_of(self, code: Value) -> Expr:
        """The part of the filters' answer that the cycle keeps."""
        answer = as_expr(code)
        rejected = select(answer == Code.UNRESOLVABLE, NodeStatus.UNRESOLVABLE, NodeStatus.REJECTED)
        failed = select(answer == Code.ERROR, NodeStatus.ERROR, rejected)
        return select(answer == Code.SUCCESS, NodeStatus.FEASIBLE, failed)

    def diagnose(self, pod: Pod, node: Node) -> None:
        """Diagnosis.UnschedulablePlugins: record the filter that rejects the pod on this node, if there is one."""
        for is_form, form in forms(self.universe, pod, self.copy.version):
            for shown, content, seen in self.snapshot.placement().versions(node):
                rejecting = self.filters.rejected_by_with_nominated(form, content, seen)
                for plugin in self.universe[Plugin]:
                    if plugin.name in rejecting:
                        with when(is_form & shown & rejecting[plugin.name] & self.snapshot.live[node]):
                            self.rejected_by[plugin] = True

    def no_node_is(self, status: NodeStatus) -> Expr:
        """Whether no node of the cycle's list has this status."""
        return all_of(~self.snapshot.listed[n] | (self.verdict[n] != status) for n in self.universe[Node])

    def _conclude_filtering(self, pod: Pod) -> None:
        none = self.no_node_is(NodeStatus.FEASIBLE)
        error = self.filters.scheduling_error(pod, ~none)
        if pod.claims:  # no other Filter answers with an error
            error = error | ~self.no_node_is(NodeStatus.ERROR)
        with when(error):
            self.missing = self.filters.missing_node(pod)
            self.end_in_error(pod)
        with otherwise(none):
            self.phase = self.phase_after_fit_error()
            self.dynamic_resources.post_filter(pod)
        with otherwise():
            self.phase = self.phase_after_filters(pod)

    # --- host, Reserve, Permit, the start of the binding cycle -----------------------------------------------

    def extension_points(self, pod: Pod) -> Iterable[ExtensionPoint]:
        """The extension points at which plugins have work for the pod."""
        return pod.extension_points | self.gang_scheduling.points(pod)

    def cycle_points(self, pod: Pod) -> tuple[ExtensionPoint, ...]:
        """The extension points of the scheduling cycle after the pod is assumed, in order."""
        passed = (ExtensionPoint.RESERVE, ExtensionPoint.PERMIT)
        return tuple(point for point in passed if point in self.extension_points(pod))

    def contenders(self, pod: Pod) -> dict[Node, Expr]:
        """The nodes that are scored."""
        return {n: self.verdict[n] == NodeStatus.FEASIBLE for n in self.universe[Node]}

    def require_winner(self, pod: Pod, node: Node) -> None:
        """selectHost: requires that the node is feasible, and that no other node scores better if scores decide."""
        require(self.at(Phase.SELECT, pod))
        feasible = self.contenders(pod)
        more = self.extender.prioritises(pod)

        def wins(form: Pod) -> Expr:
            return self.scores.wins(form, node, feasible, self.extenders_scores(pod) if more else None)

        require(feasible[node] & in_form(self.universe, pod, self.copy.version, wins))

    def require_host(self, pod: Pod, node: Node) -> None:
        """Requires that the pod is assumed on this node now."""
        self.require_winner(pod, node)

    @step(actor="scheduler", random=True)
    @tells(
        changes("cache.pod.assumed", after=True),
        "The scheduler assumes {pod} on {node}: in its cache the pod is there already.",
        changes("snapshot.pod.node", after=SOMETHING),
        "The scheduler places {pod} on {node} in the snapshot: the other pods of the group see it there.",
        "The scheduler tries to assume {pod} on {node}, and the cache refuses.",
    )
    def assume(self, pod: Pod, node: Node) -> None:
        """AssumePod on one of the feasible nodes. Without scores, any of them can win."""
        self.require_host(pod, node)
        member = self.pod_group_cycle.member(pod)
        if member is not None:
            self.pod_group_cycle.place(member, node)
            return
        self.forget_scores(pod)
        refused = self.cache.assume(pod, node, self.copy)
        with when(refused):
            self.scheduler_error = True
            self.phase = Phase.FAIL
        with otherwise():
            self.host = node
            self.phase = Phase.ASSUMED

    @step(actor="scheduler")
    @tells(
        changes("binding.phase", after=SOMETHING),
        "The scheduler starts a binding goroutine for {pod} and goes on.",
        "The scheduler goes on with {pod}: Reserve or Permit plugins are asked before its binding goroutine starts.",
    )
    def start_binding(self, pod: Pod) -> None:
        """The assumed pod's nomination is dropped, and its binding cycle starts, if no plugin has work before it."""
        require(self.at(Phase.ASSUMED, pod))
        self.nominator.delete(pod)
        self._go_on(pod, self.cycle_points(pod))

    def _go_on(self, pod: Pod, left: Sequence[ExtensionPoint]) -> None:
        if left:
            self.phase = _PHASES[left[0]]
        else:
            self.binding.start(pod, self.host, self.copy)
            self._started(pod)

    def _started(self, pod: Pod) -> None:
        if self.pod_group_cycle.member(pod) is None:
            self.end()
        else:
            self.pod_group_cycle.go_on(pod)

    def permitted(self, pod: Pod) -> None:
        """GangScheduling has answered for the pod, which continues with its binding cycle."""
        self._go_on(pod, ())

    def fail_assumed(self, pod: Pod) -> None:
        """A plugin failed at Reserve or Permit: the assumed pod is forgotten."""
        self.scheduler_error = True
        self.phase = Phase.FORGET

    @step(actor="scheduler")
    @tells("The Reserve plugins run for {pod}.")
    def reserve(self, pod: Pod, ok: bool) -> None:
        """The Reserve plugins. After an error, the assumed pod is forgotten."""
        points = self.cycle_points(pod)
        require(ExtensionPoint.RESERVE in points)
        require(self.at(Phase.RESERVE, pod) & self.dynamic_resources.is_reserved(pod))
        require(self.volume_binding.is_reserved(pod))
        if not ok:
            self.faults.spend(Fault.PLUGIN_ERROR, pod)
        member = self.pod_group_cycle.member(pod)
        if member is not None and pod.claims:
            with when(self.pod_group_cycle.tries(pod)):
                self.pod_group_cycle.reserved(member, ok=ok)
            with otherwise():
                self._reserve(pod, points, ok=ok)
        else:
            self._reserve(pod, points, ok=ok)

    def _reserve(self, pod: Pod, points: tuple[ExtensionPoint, ...], *, ok: bool) -> None:
        if ok:
            failed = self.gang_scheduling.reserve(pod)
            with when(failed):
                self.fail_assumed(pod)
            with otherwise():
                self._go_on(pod, points[points.index(ExtensionPoint.RESERVE) + 1 :])
        else:
            self.fail_assumed(pod)

    @step(actor="scheduler")
    @tells("The Permit plugins answer about {pod}: {answer}.")
    def permit(self, pod: Pod, answer: PermitAnswer) -> None:
        """The Permit plugins. A pod that has to wait does so in its binding cycle."""
        require(ExtensionPoint.PERMIT in self.cycle_points(pod) and self.gang_scheduling.gang(pod) is None)
        require(self.at(Phase.PERMIT, pod))
        if answer is PermitAnswer.REJECT:
            self.faults.spend(Fault.PERMIT_REJECTION, pod)
            self.phase = Phase.FORGET
            return
        if answer is PermitAnswer.WAIT:
            self.waiting.add(pod)
        self._go_on(pod, ())

    @step(actor="scheduler")
    @tells("The scheduler forgets {pod}: the cache has it on no node any more.")
    def forget(self, pod: Pod) -> None:
        """ForgetPod after a plugin's error or rejection. No pod is woken."""
        require(bool(self.cycle_points(pod)))
        require(self.at(Phase.FORGET, pod) & self.dynamic_resources.is_unreserved(pod))
        require(self.volume_binding.is_unreserved(pod) & self.gang_scheduling.is_unreserved(pod))
        self.cache.forget(pod, self.host)
        self.phase = Phase.FAIL


_PHASES = {ExtensionPoint.RESERVE: Phase.RESERVE, ExtensionPoint.PERMIT: Phase.PERMIT}
