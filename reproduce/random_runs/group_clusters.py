"""Random small clusters with groups of pods (with GangScheduling on in 1.35 and 1.36, with GenericWorkload on in 1.37), for lockstep, as scenario files.

A number determines a cluster: one or two nodes, one or two groups, two to four pods of which most belong to a group, and sometimes one that runs and may be evicted. Groups, and their pods, may be created
on the way; some pods have a scheduling gate, or a claim of devices that pods of their group share. In the clusters for 1.37 there are no claims, in every other one all pods have one priority, and a node may go.
In those for 1.38, groups may have to be within one zone. Clusters with groups of groups are another kind.
"""

from collections.abc import Callable
from random import Random
from typing import Any

import yaml

GATES = {"GangScheduling": True}
"""The feature gates that such clusters need, before a group is one entry of the queue."""
ENTRY_GATES = {"GenericWorkload": True}
"""Those of clusters in which it is one."""

PLACED_GATES = ENTRY_GATES | {"TopologyAwareWorkloadScheduling": True}
"""Those of clusters in which groups can be placed by topology."""

TREE_GATES = PLACED_GATES | {"CompositePodGroup": True}
"""Those of clusters with groups of groups."""

FIRST_WITH_ENTRIES, FIRST_WITH_PLACEMENTS = 37, 38

FAULTS = ("pod_deletions", "bind_failures", "status_failures", "external_binds", "permit_rejections")


def group_cluster(number: int) -> str:
    """The scenario file of this number, for 1.35 and 1.36."""
    return _text(number, GATES, (1, 1, 2))


def entry_cluster(number: int) -> str:
    """That for 1.37, where claims of members are not modelled. In every other one groups preempt, and their pods are victims."""
    return _text(number, ENTRY_GATES, (1,))


def placed_cluster(number: int) -> str:
    """That for 1.38: as for 1.37, and two of three have a group within one of two zones, with a node more."""
    made = yaml.safe_load(_text(number, PLACED_GATES, (1,)))
    random = Random(f"placements {number}")
    if number % 3:
        made["nodes"]["n3"] = {"cpu": random.choice((1, 2, 2))}
        for name, node in made["nodes"].items():
            node["labels"] = {"zone": random.choice("xy") if name == "n2" else "y" if name == "n3" else "x"}
        for group in made["podGroups"].values():
            if random.random() < 0.8:
                group["topologyKey"] = "zone"
    return yaml.safe_dump(made, sort_keys=False)


def tree_cluster(number: int) -> str:
    """That for 1.38 with two or three groups below one root, all there from the start, and pods of one priority and without gates in them. What users create comes last (A-GROUP-ORDER)."""
    made = yaml.safe_load(_text(number, TREE_GATES, (1,)))
    made["pods"] = dict(sorted(made["pods"].items(), key=lambda pod: "exists" in pod[1]))
    random = Random(f"trees {number}")
    names = random.choice(("gh", "gh", "gh", "ghi"))
    made["podGroups"] = {"c": {"minGroupCount": random.choice((1, 1, 2))}} | {
        name: {"minCount": random.choice((1, 1, 2)), "parent": "c"} for name in names
    }
    members = [pod for pod in made["pods"].values() if "podGroup" in pod]
    for pod in members:
        pod["podGroup"] = random.choice(names)
        pod["priority"] = max(one["priority"] for one in members)
        pod.pop("schedulingGates", None)
    return yaml.safe_dump(made, sort_keys=False)


def clusters_for(minor: int) -> tuple[Callable[[int], str], dict[str, bool]]:
    """The clusters, and their gates, for a version 1.minor."""
    if minor >= FIRST_WITH_PLACEMENTS:
        return placed_cluster, PLACED_GATES
    return (entry_cluster, ENTRY_GATES) if minor >= FIRST_WITH_ENTRIES else (group_cluster, GATES)


def _text(number: int, gates: dict[str, bool], priorities: tuple[int, ...]) -> str:
    alike = len(priorities) == 1
    random = Random(f"groups {number}")

    def chance(probability: float) -> bool:
        return random.random() < probability

    nodes = {f"n{i + 1}": {"cpu": random.choice((1, 2, 2, 3))} for i in range(random.choice((1, 1, 2)))}
    groups: dict[str, dict[str, Any]] = {}
    for name in ("g", "h")[: random.choice((1, 1, 1, 2))]:
        groups[name] = {"minCount": random.choice((1, 2, 2, 2, 3))} if chance(0.85) else {}
        if chance(0.25):
            groups[name]["exists"] = False
    claimed = chance(0.25) and not alike
    pods: dict[str, dict[str, Any]] = {}
    for i in range(random.choice((2, 2, 3, 3, 4))):
        pod: dict[str, Any] = {"cpu": 1, "priority": random.choice(priorities)}
        if i < 2 or chance(0.6):
            pod["podGroup"] = random.choice(list(groups))
        if i and chance(0.2):
            pod["exists"] = False
        elif chance(0.15):
            pod["schedulingGates"] = [{"name": "example.com/gate"}]
        if claimed and chance(0.7):
            pod["resourceClaims"] = [random.choice(("c1", "c1", "c2"))]
        if chance(0.6):
            pod["terminationGracePeriodSeconds"] = 0
        pods[f"p{i + 1}"] = pod
    if chance(0.35):
        pods["x"] = {"cpu": 1, "nodeName": "n1", "priority": int(alike), "terminationGracePeriodSeconds": 0}
    if alike and number % 2:
        _rank(number, nodes, pods)
    scope: dict[str, Any] = {"pod_events": random.randint(2, 4), "file_order": True}
    scope |= {fault: random.randint(1, 2) for fault in FAULTS if chance(0.4)}
    if alike and chance(0.3):
        scope["node_deletions"] = 1
    made: dict[str, Any] = {
        "name": f"groups-{number}",
        "featureGates": gates,
        "nodes": nodes,
        "podGroups": groups,
        "pods": pods,
        "scope": scope,
    }
    if claimed:
        scope["claim_events"] = random.randint(2, 3)
        if any("resourceClaims" in pod for pod in pods.values()) and chance(0.5):
            scope["plugin_errors"] = 1
        made["devices"] = {f"d{i + 1}": {} for i in range(random.choice((1, 2)))}
        made["resourceClaims"] = {"c1": {}, "c2": {}}
    return yaml.safe_dump(made, sort_keys=False)


def _rank(number: int, nodes: dict[str, dict[str, Any]], pods: dict[str, dict[str, Any]]) -> None:
    """Several priorities, one for all pods of a group, and up to three pods more that run and may be victims."""
    random = Random(f"priorities {number}")
    of_group = {name: random.choice((1, 2, 2)) for name in ("g", "h")}
    for pod in pods.values():
        pod["priority"] = of_group.get(pod.get("podGroup", ""), random.choice((0, 0, 1, 2)))
    room = [node for node, amounts in nodes.items() for _ in range(amounts["cpu"])]
    for place, node in enumerate(room[:3]):
        if random.random() < 0.7:
            victim = {"cpu": 1, "nodeName": node, "priority": random.choice((0, 0, 1))}
            pods["xyz"[place]] = victim | ({"terminationGracePeriodSeconds": 0} if place else {})
