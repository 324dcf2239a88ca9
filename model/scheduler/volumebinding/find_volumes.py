"""What the plugin VolumeBinding finds in the scheduling cycle (framework/plugins/volumebinding/volume_binding.go and binder.go, 1.36).

PreFilter reads the pod's claims, and the volumes of their classes, if some claim waits for a consumer. Filter asks on each node whether the volumes of bound
claims can be used there, and whether there are volumes for the others, or they can be made.
"""

from enum import Enum
from typing import Any

from ...environment.faults import Faults
from ...environment.objects import Node, Pod, StorageClass, Volume, VolumeClaim
from ...environment.storage.volumes import (
    MOST_BEHIND,
    Storage,
    VolumeClaimObject,
    VolumeObject,
    VolumeUse,
    older,
    reaches,
)
from ...environment.watch import NodeWatch, PodWatch
from ...language import (
    SOMETHING,
    Component,
    Expr,
    Lasts,
    Words,
    all_of,
    any_of,
    as_expr,
    changes,
    count,
    enum,
    integer,
    one_of,
    otherwise,
    per,
    ref,
    require,
    select,
    step,
    tells,
    when,
)
from ..cycles.binding import Binding
from ..cycles.schedule_one import Scheduler
from ..framework.events import VOLUME_BINDING, VOLUME_RESTRICTIONS
from ..framework.status import NodeStatus, Phase
from .assume_cache import VolumeCache


class VolumeStage(Enum):
    """How far the plugin is with a claim of a pod."""

    NONE = 0
    READ = 1
    OPEN = 2
    ASSUMED = 3
    WRITTEN = 4
    SETTLED = 5
    REVERTED = 6
    UNRESERVED = 7


