"""Selectors that cannot be evaluated on a device, and searches for devices that take too long: Filter answers with an error, and the attempt ends in one (docs/notebook/claims.md)."""

from __future__ import annotations

from pathlib import Path

import pytest

from podrace.base.problems import Problem
from podrace.checker.search import check
from podrace.model.history import resolve
from podrace.properties import PROPERTIES, instrument
from podrace.reproduce.claim_objects import claim_object, device_objects
from podrace.scenarios import parse_scenario

PAGE = (Path(__file__).parents[2] / "docs" / "notebook" / "claims.md").read_text(encoding="utf-8")
CLUSTER = """
nodes: {n1: {cpu: 1}, n2: {cpu: 1}}
devices: {d1: {node: n1}, d2: {node: n2}}
resourceClaims: {c: {selectorFailsOn: [d1]}}
pods: {p: {cpu: 1, resourceClaims: [c]}}
scope: {flush: false}
"""
OTHER = CLUSTER.replace("{c: ", "{e: {device: d1}, c: ")
"""Another claim has the device on which the selector fails."""
SLOW = """
nodes: {n1: {cpu: 1}}
devices: {d1: {node: n1}}
resourceClaims: {c: {}}
pods: {p: {cpu: 1, resourceClaims: [c]}}
scope: {filter_timeouts: 1, flush: false}
"""


@pytest.mark.parametrize("release", ["1.34.4", "1.37.2"])
@pytest.mark.parametrize(("text", "verdict"), [(CLUSTER, "VIOLATED"), (OTHER, "HOLDS")])
def test_an_error_on_one_node_keeps_the_pod_from_the_other(text: str, verdict: str, release: str) -> None:
    """A device that is in use is passed over, and its selector not evaluated."""
    system = instrument(parse_scenario(text).spec, resolve(release).classes, [PROPERTIES["L-PLACE"]])
    (found,) = check(system, ["L-PLACE"])
    assert found.verdict.name == verdict
    assert not found.vacuous


def test_what_the_real_scheduler_is_given() -> None:
    spec = parse_scenario(CLUSTER).spec
    (request,) = claim_object(spec.claims[0], spec)["spec"]["devices"]["requests"]
    (selector,) = request["exactly"]["selectors"]
    assert selector == {"cel": {"expression": 'device.attributes["devices.podrace.io"].readable_0'}}
    slices = [o["spec"]["devices"][0] for o in device_objects(spec) if o["kind"] == "ResourceSlice"]
    given = {device["name"]: device.get("attributes") for device in slices}
    assert given == {"d1": None, "d2": {"readable_0": {"bool": True}}}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            CLUSTER.replace("[d1]", "[d3]"),
            "the selector of c fails on d3, and there is no such device; known: d1, d2",
        ),
        (
            CLUSTER.replace("node: n1}, ", "node: n1}, d3: {node: n1}, "),
            "the selector of c fails on d1: name all devices of the class that a node reaches, and let its pods have no other claim, and no group",
        ),
        (
            CLUSTER.replace("[c]", "[c, e]").replace("{c: ", "{e: {}, c: "),
            "the selector of c fails on d1: name all devices of the class that a node reaches, and let its pods have no other claim, and no group",
        ),
        (
            CLUSTER.replace("[d1]", "[d1], adminAccess: true"),
            "the selector of c fails on d1: it asks for one device of the class of d1, which nobody shares",
        ),
        (
            CLUSTER.replace("{flush", "{device_withdrawals: 1, flush"),
            "the selector of c fails on d1, which is to be there from the start to the end",
        ),
    ],
)
def test_mistakes(text: str, message: str) -> None:
    with pytest.raises(Problem) as error:
        parse_scenario(text)
    assert str(error.value).endswith(message)


@pytest.mark.parametrize(
    ("release", "verdict", "states", "steps"),
    [("1.34.4", "VIOLATED", 31, 15), ("1.35.4", "VIOLATED", 37, 15), ("1.36.3", "HOLDS", 200, None)],
)
def test_a_search_that_takes_too_long(release: str, verdict: str, states: int, steps: int | None) -> None:
    """137607: the pod waited for an event, and nothing has to happen."""
    spec = parse_scenario(SLOW).spec
    (found,) = check(instrument(spec, resolve(release).classes, [PROPERTIES["S-STUCK"]]), ["S-STUCK"])
    length = None if found.trace is None else len(found.trace.steps)
    assert (found.verdict.name, found.counts.states, length) == (verdict, states, steps)
    assert not found.vacuous
    assert f"{states:,} states" in PAGE


def test_without_its_gate_no_search_is_given_up() -> None:
    scenario = parse_scenario("featureGates: {DRASchedulerFilterTimeout: false}\n" + SLOW)
    classes = resolve("1.34.4", gates=scenario.feature_gates).classes
    (found,) = check(instrument(scenario.spec, classes, [PROPERTIES["S-STUCK"]]), ["S-STUCK"])
    assert found.verdict.name == "HOLDS"
