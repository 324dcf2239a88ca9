"""What a scenario can have that the model knows of some releases only."""

from collections.abc import Callable

from ...model.environment.objects import READY, ClusterSpec, Node
from ...model.history import Composition
from ...model.history.versions import exact, version_of
from ...scenarios import Scenario
from .options import FIRST_WITH_CLAIMS, FIRST_WITH_EXTENDED, FIRST_WITH_LISTS

GATES_OF_GROUPS = ("GangScheduling", "GenericWorkload")
"""The gate with which groups of pods are scheduled: of 1.35 and 1.36, and from 1.37 on."""
TOPOLOGY, TREES = "TopologyAwareWorkloadScheduling", "CompositePodGroup"
FIRST_WITH_ENTRIES = "1.37"


_LATER: tuple[tuple[str, str, Callable[[ClusterSpec], object]], ...] = (
    ("resourceClaims", FIRST_WITH_CLAIMS, lambda spec: spec.claims),
    ("extended resources of deviceClasses", FIRST_WITH_EXTENDED, lambda spec: any(c.special for c in spec.claims)),
    ("resourceClaims with firstAvailable", FIRST_WITH_LISTS, lambda spec: any(len(c.wishes) > 1 for c in spec.claims)),
    ("searches for devices that take too long", FIRST_WITH_LISTS, lambda spec: spec.scope.filter_timeouts),
    ("devices that are shared, or draw on counters,", FIRST_WITH_EXTENDED, lambda spec: any(d.shared or (len(d.draws) > 1 and not d.parts) for d in spec.devices)),
    ("resourceClaims with adminAccess", FIRST_WITH_EXTENDED, lambda spec: any(c.admin for c in spec.claims)),
    ("taints of devices", FIRST_WITH_EXTENDED, lambda spec: spec.scope.device_taints or any(d.taint for d in spec.devices)),
    ("volumeClaims", FIRST_WITH_CLAIMS, lambda spec: spec.volume_claims),
)  # fmt: skip
"""What is modelled from a release on, and which clusters have it."""


def refusal_of(scenario: Scenario, composition: Composition) -> str | None:
    """Why the scenario says nothing of this scheduler, whose gates are set as the scenario has them; None if it does."""
    spec, release = scenario.spec, composition.release
    if version_of(release) < version_of("1.12") and (
        node := next(filter(_is_refused_by_condition, spec.nodes), None)
    ):
        return f"{scenario.name}: that the conditions of {node.name} keep pods away, as up to 1.11, is not modelled: leave them out (and `node_lifecycle`), or ask for a later release"
    for what, first, has in _LATER:
        if has(spec) and version_of(release) < version_of(first):
            return f"{scenario.name}: {what} are modelled from {first} on: ask for a later release than {exact(release)}"
    return _refusal_of_groups(scenario, composition)


def _refusal_of_groups(scenario: Scenario, composition: Composition) -> str | None:
    groups = scenario.spec.groups
    if (TOPOLOGY, True) in composition.gates and not schedules_groups(composition):
        return f"{scenario.name}: {TOPOLOGY} needs GenericWorkload: add --gate GenericWorkload=true"
    if any(group.topology_key for group in groups) and (TOPOLOGY, True) not in composition.gates:
        return f"{scenario.name}: topologyKey of podGroups is for 1.38.0-beta.0 with {TOPOLOGY} on: add --release 1.38.0-beta.0 --gate {TOPOLOGY}=true"
    if (TREES, True) in composition.gates and (TOPOLOGY, True) not in composition.gates:
        return f"{scenario.name}: {TREES} needs GenericWorkload and {TOPOLOGY}: add --gate GenericWorkload=true --gate {TOPOLOGY}=true"
    if any(group.min_group_count for group in groups) and (TREES, True) not in composition.gates:
        return f"{scenario.name}: minGroupCount of podGroups is for 1.38.0-beta.0 with {TREES} on: add --release 1.38.0-beta.0 --gate {TREES}=true --gate {TOPOLOGY}=true"
    if groups and not schedules_groups(composition):
        return f"{scenario.name}: podGroups are for where the feature gate of groups is on: {HOW_GROUPS}"
    return _not_of_entries(scenario) if groups and has_entries(composition) else None


