"""Proposed patches for the open races of docs/volumes.md, each as a subclass of a part of the scheduler."""

from __future__ import annotations

from podrace.patching import (
    Attachable,
    Cache,
    CountedClaim,
    CsiInformers,
    CsiView,
    Expr,
    Filters,
    Node,
    Phase,
    Placement,
    Pod,
    Provisioner,
    Value,
    VolumeBinding,
    VolumeClaim,
    VolumeStage,
    VolumeUse,
    any_of,
    as_expr,
    one_of,
    require,
    step,
    when,
)


class BoundAsFiltered(VolumeBinding):
    """Reserve fails if a claim has been bound since Filter looked: the next attempt looks where its volume is."""

    def look_again(self, pod: Pod) -> None:
        super().look_again(pod)
        unseen = any_of(
            self.volume_cache.claim[use.claim].is_bound & ~self.claim[use].is_bound for use in self.uses(pod)
        )
        with when(unseen):
            for use in self.uses(pod):
                self.stage[use] = VolumeStage.UNRESERVED
            self.scheduler.scheduler_error = True
            self.scheduler.phase = Phase.FORGET


class OwnVolumeChecked(VolumeBinding):
    """checkBindings fails if the claim is bound to another volume than the one that it was to have."""

    def _fails_static(self, use: VolumeUse) -> Expr:
        claim = self.volume_cache.claim[use.claim]
        other = claim.is_bound & (as_expr(claim.volume) != self.chosen[use])
        return super()._fails_static(use) | (~self._is_old(use) & other)


class OthersAssumptionsKept(VolumeBinding):
    """Restore drops nothing that has been written, nor anything that another pod with the claim relies on."""

    def _restore(self, use: VolumeUse) -> None:
        siblings = [
            other for other in self.universe[VolumeUse] if other.claim is use.claim and other is not use
        ]
        relied = any_of(one_of(self.stage[o], VolumeStage.ASSUMED, VolumeStage.WRITTEN) for o in siblings)
        with when(~relied & (self.stage[use] != VolumeStage.WRITTEN)):
            super()._restore(use)


class StaysWithNode(Provisioner):
    """The library of provisioners before version 8.0: it went on trying for a node that is gone."""

    @step(actor="provisioner")
    def leave_node(self, claim: VolumeClaim) -> None:
        """Nobody looked."""
        require(False)


class GhostsUncounted(Cache):
    """The users of a claim on a node that is gone count no more, also when they go or come; those on a node that is back count again."""

    def _miscount(self, claim: CountedClaim, more: Value) -> None:
        """Nothing is left to be counted twice, or not at all."""


class VictimsVolumesLeave(Filters):
    """In a dry run of preemption, attached volumes of victims do not count: they are detached when the victims are gone."""

    def holders(self, node: Node, placement: Placement) -> list[tuple[Pod, Expr]]:
        there = [(q, row[node]) for q, row in placement.prefiltered.items() if node in row]
        return [*super().holders(node, placement), *there]


class OwnVolumeOnce(Filters):
    """The pod's own volume that is attached to the node already counts once, as its own."""

    def is_brought(self, pod: Pod, at: Attachable, csi: CsiView) -> Expr:
        own = (c for c in self.universe[VolumeClaim] if c.name in pod.volumes)
        return any_of(csi.has_claim(c) & (csi.volume_of(c) == at.volume) for c in own)


class AttachedAtOnce(CsiInformers):
    """A control: the scheduler sees VolumeAttachments as they are."""

    def is_attached(self, at: Attachable) -> Expr:
        return as_expr(self.csi_nodes.attached[at])
