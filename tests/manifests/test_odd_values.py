"""Objects of which any value was replaced, left out or doubled: they are read, or refused in one line, and what is made of them is a scenario."""

from __future__ import annotations

import json
from collections.abc import Iterator
from copy import deepcopy
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from podrace.base.problems import Problem
from podrace.manifests import Size, read_manifests, represent
from podrace.manifests.left_out import remarks_of
from podrace.manifests.telling.scenario_text import scenario_of
from podrace.manifests.telling.summary import account_of, title_of
from podrace.scenarios import parse_scenario
from tests.manifests.claim_objects import (
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
    storage_class,
    template,
    volume,
    volume_claim,
)
from tests.manifests.manifest_objects import objects
from tests.manifests.node_objects import RESTARTS, declaring, restarting, tainted, tolerating
from tests.manifests.test_representative import pod as at_work
from tests.profiles import examples

NODES = [node("n1"), node("n2", zone="b")]
CLUSTERS = {
    "pods": objects(),
    "volumes": [
        *NODES, storage_class("csi"), storage_class("now", waits=False), volume("pv1", zone="a"), volume("pv2", zone="b", claim="c1"),
        volume_claim("c1", bound="pv2"), volume_claim("c2"), pod("p1", "c1", nodeName="n2"), pod("p2", "c2"), pod("p3", "c2", priority=10),
    ],
    "claims": [
        *NODES, device_class(), resource_slice("n1", device("g0"), device("g1")), resource_slice("n2", device("g0")),
        resource_claim("k1", at="n1/g0"), resource_claim("k2"), template("t"), pod("p1", claims=[{"name": "a", "resourceClaimName": "k1"}]),
        pod("p2", claims=[{"name": "a", "resourceClaimName": "k2"}]), pod("p3", claims=[{"name": "a", "resourceClaimTemplateName": "t"}]),
    ],
    "leaving": [
        tainted("n1", {"key": "dry", "effect": "NoExecute"}, ready="Unknown"), declaring("n2", RESTARTS),
        at_work("v", "4", 0, "n1", **tolerating(300)), at_work("p", "4", 10, **tolerating()), restarting("r"),
    ],
    "backed": [
        *NODES, backing(), resource_slice("n1", device("g0"), conditioned(), device("g2")), resource_slice("n2", device("g0")),
        special("k1", "p1", at="n1/g0"), special("k2", "p2"), claimed("ready"), asking("p1", nodeName="n1"),
        asking("p2", status={"phase": "Pending", "extendedResourceClaimStatus": {"resourceClaimName": "k2"}}),
        asking("p3", priority=10, claims=[{"name": "a", "resourceClaimName": "one"}]),
    ],
}  # fmt: skip

ODD: list[Any] = [
    None, "", 0, -1, 1.5, 1e30, -0.0, 2**63, True, False, [], {}, [None], [[]], [1, 2], {"a": None}, {"b": {"c": []}}, "x" * 300, "1Ki",
    "-5", "100m", "1.5Gi", "nan", "1e9999", "0x10", "1_000", "true", "~", "*", ".", "/", "n1", "shop/api-1", "a\u0085b", "\U0001f4a5",
    "2026-01-01T00:00:00Z",
]  # fmt: skip

Place = tuple[str | int, ...]


def places(value: Any, here: Place = ()) -> Iterator[Place]:
    """Every place in a tree of mappings and lists but its root."""
    inside = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, part in inside:
        yield (*here, key)
        yield from places(part, (*here, key))


def at(value: Any, place: Place) -> Any:
    for key in place:
        value = value[key]
    return value


PLACES = {name: list(places(some)) for name, some in CLUSTERS.items()}


@st.composite
def changed(draw: Any, name: str) -> list[Any]:
    """The objects with one value changed: to an odd one, to one from elsewhere; gone; or there twice."""
    some: list[Any] = deepcopy(CLUSTERS[name])
    place = draw(st.sampled_from(PLACES[name]))
    holder, key = at(some, place[:-1]), place[-1]
    match draw(st.sampled_from(["odd", "odd", "elsewhere", "gone", "twice"])):
        case "odd":
            holder[key] = draw(st.sampled_from(ODD))
        case "elsewhere":
            holder[key] = deepcopy(at(some, draw(st.sampled_from(PLACES[name]))))
        case "gone":
            del holder[key]
        case "twice" if isinstance(holder, list):
            holder.append(deepcopy(holder[key]))
        case _:
            holder["another"] = deepcopy(holder[key])
    return some


@pytest.mark.parametrize("name", CLUSTERS)
def test_they_are_read_or_refused_in_one_line(name: str, tmp_path_factory: pytest.TempPathFactory) -> None:
    file = tmp_path_factory.mktemp("odd") / "m.json"

    @settings(max_examples=examples(100), suppress_health_check=[HealthCheck.too_slow])
    @given(changed(name))
    def one(some: list[Any]) -> None:
        said = outcome(file, some)
        assert said is None or ("\n" not in said and said.isprintable() and len(said) < 700)

    assert outcome(file, CLUSTERS[name]) is None, "so that a change is what they are refused for"
    one()


def outcome(file: Path, some: list[Any]) -> str | None:
    """Why the objects are refused; None if they are read, and a scenario comes of them."""
    file.write_text(json.dumps({"apiVersion": "v1", "kind": "List", "items": some}), encoding="utf-8")
    try:
        kept = represent(read_manifests([str(file)]), Size(3, 2))
    except Problem as problem:
        return str(problem)
    assert all(remark.isprintable() for remark in remarks_of(kept))
    # What is written is podrace's own: it is never refused.
    parse_scenario(scenario_of(kept, "cluster", title_of(kept), account_of(kept)), "cluster.yaml")
    return None


def test_a_claim_of_a_pod_has_a_name_that_is_a_label(tmp_path: Path) -> None:
    some = deepcopy(CLUSTERS["claims"])
    some[-1]["spec"]["resourceClaims"][0]["name"] = "."
    said = outcome(tmp_path / "m.json", some)
    assert said is not None
    assert said.endswith("expected a name of at most 63 lower-case letters, digits and `-`, not `.`")
