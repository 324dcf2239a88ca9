"""What claims of devices ask for beyond the model: nothing that is checked of their pods HOLDS, and the line Scope names it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from podrace.api import check
from podrace.cli import main
from podrace.manifests import Size, read_manifests, represent
from podrace.manifests.doubts import doubts_of
from tests.manifests.claim_objects import (
    as_list,
    asking,
    asks,
    backing,
    device,
    device_class,
    made,
    node,
    pod,
    resource_claim,
    resource_slice,
    special,
    storage_class,
    volume,
    volume_claim,
)
from tests.manifests.test_manifest_claims import NODES, SHARED, inventory, kept, reach

GPU = resource_slice("n1", device("gpu-0"))
TWO = resource_slice("n2", device("gpu-0"), device("gpu-1"))
WAITS = pod("a", claims=SHARED)


def rule(effect: str = "NoSchedule", **selector: Any) -> dict[str, Any]:
    spec = {"deviceSelector": selector, "taint": {"key": "dry", "value": "yes", "effect": effect}}
    return made("DeviceTaintRule", "r", "resource.k8s.io/v1", spec=spec)


def tainted(effect: str = "NoSchedule") -> dict[str, Any]:
    return device("gpu-0") | {"taints": [{"key": "dry", "value": "yes", "effect": effect}]}


def tolerating(**toleration: Any) -> dict[str, Any]:
    return resource_claim("one", spec=asks(tolerations=[toleration]))


def requests(*some: dict[str, Any]) -> dict[str, Any]:
    return resource_claim("one", spec={"devices": {"requests": list(some)}})


EXACTLY = asks()["devices"]["requests"][0]
ONE = resource_claim("one")


@pytest.mark.parametrize(
    ("some", "doubt"),
    [
        ((requests({"name": "g", "firstAvailable": [{"name": "x", "deviceClassName": "gpu.example.com", "allocationMode": "All"}]}), GPU),
         "claim shop/one of shop/a is taken to be free on every node: it asks for all devices of a node (allocationMode)"),
        ((requests(EXACTLY, EXACTLY | {"name": "h"}), TWO),
         "claim shop/one of shop/a is taken to be free on every node: it has several requests"),
        ((resource_claim("one", spec=asks(count=5)), TWO),
         "claim shop/one of shop/a is taken to be free on every node: it asks for more than 4 devices"),
        ((resource_claim("one", spec=asks(adminAccess=True)), GPU),
         "claim shop/one of shop/a is taken to be free on every node: it is for an administrator, and takes no device"),
        ((resource_claim("one", spec=asks(capacity={"requests": {"memory": "1Gi"}})), GPU),
         "claim shop/one of shop/a is taken to be free on every node: it asks for capacity of a device"),
        ((resource_claim("one", spec={"devices": asks(count=2)["devices"] | {"constraints": [{"matchAttribute": "gpu.example.com/numa"}]}}), TWO),
         "claim shop/one of shop/a is taken to be free on every node: it compares attributes of its devices (constraints)"),
        ((resource_claim("one", spec=asks(selectors=[{"cel": {"expression": "device.attributes['gpu.example.com'].absent"}}])), GPU),
         "claim shop/one of shop/a: podrace does not read the selector of its devices, or one has not the attribute that it names"),
        ((resource_claim("one", spec=asks(selectors=[{"cel": {"expression": "device.attributes['gpu.example.com'].absent"}}])),
          resource_slice("n1", tainted("NoSchedule"))),
         "claim shop/one of shop/a: podrace does not read the selector of its devices, or one has not the attribute that it names"),
        ((GPU,),
         "claim shop/one of shop/a is taken to be free on every node: it is not among the objects (dump resourceclaims and resourceclaimtemplates, too)"),
        ((ONE, TWO, resource_slice("n1", device("gpu-0") | {"consumesCounters": [{"counterSet": "c"}]})),
         "claim shop/one of shop/a: it may have gpu-0 of n1, but the device shares counters with others (consumesCounters)"),
        ((ONE, TWO, resource_slice("n1", device("gpu-0") | {"allowMultipleAllocations": True})),
         "claim shop/one of shop/a: it may have gpu-0 of n1, but the device may be allocated several times (allowMultipleAllocations)"),
        ((resource_claim("one", spec=asks(selectors=[{"cel": {"expression": "device.driver.startsWith('gpu')"}}])), GPU),
         "claim shop/one of shop/a: podrace does not read the selector of its devices, or one has not the attribute that it names"),
        ((tolerating(key="dry", operator="Exists", tolerationSeconds=60), resource_slice("n1", tainted("NoExecute"))),
         "claim shop/one of shop/a: a taint of gpu-0 of n1 has pods evicted (NoExecute), which is not modelled"),
        ((resource_claim("one", spec={**asks(), "controller": "x"}), GPU),
         "claim shop/one of shop/a is taken to be free on every node: `controller` is not modelled"),
        ((resource_claim("one", spec={"devices": {**asks()["devices"], "brandNew": 1}}), GPU),
         "claim shop/one of shop/a is taken to be free on every node: `brandNew` is not modelled"),
        ((resource_claim("one", spec=asks(brandNew=1)), GPU),
         "claim shop/one of shop/a is taken to be free on every node: `brandNew` is not modelled"),
        ((ONE, TWO, resource_slice("n1", device("gpu-0") | {"nodeAllocatableResourceMappings": {"cpu": {}}})),
         "claim shop/one of shop/a: it may have gpu-0 of n1, but `nodeAllocatableResourceMappings` is not modelled"),
        ((ONE, TWO, resource_slice("n1", device("gpu-0"), brandNew=1)),
         "claim shop/one of shop/a: it may have gpu-0 of n1, but `brandNew` is not modelled"),
        ((ONE, GPU, rule(selectors=[{"cel": {"expression": "true"}}])),
         "claim shop/one of shop/a: podrace does not read the selector of its devices, or one has not the attribute that it names"),
    ],
)  # fmt: skip
def test_what_is_in_doubt_is_said(tmp_path: Path, some: tuple[dict[str, Any], ...], doubt: str) -> None:
    found = kept(tmp_path, device_class(), *some, WAITS)
    assert found.claims.doubts == [doubt]


@pytest.mark.parametrize(
    "some",
    [
        (ONE, GPU),
        (ONE, GPU, resource_slice("x", device("fpga") | {"consumesCounters": [{"counterSet": "c"}]}, driver="fpga.example.com")),
        (ONE, TWO, resource_slice("n1", tainted())),
        (ONE, TWO, resource_slice("n1", device("gpu-0")), rule(pool="n1")),
        (tolerating(key="dry", operator="Exists"), resource_slice("n1", tainted("NoExecute"))),
        (resource_claim("one", "n1/gpu-0", ("elsewhere",), spec=asks(count=2)), GPU),
    ],
)  # fmt: skip
def test_what_is_known_exactly_is_not_in_doubt(tmp_path: Path, some: tuple[dict[str, Any], ...]) -> None:
    assert kept(tmp_path, device_class(), *some, WAITS).claims.doubts == []


@pytest.mark.parametrize(
    ("toleration", "met"),
    [
        ({"operator": "Exists"}, True),
        ({"key": "dry", "operator": "Exists"}, True),
        ({"key": "dry", "value": "yes"}, True),
        ({"key": "dry", "operator": "Equal", "value": "no"}, False),
        ({"key": "wet", "operator": "Exists"}, False),
        ({"key": "dry", "operator": "Exists", "effect": "NoExecute"}, False),
    ],
)
def test_taints_that_claims_tolerate(tmp_path: Path, toleration: dict[str, Any], met: bool) -> None:
    by_rule = (resource_slice("n1", device("gpu-0")), rule(driver="gpu.example.com", device="gpu-0"))
    for taints in ((resource_slice("n1", tainted()),), by_rule):
        found = inventory(tmp_path, *NODES, device_class(), tolerating(**toleration), *taints, WAITS)
        assert reach(found, "shop/a") == (["n1"] if met else [])
        assert found.remarks == [
            "the device is tainted: only claims that tolerate that may have it (device gpu-0 of n1)"
        ]


@pytest.mark.parametrize(
    "none",
    [
        rule("None"),
        rule(pool="n2"),
        made("DeviceTaintRule", "r", "resource.k8s.io/v1", spec={"taint": {"key": "k", "effect": "NoSchedule"}}),
    ],
)  # fmt: skip
def test_rules_that_taint_nothing_here(tmp_path: Path, none: dict[str, Any]) -> None:
    found = inventory(tmp_path, *NODES, device_class(), ONE, GPU, none, WAITS)
    assert reach(found, "shop/a") == ["n1"]
    assert found.remarks == []


def test_an_allocation_ties_its_pod_whatever_it_is_of(tmp_path: Path) -> None:
    """Until now a pod with a claim for two devices could go everywhere, though the claim was allocated on a node."""
    both = resource_claim("one", "n1/gpu-0", spec=asks(count=5))
    found = inventory(tmp_path, *NODES, device_class(), both, GPU, WAITS)
    assert reach(found, "shop/a") == ["n1"]
    assert found.remarks == [
        "a claim of devices is left out, and taken to be free where it is allocated: it asks for more than 4 devices (shop/one of shop/a)"
    ]


@pytest.mark.parametrize(
    ("pool", "why"),
    [
        ({"name": "n1", "generation": 1, "resourceSliceCount": 3}, "not complete"),
        ({"name": "n1", "generation": 1, "resourceSliceCount": 1}, "not complete"),
        ({"name": "n1", "generation": 1, "resourceSliceCount": 2}, "not valid, as it has a device twice"),
    ],
)
def test_pools_that_the_allocator_passes_over(tmp_path: Path, pool: dict[str, Any], why: str) -> None:
    """One with more slices than it names, too; and one that names a device twice."""
    slices = [resource_slice("n1", device("gpu-0"), name=name, pool=pool) for name in ("x", "y")]
    found = inventory(tmp_path, *NODES, device_class(), ONE, *slices, WAITS)
    assert reach(found, "shop/a") == []
    assert found.remarks == [
        f"the pool is {why}, and its devices are left out: the allocator passes over it, too (ResourceSlice/x and ResourceSlice/y)".replace(" and R", ", R")
    ]  # fmt: skip


def test_a_device_that_some_of_the_kept_nodes_reach(tmp_path: Path) -> None:
    """A scenario has devices of one node, or of all: until now such a one was left out without a word."""
    nodes = [node("n1"), node("n2", "5"), node("n3", "6")]
    term = {"matchExpressions": [{"key": "kubernetes.io/hostname", "operator": "In", "values": ["n1", "n2"]}]}
    slices = resource_slice("p", device("d"), where={"nodeSelector": {"nodeSelectorTerms": [term]}})
    third = resource_slice("n3", device("d"))
    two = [resource_claim(name) for name in ("one", "two")]
    more = [pod("b", claims=[{"name": "gpu", "resourceClaimName": "two"}])]
    everything = (*nodes, device_class(), slices, third, *two, WAITS, *more)
    found = represent(inventory(tmp_path, *everything), Size(3, 3))
    assert len(found.nodes) == 3
    assert found.claims.doubts == [
        "a device that some of the kept nodes reach, and not all, is left out (d of p)"
    ]


def test_extended_resources_that_are_in_doubt(tmp_path: Path) -> None:
    several = kept(tmp_path, backing(), backing("other.example.com"), GPU, asking("a"))
    assert several.claims.doubts == [
        "shop/a asks for example.com/gpu of DeviceClass/other.example.com: another class backs it, too, and one of them is taken"
    ]
    two = kept(tmp_path, backing(), TWO, asking("a", amount="2"))
    assert [d.rpartition(": ")[2] for d in two.claims.doubts] == [
        "it asks for several devices in place of extended resources"
    ]
    assert kept(tmp_path, backing(), GPU, asking("a"), special("x", "a")).claims.doubts == []


def test_a_pod_on_a_node_counts_where_one_that_waits_wants_devices(tmp_path: Path) -> None:
    holds = resource_claim("two", "n1/gpu-0", ("b",), spec=asks(count=5))
    runs = pod("b", claims=[{"name": "gpu", "resourceClaimName": "two"}], nodeName="n1", priority=-1)
    runs["spec"]["containers"][0]["resources"]["requests"]["cpu"] = "4"
    doubt = (
        "claim shop/two of shop/b is taken to be free where it is allocated: it asks for more than 4 devices"
    )
    some = (device_class(), holds, runs, GPU, node("n1", "4"))
    waits = pod("a", claims=SHARED)
    file = tmp_path / "m.yaml"
    for more, doubts in (
        ((ONE, waits, resource_slice("x", device("y"), where={"allNodes": True})), [doubt]),
        ((pod("c"),), []),
    ):
        file.write_text(as_list(*some, *more))
        found = represent(read_manifests([str(file)]))
        assert [p.name for p in found.pods if p.node] == ["shop/b"]
        assert found.claims.doubts == doubts  # fmt: skip


SEVERAL = requests(EXACTLY, EXACTLY | {"name": "h"})


def test_nothing_holds_and_the_scope_says_why(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Until now S-CAP of such a dump was HOLDS, exit code 0."""
    inventory(tmp_path, *NODES, device_class(), GPU, SEVERAL, WAITS)
    code = main.run(["check", "-f", str(tmp_path / "m.yaml"), "--property", "S-CAP", "--no-cache"])
    said = " ".join(capsys.readouterr().out.split())
    assert code == 3
    assert "S-CAP INCONCLUSIVE" in said
    assert "S-CAP HOLDS" not in said
    doubt = "claim shop/one of shop/a is taken to be free on every node: it has several requests"
    assert f"not modelled, so HOLDS becomes INCONCLUSIVE: {doubt}" in said
    assert (
        "No violation was found. That is no HOLDS for the cluster, because podrace does not model all that decides it."
        in said
    )
    assert f", not modelled {doubt}." in said
    assert "--max-states" not in said