def _is_refused_by_condition(node: Node) -> bool:
    """Whether a version of the node has a condition that CheckNodeCondition or a predicate of pressure asks for, other than it is in health."""
    said = [
        (kind, status) for form in (node, *node.later.values()) for kind, status in form.conditions.items()
    ]
    return any(status != ("True" if kind == READY else "False") for kind, status in said if kind in _ASKED)


_ASKED = (READY, "OutOfDisk", "NetworkUnavailable", "MemoryPressure", "DiskPressure")

HOW_GROUPS = (
    "add --gate GangScheduling=true with release 1.35 or 1.36, or --gate GenericWorkload=true from 1.37 on"
)


def schedules_groups(composition: Composition) -> bool:
    """Whether groups of pods are scheduled as such."""
    return any((gate, True) in composition.gates for gate in GATES_OF_GROUPS)


def has_entries(composition: Composition) -> bool:
    """Whether the queue holds a group of pods as one entry (1.37)."""
    return version_of(composition.release) >= version_of(FIRST_WITH_ENTRIES)


def left_out_of_groups(scenario: Scenario, composition: Composition) -> str:
    """What the model leaves out of groups that are entries of the queue; empty where there are none."""
    if not scenario.spec.groups or not has_entries(composition):
        return ""
    return (
        "of groups of pods, disruption mode All, conditions, groups that are deleted, and trees of more than two levels are not modelled (A-GROUP-KINDS, A-GROUP-TREES); "
        "what is modelled was compared with 1.37.2 and 1.38.0-beta.0 in random runs (docs/groups.md)"
    )


def _not_of_entries(scenario: Scenario) -> str | None:
    """What is not modelled of clusters with groups from 1.37 on."""
    pods = scenario.spec.pods
    members = [pod for pod in pods if pod.group is not None]
    if several := _of_several_priorities(scenario):
        return f"{scenario.name}: {several}"
    if any(pod.claims for pod in members):
        return f"{scenario.name}: claims of pods that belong to a group are not modelled from 1.37 on: leave them out"
    return None


_UNLIKE = "the pods of a group need one priority and one preemptionPolicy, and those of"


def _of_several_priorities(scenario: Scenario) -> str | None:
    """What is not modelled where a group may preempt, or its pods be victims."""
    spec = scenario.spec
    pods_of = {
        group.name: [
            pod
            for pod in spec.pods
            if any(pod.group == g.name and group.name in (g.name, g.parent) for g in spec.groups)
        ]
        for group in spec.groups
    }
    for group in spec.groups:
        if len({pod.preempts for pod in pods_of[group.name]}) > 1:
            return f"from 1.37 on, {_UNLIKE} {group.name} have several"
    if len({repr(pod.priority) for pod in spec.pods}) < 2:
        return None
    if any(not isinstance(pod.quantities[-1], int) for pod in spec.pods):
        return "from 1.37 on, of clusters with podGroups the priorities have to be known: write numbers, or give all pods one priority"
    for group in spec.groups:
        if len({pod.quantities[-1] for pod in pods_of[group.name]}) > 1:
            return f"from 1.37 on, {_UNLIKE} {group.name} have several"
    parts = {
        "disruptionBudgets": bool(spec.budgets),
        "hostPorts": any(pod.host_ports for pod in spec.pods),
        "volumes": any(pod.volumes for pod in spec.pods),
        "extenders": bool(spec.extenders),
    }
    for name, there in parts.items():
        if there:
            return f"preemption of groups with {name} is not modelled from 1.37 on: leave them out, or give all pods one priority"
    return None
