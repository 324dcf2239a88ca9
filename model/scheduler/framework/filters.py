"""Filters: does a pod fit on a node (framework/plugins: nodeunschedulable, tainttoleration, nodeaffinity, nodeports, noderesources,
podtopologyspread, interpodaffinity; framework/runtime/framework.go, 1.34)."""

from collections.abc import Callable, Mapping, Sequence

from ...environment.cluster.placement_rules import SpreadConstraint
from ...environment.cluster.pod_versions import whole
from ...environment.extender import HTTPExtender
from ...environment.objects import CsiDriver, HostPort, Node, Pod, Taint, Term, VolumeClaim, node_or_none
from ...environment.storage.csi_nodes import Attachable, CsiLimit, CsiView
from ...language import Component, Expr, all_of, any_of, as_expr, count, select, smallest, total, when
from .events import NODE_DECLARED_FEATURES, NODE_PORTS, NODE_VOLUME_LIMITS, VOLUME_RESTRICTIONS
from .interface import PodNominator
from .placement import Placement
from .status import Code

FilterPlugin = Callable[[Pod, Node, Placement], Expr]
"""Gives the Code of a pod on a node."""

AFTER_VOLUME_BINDING = ("PodTopologySpread", "InterPodAffinity", NODE_DECLARED_FEATURES)
"""The plugins that run after VolumeBinding (getDefaultPlugins, 1.36)."""

UNSCHEDULABLE = Taint("node.kubernetes.io/unschedulable")