def test_the_same_from_programs_and_with_an_old_release(tmp_path: Path) -> None:
    inventory(tmp_path, *NODES, device_class(), GPU, ONE, WAITS)
    file = str(tmp_path / "m.yaml")
    (sure,) = check(filename=file, property="S-CAP", cache=False)
    (old,) = check(filename=file, property="S-CAP", release="1.30", cache=False)
    assert (sure.verdict, "not_modelled" in sure.scope) == ("HOLDS", False)
    assert (old.verdict, old.vacuous) == ("INCONCLUSIVE", False)
    assert old.scope["not_modelled"] == (
        "shop/a: claims of volumes and devices are modelled from 1.32 on: they are taken to be had everywhere"
    )


def test_a_counterexample_stays_one_with_a_note(tmp_path: Path) -> None:
    """That of test_a_race_of_them_is_found_in_a_dump, with a second class for the resource."""
    left = special("left", "a", "n1/gpu-0")
    inventory(tmp_path, node("n1"), backing(), backing("z"), GPU, left, asking("a"))
    (found,) = check(filename=str(tmp_path / "m.yaml"), release="1.36.3", property="L-CLAIM", cache=False)
    assert found.verdict == "VIOLATED"
    why = "shop/a asks for example.com/gpu of DeviceClass/z: another class backs it, too, and one of them is taken"
    assert found.scope["not_modelled"] == why
    assert found.notes[-1] == (
        f"the counterexample can happen in the cluster only if it does not depend on what is not modelled: {why}"
    )


