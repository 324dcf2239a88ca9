"""A second scheduler that places pods of its own (spec.schedulerName) on the same nodes.

It has the filters of kube-scheduler, and informers, cache and assumptions of its own. Its queue, backoff, preemption and binding goroutines are not modelled: it tries its
pods at any moment in which it sees room. Two schedulers agree upon nothing: each hears of what the other has placed when that is bound and its informer tells it.
"""

from ..environment.api import APIServer
from ..environment.cluster.derived import Derived
from ..environment.cluster.node_versions import NodeVersion
from ..environment.cluster.pod_versions import PodVersion, in_form
from ..environment.objects import Node, Pod
from ..language import (
    NOTHING,
    Component,
    Expr,
    Words,
    as_expr,
    changes,
    per,
    ref,
    require,
    step,
    tells,
    when,
)
from .framework.filters import Filters
from .framework.placement import Placement


class ForeignPod(Derived, found=lambda cluster: ((pod,) for pod in cluster.spec.pods if pod.foreign)):
    """A pod that the second scheduler places."""

    pod: Pod


class KnownPod(Derived, found=lambda cluster: ((pod,) for pod in cluster.spec.pods if cluster[ForeignPod])):
    """A pod as the second scheduler sees it: all, if there is one."""

    pod: Pod


class OtherScheduler(Component):
    """A second scheduler. `node[p]`: the pod's node in its informer. `assumed[p]`: the node on which it has placed the pod, until its informer shows it, or the Binding fails."""

    api: APIServer
    filters: Filters

    kinds = (KnownPod, ForeignPod)

    node = per(KnownPod, ref(Node))
    assumed = per(ForeignPod, ref(Node))

    phrases = {
        "node": Words("second scheduler: {0} is on {after}", "second scheduler: {0} is gone"),
        "assumed": Words("second scheduler: {0} is assumed on {after}", "", decisive=True),
    }

    def setup(self) -> None:
        for seen in self.universe[KnownPod]:
            self.node[seen] = seen.pod.node

    @step(actor="second scheduler's informer", each="seen")
    @tells("The second scheduler hears where {seen} is.")
    def hear(self, seen: KnownPod) -> None:
        """Its cache gets the current state. Until then, it has an older one."""
        now = self.api.pod[seen.pod].node
        require(self.node[seen] != now)
        self.node[seen] = now
        for foreign in self.universe[ForeignPod]:
            if foreign.pod is seen.pod:
                self.assumed[foreign] = None

    @step(actor="second scheduler", each="foreign")
    @tells("The second scheduler finds room for {foreign} on {node}, and assumes it there.")
    def assume(self, foreign: ForeignPod, node: Node) -> None:
        """A cycle of its own: the filters pass a node, by its own cache."""
        current = self.api.pod[foreign.pod]
        require(
            current.pending & ~current.terminating & ~current.gated & as_expr(self.assumed[foreign]).is_none
        )
        where = self.placement()
        require(where.live[node] & self.fits(foreign.pod, node, where))
        self.assumed[foreign] = node

    @step(actor="second scheduler", each="foreign")
    @tells(
        changes("other_scheduler.assumed", after=NOTHING),
        "The second scheduler finds that {foreign} cannot be bound, and keeps no room for it any more.",
        "The second scheduler binds {foreign}.",
    )
    def bind(self, foreign: ForeignPod) -> None:
        """Its Binding. If it is refused, the pod is no longer assumed; if it is accepted, the pod stays assumed until the informer shows it."""
        pod = foreign.pod
        node = as_expr(self.assumed[foreign])
        accepted = self.api.can_bind(pod)
        pending = self.api.pod[pod].pending
        require(node.is_some & (pending | ~self.api.pod[pod].exists))
        with when(~accepted):
            self.assumed[foreign] = None
        with when(accepted):
            self.api.bind(pod, node)

    def fits(self, pod: Pod, node: Node, where: Placement) -> Expr:
        """Whether the filters pass the node for the pod."""
        return in_form(
            self.universe,
            pod,
            self.api.pod[pod].version,
            lambda form: where.ask(node, lambda content, at: as_expr(self.filters.fits(form, content, at))),
        )

    def placement(self) -> Placement:
        """The content of its cache: the pods on the nodes in its informer, and on those on which it has assumed them. Nodes and versions are current."""
        assumed = {foreign.pod: as_expr(self.assumed[foreign]) for foreign in self.universe[ForeignPod]}
        on = {
            seen.pod: {
                node: (self.node[seen] == node)
                | (assumed[seen.pod] == node if seen.pod in assumed else False)
                for node in self.universe[Node]
            }
            for seen in self.universe[KnownPod]
        }
        return Placement(
            on,
            {node: as_expr(self.api.node_exists[node]) for node in self.universe[Node]},
            shown={v: self.api.node_version[v.node] == v for v in self.universe[NodeVersion]},
            held={v: self.api.pod[v.pod].version == v.number for v in self.universe[PodVersion]},
        )
