"""Claims and devices as objects: they are read back as manifests are, and pods refer to them."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from podrace.manifests import read_manifests
from podrace.manifests.reading.device_objects import WrittenDevices
from podrace.model.environment.objects import Claim, ClusterSpec, Counter, Device, Node, Pod, Wish
from podrace.model.environment.storage.claims import FAILED, PENDING, READY
from podrace.reproduce.objects import objects_of

CLASSES = st.sampled_from(["", "gpu"])


@st.composite
def clusters(draw: Any) -> ClusterSpec:
    """Two nodes, devices on them and elsewhere, claims that have one or not, and are reserved or not."""
    nodes = (Node(0, "n1", 1), Node(1, "n2", 1))
    wheres = draw(st.lists(st.tuples(st.sampled_from([None, *nodes]), CLASSES), max_size=4))
    devices = tuple(Device(i, f"d{i}", node, of) for i, (node, of) in enumerate(wheres))
    pods = tuple(Pod(i, name, 1, claims=["c0", "c1"]) for i, name in enumerate("ab"))
    claims = []
    for i in range(2):
        device = draw(st.sampled_from([None, *devices]))
        reserved = draw(st.sets(st.sampled_from("ab"))) if device is not None else set()
        of = draw(CLASSES) if device is None else device.of
        claims.append(Claim(i, f"c{i}", device, sorted(reserved), of))
    return ClusterSpec("c", pods, nodes, devices=devices, claims=tuple(claims))


def read_back(spec: ClusterSpec) -> WrittenDevices:
    """What the reader of manifests makes of the claims and devices."""
    made = objects_of(spec)
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "objects.yaml"
        file.write_text(yaml.safe_dump_all([*made.nodes, *made.devices, *made.claims, *made.pods]))
        return read_manifests([str(file)]).claims.devices


@given(clusters())
def test_manifests_say_the_same(spec: ClusterSpec) -> None:
    found = read_back(spec)
    where = {
        device.key[-1]: (part.driver, device.where.node) for part in found.slices for device in part.devices
    }
    assert where == {
        d.name: (f"{d.of or 'devices'}.podrace.io", d.node.name if d.node else "") for d in spec.devices
    }
    by_name = {claim.meta.name.rpartition("/")[2]: claim for claim in found.claims.values()}
    for claim in spec.claims:
        read = by_name[claim.name]
        assert (read.wish.of, read.wish.unlike) == (claim.of or "devices", "")
        assert found.classes[read.wish.of].selectors == (
            f'device.driver == "{claim.of or "devices"}.podrace.io"',
        )
        assert [key[-1] for key in read.devices] == ([claim.device.name] if claim.device else [])
        assert (read.reach is None) is (claim.device is None or claim.device.node is None)
        assert {name.rpartition("/")[2] for name in read.reserved} == claim.reserved


def test_the_finalizer_comes_with_the_allocation() -> None:
    node = Node(0, "n1", 1)
    device = Device(0, "gpu1", node)
    claims = (Claim(0, "c0"), Claim(1, "c1", device))
    spec = ClusterSpec("c", (Pod(0, "a", 1, claims=["c0", "c1"]),), (node,), devices=(device,), claims=claims)
    made = objects_of(spec)
    assert [claim["metadata"].get("finalizers") for claim in made.claims] == [
        None,
        ["resource.kubernetes.io/delete-protection"],
    ]
    assert made.pods[0]["spec"]["resourceClaims"] == [
        {"name": "claim-0", "resourceClaimName": "c0"},
        {"name": "claim-1", "resourceClaimName": "c1"},
    ]
    assert made.missing == ()


@pytest.mark.parametrize("conditions", [True, False])
@pytest.mark.parametrize(("readiness", "said"), [(PENDING, "pending"), (READY, "met"), (FAILED, "failed")])
def test_what_is_known_of_binding_conditions_is_read_back(
    readiness: int, said: str, conditions: bool
) -> None:
    """A device without them has nothing to be said of it, and no time at which it was allocated."""
    device = Device(0, "gpu1", Node(0, "n1", 1), conditions=conditions)
    claims = (
        Claim(0, "c0", device, readiness=readiness if conditions else PENDING, timed_out=conditions),
        Claim(1, "c1"),
    )
    pods = (Pod(0, "a", 1, claims=["c0", "c1"]),)
    spec = ClusterSpec("c", pods, (Node(0, "n1", 1),), devices=(device,), claims=claims)
    read = {claim.meta.name: claim.readiness for claim in read_back(spec).claims.values()}
    assert read == {"default/c0": said if conditions else "", "default/c1": ""}
    allocation = objects_of(spec).claims[0]["status"]["allocation"]
    assert allocation.get("allocationTimestamp") == ("1999-12-31T00:00:00Z" if conditions else None)
    assert objects_of(spec).missing == ()


@pytest.mark.parametrize("exists", [True, False])
def test_a_claim_that_is_made_for_its_pod(exists: bool) -> None:
    """Pods of one name call it the same; the status names it as soon as it is there."""
    pods = (
        Pod(0, "web", 1, claims=["web-gpu"], generated=["web-gpu"]),
        Pod(1, "web-again", 1, claims=["again-gpu"], generated=["again-gpu"], recreates="web", exists=False),
    )
    claims = (
        Claim(0, "web-gpu", exists=exists, owner="web"),
        Claim(1, "again-gpu", exists=False, owner="web-again"),
    )
    made = objects_of(ClusterSpec("c", pods, (Node(0, "n1", 1),), claims=claims))
    assert [pod["spec"]["resourceClaims"] for pod in made.pods] == [
        [{"name": "claim-0", "resourceClaimTemplateName": name}] for name in ("web-gpu", "again-gpu")
    ]
    assert [pod["metadata"]["annotations"] for pod in made.pods] == [
        {"podrace.io/claims": "web-gpu"},
        {"podrace.io/claims": "again-gpu"},
    ]
    named = [{"name": "claim-0", "resourceClaimName": "web-gpu"}] if exists else None
    assert [pod["status"].get("resourceClaimStatuses") for pod in made.pods] == [named, None]
    (owner,) = made.claims[0]["metadata"]["ownerReferences"]
    assert (owner["kind"], owner["uid"]) == ("Pod", "web")


@pytest.mark.parametrize(
    ("spec", "words"),
    [
        (
            ClusterSpec(
                "c",
                (Pod(0, "x/a", 1, namespace="x", claims=["c0"]), Pod(1, "b", 1, claims=["c0"])),
                (),
                claims=(Claim(0, "c0"),),
            ),
            "the pods that refer to the claim c0 are in several namespaces",
        ),
    ],
)
def test_what_cannot_be_said_is_named(spec: ClusterSpec, words: str) -> None:
    assert objects_of(spec).missing == (words,)


def test_the_claim_that_the_scheduler_makes_for_extended_resources() -> None:
    """It is no part of the pod's spec: the pod asks for the resource, and the class says which devices back it."""
    device = Device(0, "gpu1", of="gpu")
    left = Claim(0, "a-extended-resources", device=device, of="gpu", owner="a", special=True)
    pod = Pod(0, "a", 1, extended_claim="a-extended-resources")
    made = objects_of(ClusterSpec("c", (pod,), (), claims=(left,), devices=(device,)))
    assert made.missing == ()
    (claim,), (pod_made,) = made.claims, made.pods
    assert claim["metadata"]["annotations"] == {"resource.kubernetes.io/extended-resource-claim": "true"}
    assert [owner["uid"] for owner in claim["metadata"]["ownerReferences"]] == ["a"]
    assert pod_made["spec"]["containers"][0]["resources"]["requests"] == {"cpu": "1", "podrace.io/gpu": "1"}
    assert pod_made["spec"]["resourceClaims"] == []
    assert made.devices[0]["spec"]["extendedResourceName"] == "podrace.io/gpu"


