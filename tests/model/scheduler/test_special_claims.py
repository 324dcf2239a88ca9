"""The claim that the scheduler makes for a pod's extended resources: what becomes of it where PreBind fails, and what its name in the status does (extendeddynamicresources.go, 1.36.3)."""

from __future__ import annotations

import pytest

from podrace.checker.trace.execution import ReplayError, replay
from podrace.model.environment.cluster.storage import Claim, Device
from podrace.model.environment.objects import OTHERS, OWN, ClusterSpec, Node, Pod, Scope
from podrace.model.history import resolve
from podrace.model.scheduler import BindingPhase
from podrace.model.scheduler.framework.status import Phase
from podrace.properties import instrument
from podrace.scenarios import parse_scenario
from tests.model.clusters import concrete

CLUSTER = """
nodes: {n1: {cpu: 1}}
deviceClasses: {gpu: {extendedResourceName: example.com/gpu}}
devices: {gpu1: {node: n1, deviceClassName: gpu}}
pods: {a: {cpu: 1, resources: {example.com/gpu: 1}, terminationGracePeriodSeconds: 0}}
scope: {pod_events: 4, claim_events: 4, status_failures: 2, pod_deletions: 1, flush: false}
"""

CLAIM = "a-extended-resources"
USE = f"use={CLAIM} of a"
RESERVED = (
    "scheduler.pop(pod=a)",
    "scheduler.take_snapshot(pod=a)",
    f"dynamic_resources.get_claim({USE})",
    f"dynamic_resources.check_claim({USE})",
    "dynamic_resources.list_devices(pod=a)",
    "dynamic_resources.add_in_flight(pod=a)",
    "scheduler.filter(pod=a, node=n1)",
    "scheduler.assume(pod=a, node=n1)",
    "scheduler.start_binding(pod=a)",
    f"dynamic_resources.reserve_claim({USE}, device=gpu1)",
    "scheduler.reserve(pod=a, ok=True)",
    "binding.announce(pod=a)",
)
TOLD = (f"claim_cache.tell_tracker(claim={CLAIM})", f"claim_cache.tell_queue(claim={CLAIM})")
MADE = (*RESERVED, f"dynamic_resources.create_claim({USE})", f"claim_cache.deliver(claim={CLAIM})", *TOLD)
WRITTEN = (*MADE, f"dynamic_resources.write_claim({USE})")

API, CACHED = f"resource_claims.object[{CLAIM}]", f"claim_cache.latest[{CLAIM}]"
FLIGHT = f"claim_tracker.in_flight[{CLAIM}]"


def after(*labels: str, release: str = "1.36.3", cluster: str = CLUSTER) -> dict[str, object]:
    """What the state is after these steps, by the names of variables."""
    system = instrument(parse_scenario(cluster, "x.yaml").spec, resolve(release).classes, [])
    numbers = {transition.label: number for number, transition in enumerate(system.transitions)}
    last = replay(system, tuple(numbers[label] for label in labels)).states[-1]
    return dict(system.describe(last))


def devices(state: dict[str, object]) -> list[str]:
    """The device that the API server, the assume cache and the flight have for the claim."""
    return [str(state[name]) for name in (f"{API}.device", f"{CACHED}.device", FLIGHT)]


def test_what_could_not_be_written_is_assumed_all_the_same() -> None:
    lost = (*MADE, f"dynamic_resources.lose_allocation({USE})")
    assert devices(after(*lost)) == ["None", "None", "gpu1"]
    assumed = (*lost, f"dynamic_resources.assume_unwritten({USE})")
    assert devices(after(*assumed)) == ["None", "gpu1", "gpu1"]
    with pytest.raises(ReplayError):
        after(*assumed, f"dynamic_resources.fail_claim({USE})")  # its event is still to be delivered
    failed = after(*assumed, *TOLD, f"dynamic_resources.fail_claim({USE})")
    assert devices(failed) == ["None", "gpu1", "None"]
    assert failed["claim_tracker.allocated[gpu1]"] is True
    assert failed["binding.phase[a]"] is BindingPhase.FORGET


def test_unreserve_goes_back_from_what_was_never_written_to_the_informers_object() -> None:
    """From 1.37 on, where the flight ends there (139418): the cache's object is another one, although nothing newer was written."""
    failed = (
        *MADE,
        f"dynamic_resources.lose_allocation({USE})",
        f"dynamic_resources.assume_unwritten({USE})",
        *TOLD,
        f"dynamic_resources.fail_claim({USE})",
        f"dynamic_resources.unreserve_claim({USE})",
    )
    assert devices(after(*failed, release="1.37.2")) == ["None", "gpu1", "None"]
    restored = after(*failed, f"dynamic_resources.restore_claim({USE})", release="1.37.2")
    assert devices(restored) == ["None", "None", "None"]
    assert restored["claim_cache.events[claims].length"] == 1
    with pytest.raises(ReplayError):
        after(*failed, f"dynamic_resources.restore_claim({USE})")


