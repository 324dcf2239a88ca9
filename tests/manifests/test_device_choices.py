"""Claims for several devices, and for the first of several classes, as `-f` reads them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from podrace.api import check
from tests.manifests.claim_objects import asks, device, device_class, pod, resource_claim, resource_slice
from tests.manifests.test_manifest_claims import NODES, inventory, kept, reach, written

BIG, GPU = "big.example.com", "gpu.example.com"
CLASSES = (device_class(GPU), device_class(BIG, f"device.driver == '{BIG}'"))
WISHES = [{"name": "x", "deviceClassName": BIG}, {"name": "y", "deviceClassName": GPU, "count": 2}]
FIRST = resource_claim("one", spec={"devices": {"requests": [{"name": "g", "firstAvailable": WISHES}]}})
TWO = resource_claim("two", spec=asks(count=2))


def waits(name: str, claim: str) -> dict[str, Any]:
    return pod(name, claims=[{"name": "gpu", "resourceClaimName": claim}])


def slices(big: int, gpus: int) -> tuple[dict[str, Any], ...]:
    return (
        resource_slice("n1", *(device(f"big-{i}") for i in range(big)), driver=BIG),
        resource_slice("n1", *(device(f"gpu-{i}") for i in range(gpus))),
    )


@pytest.mark.parametrize(
    ("big", "gpus", "at"), [(1, 0, ["n1"]), (0, 1, []), (0, 2, ["n1"]), (1, 2, ["n1"]), (0, 0, [])]
)
def test_where_the_first_that_can_be_had_is(tmp_path: Path, big: int, gpus: int, at: list[str]) -> None:
    found = inventory(tmp_path, *NODES, *CLASSES, *slices(big, gpus), FIRST, waits("a", "one"))
    assert reach(found, "shop/a") == at


def test_they_are_kept_as_they_are(tmp_path: Path) -> None:
    found = kept(tmp_path, *CLASSES, *slices(1, 3), FIRST, TWO, waits("a", "one"), waits("b", "two"))
    assert found.claims.doubts == []
    assert written(found)["resourceClaims"] == {
        "shop/one": {"firstAvailable": [{"deviceClassName": BIG}, {"deviceClassName": GPU, "count": 2}]},
        "shop/two": {"deviceClassName": GPU, "count": 2},
    }
    assert sorted(written(found)["devices"]) == ["n1.big-0", "n1.gpu-0", "n1.gpu-1", "n1.gpu-2"]
    assert [line for line in found.claims.lines if "shop/one" in line] == [
        f"claim shop/one of shop/a is not allocated; it asks for a device of {BIG}, or else 2 devices of {GPU}"
    ]


def test_several_that_are_allocated(tmp_path: Path) -> None:
    holds = resource_claim("two", "n1/gpu-0", ("a",), spec=asks(count=2))
    results = holds["status"]["allocation"]["devices"]["results"]
    results.append(results[0] | {"device": "gpu-1"})
    found = kept(tmp_path, *CLASSES, *slices(0, 3), holds, waits("a", "two"))
    (claim,) = written(found)["resourceClaims"].values()
    assert claim["device"] == ["n1.gpu-0", "n1.gpu-1"]
    assert found.claims.doubts == []


def test_too_many_ways_are_left_out(tmp_path: Path) -> None:
    claims = [resource_claim(f"c{i}", spec=asks(count=4)) for i in range(3)]
    pods = [waits(f"p{i}", f"c{i}") for i in range(3)]
    found = kept(tmp_path, *CLASSES, *slices(0, 12), *claims, *pods)
    assert found.claims.doubts == [
        f"there are too many ways to give claims several devices: shop/c{i} is left out" for i in range(3)
    ]


def test_such_a_dump_has_an_answer(tmp_path: Path) -> None:
    """Until now it was INCONCLUSIVE."""
    inventory(tmp_path, *NODES, *CLASSES, *slices(1, 2), FIRST, TWO, waits("a", "one"), waits("b", "two"))
    (found,) = check(filename=str(tmp_path / "m.yaml"), release="1.36.3", property="S-DEV", cache=False)
    assert (found.verdict, "not_modelled" in found.scope) == ("HOLDS", False)