def spec_of(devices: list[Device], *claims: Claim) -> dict[str, Any]:
    """The specs of the slices and claims of a cluster, by name."""
    made = objects_of(ClusterSpec("c", (), (Node(0, "n1", 1),), devices=tuple(devices), claims=claims))
    assert made.missing == ()
    return {
        o["metadata"]["name"]: o["spec"] | {"status": o.get("status")} for o in (*made.devices, *made.claims)
    }


def test_partitions_draw_on_the_counters_of_one_driver() -> None:
    """Their classes have one driver: a slice of it has the counters, and an attribute tells its devices apart."""
    memory = Counter("memory", 2)
    devices = [
        Device(0, "whole", of="big", draws={memory: 2}),
        Device(1, "half", of="small", draws={memory: 1}),
    ]
    made = spec_of([*devices, Device(2, "other", of="nic")], Claim(0, "c", of="big"))
    assert [made[n]["driver"] for n in ("whole", "half", "other")] == [
        "big.podrace.io",
        "big.podrace.io",
        "nic.podrace.io",
    ]
    assert [made[n]["pool"]["resourceSliceCount"] for n in ("whole", "half", "other")] == [3, 3, 1]
    (counters,) = made["counters.big.podrace.io"]["sharedCounters"]
    assert counters == {"name": "counters", "counters": {"memory": {"value": "2"}}}
    (half,) = made["half"]["devices"]
    assert half["consumesCounters"] == [{"counterSet": "counters", "counters": {"memory": {"value": "1"}}}]
    assert half["attributes"] == {"kind": {"string": "small"}}
    ((selector,),) = [made["small"]["selectors"]]
    assert selector["cel"]["expression"].endswith('device.attributes["big.podrace.io"].kind == "small"')


