"""Volumes and their claims: what must never be so, and what the scheduler must not forget."""

from collections.abc import Iterator
from itertools import combinations

from ...model.environment.objects import Node, Pod, Volume, VolumeClaim
from ...model.environment.storage.volumes import Storage, VolumeUse, reaches
from ...model.language import Case, Expr, all_of, any_of, as_expr, before, boolean, one_of, when
from ...model.scheduler import VolumeBinding, VolumeCache
from ...model.scheduler.cycles.binding import BindingPhase
from ...model.scheduler.volumebinding.find_volumes import VolumeStage
from ..base.property import Property
from ..placement.bindings import AboutOwnBindings
from ..scheduling.liveness import waits_in_vain


class AboutVolumes(Property):
    """Base class of the properties of volumes."""

    storage: Storage
    volume_cache: VolumeCache
    volume_binding: VolumeBinding

    @property
    def uses(self) -> tuple[VolumeUse, ...]:
        """Which pod mounts which claim's volume."""
        return self.universe[VolumeUse]

    @property
    def own_uses(self) -> list[VolumeUse]:
        """Those of the pods whose violations count, and that are not on a node from the start."""
        return [use for use in self.uses if use.pod in self.subjects and use.pod.node is None]

    def witnesses(self) -> dict[str, Expr]:
        bound = [self.storage.claim[claim].is_bound for claim in self.universe[VolumeClaim]]
        return {"a claim is bound": any_of(bound)}


class PodsReachTheirVolumes(AboutOwnBindings, AboutVolumes):
    """A pod that the scheduler binds to a node can use the volumes of its claims there: each claim is bound, to a volume that the node reaches.

    The property ignores two cases: a claim that a user has deleted or is deleting, and a pod that another
    client binds.
    """

    id = "S-VOL"
    consequence = "A pod is bound to a node that does not reach its volume. It stays in ContainerCreating, as the volume cannot be attached, until it is deleted."
    issues = (93552,)
    concerns = "the pod that cannot use its volume"

    def is_reached(self, use: VolumeUse) -> Expr:
        """Whether the claim is bound to a volume that can be used where the pod is."""
        current, where = self.storage.claim[use.claim], self.api.pod[use.pod].node
        return current.is_bound & any_of(
            (current.volume == volume)
            & self.storage.volume[volume].exists
            & (where == node)
            & reaches(volume, self.storage.volume[volume], node)
            for volume in self.universe[Volume]
            for node in self.universe[Node]
        )

    def wrong(self) -> Iterator[tuple[str, Expr]]:
        for use in self.own_uses:
            claim = self.storage.claim[use.claim]
            unreached = self.counts(use.pod) & claim.exists & ~claim.terminating & ~self.is_reached(use)
            yield f"{use.pod.name} is bound where it cannot use the volume of {use.claim.name}", unreached

    def witnesses(self) -> dict[str, Expr]:
        bound = [self.api.pod[use.pod].assigned for use in self.own_uses]
        return {"a pod with claims is bound": any_of(bound)}


class VolumesHaveOneClaim(AboutVolumes):
    """No volume is bound to two claims."""

    id = "S-PV"
    consequence = (
        "Two claims own one volume. Two applications write to the same data, or one claim stays Lost."
    )

    def wrong(self) -> Iterator[tuple[str, Expr]]:
        objects = self.storage.claim
        for a, b in combinations(self.universe[VolumeClaim], 2):
            for volume in self.universe[Volume]:
                both = (objects[a].volume == volume) & (objects[b].volume == volume)
                yield f"{volume.name} is bound to {a.name} and to {b.name}", both


class PodsGetTheVolumesTheyWerePlacedBy(AboutVolumes):
    """When a pod is about to be bound and its volumes are bound, each of its claims has the volume for which the pod's node was chosen."""

    id = "S-PLACED"
    consequence = "The pod's claim has another volume than the one for which the node was chosen. The pod may stay in ContainerCreating, as the node does not reach the volume."
    concerns = "the pod that gets another volume"

    def is_through(self, use: VolumeUse) -> Expr:
        """Whether PreBind has bound a volume that was there to the claim, and the pod's binding goes on."""
        settled = self.volume_binding.stage[use] == VolumeStage.SETTLED
        running = one_of(self.binding.phase[use.pod], BindingPhase.PRE_BIND, BindingPhase.BIND)
        return settled & running & as_expr(self.volume_binding.chosen[use]).is_some

    def holds(self) -> Expr:
        objects, chosen = self.storage.claim, self.volume_binding.chosen
        return all_of(
            ~self.is_through(use)
            | objects[use.claim].terminating
            | ~objects[use.claim].exists
            | (objects[use.claim].volume == chosen[use])
            for use in self.own_uses
        )

    def wrong(self) -> Iterator[tuple[str, Expr]]:
        objects, chosen = self.storage.claim, self.volume_binding.chosen
        for use in self.own_uses:
            claim = objects[use.claim]
            other = self.is_through(use) & claim.exists & ~claim.terminating & (claim.volume != chosen[use])
            yield f"{use.claim.name} of {use.pod.name} has another volume than its node was chosen for", other

    def witnesses(self) -> dict[str, Expr]:
        return {"a volume that was there is bound": any_of(self.is_through(use) for use in self.own_uses)}


