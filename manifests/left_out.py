"""What the pods and nodes that are left out still mean for the kept ones.

The pods that are left out never move. So a term of inter-pod affinity between them and a kept pod is either met on a node or not,
and closes nodes to the pod for good; so does a host port that one of them has. What a topology spread constraint counts among them are numbers that stay; a scenario has
them as `others` of the constraint.

A scenario closes a node to a pod by a mark that is made for that pod alone. For most pods the mark is a label of the node, and a
node affinity of the pod that asks for nodes without it. A topology spread constraint counts only the nodes that the node affinity
of its pod allows, but also nodes that are closed for another reason. So for a pod with such constraints the mark is a taint that
every other pod tolerates. With nodeTaintsPolicy Honor it is a label again, unless another policy of the pod's is Honor for affinity: then what it
counts on the closed node is left out, and said.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

from ..base.structs import Data
from ..model.environment.cluster.placement_rules import SpreadConstraint
from ..model.environment.objects import Taint, Term, Toleration
from .members import ClusterNode, ClusterPod
from .reading.pod_objects import Spread
from .representative import Representative


class Affinity(Data):
    """The terms that a kept pod keeps, the kept nodes that are closed to it, and whether that says all that was said."""

    terms: Sequence[Term]
    closed: Sequence[ClusterNode]
    exact: bool


def affinity_of(pod: ClusterPod, kept: Representative) -> Affinity:
    """What is left of the affinity of a kept pod."""
    others = [p for p in kept.pods if p is not pod]
    if not kept.is_placed(pod):  # it is never scheduled again: what counts is whom it keeps away
        return Affinity(_about([t for t in pod.terms if t.anti], others), (), True)
    situation = kept.situation
    attracted, repelled = [[t for t in pod.terms if t.anti == anti] for anti in (False, True)]

    def met_by(some: Iterable[ClusterPod]) -> list[ClusterPod]:
        return [p for p in some if attracted and all(t.matches(p.entity) for t in attracted)]

    def closed(terms: Sequence[Term]) -> list[ClusterNode]:
        return [
            n
            for n in kept.nodes
            if situation.port_taken(pod, n, left_out) or not situation.has_affinity(pod, terms, n, left_out)
        ]

    left_out = [p for p in kept.inventory.bound if p not in kept.pods]
    keys = {t.topology_key for t in attracted}
    somewhere = {n.name for n in kept.inventory.nodes if keys & n.labels.keys()}
    if not met_by(
        p for p in left_out if p.node in somewhere
    ):  # a pod on a node without the keys counts nowhere
        return Affinity([*attracted, *_about(repelled, others)], closed(repelled), True)
    if not met_by(others):
        return Affinity(_about(repelled, others), closed(pod.terms), True)
    away = closed(repelled)
    everywhere = all(situation.has_affinity(pod, attracted, n, left_out) for n in kept.nodes if n not in away)
    terms = [*([] if everywhere else attracted), *_about(repelled, others)]
    return Affinity(terms, away, everywhere)


def _about(terms: Iterable[Term], pods: Sequence[ClusterPod]) -> list[Term]:
    return [t for t in terms if any(t.matches(p.entity) for p in pods)]


class Closing(Data):
    """The mark by which nodes are closed to a pod."""

    pod: ClusterPod
    key: str
    nodes: Sequence[ClusterNode]

    @property
    def taint(self) -> Taint | None:
        """The mark, if it is a taint."""
        spread = self.pod.spread
        label = any(c.honors_taints for c in spread) and not any(c.honors_affinity for c in spread)
        return Taint(self.key) if spread and not label else None


def closings_of(kept: Representative, affinity: Mapping[str, Affinity]) -> list[Closing]:
    """The marks for the kept pods, one for each to which nodes are closed: by affinity, by host ports, or by claims."""
    found = []
    for i, pod in enumerate(kept.pods):
        maker = kept.makers.of(pod) if kept.makers is not None else None
        if maker is not None and maker.template is not pod:  # it is written as that one
            continue
        closed = [*affinity[pod.name].closed, *kept.claims.closed.get(pod.name, ())]
        if closed:
            found.append(Closing(pod, f"podrace.io/closed-to-{i}", list(dict.fromkeys(closed))))
    return found


def tolerations_of(pod: ClusterPod, kept: Representative, closings: Sequence[Closing]) -> list[Toleration]:
    """What of the pod's tolerations matters on the kept nodes, and that it tolerates the marks of the others."""
    taints = [t for n in kept.nodes for t in (*n.repelling, *n.to_come)]
    if not kept.is_placed(pod):  # it is never scheduled again: what counts is whether it has to leave
        taints = [t for n in kept.nodes if n.name == pod.node for t in n.executing]
    own = [t for t in pod.tolerations if any(t.tolerates(taint) for taint in taints)]
    if not any(leaving(kept)):  # nobody counts the seconds
        own = [replace(t, seconds=None) for t in own]
    if not kept.is_placed(pod):
        return own
    if any(c.pod is pod and c.taint for c in closings):
        own = list(dict.fromkeys(_narrow(own, taints)))
    return own + [Toleration(c.key, "Exists") for c in closings if c.taint and c.pod is not pod]


