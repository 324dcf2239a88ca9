"""KEP-5690, preemption for devices, as its text proposes it, and what could be added (docs/notebook/kep-5690.md).

No code of it is merged upstream. DevicesPreempted is the design. The others are amendments, and properties that ask what the KEP leaves open.
"""

from __future__ import annotations

from collections.abc import Iterator

from podrace.model.language import Case
from podrace.patching import (
    Claim,
    Device,
    DynamicResources,
    Expr,
    Node,
    NodeStatus,
    Nominator,
    Phase,
    Placement,
    Pod,
    Preemption,
    Property,
    ResourceClaims,
    Scheduler,
    Value,
    any_of,
    as_expr,
    count,
    select,
)
from podrace.properties.scheduling.liveness import waits_in_vain
from podrace.properties.storage.claims import ClaimsAreWorkedOn


class WorthADryRun(Scheduler):
    """A node without a free device is one that an eviction can help: its status is Unschedulable, and its victims are waited for."""

    def verdict_of(self, code: Value) -> Expr:
        answer = super().verdict_of(code)
        return select(answer == NodeStatus.UNRESOLVABLE, NodeStatus.REJECTED, answer)


class DevicesPreempted(Preemption):
    """The dry run counts a device as free if only victims have reserved its claim."""

    dynamic_resources: DynamicResources
    resource_claims: ResourceClaims

    def _fits(self, pod: Pod, node: Node, placement: Placement) -> Expr:
        there = placement.present(pod, node)
        plugin, objects = self.dynamic_resources, self.resource_claims.object

        def is_freed(claim: Claim) -> Expr:
            reserved = [objects[claim].reserved[q] for q in self.universe[Pod]]
            kept = [objects[claim].reserved[q] & there[q] for q in there]
            return any_of(reserved) & ~any_of(kept)

        def is_held(device: Device) -> Expr:
            freed = any_of((objects[c].device == device) & is_freed(c) for c in self.universe[Claim])
            return plugin.listed[device] & ~freed

        free = [~is_held(d) for d in self.universe[Device] if d.is_on(node)]
        needed = count(~plugin.copy[use].allocated for use in plugin.uses(pod))
        return super()._fits(pod, node, placement) & (count(free) >= needed)


class LeftToTheDryRun(DynamicResources):
    """What the plugin's Filter says in a dry run is what DevicesPreempted says."""

    def passes(self, pod: Pod, node: Node) -> Expr:
        return super().passes(pod, node) | (self.scheduler.phase == Phase.DRY_RUN)


class DevicesHeld(LeftToTheDryRun):
    """Filter leaves as many devices of a node free as pods of a higher priority need that are nominated there."""

    nominator: Nominator

    def passes(self, pod: Pod, node: Node) -> Expr:
        free = count(~self.listed[d] for d in self.universe[Device] if d.is_on(node))
        held = [
            self.nominator.nominated_to(q, node) & ~self.resource_claims.object[use.claim].allocated
            for q in self.universe[Pod]
            for use in self.uses(q)
            if q is not pod and q.priority.value > pod.priority.value
        ]
        needed = [~self.copy[use].allocated for use in self.uses(pod)]
        enough = (free >= count([*held, *needed])) | ~any_of(needed)
        return super().passes(pod, node) & (enough | (self.scheduler.phase == Phase.DRY_RUN))


class DeviceGoesToPreemptor(Property):
    """While a pod is nominated to a node, no pod of a lower priority is given a device there that it needs."""

    id = "KEP-5690-TAKEN"

    nominator: Nominator
    dynamic_resources: DynamicResources
    resource_claims: ResourceClaims

    def holds(self) -> Expr:
        plugin, nodes = self.dynamic_resources, self.nominator.node
        objects = self.resource_claims.object
        robbed = []
        for use in (use for pod in self.pods for use in plugin.uses(pod)):
            given = as_expr(plugin.chosen[use]).is_some
            waits = [
                as_expr(nodes[q]).is_some
                & ~objects[other.claim].allocated
                & as_expr(plugin.chosen[other]).is_none
                for q in self.pods
                for other in plugin.uses(q)
                if q.priority.value > use.pod.priority.value
            ]
            robbed.append(given & any_of(waits))
        return ~any_of(robbed)

    def witnesses(self) -> dict[str, Expr]:
        return {"a pod is nominated": any_of(as_expr(self.nominator.node[p]).is_some for p in self.pods)}


class PreemptsOnce(Property):
    """For one device no two pods are evicted."""

    id = "KEP-5690-TWICE"

    def holds(self) -> Expr:
        return count(~self.api.pod[p].exists | self.api.pod[p].terminating for p in self.victims) <= 1

    @property
    def victims(self) -> list[Pod]:
        return [p for p in self.pods if p.node is not None]

    def witnesses(self) -> dict[str, Expr]:
        return {"a pod is evicted": any_of(~self.api.pod[p].exists for p in self.victims)}


class HeldBackAreWoken(ClaimsAreWorkedOn):
    """A pod for whose sake nobody is preempted does not wait indefinitely while there is a device for it."""

    id = "KEP-5690-HELD"

    def cases(self) -> Iterator[Case]:
        for pod in self.subjects:
            if pod.claims and not pod.preempts and pod.node is None:
                yield Case(
                    f"{pod.name} waits indefinitely although there are devices", waits_in_vain(self, pod)
                )
