"""Extended resources that devices back, and binding conditions of devices, in manifests."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from podrace.base.problems import Problem
from podrace.cli import main
from tests.manifests.claim_objects import (
    GPU,
    as_list,
    asking,
    backing,
    claimed,
    conditioned,
    device,
    device_class,
    node,
    pod,
    resource_claim,
    resource_slice,
    special,
)
from tests.manifests.test_manifest_claims import NODES, inventory, kept, reach, told, written

IMPLICIT = "deviceclass.resource.kubernetes.io/gpu.example.com"
ONE = resource_slice("n1", device("gpu-0"))


@pytest.mark.parametrize("resource", [GPU, IMPLICIT])
def test_pods_that_ask_for_it_want_the_same_devices(tmp_path: Path, resource: str) -> None:
    found = kept(tmp_path, backing(), ONE, asking("a", resource), asking("b", resource))
    scenario = written(found)
    assert scenario["deviceClasses"] == {
        "gpu.example.com": {"extendedResourceName": GPU} if resource == GPU else {}
    }
    assert scenario["devices"] == {"n1.gpu-0": {"deviceClassName": "gpu.example.com"}}
    assert {n: p["resources"] for n, p in scenario["pods"].items()} == {
        "shop/a": {resource: 1}, "shop/b": {resource: 1}
    }  # fmt: skip
    assert "resourceClaims" not in scenario
    assert scenario["properties"][-2:] == ["S-DEV", "S-RESV"]
    assert found.inventory.remarks == []
    assert list(found.claims.remarks) == []
    assert told(found) == [
        f"claim shop/a-extended-resources of shop/a is made by the scheduler, for {resource}; it asks for a device of gpu.example.com",
        f"claim shop/b-extended-resources of shop/b is made by the scheduler, for {resource}; it asks for a device of gpu.example.com",
        "devices of gpu.example.com: n1.gpu-0",
    ]


def test_a_victim_has_the_claim_that_was_made_for_it(tmp_path: Path) -> None:
    """Found by its owner, whatever it is called; its device is free when the victim has gone."""
    big = {"cpu": "4", "memory": "1Gi"}
    x, a = asking("x", nodeName="n1"), asking("a", priority=10)
    for one in (x, a):
        one["spec"]["containers"][0]["resources"]["requests"] |= big
    slices = resource_slice("n1", device("gpu-0"), device("gpu-1"))
    found = kept(
        tmp_path, backing(), slices, special("x-extended-resources-7kq2p", "x", "n1/gpu-0"), x, a, nodes=1
    )
    scenario = written(found)
    assert scenario["resourceClaims"] == {
        "shop/x-extended-resources": {
            "device": "n1.gpu-0", "deviceClassName": "gpu.example.com", "reservedFor": ["shop/x"]
        }
    }  # fmt: skip
    assert scenario["pods"]["shop/x"]["resources"] == {GPU: 1}
    assert list(scenario["devices"]) == ["n1.gpu-0", "n1.gpu-1"]


@pytest.mark.parametrize("named", [False, True])
def test_one_that_is_left_from_an_earlier_attempt(tmp_path: Path, named: bool) -> None:
    """The scheduler deletes it first, so that its device is no tie; it is found by its owner, or as the pod's status names it."""
    status: dict[str, Any] = {"phase": "Pending"}
    left = special("a-extended-resources-7kq2p", "a", "n2/gpu-0")
    if named:
        status["extendedResourceClaimStatus"] = {"resourceClaimName": "a-extended-resources-7kq2p"}
        del left["metadata"]["ownerReferences"]
    slices = (ONE, resource_slice("n2", device("gpu-0")))
    some = (backing(), *slices, left, asking("a", status=status))
    assert reach(inventory(tmp_path, *NODES, *some), "shop/a") == ["n1", "n2"]
    assert written(kept(tmp_path, *some))["resourceClaims"] == {
        "shop/a-extended-resources": {
            "device": "n2.gpu-0", "deviceClassName": "gpu.example.com", "reservedFor": ["shop/a"]
        }
    }  # fmt: skip


@pytest.mark.parametrize("plugged", [1, 2])
def test_a_resource_of_a_device_plugin_is_one_of_the_nodes(tmp_path: Path, plugged: int) -> None:
    nodes = [node("n1"), node("n2", zone="b")]
    for one in nodes[:plugged]:
        one["status"]["allocatable"] |= {GPU: "1"}
    found = inventory(tmp_path, *nodes, backing(), ONE, asking("a"))
    mixed = (
        "some nodes have the extended resource from a device plugin, and devices back it on the others: the others are taken to have none "
        f"({GPU} of DeviceClass/gpu.example.com)"
    )
    assert found.remarks == ([mixed] if plugged == 1 else [])
    assert found.pending[0].requests[GPU] == 1
    assert found.pending[0].claims.devices == ()


def test_more_than_one_device_is_left_out(tmp_path: Path) -> None:
    found = inventory(tmp_path, *NODES, backing(), ONE, asking("a", amount="2"))
    assert found.remarks == [
        (
            "a claim of devices is left out, and taken to be free on every node: it asks for several devices in place of extended resources "
            "(shop/a-extended-resources of shop/a)"
        )
    ]
    assert GPU not in found.pending[0].requests
    assert reach(found, "shop/a") is None