class Filters(Component):
    """The filter plugins."""

    nominator: PodNominator
    csi_informers: CsiView

    # --- the framework -----------------------------------------------------------------------------

    def plugins(self) -> dict[str, FilterPlugin]:
        """The plugins by name, in the order in which they run (getDefaultPlugins, 1.22)."""
        return {
            "NodeUnschedulable": self.node_schedulable,
            "TaintToleration": self.taints_tolerated,
            "NodeAffinity": self.node_affinity,
            NODE_PORTS: self.node_ports,
            "NodeResourcesFit": self.node_resources,
            **({VOLUME_RESTRICTIONS: self.volume_restrictions} if self.has_exclusive() else {}),
            **({NODE_VOLUME_LIMITS: self.volume_limits} if self.universe[CsiLimit] else {}),
            "PodTopologySpread": self.topology_spread,
            "InterPodAffinity": self.inter_pod_affinity,
            **({NODE_DECLARED_FEATURES: self.declared_features} if self.asks_for_features() else {}),
        }

    def run(self, pod: Pod, node: Node, placement: Placement) -> Expr:
        """RunFilterPlugins: the Code of the first plugin that rejects the pod."""
        code = as_expr(Code.SUCCESS)
        for plugin in self.plugins().values():
            passed = code == Code.SUCCESS
            with when(passed):
                said = plugin(pod, node, placement)
            code = select(passed, said, code)
        return code

    def rejected_by(self, pod: Pod, node: Node, placement: Placement) -> dict[str, Expr]:
        """For each plugin, whether it rejects the pod."""
        found: dict[str, Expr] = {}
        passed = as_expr(True)
        for name, plugin in self.plugins().items():
            passes = plugin(pod, node, placement) == Code.SUCCESS
            found[name] = passed & ~passes
            passed = passed & passes
        return found

    def rejected_by_with_nominated(self, pod: Pod, node: Node, placement: Placement) -> dict[str, Expr]:
        """For each plugin, whether it rejects the pod in the first pass that fails (see run_with_nominated)."""
        added = self.nominated_pods(pod, node, placement)
        first = self.rejected_by(pod, node, placement.with_added(node, added))
        second = self.rejected_by(pod, node, placement)
        passed = ~any_of(first.values())
        return {name: rejects | (passed & second[name]) for name, rejects in first.items()}

    def run_with_nominated(self, pod: Pod, node: Node, placement: Placement) -> Expr:
        """Both passes of the filters with nominated pods (RunFilterPluginsWithNominatedPods).

        First with every pod nominated to the node whose priority is not lower, then without them,
        because a nominated pod may never come and must not be what an affinity term relies on.
        """
        added = self.nominated_pods(pod, node, placement)
        some = any_of(added.values())
        joined = all_of(~a | (self.joins(pod, q, node) == Code.SUCCESS) for q, a in added.items())
        with when(joined):
            first = self.run(pod, node, placement.with_added(node, added))
        again = some & joined & (first == Code.SUCCESS)
        with when(again):
            second = self.run(pod, node, placement)
        return select(joined, select(again, second, first), Code.ERROR)

    def reaches_volumes(self, pod: Pod, node: Node, placement: Placement) -> Expr:
        """Whether VolumeBinding is asked: in the first pass, no plugin before it rejects the pod."""
        added = self.nominated_pods(pod, node, placement)
        joined = all_of(~a | (self.joins(pod, q, node) == Code.SUCCESS) for q, a in added.items())
        first = self.rejected_by(pod, node, placement.with_added(node, added))
        return joined & ~any_of(
            rejects for name, rejects in first.items() if name not in AFTER_VOLUME_BINDING
        )

    def nominated_pods(self, pod: Pod, node: Node, placement: Placement) -> dict[Pod, Expr]:
        """addNominatedPods: the objects that can be added to the NodeInfo, each with the condition under which it is.

        They are those of the pods that are nominated to the node, if their priority is not lower. One of which the NodeInfo holds an
        assumed copy is added all the same. Of a pod that is in no sub-queue a bare object stands in (nominatedPodToInfo).
        """
        found: dict[Pod, Expr] = {}
        for q in placement.on:
            if q.uid != pod.uid:
                known = whole(self.universe, q)
                nominated, complete = (
                    self.nominator.nominated_to(known, node),
                    self.nominator.has_object(known),
                )
                found[q] = nominated & complete & self.nominator.has_form(q) & (q.priority >= pod.priority)
                if q is known:
                    bare = q.bare()
                    found[bare] = nominated & ~complete & (bare.priority >= pod.priority)
        never = as_expr(False)
        return {q: added for q, added in found.items() if added is not never}

    def joins(self, pod: Pod, nominated: Pod, node: Node) -> Expr:
        """AddPod of the plugins' PreFilter extensions: nothing, because the model's plugins read placements."""
        return as_expr(Code.SUCCESS)

    def fits_with_nominated(self, pod: Pod, node: Node, placement: Placement) -> Expr:
        """Whether the pod passes both times."""
        return self.run_with_nominated(pod, node, placement) == Code.SUCCESS

    def fits(self, pod: Pod, node: Node, placement: Placement) -> Expr:
        """Whether the pod passes all filters on this placement."""
        return self.run(pod, node, placement) == Code.SUCCESS

    def admits(self, pod: Pod, node: Node, placement: Placement) -> Expr:
        """preCheckForNode: whether a new node can wake the pod (taints, node affinity, host ports, resources).

        Neither spec.unschedulable nor inter-pod affinity is looked at, and not all taints are. All resources are, also those that the plugin is to ignore
        (AdmissionCheck calls Fits, which knows of none).
        """
        if self.is_repelled(pod, node, self.effects_of_pre_check()):
            return as_expr(False)
        lacking = self.lacking(pod, node, placement, pod.resources)
        checks = (self.node_affinity, self.node_ports)
        return all_of(check(pod, node, placement) == Code.SUCCESS for check in checks) & ~any_of(
            lacking.values()
        )

    def effects_of_pre_check(self) -> Sequence[str]:
        """The effects of taints that it checks. (131609 added NoExecute in 1.34, but there, queueing hints always replace this check.)"""
        return ("NoSchedule",)

    def scheduling_error(self, pod: Pod, some_feasible: Expr) -> Expr:
        """Whether filtering or scoring returns an error instead of a result. Never if only no node fits."""
        return as_expr(False)

    def missing_node(self, pod: Pod) -> Expr:
        """The missing node that such an error names, or none."""
        return node_or_none(None)

    # --- nodes -------------------------------------------------------------------------------------

    def node_schedulable(self, pod: Pod, node: Node, placement: Placement) -> Expr:
        """NodeUnschedulable: spec.unschedulable counts as a taint."""
        tolerated = any(t.tolerates(UNSCHEDULABLE) for t in pod.tolerations)
        return as_expr(Code.UNRESOLVABLE if node.unschedulable and not tolerated else Code.SUCCESS)

    def taints_tolerated(self, pod: Pod, node: Node, placement: Placement) -> Expr:
        """TaintToleration: whether the pod tolerates all taints, except those with PreferNoSchedule."""
        return as_expr(Code.UNRESOLVABLE if self.is_repelled(pod, node) else Code.SUCCESS)

    def is_repelled(self, pod: Pod, node: Node, effects: Sequence[str] = ("NoSchedule", "NoExecute")) -> bool:
        """Whether the node has a taint with one of these effects that the pod does not tolerate (DoNotScheduleTaintsFilterFunc)."""
        return any(
            taint.effect in effects and not any(t.tolerates(taint) for t in pod.tolerations)
            for taint in node.taints
        )

    def node_affinity(self, pod: Pod, node: Node, placement: Placement) -> Expr:
        """NodeAffinity: spec.nodeSelector and required node affinity; no eviction changes a node's labels."""
        return as_expr(Code.SUCCESS if pod.asks_for(node) else Code.UNRESOLVABLE)

    def asks_for_features(self) -> bool:
        """Whether some pod needs a node feature, and features are checked."""
        return any(pod.features for pod in self.universe[Pod])

    def declared_features(self, pod: Pod, node: Node, placement: Placement) -> Expr:
        """NodeDeclaredFeatures (1.36): the node declares all features that the pod needs; no eviction helps."""
        return as_expr(Code.SUCCESS if pod.features <= node.features else Code.UNRESOLVABLE)

    # --- host ports --------------------------------------------------------------------------------

    def node_ports(self, pod: Pod, node: Node, placement: Placement) -> Expr:
        """NodePorts: whether the NodeInfo has no host port that the pod wants."""
        taken = any_of(used for port, used in placement.used_ports(node) if self.is_taken_by(pod, port))
        return select(taken, Code.UNSCHEDULABLE, Code.SUCCESS)

    def is_port_conflict(self, pod: Pod, other: Pod) -> bool:
        """Whether the two pods want the same port."""
        return any(self.is_taken_by(pod, port) for port in other.host_ports)

    def is_taken_by(self, pod: Pod, port: HostPort) -> bool:
        """Whether the pod wants this port, which a node has only once (HostPortInfo.CheckConflict)."""
        return any(own.conflicts(port) for own in pod.host_ports)

    # --- volumes -----------------------------------------------------------------------------------

    def has_exclusive(self) -> bool:
        """Whether some claim can be used by only one pod."""
        return any(pod.exclusive for pod in self.universe[Pod])

    def volume_restrictions(self, pod: Pod, node: Node, placement: Placement) -> Expr:
        """VolumeRestrictions: whether no other pod on any node uses a ReadWriteOncePod claim of the pod.

        If none does, the plugin is skipped: PreFilter has looked, and nominated pods are not counted then.
        """

        def users(where: Mapping[Pod, Mapping[Node, Expr]]) -> Expr:
            return any_of(
                here
                for other, row in where.items()
                if not pod.exclusive.isdisjoint(other.volumes)
                for here in row.values()
            )

        there = users(placement.prefiltered)
        taken = users(placement.on) | users(placement.added)
        if placement.used is None:
            taken = there & taken
        else:
            counted = any_of(used for claim, used in placement.used.items() if claim in pod.exclusive)
            taken = counted & (~there | taken)
        return select(taken, Code.UNSCHEDULABLE, Code.SUCCESS)

    def volume_limits(self, pod: Pod, node: Node, placement: Placement) -> Expr:
        """NodeVolumeLimits: whether the node takes the pod's volumes besides those that it has, for each CSI driver."""
        limits = self.limits_on(pod, node)
        rejects = any_of(
            self.is_driver_missing(driver, limit, placement) | self.is_full_of(pod, limit, node, placement)
            for driver, limit in limits
        )
        return select(rejects, Code.UNSCHEDULABLE, Code.SUCCESS)

    def limits_on(self, pod: Pod, node: Node) -> list[tuple[CsiDriver, CsiLimit | None]]:
        """The CSI drivers of the pod's volumes, with the node's limit; None if the node never has the driver."""
        own = {c.storage_class.driver for c in self.universe[VolumeClaim] if c.name in pod.volumes}
        every = self.universe[CsiLimit]
        drivers = {of.driver.name: of.driver for of in every if of.driver.name in own}
        at = {of.driver.name: of for of in every if of.node.index == node.index}
        return [(driver, at.get(name)) for name, driver in drivers.items()]

    def is_driver_missing(self, driver: CsiDriver, limit: CsiLimit | None, placement: Placement) -> Expr:
        """checkCSIDriverOnNode: whether the driver keeps pods away from nodes without it, and the CSINode lacks it (VolumeLimitScaling)."""
        if not driver.required or not self.waits_for_drivers():
            return as_expr(False)
        return as_expr(True) if limit is None else ~self._csi(placement).limit(limit)[0]

    def waits_for_drivers(self) -> bool:
        """Whether preventPodSchedulingIfMissing counts."""
        return True

    def is_full_of(self, pod: Pod, limit: CsiLimit | None, node: Node, placement: Placement) -> Expr:
        """Whether the pod's new volumes are too many. Its own volume that is still attached to the node, for no pod there, counts twice."""
        if limit is None:
            return as_expr(False)
        csi = self._csi(placement)
        told, most = csi.limit(limit)
        claims = [c for c in self.universe[VolumeClaim] if c.storage_class.driver == limit.driver.name]

        def used_by(users: Sequence[tuple[Pod, Expr]]) -> dict[VolumeClaim, Expr]:
            return {c: csi.has_claim(c) & any_of(h for q, h in users if c.name in q.volumes) for c in claims}

        used, kept = used_by(placement.counted(node)), used_by(self.holders(node, placement))
        left = [
            csi.is_attached(at)
            & ~any_of(kept[c] & (csi.volume_of(c) == at.volume) for c in claims)
            & ~self.is_brought(pod, at, csi)
            for at in self.universe[Attachable]
            if self.counts_attachments()
            and at.node is limit.node
            and at.volume.storage_class.driver == limit.driver.name
        ]
        new = count(csi.has_claim(c) & ~used[c] for c in claims if c.name in pod.volumes)
        return told & (new > 0) & (count(used.values()) + count(left) + new > most)

    def counts_attachments(self) -> bool:
        """Whether volumes count that are attached to the node, and that no pod there uses."""
        return True

    def is_brought(self, pod: Pod, at: Attachable, csi: CsiView) -> Expr:
        """Whether an attached volume counts as the pod's own only. Upstream counts it as both."""
        return as_expr(False)

    def holders(self, node: Node, placement: Placement) -> list[tuple[Pod, Expr]]:
        """The pods whose attached volumes count as theirs only: those in the NodeInfo. In a dry run of preemption the victims are none of them, so that their volumes count on."""
        return placement.counted(node)

    def _csi(self, placement: Placement) -> CsiView:
        return self.csi_informers if placement.csi is None else placement.csi

    # --- resources ---------------------------------------------------------------------------------

    def node_resources(self, pod: Pod, node: Node, placement: Placement) -> Expr:
        """NodeResourcesFit: whether the requests fit. If the pod requests more than the whole node has, no eviction helps."""
        insufficient = self.insufficient(pod, node, placement)
        code = select(self.is_too_small(pod, node), Code.UNRESOLVABLE, Code.UNSCHEDULABLE)
        return select(any_of(insufficient.values()), code, Code.SUCCESS)

    def is_too_small(self, pod: Pod, node: Node) -> Expr:
        """Whether the pod requests more of some resource than the whole node has. The number of pods does not count."""
        return any_of(
            self.is_checked(pod, r) & (pod.request(r) > node.allocatable(r)) for r in self.compared(pod)
        )

    def compared(self, pod: Pod) -> Sequence[str]:
        """The resources that the plugin checks: all except those of an extender with ignoredByScheduler."""
        ignored = {of.spec.resource for of in self.universe[HTTPExtender] if of.spec.ignored_by_scheduler}
        return [resource for resource in pod.resources if resource not in ignored]

    def insufficient(self, pod: Pod, node: Node, placement: Placement) -> dict[str, Expr]:
        """The node's resources that the pod would exceed, among those that the plugin checks."""
        return self.lacking(pod, node, placement, self.compared(pod))

    def lacking(
        self, pod: Pod, node: Node, placement: Placement, resources: Sequence[str]
    ) -> dict[str, Expr]:
        """fitsRequest: which of these resources the pod would exceed on the node; `pods` is the number of pods.

        A resource of which the pod asks for nothing is not looked at, however much it is overcommitted.
        """
        counted = placement.counted(node)
        found: dict[str, Expr] = {}
        if node.pods is not None:
            found["pods"] = count(here for _, here in counted) + 1 > node.pods
        for resource in resources:
            used = total(select(here, q.request(resource), 0) for q, here in counted)
            exceeded = used + pod.request(resource) > node.allocatable(resource)
            found[resource] = self.is_checked(pod, resource) & exceeded
        return found

    def is_checked(self, pod: Pod, resource: str) -> Expr:
        """Whether fitsRequest compares the pod's request for the resource with the free amount."""
        return pod.request(resource) > 0

    # --- inter-pod affinity ------------------------------------------------------------------------

    def inter_pod_affinity(self, pod: Pod, node: Node, placement: Placement) -> Expr:
        """InterPodAffinity: the pod's required terms, and the anti-affinity terms of the other pods.

        No eviction mends a required affinity term; anti-affinity ends with the pods that it is about.
        """
        own = [
            ~self.matched_in_domain(pod, term, node, placement)
            for term in pod.terms
            if term.required and term.anti
        ]
        theirs = [~keeps for keeps in self.kept_away(pod, node, placement.on, placement)]
        nominated = self.kept_away(pod, node, placement.added, placement)
        if nominated:
            theirs.append(~(self.looks(pod, placement) & any_of(nominated)))
        apart = select(all_of([*own, *theirs]), Code.SUCCESS, Code.UNSCHEDULABLE)
        return select(self.affinity_holds(pod, node, placement), apart, Code.UNRESOLVABLE)

    def kept_away(
        self, pod: Pod, node: Node, where: Mapping[Pod, Mapping[Node, Expr]], placement: Placement
    ) -> list[Expr]:
        """For each anti-affinity term of these pods that selects the pod: whether it excludes the node."""
        return [
            self.in_domain(term, node, nodes, placement)
            for other, nodes in where.items()
            for term in other.terms
            if term.required and term.anti and term.matches(pod)
        ]

    def looks(self, pod: Pod, placement: Placement) -> Expr:
        """Whether the plugin filters. If not, it also ignores the terms of nominated pods.

        PreFilter answers Skip for a pod without required terms, if no pod of the snapshot has an anti-affinity term that means it.
        """
        if any(term.required for term in pod.terms):
            return as_expr(True)
        return any_of(
            held
            for node in placement.nodes
            for held in self.kept_away(pod, node, placement.prefiltered, placement)
        )

    def in_domain(self, term: Term, node: Node, where: Mapping[Node, Expr], placement: Placement) -> Expr:
        """Whether a counted pod is on an existing node with the same value of the topology key as `node`."""
        value = node.labels.get(term.topology_key)
        if value is None:
            return as_expr(False)
        return any_of(
            here & placement.live[n] for n, here in where.items() if n.labels.get(term.topology_key) == value
        )

    def means(self, term: Term, other: Pod) -> bool:
        """Whether a term of the incoming pod selects another pod. PreFilter has resolved its namespace selector."""
        return term.matches(other)

    def matched_in_domain(self, pod: Pod, term: Term, node: Node, placement: Placement) -> Expr:
        """Whether a pod that the term selects is in the domain of `node`."""
        meant = [where for q, where in placement.copies if self.means(term, q)]
        return any_of(self.in_domain(term, node, where, placement) for where in meant)

    def affinity_holds(self, pod: Pod, node: Node, placement: Placement) -> Expr:
        """The required affinity terms: some existing pods must match all of them at once.

        Where no pod anywhere does, the pod itself may be the first of its kind.
        """
        terms = [term for term in pod.terms if term.required and not term.anti]
        if any(term.topology_key not in node.labels for term in terms):
            return as_expr(False)
        matching = [where for q, where in placement.copies if all(self.means(term, q) for term in terms)]
        held = all_of(any_of(self.in_domain(t, node, where, placement) for where in matching) for t in terms)
        if not all(self.means(term, pod) for term in terms):
            return held
        keys = {term.topology_key for term in terms}
        anywhere = any_of(
            here & placement.live[n]
            for where in matching
            for n, here in where.items()
            if keys & n.labels.keys()
        )
        return held | ~anywhere

    # --- topology spread ---------------------------------------------------------------------------

    # Soft constraints (ScheduleAnyway) only score, and have no place in the model. Upstream counts once, in PreFilter, and
    # corrects the numbers for each pod that preemption takes away; the model counts the placement that it is given. The two
    # differ only for a victim that was terminating already, which upstream takes away although it never counted it.

    def topology_spread(self, pod: Pod, node: Node, placement: Placement) -> Expr:
        """The first constraint that fails: UNRESOLVABLE if the node lacks its key, UNSCHEDULABLE if the skew would be too great."""
        code = as_expr(Code.SUCCESS)
        for constraint in reversed(pod.spread):
            if constraint.topology_key not in node.labels:
                code = as_expr(Code.UNRESOLVABLE)
            else:
                code = select(self.is_even(pod, constraint, node, placement), code, Code.UNSCHEDULABLE)
        return code

    def is_even(self, pod: Pod, constraint: SpreadConstraint, node: Node, placement: Placement) -> Expr:
        """Whether the skew stays within maxSkew with the pod on the node."""
        domains = self.domains(pod, constraint, placement)
        more = (
            len(placement.copies)
            + len(placement.on) * bool(placement.twice)
            + 1
            + max(constraint.others.values(), default=0)
        )
        least = as_expr(more)
        for exists, pods in domains.values():
            least = select(exists, smallest(least, pods), least)
        if (wanted := self.wanted_domains(constraint)) > 1:
            least = select(count(exists for exists, _ in domains.values()) < wanted, 0, least)
        own = int(constraint.counts(pod.labels))
        here = domains.get(node.labels[constraint.topology_key])
        there = as_expr(0) if here is None else here[1]
        return there + own - least <= constraint.max_skew

    def wanted_domains(self, constraint: SpreadConstraint) -> int:
        """minDomains: with fewer domains, the minimum is 0 (minMatchNum)."""
        return constraint.min_domains

    def counts_node(self, pod: Pod, constraint: SpreadConstraint, node: Node) -> bool:
        """Whether the constraint counts the node (matchNodeInclusionPolicies)."""
        by_taints = not constraint.honors_taints or not self.is_repelled(pod, node)
        return by_taints and (not constraint.honors_affinity or pod.asks_for(node))

    def counts_pods(self, constraint: SpreadConstraint) -> bool:
        """Whether the constraint counts other pods: not with an empty selector."""
        return not constraint.selector.empty

    def domains(
        self, pod: Pod, constraint: SpreadConstraint, placement: Placement
    ) -> dict[str, tuple[Expr, Expr]]:
        """By value of the constraint's key: whether a counted node has it, and the number of pods on such nodes.

        Nodes count that have all keys of the pod's constraints and that the policies of this one let in, pods if they are not terminating. Of nominated pods AddPod asks the selector alone (updateWithPod), which
        an empty one passes.
        """
        counts = self.counts_pods(constraint)
        found = {
            value: (as_expr(True), as_expr(number if counts else 0))
            for value, number in constraint.others.items()
        }

        def is_selected(q: Pod) -> bool:
            return q.namespace == pod.namespace and constraint.counts(q.labels)

        for node in placement.nodes:
            if not (has_keys(node, pod) and self.counts_node(pod, constraint, node)):
                continue
            live = placement.live[node]
            there = [
                row[node] & live & ~placement.is_leaving(q)
                for q, row in placement.on.items()
                if counts and is_selected(q)
            ]
            there += [
                row[node] & live for q, row in placement.added.items() if node in row and is_selected(q)
            ]
            if node in placement.twice:
                there += [
                    row[node] & live & placement.twice[node] & ~placement.is_leaving(q)
                    for q, row in placement.prefiltered.items()
                    if counts and is_selected(q)
                ]
            pods = count(there)
            exists, others = found.get(node.labels[constraint.topology_key], (as_expr(False), as_expr(0)))
            found[node.labels[constraint.topology_key]] = any_of([exists, live]), others + pods
        return found


def has_keys(node: Node, pod: Pod) -> bool:
    """Whether the node has every topology key of the pod's constraints (nodeLabelsMatchSpreadConstraints)."""
    return all(c.topology_key in node.labels for c in pod.spread)


def is_meant(other: Pod, pod: Pod) -> bool:
    """Whether one of the pod's constraints means the other pod (podLabelsMatchSpreadConstraints)."""
    return other.namespace == pod.namespace and any(c.counts(other.labels) for c in pod.spread)
