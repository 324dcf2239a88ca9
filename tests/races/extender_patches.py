"""Proposed patches for what an extender's own view does, each as a subclass of a part of the model."""

from __future__ import annotations

from podrace.patching import (
    EXTENDER,
    Binding,
    Expr,
    Extender,
    HTTPExtender,
    Node,
    Placement,
    Plugin,
    Pod,
    PodCopy,
    Preemption,
    PriorityQueue,
    Scheduler,
    step,
)


class CountsWhenAsked(Extender):
    """It answers with one node, and counts the pod there from then on, as HAMi does."""

    def picks(self, pod: Pod, extender: HTTPExtender) -> bool:
        return extender in self.filters(pod)


class ToldOfFailure(Binding):
    """Whoever forgets a pod tells the extender, which counts it no longer: Unreserve, as plugins have it."""

    @step(actor="binding cycle", each="pod")
    def forget(self, pod: Pod) -> None:
        """ForgetPod, and the extender forgets the pod, too."""
        super().forget(pod)
        for managed in self.extender.asked_about(pod):
            self.extender.note(managed, None)


class RejectedByExtenderRetried(PriorityQueue):
    """A pod that an extender rejected is tried again after a backoff: nobody tells when the extender would change its mind."""

    def is_retried(self, pod: Pod, copy: PodCopy) -> Expr:
        retried: Expr = super().is_retried(pod, copy)
        for plugin in self.universe[Plugin]:
            if plugin.name == EXTENDER:
                retried = retried | self.rejected_by[pod][plugin]
        return retried


class ExtendersInDryRuns(Preemption):
    """The dry runs ask the extender, too, which pods have to go (140252; its code was not read)."""

    def _fits(self, pod: Pod, node: Node, placement: Placement) -> Expr:
        fits: Expr = super()._fits(pod, node, placement)
        present = placement.present(pod, node)
        for extender in self.extender.filters(pod):
            managed = self.extender.managed(pod, extender)
            fits = fits & self.extender.has_room(managed, node, {q: ~here for q, here in present.items()})
        return fits

    @property
    def extender(self) -> Extender:
        """The extender, which the preemption of kube-scheduler does not know here."""
        found = self._model.parts["extender"]
        assert isinstance(found, Extender)
        return found


class ToldOfRejection(Scheduler):
    """Whoever gives a pod up in its scheduling cycle tells the extenders, too: one that is placed nowhere is counted nowhere."""

    @step(actor="scheduler")
    def fail(self, pod: Pod) -> None:
        """The failure handler takes over, and the extenders forget the pod."""
        super().fail(pod)
        for managed in self.extender.asked_about(pod):
            self.extender.note(managed, None)


class VetoIsNoted(Scheduler):
    """What extenders leave of the candidates is recorded as what they reject in the filter call: where nothing is left, any event may help."""

    @step(actor="scheduler")
    def ask_extender_about_victims(self, pod: Pod, extender: HTTPExtender, ok: bool) -> None:
        """callExtenders, which notes who was asked."""
        super().ask_extender_about_victims(pod, extender, ok)
        self.note_extender()
