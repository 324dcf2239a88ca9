"""What a new process, or a standby, makes of claims and volumes."""

from __future__ import annotations

import pytest

from podrace.checker.core.result import Verdict
from podrace.checker.search import check
from podrace.model.environment.objects import Claim, Device, Volume, VolumeClaim
from podrace.model.environment.storage.claims import ClaimWatch
from podrace.model.history import resolve
from podrace.properties import PROPERTIES, instrument
from podrace.scenarios import parse_scenario
from tests.model.clusters import concrete

DEVICE = """
name: device
nodes: {n1: {cpu: 2}}
devices: {gpu0: {node: n1}}
resourceClaims: {c: {}, d: {}}
pods: {p: {cpu: 1, resourceClaims: [c]}, q: {cpu: 1, resourceClaims: [d]}}
scope: {pod_events: 1, flush: false, restarts: 1}
"""
VOLUME = """
name: volume
nodes: {n1: {cpu: 2}}
storageClasses: {local: {volumeBindingMode: WaitForFirstConsumer}}
volumes: {v: {storageClassName: local, nodes: [n1]}}
volumeClaims: {a: {storageClassName: local}, b: {storageClassName: local}}
pods: {p: {cpu: 1, volumes: [a]}, q: {cpu: 1, volumes: [b]}}
scope: {pod_events: 1, flush: false, restarts: 1}
"""


def with_device(text: str):
    model = concrete(parse_scenario(text).spec, "1.36.3")
    (gpu,), (c, d) = model.part("api").universe[Device], model.part("api").universe[Claim]
    return model, gpu, c, d


def test_a_new_process_has_the_claims_as_they_are_and_nothing_in_flight() -> None:
    model, gpu, c, d = with_device(DEVICE)
    claims, cache, tracker = (model.part(n) for n in ("resource_claims", "claim_cache", "claim_tracker"))
    model.do(lambda: tracker.signal(d, gpu))
    model.do(lambda: claims.write(c, gpu))
    (watch,) = claims.universe[ClaimWatch]
    assert model.get(lambda: (claims.events[watch].length, cache.latest_lag[c])) == (1, 1)
    model.do(model.part("process").restart)
    assert model.get(lambda: (claims.events[watch].length, cache.latest_lag[c])) == (0, 0)
    assert model.get(lambda: (cache.latest[c].device, tracker.allocated[gpu], tracker.in_flight[d])) == (
        gpu,
        True,
        None,
    )


def test_a_standby_has_the_claims_as_its_informer_showed_them() -> None:
    model, gpu, c, d = with_device(DEVICE.replace("restarts", "leader_changes"))
    claims, cache, tracker = (model.part(n) for n in ("resource_claims", "claim_cache", "claim_tracker"))
    model.do(lambda: claims.write(c, gpu))
    model.do(lambda: cache.assume(c, claims.object[c], 0))
    model.do(lambda: tracker.update(claims.object[d].device, gpu))
    model.do(model.part("process").change_leader)
    assert model.get(lambda: (cache.latest[c].device, cache.latest_lag[c], tracker.allocated[gpu])) == (
        None,
        1,
        False,
    )


@pytest.mark.parametrize(("how", "shown"), [("restarts", True), ("leader_changes", False)])
def test_another_process_has_assumed_no_volume(how: str, shown: bool) -> None:
    model = concrete(parse_scenario(VOLUME.replace("restarts", how)).spec, "1.36.3")
    (v,), (a, b) = model.part("api").universe[Volume], model.part("api").universe[VolumeClaim]
    storage, cache = model.part("storage"), model.part("volume_cache")
    model.do(lambda: cache.assumed_volume.__setitem__(v, b))
    model.do(lambda: storage.write_volume(v, storage.volume[v].replace(claim=a)))
    process = model.part("process")
    model.do(process.restart if how == "restarts" else process.change_leader)
    assert model.get(lambda: (cache.assumed_volume[v], cache.volume_lag[v])) == (None, 0 if shown else 1)
    assert model.get(lambda: cache.volume[v].claim) is (a if shown else None)


@pytest.mark.parametrize(
    ("text", "names", "states", "transitions"),
    [
        (DEVICE, ["S-DEV", "S-INFLIGHT", "S-RESV", "L-CLAIM"], 22800, 66953),
        (VOLUME, ["S-PV", "S-HELD", "L-VOL", "S-STUCK"], 56774, 187385),
    ],
)
def test_a_restart_amid_the_binding_loses_nothing(
    text: str, names: list[str], states: int, transitions: int
) -> None:
    """Each property with the slice that it has alone; all of them happen to be as large."""
    system = instrument(parse_scenario(text).spec, resolve("1.36.3").classes, [PROPERTIES[n] for n in names])
    for result in check(system, names, together=False):
        assert result.verdict is Verdict.HOLDS, result.property_id
        assert (result.counts.states, result.counts.transitions) == (states, transitions)