def test_shares_of_a_device_are_of_one_device() -> None:
    has = Counter("the capacity of gpu1", 3)
    devices = [
        Device(i, f"gpu1/{claim}", draws={has: amount}, shared="gpu1", user=claim)
        for i, (claim, amount) in enumerate((("c1", 1), ("c2", 2)))
    ]
    made = spec_of(devices, Claim(0, "c1", devices[0], amount=1), Claim(1, "c2", amount=2))
    (gpu,) = made["gpu1"]["devices"]
    assert (gpu["allowMultipleAllocations"], gpu["capacity"]) == (True, {"share": {"value": "3"}})
    assert made["c2"]["devices"]["requests"][0]["exactly"]["capacity"] == {"requests": {"share": "2"}}
    (result,) = made["c1"]["status"]["allocation"]["devices"]["results"]
    assert (result["device"], result["consumedCapacity"]) == ("gpu1", {"share": "1"})
    assert len(result["shareID"]) == 36


def test_alternatives_tolerations_and_several_devices() -> None:
    devices = [Device(i, f"gpu{i}", of="gpu", taint="NoExecute" if i else "") for i in range(2)]
    both = Device(2, "gpu0+gpu1", of="gpu", parts=devices)
    claim = Claim(
        0, "c", both, of="big", wishes=[Wish("big"), Wish("gpu", 2)], tolerates="NoExecute", briefly=True
    )
    made = spec_of([*devices, both], claim)
    assert made["gpu1"]["devices"][0]["taints"] == [{"key": "podrace.io/broken", "effect": "NoExecute"}]
    (request,) = made["c"]["devices"]["requests"]
    assert [(one["name"], one["deviceClassName"], one["count"]) for one in request["firstAvailable"]] == [
        ("choice-0", "big", 1), ("choice-1", "gpu", 2),
    ]  # fmt: skip
    tolerated = [{"operator": "Exists", "effect": "NoExecute", "tolerationSeconds": 60}]
    results = made["c"]["status"]["allocation"]["devices"]["results"]
    assert [(r["request"], r["device"], r["tolerations"]) for r in results] == [
        ("device/choice-1", f"gpu{i}", tolerated) for i in range(2)
    ]
