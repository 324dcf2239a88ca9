"""The deletion of a claim that the scheduler still knows as allocated: the hint does not ask whether the pod's own claims are there (isSchedulableAfterClaimChange, 1.37)."""

from __future__ import annotations

import pytest

from podrace.model.cluster import build_cluster
from podrace.model.environment.cluster.storage import Claim
from podrace.model.environment.objects import Pod
from podrace.model.environment.storage.claims import ClaimChange
from podrace.model.history import resolve
from podrace.model.language import Concrete, any_of, as_expr
from podrace.model.scheduler.framework.events import CLAIM_UPDATE, DYNAMIC_RESOURCES, Plugin
from podrace.model.scheduler.queue.scheduling_queue import SubQueue
from podrace.scenarios import parse_scenario

CLUSTER = """
nodes: {n1: {cpu: 1}}
devices: {gpu1: {node: n1}}
resourceClaims: {c1: {exists: false}, c2: {device: gpu1}}
pods: {b: {cpu: 1, resourceClaims: [c1]}}
scope: {claim_creations: 1, claim_deletions: 1, missed_claim_updates: 1, flush: false}
"""


def rejected(*, there: bool) -> tuple[Concrete, Pod, Claim]:
    """The pod was popped and is rejected by DynamicResources; `there`: its claim exists."""
    text = CLUSTER.replace("{exists: false}", "{}") if there else CLUSTER
    model = Concrete(build_cluster(parse_scenario(text, "x.yaml").spec, resolve("1.37.2").classes))
    queue, (pod,) = model.part("queue"), model.model.entities[Pod]
    (plugin,) = [p for p in model.model.entities[Plugin] if p.name == DYNAMIC_RESOURCES]

    def reject() -> None:
        queue.in_flight[pod] = True
        queue.sub_queue[pod] = SubQueue.NONE
        queue.rejected_by[pod][plugin] = True

    model.do(reject)
    (claim,) = [c for c in model.model.entities[Claim] if c.name == "c2"]
    return model, pod, claim


def change(claim: Claim, *, deallocated: bool, gone: bool) -> ClaimChange:
    return ClaimChange(claim, as_expr(deallocated), as_expr(True), as_expr(False), as_expr(gone))


@pytest.mark.parametrize("in_flight", [True, False])
@pytest.mark.parametrize(
    ("there", "deallocated", "gone", "where", "gated"),
    [
        (False, True, True, SubQueue.UNSCHEDULABLE, True),
        (False, True, False, SubQueue.UNSCHEDULABLE, False),
        (False, False, True, SubQueue.UNSCHEDULABLE, False),
        (True, True, True, SubQueue.BACKOFF, False),
        (True, True, False, SubQueue.BACKOFF, False),
        (True, False, True, SubQueue.UNSCHEDULABLE, False),
    ],
)
def test_only_the_deletion_of_an_allocated_claim_is_heard_without_a_look_at_the_own_claims(
    in_flight: bool, there: bool, deallocated: bool, gone: bool, where: SubQueue, gated: bool
) -> None:
    model, pod, claim = rejected(there=there)
    queue = model.part("queue")

    def hear() -> None:
        queue.move_all(CLAIM_UPDATE, about=change(claim, deallocated=deallocated, gone=gone))

    def come_back() -> None:
        queue.requeue(pod, queue.copy[pod])

    for call in (hear, come_back) if in_flight else (come_back, hear):
        model.do(call)
    found = model.get(lambda: queue.sub_queue[pod]), model.get(lambda: queue.gated[pod])
    assert found == (where, gated)
    assert not model.get(lambda: any_of(queue.freed[one] for one in queue.claimant(pod)))
