"""Claims in flight, and the events of the claims' assume cache (dynamicresources/dra_manager.go, util/assumecache, v1.36.3)."""

from __future__ import annotations

from functools import partial

from podrace.model.environment.objects import Claim, Device, Pod
from podrace.model.environment.storage.claims import ClaimShare, ClaimWatch
from podrace.model.scheduler.framework.status import Phase
from podrace.scenarios import parse_scenario
from tests.model.clusters import concrete

CLUSTER = """
name: devices
nodes: {n1: {cpu: 2}}
devices: {d: {node: n1}, e: {node: n1}, f: {node: n1}}
resourceClaims: {c: {}, k: {}}
pods: {a: {cpu: 1, resourceClaims: [c]}, b: {cpu: 1, resourceClaims: [k]}}
scope: {pod_events: 2, claim_events: 3, flush: false}
"""


def test_the_devices_in_flight_are_listed_as_well_as_those_allocated() -> None:
    model = concrete(parse_scenario(CLUSTER).spec, "1.36.3")
    scheduler, plugin, tracker = (model.part(n) for n in ("scheduler", "dynamic_resources", "claim_tracker"))
    (_, k), (d, e, f), (a, _) = (plugin.universe[kind] for kind in (Claim, Device, Pod))
    model.do(lambda: tracker.allocated.__setitem__(d, True))
    model.do(lambda: tracker.signal(k, e))
    model.do(lambda: setattr(scheduler, "pod", a))
    model.do(lambda: setattr(scheduler, "phase", Phase.LIST_DEVICES))
    model.do(lambda: plugin.list_devices(a))
    model.do(lambda: plugin.add_in_flight(a))
    assert model.get(lambda: [plugin.listed[device] for device in (d, e, f)]) == [True, True, False]


def test_restore_has_an_event_of_its_own() -> None:
    model = concrete(parse_scenario(CLUSTER).spec, "1.36.3")
    claims, cache = model.part("resource_claims"), model.part("claim_cache")
    (c, _), (d, *_), (watch,) = (claims.universe[kind] for kind in (Claim, Device, ClaimWatch))
    model.do(lambda: cache.assume(c, claims.object[c].replace(device=d), 0))
    model.do(lambda: cache.latest_lag.__setitem__(c, 1))
    model.do(lambda: cache.restore(c))
    assert model.get(lambda: (cache.events[watch].length, cache.latest[c].device)) == (2, None)


SHARED = """
name: shared
nodes: {n1: {cpu: 2}}
podGroups: {g: {}}
devices: {d: {node: n1}}
resourceClaims: {c: {}}
pods: {a: {cpu: 1, podGroup: g, resourceClaims: [c]}, b: {cpu: 1, podGroup: g, resourceClaims: [c]}}
featureGates: {GangScheduling: true}
"""


def test_an_allocation_in_flight_ends_with_the_last_pod_that_counts_on_it() -> None:
    """SignalClaimPendingAllocation begins with one sharer, and MaybeRemoveClaimPendingAllocation takes one off (1.36)."""
    model = concrete(parse_scenario(SHARED).spec, "1.36.3")
    tracker = model.part("claim_tracker")
    (c,), (d,), (share,) = (tracker.universe[kind] for kind in (Claim, Device, ClaimShare))
    seen = []
    for call in (tracker.signal, tracker.signal, tracker.remove, tracker.remove):
        more = {"forced": False} if call == tracker.remove else {"device": d}
        model.do(partial(call, c, **more))
        seen.append(model.get(lambda: (tracker.sharers[share], tracker.in_flight[c])))
    assert seen == [(1, d), (2, d), (1, d), (0, None)]