WITH_CLAIM = """
nodes: {n1: {cpu: 1}}
devices: {gpu1: {node: n1}}
resourceClaims: {c: {}}
pods: {a: {cpu: 1, resourceClaims: [c]}}
scope: {claim_deletions: 1, flush: false}
"""


@pytest.mark.parametrize(("release", "gone"), [("1.36.3", True), ("1.37.2", False), ("1.37.2", True)])
def test_reserve_looks_up_a_claim_that_is_no_special_one(release: str, gone: bool) -> None:
    """From 1.37 on it is an error if the claim is gone (140269); its Unreserve finds nothing in flight."""
    use = "use=c of a"
    reserving = (
        *(label.replace(USE, use) for label in RESERVED[:8]),
        *(("claim_deletions.delete_claim(claim=c)", "claim_cache.deliver(claim=c)") if gone else ()),
        "scheduler.start_binding(pod=a)",
    )
    reserves = (
        f"dynamic_resources.reserve_claim({use}, device=gpu1)",
        f"dynamic_resources.lose_claim({use})",
    )
    loses = gone and release == "1.37.2"
    state = after(*reserving, reserves[loses], release=release, cluster=WITH_CLAIM)
    assert (state["claim_tracker.in_flight[c]"] is None) is loses
    assert state["scheduler.phase"] is (Phase.FORGET if loses else Phase.RESERVE)
    assert state["scheduler.scheduler_error"] is loses
    with pytest.raises((ReplayError, KeyError)):
        after(*reserving, reserves[not loses], release=release, cluster=WITH_CLAIM)
    if loses:
        given_back = (reserves[1], f"dynamic_resources.unreserve_claim({use})", "scheduler.forget(pod=a)")
        state = after(*reserving, *given_back, release=release, cluster=WITH_CLAIM)
        assert state["cache.pod[a].node"] is None


def test_the_device_is_free_again_once_the_deletion_is_delivered() -> None:
    """Unreserve deletes the claim; if that fails, the cache keeps what was never written."""
    failed = (
        *MADE,
        f"dynamic_resources.lose_allocation({USE})",
        f"dynamic_resources.assume_unwritten({USE})",
        *TOLD,
        f"dynamic_resources.fail_claim({USE})",
        f"dynamic_resources.unreserve_claim({USE})",
    )
    gone = (f"dynamic_resources.delete_claim({USE})", f"claim_cache.deliver(claim={CLAIM})", TOLD[0])
    assert after(*failed, *gone)["claim_tracker.allocated[gpu1]"] is False
    kept = after(*failed, f"dynamic_resources.lose_deletion({USE})")
    assert (devices(kept), kept["claim_tracker.allocated[gpu1]"]) == (["None", "gpu1", "None"], True)


def test_the_status_names_the_claim_before_it_is_assumed() -> None:
    assert after(*WRITTEN)["api.pod[a].named"] == 0
    assumed = after(*WRITTEN, f"dynamic_resources.assume_claim({USE})")
    assert assumed["api.pod[a].named"] == OWN
    assert assumed["pod_watch.log.length"] == after(*WRITTEN)["pod_watch.log.length"] + 1  # type: ignore[operator]


@pytest.mark.parametrize(
    "steps",
    [
        (f"dynamic_resources.lose_name({USE})",),
        ("users.delete_pod(pod=a)", f"dynamic_resources.assume_claim({USE})"),
    ],
    ids=["the PATCH fails", "the pod is gone"],
)
def test_where_it_cannot_be_named_pre_bind_fails(steps: tuple[str, ...]) -> None:
    found = after(*WRITTEN, *steps, *TOLD, f"dynamic_resources.fail_claim({USE})")
    assert devices(found) == ["gpu1", "gpu1", "None"]
    assert found["binding.phase[a]"] is BindingPhase.FORGET
    assert found["api.pod[a].named"] == 0


@pytest.mark.parametrize(("generated", "named"), [((), [OWN, OTHERS, OWN]), (("c",), [0, 0, 0])])
def test_it_has_another_name_each_time(generated: tuple[str, ...], named: list[int]) -> None:
    """Of a pod that has claims made for it as well, the model keeps the names of those (A-CLAIM-KINDS)."""
    on = Node(0, "n", 1)
    pod = Pod(0, "a", 1, claims=generated, generated=generated, extended_claim=CLAIM)
    made = [Claim(i, name, of="gpu", exists=False, owner="a") for i, name in enumerate(generated)]
    special = Claim(len(made), CLAIM, of="gpu", exists=False, owner="a", special=True)
    device = Device(0, "gpu1", of="gpu", node=on)
    model = concrete(
        ClusterSpec("c", (pod,), (on,), Scope(), claims=(*made, special), devices=(device,)), "1.36"
    )
    found = []
    for _ in named:
        model.do(lambda: model.part("api").name_special_claim(pod))
        found.append(model.get(lambda: model.part("api").pod[pod].named))
    assert found == named
