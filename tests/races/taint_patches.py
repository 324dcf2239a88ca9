"""Proposed patches for the hazards of taints, each as a subclass of the taint eviction controller."""

from __future__ import annotations

from podrace.model.environment.controllers.node_lifecycle import Stage
from podrace.patching import (
    NO_EXECUTE,
    Entry,
    Expr,
    Fate,
    Mark,
    Node,
    NodeLifecycle,
    Pod,
    TaintEviction,
    Work,
    Worker,
    any_of,
    as_expr,
    fate,
    in_form,
    versions_in,
    when,
)


class LiveTaintsAsked(TaintEviction):
    """Before a pod is deleted, the API server is asked for it and for its node: one that may stay by what they say is left alone (140198).

    The DELETE is another call, so that a taint may go between the two.
    """

    def begin(self, pod: Pod) -> None:
        super().begin(pod)
        with when(~any_of(self._has_to_leave(named) for named in self.api.of_name(pod))):
            self.work[self.seen(pod)] = Work.END

    def _has_to_leave(self, pod: Pod) -> Expr:
        current = self.api.pod[pod]
        return current.assigned & any_of(
            (current.node == node) & self.api.node_exists[node] & self._repels(pod, node)
            for node in self.universe[Node]
        )

    def _repels(self, pod: Pod, node: Node) -> Expr:
        own = versions_in(self.universe, node)
        shown = [(self.api.node_version[node] == v, v.content) for v in own] or [(as_expr(True), node)]

        def goes(content: Node) -> Expr:
            return in_form(
                self.universe,
                pod,
                self.api.pod[pod].version,
                lambda form: as_expr(fate(form, content) is not Fate.STAYS),
            )

        return any_of(shows & goes(content) for shows, content in shown)


class TaintedDeletedByUID(TaintEviction):
    """The UID is a precondition of the DELETE, as in 141568."""

    def send_delete(self, pod: Pod) -> None:
        for named in self.api.of_name(pod):
            with when(self.target[self.seen(pod)] == named):
                self.api.delete_pod(named)


class WorksByUID(TaintEviction):
    """Works are kept by UID: that of a pod which is gone keeps none out for the next of its name, nor takes it away."""

    def add_work(self, pod: Pod, entry: Entry) -> None:
        name = self.name_of(pod)
        with when(
            (self.work[self.seen(name)] != Work.NONE)
            & (self.target[self.seen(name)] != pod)
            & ~self.armed[self.seen(name)]
        ):
            self.entry[self.seen(name)] = Entry.NONE
        super().add_work(pod, entry)

    def conclude(self, pod: Pod) -> None:
        with when(~self.armed[self.seen(pod)]):
            super().conclude(pod)


class TaintsGoTogether(NodeLifecycle):
    """Whoever removes the taint with NoSchedule from a node that is ready removes the one with NoExecute in the same write, as 112930 asks for."""

    def call(
        self, node: Node, worker: Worker, stage: Stage, adds: frozenset[Mark], removes: frozenset[Mark]
    ) -> None:
        also = frozenset((key, NO_EXECUTE) for key, _ in removes) if worker is Worker.UPDATES else removes
        super().call(node, worker, stage, adds, removes | also if not adds else removes)


class TaintedIfNotReady(NodeLifecycle):
    """A taint is added only to a node that the same read of the API server shows as not ready."""

    def call(
        self, node: Node, worker: Worker, stage: Stage, adds: frozenset[Mark], removes: frozenset[Mark]
    ) -> None:
        if stage is not Stage.ADD:
            super().call(node, worker, stage, adds, removes)
            return
        with when(~self.says(node, "True")):
            super().call(node, worker, stage, adds, removes)
        with when(self.says(node, "True")):
            self.done(worker, node)
