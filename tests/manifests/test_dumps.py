"""What stands in dumps of real clusters beside the ordinary: objects twice, and amounts that no machine has."""

from __future__ import annotations

from copy import deepcopy
from pathlib import Path
from typing import Any

import pytest

from podrace.manifests import Inventory, read_manifests
from podrace.scenarios import ScenarioError
from tests.manifests.manifest_objects import text_of
from tests.manifests.test_representative import node, pod


def read(folder: Path, *some: dict[str, Any]) -> Inventory:
    file = folder / "m.yaml"
    file.write_text(text_of(list(some)))
    return read_manifests([str(file)])


def versioned(version: str | None) -> dict[str, Any]:
    made = pod("p", "1")
    made["metadata"]["uid"] = "uid-p"
    if version is not None:
        made["metadata"]["resourceVersion"] = version
    return made


def test_an_object_that_is_printed_twice_counts_once(tmp_path: Path) -> None:
    found = read(tmp_path, node("n1"), versioned("7"), deepcopy(versioned("7")))
    assert [p.name for p in found.pending] == ["shop/p"]
    assert list(found.remarks) == [
        "objects that are there twice, with the same resourceVersion, count once (Pod/shop/p)"
    ]


@pytest.mark.parametrize("again", [versioned("8"), versioned(None)])
def test_two_versions_of_an_object_are_refused(tmp_path: Path, again: dict[str, Any]) -> None:
    with pytest.raises(ScenarioError, match="Pod/shop/p was already given in"):
        read(tmp_path, node("n1"), versioned("7"), again)


def test_a_node_has_no_more_than_podrace_counts(tmp_path: Path) -> None:
    virtual = node("n1")
    virtual["status"]["allocatable"] |= {"memory": str((1 << 63) - 1), "cpu": "1E"}
    found = read(tmp_path, virtual, pod("p", "1"))
    assert found.nodes[0].allocatable["memory"] == 1 << 50
    assert found.nodes[0].allocatable["cpu"] == 1_000_000_000
    assert sorted(found.remarks) == [
        "the node has more cpu than podrace counts: it counts with 1000000 (Node/n1)",
        "the node has more memory than podrace counts: it counts with 1Pi (Node/n1)",
    ]


def test_a_pod_that_asks_for_more_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ScenarioError, match=r"requests\.cpu: expected a CPU quantity from 0 to 1000000 "):
        read(tmp_path, node("n1"), pod("p", "1E"))


def test_memory_that_a_vendor_counts_in_pieces(tmp_path: Path) -> None:
    batch = "kubernetes.io/batch-memory"
    has = node("n1")
    has["status"]["allocatable"][batch] = "100Gi"
    assert read(tmp_path, has, pod("p", "1")).nodes[0].allocatable[batch] == 100 << 30
