"""What a pod counts for while it is resized: the most of what it asks for, was allocated and runs with (component-helpers, 1.36)."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from podrace.base.problems import Problem
from podrace.manifests.situation import Situation
from tests.manifests.manifest_objects import objects
from tests.manifests.test_manifests import container, inventory

INFEASIBLE = [
    {"type": "Ready", "status": "False"},
    {"type": "PodResizePending", "status": "True", "reason": "Infeasible"},
]
DEFERRED = [{"type": "PodResizePending", "status": "True", "reason": "Deferred"}]


def has(actual: str | None, allocated: str | None = None, name: str = "c") -> dict[str, Any]:
    """A container's status, with what it runs with and what was allocated to it."""
    found: dict[str, Any] = {"name": name}
    if actual is not None:
        found["resources"] = {"requests": {"cpu": actual}, "limits": {"cpu": "9"}}
    return found | ({"allocatedResources": {"cpu": allocated}} if allocated is not None else {})


@pytest.mark.parametrize(
    ("containers", "status", "cpu"),
    [
        ([container("1")], {"containerStatuses": [has("1", "1")]}, 1000),
        ([container("1")], {"containerStatuses": [has("3", "2")]}, 3000),
        ([container("1")], {"containerStatuses": [has("2", "3")]}, 3000),
        ([container("4")], {"containerStatuses": [has("1", "1")]}, 4000),
        ([container("4")], {"containerStatuses": [has("1", "1")], "conditions": DEFERRED}, 4000),
        ([container("4")], {"containerStatuses": [has("1", "2")], "conditions": INFEASIBLE}, 2000),
        # Without what it runs with, nothing of the status counts, as a kubelet of before 1.33 writes it.
        ([container("1")], {"containerStatuses": [has(None, "3")]}, 1000),
        ([container("4")], {"containerStatuses": [has(None, "1")], "conditions": INFEASIBLE}, 4000),
        ([container("1")], {"containerStatuses": [has("3", name="another")]}, 1000),
        ([container("1")], {"initContainerStatuses": [has("3")]}, 3000),
        ([container("1"), {**container("1"), "name": "d"}], {"containerStatuses": [has("2"), has("5", name="d")]}, 7000),
    ],
)  # fmt: skip
def test_the_most_counts(tmp_path: Path, containers: list[Any], status: dict[str, Any], cpu: int) -> None:
    rival = {**objects("rival")[0], "spec": {"containers": containers}, "status": status}
    (found,) = inventory(tmp_path, *objects("node"), rival).pending
    assert found.requests["cpu"] == cpu


@pytest.mark.parametrize(("policy", "cpu"), [({"restartPolicy": "Always"}, 4000), ({}, 1000)])
def test_of_init_containers_only_those_that_go_on_running(
    tmp_path: Path, policy: dict[str, str], cpu: int
) -> None:
    starts = {**container("1", **policy), "name": "s"}
    written = {"containers": [container("1")], "initContainers": [starts]}
    status = {"initContainerStatuses": [has("3", name="s")]}
    rival = {**objects("rival")[0], "spec": written, "status": status}
    (found,) = inventory(tmp_path, *objects("node"), rival).pending
    assert found.requests["cpu"] == cpu


@pytest.mark.parametrize(("actual", "said"), [("1", 0), ("3", 1)])
def test_a_note_says_so_where_it_matters(tmp_path: Path, actual: str, said: int) -> None:
    status = {"containerStatuses": [has(actual)]}
    rival = {**objects("rival")[0], "spec": {"containers": [container("1")]}, "status": status}
    notes = inventory(tmp_path, *objects("node"), rival).remarks
    assert (
        sum("a resize is not over: the pod counts as by 1.33 and later, with what it has" in n for n in notes)
        == said
    )


@pytest.mark.parametrize(("conditions", "said"), [(DEFERRED, True), (INFEASIBLE, False), ([], False)])
def test_a_resize_that_is_put_off_is_said(tmp_path: Path, conditions: list[Any], said: bool) -> None:
    """It overfills the node to the scheduler (135107), and such a node can be no start of a scenario."""
    status = {"containerStatuses": [has("1", "1")], "conditions": conditions}
    resized = {
        **objects("rival")[0],
        "spec": {"containers": [container("9")], "nodeName": "n1"},
        "status": status,
    }
    found = inventory(tmp_path, *objects("node"), resized)
    put_off = (
        "the kubelet puts off a resize: to the scheduler the pod counts with what it asks for; that the kubelet allocates it later is not "
        "in the scenario, and a node that it overfills is left out (Pod/shop/search-1)"
    )
    assert (put_off in found.remarks) == said
    assert found.bound[0].requests["cpu"] == (1000 if conditions is INFEASIBLE else 9000)
    assert bool(Situation(found).sound_nodes) == (conditions is INFEASIBLE)


def test_an_amount_that_is_none(tmp_path: Path) -> None:
    status = {"containerStatuses": [has("much")]}
    rival = {**objects("rival")[0], "spec": {"containers": [container("1")]}, "status": status}
    with pytest.raises(
        Problem,
        match=r"status\.containerStatuses\[0\]\.resources\.requests\.cpu: expected a CPU quantity .* not `much`",
    ):
        inventory(tmp_path, *objects("node"), rival)
