"""Counts with and without symmetry on clusters with equal nodes and equal pods."""

from __future__ import annotations

from pathlib import Path

import pytest

from podrace.checker.explicit import explore
from podrace.checker.reduction.symmetry import symmetry_of
from podrace.checker.search import explored_slice
from podrace.model.history import resolve
from podrace.model.language import TransitionSystem
from podrace.properties import PROPERTIES, instrument
from podrace.scenarios.reader.scenario_reader import read_scenario
from tests.checker.reduction.test_symmetry import answers

TWO = "{n1: {cpu: 2}, n2: {cpu: 2}}"
EDGES = "{node_deletions: 1, node_creations: 1}"
CLUSTERS = {
    "two empty nodes": ("1.22", TWO, "{x: {cpu: 2}}", EDGES),
    "two empty nodes, 1.13": ("1.13", TWO, "{x: {cpu: 2}}", EDGES),
    "three empty nodes": ("1.22", "{n1: {cpu: 2}, n2: {cpu: 2}, n3: {cpu: 2}}", "{x: {cpu: 2}}", EDGES),
    "two full nodes": (
        "1.22",
        TWO,
        "{x: {cpu: 2, priority: 10}, a: {cpu: 2, nodeName: n1}, b: {cpu: 2, nodeName: n2}}",
        "{pod_events: 1}",
    ),
    "two equal pods": ("1.22", "{n1: {cpu: 2}}", "{x: {cpu: 2}, y: {cpu: 2}}", "{pod_deletions: 1}"),
    "two unequal nodes": ("1.22", "{n1: {cpu: 2}, n2: {cpu: 3}}", "{x: {cpu: 3}}", EDGES),
    "two equal victims": (
        "1.22",
        "{n1: {cpu: 2}}",
        "{x: {cpu: 2, priority: 10}, a: {cpu: 1, nodeName: n1}, b: {cpu: 1, nodeName: n1}}",
        "{pod_events: 1}",
    ),
}
# The permutations that are proved, and states without and with them.
FOUND = {
    "two empty nodes": (("symmetry of n1, n2",), 916, 464),
    "two empty nodes, 1.13": (("symmetry of n1, n2",), 696, 354),
    "three empty nodes": (("symmetry of n1, n2, n3",), 1713, 481),
    # The pods on the nodes do not change places with them.
    "two full nodes": (("symmetry of n1, n2",), 9324, 8593),
    # Which of two pods came first stays known as long as they wait.
    "two equal pods": (("symmetry of x, y",), 65728, 64881),
}
NOT_SYMMETRIC = [name for name in CLUSTERS if name not in FOUND]


def system_of(name: str, folder: Path) -> TransitionSystem:
    release, nodes, pods, scope = CLUSTERS[name]
    path = folder / "cluster.yaml"
    path.write_text(
        f"name: cluster\ntitle: {name}\nrelease: '{release}'\nproperties: [S-CAP]\n"
        f"nodes: {nodes}\npods: {pods}\nscope: {scope}\n"
    )
    scenario = read_scenario(path, str(path))
    composition = resolve(release)
    return explored_slice(instrument(scenario.spec, composition.classes, [PROPERTIES["S-CAP"]]), "S-CAP")


@pytest.mark.parametrize("name", FOUND)
def test_counts_and_answers(name: str, tmp_path: Path) -> None:
    system = system_of(name, tmp_path)
    symmetry = symmetry_of(system)
    assert symmetry is not None
    full, folded = explore(system), explore(system, symmetry=symmetry)
    assert (symmetry.names, full.states, folded.states) == FOUND[name]
    assert answers(system, folded) == answers(system, full)


@pytest.mark.parametrize("name", NOT_SYMMETRIC)
def test_what_differs_is_not_symmetric(name: str, tmp_path: Path) -> None:
    """Nodes of different size; victims, whose order is that of the scenario where nothing else decides."""
    assert symmetry_of(system_of(name, tmp_path)) is None