class VolumeFinder(Component):
    """The state of the plugin in the cycles of each pod (stateData).

    `claim[u]` is the claim as PreFilter read it, `lag[u]` how far it is behind. `chosen[u]` is the volume that the claim is to have, `chosen_lag[u]` how far
    the plugin's object of it is behind; without one the claim's is to be made. `since[u]`: how far the claim is behind as it was written.
    `seen[v]` are the volumes as this scheduling cycle listed them.
    """

    storage: Storage
    volume_cache: VolumeCache
    scheduler: Scheduler
    binding: Binding
    faults: Faults
    pod_watch: PodWatch
    node_watch: NodeWatch

    stage = per(VolumeUse, enum(VolumeStage))
    claim = per(VolumeUse, VolumeClaimObject)
    lag = per(VolumeUse, integer(0, MOST_BEHIND))
    chosen = per(VolumeUse, ref(Volume))
    chosen_lag = per(VolumeUse, integer(0, MOST_BEHIND))
    since = per(VolumeUse, integer(0, MOST_BEHIND))
    seen = per(Volume, VolumeObject)
    seen_lag = per(Volume, integer(0, MOST_BEHIND))

    steps_last = Lasts.SHORT

    phrases = {"chosen": Words("VolumeBinding: {0} is to have {after}", decisive=True)}

    def volume_written(self, volume: Volume) -> None:
        """A write at the API server makes the objects at hand of the volume one version older."""
        with when(self.seen[volume].exists):
            self.seen_lag[volume] = older(self.seen_lag[volume])
        for use in self.universe[VolumeUse]:
            with when(self.chosen[use] == volume):
                self.chosen_lag[use] = older(self.chosen_lag[use])

    def claim_written(self, claim: VolumeClaim) -> None:
        """A write at the API server makes the objects at hand of the claim one version older."""
        for use in self.universe[VolumeUse]:
            if use.claim is claim:
                with when(self.stage[use] != VolumeStage.NONE):
                    self.lag[use] = older(self.lag[use])
                with when(self._is(use, VolumeStage.WRITTEN)):
                    self.since[use] = older(self.since[use])

    def uses(self, pod: Pod) -> list[VolumeUse]:
        """The claims of a pod, in order."""
        return [use for use in self.universe[VolumeUse] if use.pod is pod]

    def earlier(self, use: VolumeUse) -> list[VolumeUse]:
        """The earlier claims of the same pod."""
        return [other for other in self.uses(use.pod) if other.index < use.index]

    def clear(self, pod: Pod) -> None:
        """The pod's cycles are over: what they read of its claims is dropped."""
        for use in self.uses(pod):
            self.stage[use] = VolumeStage.NONE
            self.claim[use] = VolumeClaimObject()
            self.lag[use] = 0
            self.chosen[use] = None
            self.chosen_lag[use] = 0
            self.since[use] = 0

    def unlist(self, pod: Pod) -> None:
        """The pod's scheduling cycle no longer needs the list of volumes."""
        if pod.volumes:
            for volume in self.universe[Volume]:
                self.seen[volume] = VolumeObject()
                self.seen_lag[volume] = 0

    def _is(self, use: VolumeUse, *stages: VolumeStage) -> Expr:
        return one_of(self.stage[use], *stages)

    def _all(self, pod: Pod, *stages: VolumeStage) -> Expr:
        return all_of(self._is(use, *stages) for use in self.uses(pod))

    # --- PreFilter -------------------------------------------------------------------------------------------

    def begin(self, pod: Pod) -> None:
        """The cycle has its snapshot: PreFilter begins for a pod with claims."""
        if pod.volumes:
            self.scheduler.phase = Phase.READ_VOLUME_CLAIMS

    @step(actor="scheduler")
    @tells(
        changes("scheduler.verdict", after=NodeStatus.UNRESOLVABLE),
        "VolumeBinding reads {use}, which is not there, or is not to be used: the attempt has to wait.",
        changes("volume_binding.claim.volume", after=SOMETHING),
        "VolumeBinding reads {use}: it is bound to {after}.",
        "VolumeBinding reads {use}: it is not bound.",
    )
    def read_claim(self, use: VolumeUse) -> None:
        """podHasPVCs and GetPodVolumeClaims, for one claim after the other. If a claim is gone, is being deleted, or should already be bound, the pod fits on no node.

        That a claim is there is what VolumeRestrictions asks first.
        """
        pod = use.pod
        require(self.scheduler.at(Phase.READ_VOLUME_CLAIMS, pod) & self._is(use, VolumeStage.NONE))
        require(all_of(self._is(other, VolumeStage.READ) for other in self.earlier(use)))
        found: Any = self.volume_cache.get_claim(use.claim)
        immediate = as_expr(use.claim.storage_class.immediate) | as_expr(found.volume).is_some
        self.claim[use] = found
        self.lag[use] = self.volume_cache.claim_lag[use.claim]
        self.stage[use] = VolumeStage.READ
        with when(~found.exists):
            self.scheduler.reject_everywhere(VOLUME_RESTRICTIONS)
        with otherwise(found.terminating | (~found.is_bound & immediate)):
            self.scheduler.reject_everywhere(VOLUME_BINDING)
        with otherwise(self._all(pod, VolumeStage.READ)):
            with when(all_of(self.claim[other].is_bound for other in self.uses(pod))):
                self.scheduler.phase = self.scheduler.first_filtering()
            with otherwise():
                self.scheduler.phase = Phase.LIST_VOLUMES

    @step(actor="scheduler")
    @tells("VolumeBinding lists the volumes for {pod}.")
    def list_volumes(self, pod: Pod) -> None:
        """ListPVs: the volumes of the classes whose claims wait for a consumer, with the assumed changes."""
        require(bool(pod.volumes))
        require(self.scheduler.at(Phase.LIST_VOLUMES, pod))
        for volume in self.universe[Volume]:
            if any(use.claim.storage_class is volume.storage_class for use in self.uses(pod)):
                found: Any = self.volume_cache.get_volume(volume)
                with when(found.exists):
                    self.seen[volume] = found
                    self.seen_lag[volume] = self.volume_cache.volume_lag[volume]
        self.scheduler.phase = self.scheduler.first_filtering()

    # --- Filter ----------------------------------------------------------------------------------------------

    def passes(self, pod: Pod, node: Node) -> Expr:
        """FindPodVolumes: whether the volumes of bound claims can be used on the node, and there are volumes on it for the other claims."""
        return all_of(
            select(self.claim[use].is_bound, self.finds_bound(use, node), self.finds_other(use, node))
            for use in self.uses(pod)
        ) & all_of(self.has_enough(pod, of, node) for of in self.classes(pod))

    def note_filtered(self, pod: Pod, node: Node, reached: Expr) -> None:
        """What Filter keeps for PostFilter of VolumeBinding: nothing, because there is none."""

    def classes(self, pod: Pod) -> list[StorageClass]:
        """The storage classes of a pod's claims."""
        return list(dict.fromkeys(use.claim.storage_class for use in self.uses(pod)))

    def finds_bound(self, use: VolumeUse, node: Node) -> Expr:
        """checkBoundClaims: whether the cache has the volume now, and its node affinity matches the node."""
        cached = self.volume_cache.volume
        return any_of(
            (self.claim[use].volume == volume) & cached[volume].exists & reaches(volume, cached[volume], node)
            for volume in self.universe[Volume]
        )

    def is_prebound(self, use: VolumeUse, volume: Volume) -> Expr:
        """Whether the volume was reserved for the claim in the cycle's list."""
        listed: Any = self.seen[volume]
        same = as_expr(volume.storage_class is use.claim.storage_class)
        return same & listed.exists & (listed.claim == use.claim)

    def has_prebound(self, use: VolumeUse) -> Expr:
        """Whether a volume is reserved for the claim. Then no other volume is possible."""
        return any_of(self.is_prebound(use, volume) for volume in self.universe[Volume])

    def finds_prebound(self, use: VolumeUse, node: Node) -> Expr:
        """Whether such a volume can be used on the node."""
        return any_of(
            self.is_prebound(use, volume) & reaches(volume, self.seen[volume], node)
            for volume in self.universe[Volume]
        )

    def is_free(self, volume: Volume, of: StorageClass, node: Node) -> Expr:
        """Whether the cycle's list had the volume as free, and it can be used on the node."""
        listed: Any = self.seen[volume]
        same = as_expr(volume.storage_class is of)
        return same & listed.exists & as_expr(listed.claim).is_none & reaches(volume, listed, node)

    def finds_other(self, use: VolumeUse, node: Node) -> Expr:
        """The conditions that an unbound claim itself sets: its selected node, and a volume that is reserved for it.

        If that volume cannot be used on the node, another may be made, as if there were none (findMatchingVolumes).
        """
        selected = as_expr(self.claim[use].selected)
        provisions = as_expr(use.claim.storage_class.provisions)
        static = ~self.has_prebound(use) | self.finds_prebound(use, node) | provisions
        return select(selected.is_some, (selected == node) & provisions, static)

    def needs_free(self, use: VolumeUse) -> Expr:
        """Whether the claim can get any free volume."""
        open_ = ~self.claim[use].is_bound & as_expr(self.claim[use].selected).is_none
        return open_ & ~self.has_prebound(use)

    def has_enough(self, pod: Pod, of: StorageClass, node: Node) -> Expr:
        """Whether the node has enough free volumes for the claims, unless more can be created."""
        if of.provisions:
            return as_expr(True)
        own = [use for use in self.uses(pod) if use.claim.storage_class is of]
        free = count(self.is_free(volume, of, node) for volume in self.universe[Volume])
        return free >= count(self.needs_free(use) for use in own)
