"""The plugin VolumeBinding (framework/plugins/volumebinding/volume_binding.go and binder.go, 1.36): volumes for the claims of a pod.

PreFilter and Filter are its base class. Reserve assumes which volumes are to be reserved, and where others are to be made. In the binding cycle, PreBind writes
that, and waits until the PV controller has bound the claims. Unreserve takes back what was assumed.
"""

from typing import Any

from ...environment.faults import Fault
from ...environment.objects import Node, Pod, Volume
from ...environment.storage.volumes import VolumeUse, reaches
from ...language import (
    SOMETHING,
    Expr,
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
from ..cycles.binding import BindingPhase
from ..framework.status import Phase
from .find_volumes import VolumeFinder, VolumeStage

TO_RESTORE = (VolumeStage.ASSUMED, VolumeStage.WRITTEN, VolumeStage.REVERTED)


class VolumeBinding(VolumeFinder):
    """Reserve, PreBind and Unreserve. The state is that of the base class."""

    # --- Reserve ---------------------------------------------------------------------------------------------

    def is_reserved(self, pod: Pod) -> Expr:
        """Whether Reserve has finished all claims of the pod."""
        return self._all(pod, VolumeStage.ASSUMED, VolumeStage.SETTLED)

    @step(actor="scheduler")
    @tells(
        changes("volume_binding.stage", after=VolumeStage.SETTLED),
        "Reserve: all claims of {pod} are bound by now, and nothing is left to do for them.",
        "Reserve: {pod} has claims that are not bound.",
    )
    def look_again(self, pod: Pod) -> None:
        """AssumePodVolumes begins with arePodVolumesBound: whether all claims are bound now. If they are, it does not check to which volumes."""
        require(bool(pod.volumes))
        require(self.scheduler.at(Phase.RESERVE, pod) & self._all(pod, VolumeStage.READ))
        bound = self.finds_all_bound(pod)
        with when(bound):
            self.unlist(pod)
        for use in self.uses(pod):
            settled = bound | self.claim[use].is_bound
            self.stage[use] = select(settled, VolumeStage.SETTLED, VolumeStage.OPEN)

    def finds_all_bound(self, pod: Pod) -> Expr:
        """arePodVolumesBound."""
        claims = [self.volume_cache.claim[use.claim] for use in self.uses(pod)]
        return all_of(claim.exists & claim.is_bound for claim in claims)

    def _require_open(self, use: VolumeUse) -> None:
        require(self.scheduler.at(Phase.RESERVE, use.pod) & self._is(use, VolumeStage.OPEN))
        require(all_of(~self._is(other, VolumeStage.OPEN) for other in self.earlier(use)))

    def is_match(self, use: VolumeUse, volume: Volume, node: Node) -> Expr:
        """FindMatchingVolume: the volume that is reserved for the claim, or any free volume that no earlier claim of the pod gets."""
        untaken = all_of(self.chosen[other] != volume for other in self.earlier(use))
        free = ~self.has_prebound(use) & self.is_free(volume, use.claim.storage_class, node)
        prebound = self.is_prebound(use, volume) & reaches(volume, self.seen[volume], node)
        unselected = as_expr(self.claim[use].selected).is_none
        return unselected & untaken & (free | prebound)

    @step(actor="scheduler")
    @tells(
        changes("volume_cache.assumed_volume"),
        "Reserve: {use} is to have {volume}, which is assumed to be reserved for it from now on.",
        changes("scheduler.scheduler_error", after=True),
        "Reserve: {use} is to have {volume}, which has been written meanwhile: Reserve fails.",
        "Reserve: {use} is to have {volume}, which is reserved for it already.",
    )
    def assume_volume(self, use: VolumeUse, volume: Volume) -> None:
        """AssumePodVolumes for a claim that gets an existing volume. A volume that is already reserved for the claim is not assumed again."""
        require(volume.storage_class is use.claim.storage_class)
        self._require_open(use)
        host = self.scheduler.host
        require(any_of((host == node) & self.is_match(use, volume, node) for node in self.universe[Node]))
        self.chosen[use] = volume
        self.chosen_lag[use] = self.seen_lag[volume]
        dirty = as_expr(self.seen[volume].claim) != use.claim
        fails = dirty & ~self.volume_cache.may_assume_volume(volume, self.seen_lag[volume])
        with when(fails):
            self._reserve_fails(use)
        with otherwise():
            with when(dirty):
                self.volume_cache.assumed_volume[volume] = use.claim
            self._assumed(use)

    @step(actor="scheduler")
    @tells(
        changes("volume_cache.assumed_claim", after=SOMETHING),
        "Reserve: a volume for {use} is to be made on {after}.",
        changes("scheduler.scheduler_error", after=True),
        "Reserve: a volume for {use} is to be made, and the claim has been written meanwhile: Reserve fails.",
        "Reserve: a volume for {use} is to be made, as it is assumed already.",
    )
    def assume_claim(self, use: VolumeUse) -> None:
        """AssumePodVolumes for a claim whose volume will be created: the annotation selected-node."""
        require(use.claim.storage_class.provisions)
        self._require_open(use)
        host = self.scheduler.host
        for node in self.universe[Node]:
            matched = any_of(self.is_match(use, volume, node) for volume in self.universe[Volume])
            require((host != node) | ~matched)
        with when(self.volume_cache.may_assume_claim(use.claim, self.lag[use])):
            self.volume_cache.assumed_claim[use.claim] = host
            self._assumed(use)
        with otherwise():
            self._reserve_fails(use)

    def _assumed(self, use: VolumeUse) -> None:
        self.stage[use] = VolumeStage.ASSUMED
        with when(self.is_reserved(use.pod)):
            self.unlist(use.pod)

    def _reserve_fails(self, use: VolumeUse) -> None:
        self._revert(use.pod)
        self.stage[use] = VolumeStage.REVERTED
        self.scheduler.scheduler_error = True
        self.scheduler.phase = Phase.FORGET

    def _revert(self, pod: Pod) -> None:
        """revertAssumedPVs and revertAssumedPVCs, for what was assumed and is not written yet."""
        for use in self.uses(pod):
            with when(self._is(use, VolumeStage.ASSUMED)):
                self._restore(use)
                self.stage[use] = VolumeStage.REVERTED

    def _restore(self, use: VolumeUse) -> None:
        with when(as_expr(self.chosen[use]).is_none):
            self.volume_cache.restore_claim(use.claim, self.lag[use])
        for volume in self.universe[Volume]:
            with when(self.chosen[use] == volume):
                self.volume_cache.restore_volume(volume, self.chosen_lag[use])

    # --- PreBind ---------------------------------------------------------------------------------------------

    def has_work(self, pod: Pod) -> Expr:
        """PreBindPreFlight: whether a claim has to be bound."""
        return any_of(self._is(use, VolumeStage.ASSUMED) for use in self.uses(pod))

    def is_bound(self, pod: Pod) -> Expr:
        """Whether PreBind has finished."""
        return self._all(pod, VolumeStage.SETTLED)

    def is_static(self, use: VolumeUse) -> Expr:
        """Whether the claim gets an existing volume."""
        return as_expr(self.chosen[use]).is_some

    def _require_write(self, use: VolumeUse) -> None:
        require(self.binding.phase[use.pod] == BindingPhase.PRE_BIND)
        require(self._is(use, VolumeStage.ASSUMED))
        require(
            all_of(
                ~self._is(other, VolumeStage.ASSUMED) | ~self.is_static(other) for other in self.earlier(use)
            )
        )

    def _written(self, use: VolumeUse) -> None:
        self.stage[use] = VolumeStage.WRITTEN

    def _fails(self, pod: Pod) -> None:
        self._revert(pod)
        self.binding.phase[pod] = BindingPhase.FORGET

    @step(actor="binding cycle", each="use")
    @tells(
        changes("storage.volume.claim", after=SOMETHING),
        "PreBind: {volume} is reserved for {use}.",
        changes("volume_binding.stage", after=VolumeStage.REVERTED),
        "PreBind: {volume} is to be reserved for {use}, and the API server refuses: it was written meanwhile.",
        "PreBind: {volume} is reserved for {use} already.",
    )
    def write_volume(self, use: VolumeUse, volume: Volume) -> None:
        """bindAPIUpdate: UPDATE of the volume, with the version of the current object. An error reverts what is not written yet."""
        require(volume.storage_class is use.claim.storage_class)
        self._require_write(use)
        require(self.chosen[use] == volume)
        current: Any = self.storage.volume[volume]
        with when((self.chosen_lag[use] == 0) & current.exists):
            self.storage.write_volume(volume, current.replace(claim=use.claim))
            self.chosen_lag[use] = 0
            self._written(use)
        with otherwise():
            self._fails(use.pod)

    @step(actor="binding cycle", each="use")
    @tells(
        changes("storage.claim.selected", after=SOMETHING),
        "PreBind: {use} is to have a volume on {after}.",
        changes("volume_binding.stage", after=VolumeStage.REVERTED),
        "PreBind: {use} is to have a volume there, and the API server refuses: it was written meanwhile.",
        "PreBind: {use} is to have a volume there already.",
    )
    def write_claim(self, use: VolumeUse) -> None:
        """bindAPIUpdate, after all volumes: UPDATE of the claim with the annotation selected-node."""
        require(use.claim.storage_class.provisions)
        self._require_write(use)
        require(~self.is_static(use))
        require(all_of(~self._is(o, VolumeStage.ASSUMED) | ~self.is_static(o) for o in self.uses(use.pod)))
        require(all_of(~self._is(other, VolumeStage.ASSUMED) for other in self.earlier(use)))
        current: Any = self.storage.claim[use.claim]
        with when((self.lag[use] == 0) & current.exists):
            self.storage.write_claim(use.claim, current.replace(selected=self.binding.node[use.pod]))
            self.since[use] = 0
            self._written(use)
        with otherwise():
            self._fails(use.pod)

    def waits(self, use: VolumeUse) -> Expr:
        """checkBindings: whether the claim is correct, but by the informers not bound yet."""
        return select(self.is_static(use), self._waits_static(use), self._waits_made(use))

    def fails(self, use: VolumeUse) -> Expr:
        """checkBindings: whether the binding has to be tried again."""
        return select(self.is_static(use), self._fails_static(use), self._fails_made(use))

    def _of_chosen(self, use: VolumeUse, said: Any) -> Expr:
        return any_of((self.chosen[use] == volume) & said(volume) for volume in self.universe[Volume])

    def _is_old(self, use: VolumeUse) -> Expr:
        lags = self.volume_cache.volume_lag
        return self._of_chosen(use, lambda volume: as_expr(lags[volume]) > self.chosen_lag[use])

    def _waits_static(self, use: VolumeUse) -> Expr:
        cached, claim = self.volume_cache.volume, self.volume_cache.claim[use.claim]
        there = self._of_chosen(use, lambda volume: cached[volume].exists) & claim.exists
        return there & (self._is_old(use) | (~self._fails_static(use) & ~claim.is_bound))

    def _fails_static(self, use: VolumeUse) -> Expr:
        """The volume or the claim is gone, or the volume is no longer reserved for any claim. It does not check whether the claim has this volume."""
        cached, claim = self.volume_cache.volume, self.volume_cache.claim[use.claim]
        gone = ~self._of_chosen(use, lambda volume: cached[volume].exists) | ~claim.exists
        reset = self._of_chosen(use, lambda volume: as_expr(cached[volume].claim).is_none)
        return gone | (~self._is_old(use) & reset)

    def _is_claim_old(self, use: VolumeUse) -> Expr:
        return as_expr(self.volume_cache.claim_lag[use.claim]) > self.since[use]

    def _misplaced(self, use: VolumeUse) -> Expr:
        """Whether the claim has a volume that the pod's node cannot use."""
        claim, cached = self.volume_cache.claim[use.claim], self.volume_cache.volume
        host = self.binding.node[use.pod]
        return any_of(
            (claim.volume == volume)
            & cached[volume].exists
            & ~any_of((host == node) & reaches(volume, cached[volume], node) for node in self.universe[Node])
            for volume in self.universe[Volume]
        )

    def _fails_made(self, use: VolumeUse) -> Expr:
        """Whether the claim is gone, has lost its annotation, or has a volume elsewhere."""
        claim = self.volume_cache.claim[use.claim]
        reset = as_expr(claim.selected) != self.binding.node[use.pod]
        return ~claim.exists | (~self._is_claim_old(use) & (reset | self._misplaced(use)))

    def _waits_made(self, use: VolumeUse) -> Expr:
        claim, cached = self.volume_cache.claim[use.claim], self.volume_cache.volume
        shown = any_of((claim.volume == v) & cached[v].exists for v in self.universe[Volume])
        unfinished = ~(shown & claim.is_bound)
        return claim.exists & (self._is_claim_old(use) | (~self._fails_made(use) & unfinished))

    def _require_waiting(self, pod: Pod) -> list[VolumeUse]:
        require(bool(pod.volumes))
        uses = self.uses(pod)
        require(self.binding.phase[pod] == BindingPhase.PRE_BIND)
        require(any_of(self._is(use, VolumeStage.WRITTEN) for use in uses))
        require(all_of(~self._is(use, VolumeStage.ASSUMED) for use in uses))
        return uses

    @step(actor="binding cycle", each="pod")
    @tells(
        changes("volume_binding.stage", after=VolumeStage.SETTLED),
        "PreBind: all claims of {pod} are bound.",
        "PreBind: the claims of {pod} cannot be bound like this, or the pod or its node is gone: the binding fails.",
    )
    def check_bindings(self, pod: Pod) -> None:
        """checkBindings, once a second: the first claim that is not bound decides whether to continue waiting or to fail. A check that changes nothing is not a step."""
        uses = self._require_waiting(pod)
        host = self.binding.node[pod]
        listed = any_of((host == node) & self.node_watch.lister[node] for node in self.universe[Node])
        alive = listed & self.pod_watch.under_name(pod).exists
        order = [(True, use) for use in uses] + [(False, use) for use in uses]
        wait, fail = as_expr(False), ~alive
        for static, use in order:
            applies = self._is(use, VolumeStage.WRITTEN) & (self.is_static(use) == as_expr(static))
            undecided = ~wait & ~fail & applies
            wait, fail = wait | (undecided & self.waits(use)), fail | (undecided & self.fails(use))
        require(~wait)
        with when(fail):
            self.binding.phase[pod] = BindingPhase.FORGET
        with otherwise():
            for use in uses:
                self.stage[use] = VolumeStage.SETTLED

    @step(actor="binding cycle", fair=False)
    @tells("PreBind: the claims of {pod} were not bound in time, and the binding fails.")
    def time_out(self, pod: Pod) -> None:
        """BindTimeoutSeconds are over."""
        self._require_waiting(pod)
        self.faults.spend(Fault.BIND_TIMEOUT, pod)
        self.binding.phase[pod] = BindingPhase.FORGET

    # --- Unreserve -------------------------------------------------------------------------------------------

    def is_unreserved(self, pod: Pod) -> Expr:
        """Whether Unreserve has finished all claims of the pod."""
        return all_of(~self._is(use, *TO_RESTORE) for use in self.uses(pod))

    @step(actor="binding cycle", each="use")
    @tells(
        changes("volume_cache.assumed_volume"),
        "Unreserve: the assume cache goes back to the informer's volume for {use}.",
        changes("volume_cache.assumed_claim"),
        "Unreserve: the assume cache goes back to the informer's claim of {use}.",
        "Unreserve: nothing is assumed for {use} any more.",
    )
    def restore(self, use: VolumeUse) -> None:
        """RevertAssumedPodVolumes: Restore of each current object. For a claim, this is the assumed object, even if it has been written since."""
        pod = use.pod
        fails = self.binding.phase[pod] == BindingPhase.FORGET
        require(fails | self.scheduler.at(Phase.FORGET, pod))
        require(self._is(use, *TO_RESTORE))
        require(all_of(~self._is(other, *TO_RESTORE) for other in self.earlier(use)))
        self._restore(use)
        self.stage[use] = VolumeStage.UNRESERVED
