"""What a scenario may say next to a pod group that is placed by topology."""

from __future__ import annotations

import pytest

from podrace.base.problems import Problem
from podrace.scenarios import parse_scenario

HEAD = """
nodes:
  n1: {cpu: 2, labels: {zone: x}NODE}
pods:
  a: {cpu: 1, podGroup: g, labels: {app: web}POD}
podGroups:
  g: {minCount: 1, topologyKey: zone}
REST
"""
NOT = "next to a pod group with `topologyKey`, this is not modelled: remove"
AFFINITY = "{required: [{matchLabels: {app: web}, topologyKey: zone}]}"


@pytest.mark.parametrize(
    ("node", "pod", "rest", "said"),
    [
        ("", f", podAffinity: {AFFINITY}", "", f"5: pods.a.podAffinity: {NOT} `podAffinity` or `topologyKey`"),
        ("", f", podAntiAffinity: {AFFINITY}", "", f"5: pods.a.podAntiAffinity: {NOT} `podAntiAffinity` or `topologyKey`"),
        ("", ", hostPorts: [80]", "", f"5: pods.a.hostPorts: {NOT} `hostPorts` or `topologyKey`"),
        ("", "", "extender: {filter: true}", f"8: extender: {NOT} `extender` or `topologyKey`"),
        ("", "", "config: {scored: true}", "8: config: next to a pod group with `topologyKey`, `scored` is not modelled, as any domain may be chosen: remove it"),
        (", updates: {moved: {labels: {zone: y}}}", "", "",
         "3: nodes: the label of a pod group's `topologyKey` changes on n1, which is not modelled: leave it as it is"),
    ],
)  # fmt: skip
def test_what_is_refused_next_to_placements(node: str, pod: str, rest: str, said: str) -> None:
    text = HEAD.replace("NODE", node).replace("POD", pod).replace("REST", rest)
    with pytest.raises(Problem) as refused:
        parse_scenario(text, "s.yaml")
    assert str(refused.value) == f"s.yaml:{said}"


def test_the_key_is_read() -> None:
    scenario = parse_scenario(HEAD.replace("NODE", "").replace("POD", "").replace("REST", ""), "s.yaml")
    assert [group.topology_key for group in scenario.spec.groups] == ["zone"]


TREE = "nodes: {n1: {cpu: 2}}\npods: {a: {cpu: 1, podGroup: gPOD}}\npodGroups: {c: {minGroupCount: 1ROOT}, g: {LEAF}}\n"
LEAF = "minCount: 1, parent: c"
IN_TREE = "3: podGroups: in a tree of groups, `topologyKey` and `exists: false` are not modelled: remove them from g"


@pytest.mark.parametrize(
    ("pod", "root", "leaf", "said"),
    [
        ("", ", minCount: 1", LEAF, "3: podGroups: c has both `minCount` and `minGroupCount`: it is a group of pods or of groups, so remove one of them"),
        ("", ", parent: g", LEAF, "3: podGroups: c has both `minGroupCount` and `parent`, and trees of more than two levels are not modelled: remove one of them"),
        ("", "", "minCount: 1", "3: podGroups: c has `minGroupCount`, and is the parent of no group: name it as `parent` of another"),
        ("", "", "parent: c", "3: podGroups: g is below a gang, and so has to be one: give it a `minCount`"),
        ("", "", f"{LEAF}, topologyKey: z", IN_TREE),
        ("", "", f"{LEAF}, exists: false", IN_TREE),
        (", schedulingGates: [{name: x}]", "", LEAF, "2: pods.a.schedulingGates: of a pod in a tree of groups, this is not modelled: remove `schedulingGates` or `parent` of its group"),
        (", hostPorts: [80]", "", LEAF, "2: pods.a.hostPorts: next to a pod group with `parent`, this is not modelled: remove `hostPorts` or `parent`"),
    ],
)  # fmt: skip
def test_what_is_refused_of_trees(pod: str, root: str, leaf: str, said: str) -> None:
    with pytest.raises(Problem) as refused:
        parse_scenario(TREE.replace("POD", pod).replace("ROOT", root).replace("LEAF", leaf), "s.yaml")
    assert str(refused.value) == f"s.yaml:{said}"