def _narrow(tolerations: Iterable[Toleration], taints: Sequence[Taint]) -> Iterator[Toleration]:
    """Without one that tolerates every key, for it would tolerate the pod's own mark as well."""
    for toleration in tolerations:
        if toleration.key:
            yield toleration
        else:
            yield from (
                Toleration(
                    t.key, "Exists", "", t.effect, toleration.seconds if t.effect == "NoExecute" else None
                )
                for t in taints
                if toleration.tolerates(t)
            )


def leaving(kept: Representative) -> Iterator[tuple[ClusterPod, ClusterNode]]:
    """The kept pods that taints with NoExecute may have leave kept nodes: those that are there, or may go there, and do not tolerate them for ever."""
    for node in kept.nodes:
        for pod in kept.pods if node.executing else ():
            used = [[t for t in pod.tolerations if t.tolerates(taint)] for taint in node.executing]
            for_ever = all(some and all(t.seconds is None for t in some) for some in used)
            if not for_ever and (pod.node == node.name or (kept.is_placed(pod) and all(used))):
                yield pod, node


def constraints_of(pod: ClusterPod, kept: Representative) -> list[SpreadConstraint]:
    """The constraints of a kept pod, as exact as in the whole cluster but for `uncounted` nodes; none if it is on a node."""
    if not kept.is_placed(pod):  # it is never scheduled again
        return []

    def rest(node: ClusterNode) -> list[ClusterPod] | None:
        return kept.dropped_on(node) if node in kept.nodes else None

    return [c.entity(kept.situation.others(pod, i, kept.nodes, rest)) for i, c in enumerate(pod.spread)]


def uncounted(closing: Closing, kept: Representative) -> Iterator[tuple[Spread, list[ClusterNode]]]:
    """The constraints of the pod that count a node which is closed to it, but not once it has the mark: a taint."""
    for spread in closing.pod.spread if closing.taint else ():
        nodes = [n for n in closing.nodes if kept.situation.counts(closing.pod, spread, n)]
        if spread.honors_taints and nodes:
            yield spread, nodes


def remarks_of(kept: Representative) -> Iterator[str]:
    """What is to be said of kept pods whose constraints and claims the model cannot heed in full, with the pod's name."""
    yield from kept.claims.remarks
    yield from doubts_of_marks(kept)
    for pod in kept.pods:
        if pod.owner.startswith("StatefulSet/") and pod.name.endswith("-again"):
            yield f"a StatefulSet makes its pod again under the same name: that names are used again is not in the scenario (Pod/{pod.name})"


def doubts_of_marks(kept: Representative) -> Iterator[str]:
    """What the constraints of kept pods do not count because a node is closed by a taint, with the pod's name."""
    for closing in closings_of(kept, {pod.name: affinity_of(pod, kept) for pod in kept.pods}):
        for spread, nodes in uncounted(closing, kept):
            yield (
                f"nodeTaintsPolicy of the constraint by {spread.topology_key} does not count kept pods on {', '.join(n.name for n in nodes)}, "
                f"as a taint of the scenario's closes it to the pod: the verdict is not about these (Pod/{closing.pod.name})"
            )