class AssumedVolumesAreKept(AboutVolumes):
    """A volume or claim that Reserve has assumed for a pod stays assumed until the pod's binding writes or releases it, or another client writes the object."""

    id = "S-HELD"
    consequence = "The scheduler forgets which volume it has chosen for a pod. Another pod may take the volume, and the first one waits or fails to bind."
    issues = (72013,)
    concerns = "the pod that loses its volume"

    def is_kept(self, use: VolumeUse) -> Expr:
        """Whether the cache shows of the claim, or of the volume that it is to have, what is about to be written, or a newer version."""
        plugin, cache = self.volume_binding, self.volume_cache
        static = any_of(
            (plugin.chosen[use] == volume)
            & (
                (cache.get_volume(volume).claim == use.claim)
                | (cache.volume_lag[volume] != plugin.chosen_lag[use])
            )
            for volume in self.universe[Volume]
        )
        made = as_expr(cache.get_claim(use.claim).selected).is_some | (
            cache.claim_lag[use.claim] != plugin.lag[use]
        )
        return static | (as_expr(plugin.chosen[use]).is_none & made)

    def holds(self) -> Expr:
        assumed = [(use, self.volume_binding.stage[use] == VolumeStage.ASSUMED) for use in self.uses]
        return all_of(~is_assumed | self.is_kept(use) for use, is_assumed in assumed)

    def wrong(self) -> Iterator[tuple[str, Expr]]:
        for use in self.uses:
            forgotten = (self.volume_binding.stage[use] == VolumeStage.ASSUMED) & ~self.is_kept(use)
            yield (
                f"What Reserve assumed of {use.claim.name} for {use.pod.name} is assumed no longer",
                forgotten,
            )

    def witnesses(self) -> dict[str, Expr]:
        return {
            "a volume is assumed": any_of(
                self.volume_binding.stage[use] == VolumeStage.ASSUMED for use in self.uses
            )
        }


class WrittenVolumesAreNotForgotten(AboutVolumes):
    """After the scheduler has written which claim a volume is for, or on which node to create a volume, its
    cache does not go back to the state before this write.

    The cache's method Restore puts back the informer's object. If this object is older than the scheduler's
    own write, the cache forgets the write.
    """

    id = "S-WRITTEN"
    consequence = "The scheduler forgets what it has written about a volume. It may give the volume twice, or provision another in the wrong zone."

    forgotten = boolean()

    def observe(self) -> None:
        for volume in self.universe[Volume]:
            shown = self.volume_cache.get_volume(volume).claim
            was = before(lambda volume=volume: self.volume_cache.get_volume(volume).claim)  # type: ignore[misc]
            with when(
                as_expr(was).is_some & as_expr(shown).is_none & (self.storage.volume[volume].claim == was)
            ):
                self.forgotten = True
        for claim in self.universe[VolumeClaim]:
            selected = self.volume_cache.get_claim(claim).selected
            known = before(lambda claim=claim: self.volume_cache.get_claim(claim).selected)  # type: ignore[misc]
            current = self.storage.claim[claim]
            with when(as_expr(known).is_some & as_expr(selected).is_none & (current.selected == known)):
                self.forgotten = True

    def holds(self) -> Expr:
        return ~self.forgotten

    def witnesses(self) -> dict[str, Expr]:
        written = [self.volume_binding.stage[use] == VolumeStage.WRITTEN for use in self.uses]
        return {"a volume is written, and its claim not bound yet": any_of(written)}


class ExclusiveClaimsHaveOnePod(AboutOwnBindings, AboutVolumes):
    """No two pods that the scheduler has bound share a claim that only one pod may use (ReadWriteOncePod)."""

    id = "S-RWOP"
    consequence = "Two pods use a claim that only one may use (ReadWriteOncePod). Both can write to the same data, or the kubelet does not start one of them."
    concerns = "the two pods"

    @property
    def pairs(self) -> list[tuple[Pod, Pod]]:
        """Pods that share such a claim."""
        return [
            (a, b)
            for a in self.pods
            for b in self.pods[a.index + 1 :]
            if not a.exclusive.isdisjoint(b.exclusive) and not {a, b}.isdisjoint(self.subjects)
        ]

    def wrong(self) -> Iterator[tuple[str, Expr]]:
        for a, b in self.pairs:
            shared = " and ".join(sorted(a.exclusive & b.exclusive))
            yield (
                f"{a.name} and {b.name} are both bound, and only one pod may use {shared}",
                self.counts(a) & self.counts(b),
            )

    def witnesses(self) -> dict[str, Expr]:
        return {
            "of two pods that share such a claim one is bound, and the other waits": any_of(
                (self.api.pod[a].assigned & self.api.pod[b].pending)
                | (self.api.pod[b].assigned & self.api.pod[a].pending)
                for a, b in self.pairs
            )
        }


class VolumesAreWorkedOn(AboutVolumes):
    """No pod with volume claims waits indefinitely while at every moment a node has room for it, and its claims are, or can be, bound there."""

    id = "L-VOL"
    consequence = "A pod stays Pending although a node has room and reaches its volumes: until the periodic flush, 5 to 5.5 minutes, or indefinitely."
    kind = "liveness"
    concerns = "the pod that waits"
    issues = (93552, 133872)

    def cases(self) -> Iterator[Case]:
        for pod in self.subjects:
            if pod.volumes and pod.node is None:
                yield Case(
                    f"{pod.name} waits indefinitely although there are volumes", waits_in_vain(self, pod)
                )

    def witnesses(self) -> dict[str, Expr]:
        waiting = [waits_in_vain(self, pod) for pod in self.subjects if pod.volumes and pod.node is None]
        return {"a pod waits although there are volumes": any_of(waiting)}