def test_a_pod_that_can_have_only_what_is_not_read_is_refused_for_that(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """It may fit: nobody says that it does not."""
    part = resource_slice("n1", device("gpu-0") | {"consumesCounters": [{"counterSet": "c"}]})
    file = tmp_path / "cluster.json"
    file.write_text(as_list(*NODES, device_class(), part, ONE, WAITS))
    assert main.run(["check", "-f", str(file)]) == 2
    said = " ".join(capsys.readouterr().err.split())
    assert "fits no node" not in said
    assert (
        "nothing can be decided about pods whose claims are not read in full: claim shop/one of shop/a: it may have gpu-0 of n1, but the device shares "
        "counters with others (consumesCounters); ask about other pods (--focus)"
    ) in said


def test_a_class_that_says_more_than_is_read_is_in_doubt(tmp_path: Path) -> None:
    of = device_class()
    of["spec"]["suitableNodes"] = {"nodeSelectorTerms": []}
    assert kept(tmp_path, of, ONE, GPU, WAITS).claims.doubts == [
        "claim shop/one of shop/a is taken to be free on every node: `suitableNodes` is not modelled (a field of its DeviceClass)"
    ]


def of_pod(claim: dict[str, Any], uid: str, name: str = "a") -> dict[str, Any]:
    owner = {"apiVersion": "v1", "kind": "Pod", "name": name, "uid": uid, "controller": True}
    return claim | {"metadata": claim["metadata"] | {"ownerReferences": [owner]}}


EARLIER = "the claim shop/a-gpu is none of those made for shop/a (ownerReferences), which is not tried until it is gone: that is not modelled"


@pytest.mark.parametrize(
    ("owner", "doubts"),
    [(("Pod-a",), []), (("before",), [EARLIER]), (("Pod-b", "b"), [EARLIER]), ((), [EARLIER])],
)
@pytest.mark.parametrize("kind", ["device", "volume"])
def test_a_claim_that_was_made_for_an_earlier_pod_is_in_doubt(
    tmp_path: Path, kind: str, owner: tuple[str, ...], doubts: list[str]
) -> None:
    """resourceclaim.IsForPod, ephemeral.VolumeIsForPod: the pod is unschedulable until that claim is gone. Here it was taken for the pod's, and S-STUCK held."""
    template = made("ResourceClaimTemplate", "t", "resource.k8s.io/v1", "shop", spec={"spec": asks()})
    claim, waits = (
        resource_claim("a-gpu"),
        pod("a", claims=[{"name": "gpu", "resourceClaimTemplateName": "t"}]),
    )
    some = [device_class(), template, GPU]
    if kind == "volume":
        claim = volume_claim("a-gpu", "local")
        waits["spec"] = pod("a")["spec"]
        waits["spec"]["volumes"].append(
            {"name": "gpu", "ephemeral": {"volumeClaimTemplate": {"spec": claim["spec"]}}}
        )
        some = [storage_class("local", "kubernetes.io/no-provisioner"), volume("pv", "local")]
    found = kept(tmp_path, *some, of_pod(claim, *owner) if owner else claim, waits)
    assert found.claims.doubts == doubts


@pytest.mark.parametrize(
    ("uid", "doubts"),
    [
        ("Pod-a", []),
        ("", []),
        (
            "before",
            ["claim shop/one of shop/a is reserved for an earlier pod with this name, which is not modelled"],
        ),
    ],
)
def test_a_claim_that_is_reserved_for_an_earlier_pod_is_in_doubt(
    tmp_path: Path, uid: str, doubts: list[str]
) -> None:
    claim = resource_claim("one", "n1/gpu-0", ("a",))
    claim["status"]["reservedFor"][0]["uid"] = uid
    assert kept(tmp_path, device_class(), claim, GPU, TWO, WAITS).claims.doubts == doubts


FIRST = {
    "name": "g",
    "firstAvailable": [EXACTLY["exactly"] | {"name": "x"}, EXACTLY["exactly"] | {"name": "y"}],
}


@pytest.mark.parametrize(
    ("some", "first", "what"),
    [
        ((ONE, TWO, resource_slice("n1", tainted())), "1.36", "taints of devices count"),
        ((ONE, TWO, resource_slice("n1", device("gpu-0") | {"bindingConditions": ["x"], "bindingFailureConditions": ["y"]})),
         "1.36", "binding conditions count"),
        ((ONE, TWO, GPU, rule(device="gpu-0")), "1.37", "a DeviceTaintRule counts"),
        ((requests(FIRST), GPU), "1.34", "firstAvailable counts"),
    ],
)  # fmt: skip
def test_what_an_older_release_does_not_heed_is_in_doubt_there(
    tmp_path: Path, some: tuple[dict[str, Any], ...], first: str, what: str
) -> None:
    found = kept(tmp_path, device_class(), WAITS, *some)
    said = f"{what} from {first} on: a verdict on an older release is not about what that one makes of it (Pod/shop/a)"
    before = f"1.{int(first[2:]) - 1}"
    assert [doubts_of(found, release) for release in (before, first, None)] == [[said], [], []]