def test_of_several_classes_the_first_is_taken(tmp_path: Path) -> None:
    found = inventory(tmp_path, *NODES, backing(), backing("z"), ONE, asking("a"))
    assert found.remarks == [
        (
            "several classes back the extended resource: gpu.example.com is taken, the scheduler takes the newest "
            f"({GPU} of DeviceClass/z)"
        )
    ]
    assert reach(found, "shop/a") == ["n1"]


def test_up_to_1_35_it_is_a_resource_of_nodes(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "dump.yaml"
    file.write_text(as_list(*NODES, backing(), ONE, asking("a"), pod("b")))
    arguments = ["check", "-f", str(file), "--property", "S-CAP"]
    assert main.run([*arguments, "--release", "1.35.0"]) == 0
    told = capsys.readouterr()
    assert (
        f"note: devices back extended resources from 1.36 on: what the nodes say of it counts ({GPU} of DeviceClass/gpu.example.com)"
        in told.err
    )
    assert "shop/a" not in told.out.split("representative:")[1].split("left out")[0]
    assert main.run([*arguments, "--release", "1.36.0", "--focus", "shop/a"]) == 0
    told = capsys.readouterr()
    assert "is made by the scheduler, for example.com/gpu" in told.out
    assert "note: devices back" not in told.err


def test_a_race_of_them_is_found_in_a_dump(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The rest of an earlier attempt is deleted, and nobody tells the pod (extended-left)."""
    file = tmp_path / "dump.yaml"
    file.write_text(as_list(node("n1"), backing(), ONE, special("left", "a", "n1/gpu-0"), asking("a")))
    assert main.run(["check", "-f", str(file), "--release", "1.36.3", "--property", "L-CLAIM"]) == 1
    assert "L-CLAIM VIOLATED" in capsys.readouterr().out


# --- binding conditions ----------------------------------------------------------------------------------


SHARED = [{"name": "gpu", "resourceClaimName": "one"}]


@pytest.mark.parametrize(
    ("true", "said"),
    [((), None), (("ready",), "met"), (("broken",), "failed"), (("ready", "broken"), "failed")],
)
def test_binding_conditions_are_kept(tmp_path: Path, true: tuple[str, ...], said: str | None) -> None:
    found = kept(
        tmp_path, device_class(), resource_slice("n1", conditioned()), claimed(*true), pod("a", claims=SHARED)
    )
    scenario = written(found)
    assert scenario["devices"]["n1.gpu-0"]["bindingConditions"] is True
    assert scenario["resourceClaims"]["shop/one"].get("bindingConditions") == said
    assert f"whose binding conditions are {said or 'pending'}" in told(found)[0]
    assert found.inventory.remarks == []


def test_all_conditions_of_a_device_must_be_met(tmp_path: Path) -> None:
    one = claimed("ready", bindingConditions=["ready", "fast"])
    found = inventory(tmp_path, *NODES, device_class(), resource_slice("n1", conditioned()), one)
    assert found.claims.devices.claims["shop/one"].readiness == "pending"


def test_devices_with_and_without_conditions_are_told_apart(tmp_path: Path) -> None:
    slices = resource_slice("n1", conditioned(), device("gpu-1"), device("gpu-2"))
    found = kept(tmp_path, device_class(), slices, resource_claim("one"), pod("a", claims=SHARED))
    assert {n: d.get("bindingConditions") for n, d in written(found)["devices"].items()} == {
        "n1.gpu-0": True, "n1.gpu-1": None
    }  # fmt: skip


@pytest.mark.parametrize("everywhere", [False, True])
def test_a_device_that_stays_with_its_node(tmp_path: Path, everywhere: bool) -> None:
    where: dict[str, Any] = {"where": {"allNodes": True}} if everywhere else {}
    slices = resource_slice("n1", device("gpu-0") | {"bindsToNode": True}, **where)
    found = inventory(
        tmp_path, *NODES, device_class(), slices, resource_claim("one"), pod("a", claims=SHARED)
    )
    said = (
        "the device stays with the node that it is first used on (bindsToNode), though several may reach it, which is not modelled: "
        "left out (device gpu-0 of n1)"
    )
    assert found.remarks == ([said] if everywhere else [])
    assert reach(found, "shop/a") == ([] if everywhere else ["n1"])


@pytest.mark.parametrize(
    ("some", "problem"),
    [
        (
            (resource_slice("n1", conditioned(bindingConditions=3)),),
            "devices[0].bindingConditions: expected a list of conditions, not `3`",
        ),
        (
            (claimed(bindingConditions=[{}]),),
            "results[0].bindingConditions[0]: expected a condition, not a mapping",
        ),
    ],
)
def test_mistakes_are_one_line(tmp_path: Path, some: tuple[dict[str, Any], ...], problem: str) -> None:
    with pytest.raises(Problem) as raised:
        inventory(tmp_path, *NODES, device_class(), *some)
    assert problem in str(raised.value)
    assert "\n" not in str(raised.value)
