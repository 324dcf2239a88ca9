"""Which groups of pods are in a scenario: those of kept pods, as far as all their pods can be kept; and whether the scheduler heeds groups at all, their topology keys, and groups of groups.

A group is never made smaller, and a tree of groups is kept as a whole. If not all of its pods are kept, or something of it is not modelled, the kept ones are scheduled each by itself, and a doubt says so.
"""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import field, replace

from ..base.structs import Data
from ..base.text import counted
from ..model.history import GateProblem, UnknownName, resolve
from ..model.history.versions import exact, version_of
from .inventory import Inventory
from .kept_claims import KeptClaims
from .members import ClusterNode, ClusterPod
from .reading.cluster_version import NOT_READ
from .reading.group_objects import COMPOSITE, FIRST_ON_PODS, FIRST_WITH_OBJECTS, GroupObject
from .reading.manifest_files import Remarks
from .situation import Situation

MOST_MIN_COUNT = 8
"""A gang of a scenario waits for no more pods."""

BY_ITSELF = "the pod belongs to a group, and is scheduled by itself here"


class Heeding(Data):
    """How the scheduler of some releases heeds groups: if `gate` is on, and where a group is an object of this kind. `api`: a gate that alone is not enough."""

    first: str
    kind: str
    gate: str
    api: str = ""

    def is_of(self, pod: ClusterPod) -> bool:
        """Whether the pod names its group as these releases read it."""
        return pod.group.startswith(f"{self.kind}/")


HEEDING = (
    Heeding("1.35", FIRST_ON_PODS, "GangScheduling", "GenericWorkload"),
    Heeding("1.36", FIRST_WITH_OBJECTS, "GangScheduling", "GenericWorkload"),
    Heeding("1.37", FIRST_WITH_OBJECTS, "GenericWorkload"),
)
"""By the first release of each."""

TOPOLOGY, TREES = "TopologyAwareWorkloadScheduling", "CompositePodGroup"
SHAPES = (
    ("parent", TREES, "parentCompositePodGroupName"),
    ("topology_key", TOPOLOGY, "schedulingConstraints"),
)
"""What groups may say, by the attribute that has it, the gate by which it is heeded, and its field."""

OWN_PRIORITY = "1.37"
"""From this release on the priority of a group counts, and not those of its pods."""


def as_started(
    inventory: Inventory, release: str, asked: Mapping[str, bool]
) -> tuple[Inventory, dict[str, bool]]:
    """The same as the scheduler of a release sees it with its feature gates, and those of them that a scenario sets. `asked` are gates that were given.

    What kube-scheduler's flags set and the model does not have is a doubt. Where the scheduler heeds no groups, no pod is in one, and a remark says why; where
    nobody knows, it is a doubt about each pod.
    """
    how = next((h for h in reversed(HEEDING) if version_of(release) >= version_of(h.first)), None)
    flags, said = inventory.flags or {}, Remarks()
    gates: dict[str, bool] = {}
    for name, on in flags.items():
        if name in asked or (how is not None and name == how.api):
            continue
        try:
            resolve(release, gates={name: on})
        except (GateProblem, UnknownName):
            said.doubt(
                f"kube-scheduler is started with --feature-gates={name}={str(on).lower()}, {NOT_READ}",
                "the flags of kube-scheduler",
            )
        else:
            gates[name] = on
    bound, pending = (
        [_as_heeded(p, how, release, inventory, asked, said) for p in some]
        for some in (inventory.bound, inventory.pending)
    )
    groups = _with_priorities(inventory, release)
    if how is not None and any(p.group for p in (*bound, *pending)):
        gates[how.gate] = True
        groups, more = _as_shaped(
            groups,
            {p.group for p in (*bound, *pending)},
            release,
            {**flags, **asked},
            inventory.flags is not None,
            said,
        )
        gates |= dict.fromkeys(more, True)
    found = replace(
        inventory, bound=bound, pending=pending, groups=groups,
        remarks=[*inventory.remarks, *said.lines()], doubts=[*inventory.doubts, *said.doubts],
    )  # fmt: skip
    return found, gates


def _as_heeded(
    pod: ClusterPod,
    how: Heeding | None,
    release: str,
    inventory: Inventory,
    asked: Mapping[str, bool],
    said: Remarks,
) -> ClusterPod:
    """The pod in its group, if the scheduler heeds that."""
    if not pod.group:
        return pod
    if how is None or not how.is_of(pod):
        field = "workloadRef" if pod.group.startswith(f"{FIRST_ON_PODS}/") else "schedulingGroup"
        said.add(f"{BY_ITSELF}: {exact(release)} does not know {field}", f"Pod/{pod.name}")
        return replace(pod, group="")
    why, known = _why_unheeded(how, release, inventory.flags, asked)
    note = said.add if known else said.doubt
    if why:
        note(f"{BY_ITSELF}: {why}", f"Pod/{pod.name}")
    return replace(pod, group="") if why else pod


def _why_unheeded(
    how: Heeding, release: str, flags: Mapping[str, bool] | None, asked: Mapping[str, bool]
) -> tuple[str, bool]:
    """Why no groups are heeded, and whether that is so in the cluster; empty if they are."""
    gates = {**(flags or {}), **asked}
    if gates.get(how.gate):
        try:
            resolve(release, gates={how.gate: True})
        except GateProblem:
            return f"groups of {exact(release)} are not modelled", False
        return "", True
    if gates.get(how.api):
        return f"{how.api} without {how.gate} is not modelled", False
    if how.gate in gates or flags is not None:
        return f"{how.gate} is off", True
    return (
        f"the objects do not say whether the scheduler heeds groups; give --gate {how.gate}=true or --gate {how.gate}=false",
        False,
    )


def _as_shaped(
    groups: Mapping[str, GroupObject],
    of_pods: set[str],
    release: str,
    gates: Mapping[str, bool],
    known: bool,
    said: Remarks,
) -> tuple[dict[str, GroupObject], list[str]]:
    """The groups with the topology keys and parents that the scheduler heeds, and the gates that it needs for these. `known`: a gate that nobody set is as by default, which is off."""
    found, needed = dict(groups), dict[str, None]()
    for key in sorted(of_pods & set(groups)):
        for shape, gate, what in SHAPES:
            if not getattr(found[key], shape):
                continue
            on = gates.get(gate, False if known else None)
            try:
                resolve(release, gates={"GenericWorkload": True, TOPOLOGY: True, gate: True})
            except (GateProblem, UnknownName):
                why = f"its {what} is not modelled in {exact(release)}"
            else:
                why = f"the objects do not say whether the scheduler heeds its {what}; give --gate {gate}=true or --gate {gate}=false"
                if on:
                    needed |= dict.fromkeys((TOPOLOGY, gate))
                    continue
            if on is False:
                said.add(f"the scheduler passes over its {what}: {gate} is off", key)
                one = found[key]
                parent, topology = one.parent, one.topology_key
                found[key] = replace(
                    one,
                    parent="" if shape == "parent" else parent,
                    topology_key="" if shape == "topology_key" else topology,
                )
            else:
                found[key] = replace(found[key], unlike=found[key].unlike or why)
    return found, list(needed)


def _with_priorities(inventory: Inventory, release: str) -> Mapping[str, GroupObject]:
    """The groups, of which those are not modelled whose own priority counts, and differs from their pods'."""
    if version_of(release) < version_of(OWN_PRIORITY):
        return inventory.groups
    return {
        key: replace(
            group, unlike=group.unlike or f"its own priority, {group.priority}, is not that of its pods"
        )
        if any(p.priority != group.priority for p in inventory.members(key))
        else group
        for key, group in inventory.groups.items()
    }


class KeptGroups(Data):
    """The groups that a scenario has, and those of kept pods that it does not have, with the reasons."""

    groups: tuple[GroupObject, ...] = ()
    left_out: Mapping[str, str] = field(default_factory=dict)

    def name_of(self, key: str) -> str:
        """The name of a group in the scenario; empty for one that it does not have."""
        if all(group.key != key for group in self.groups):
            return ""
        _, namespace, *names = key.split("/")
        return f"{namespace}/{'.'.join(names)}"

    @property
    def properties(self) -> list[str]:
        """The properties that such groups can break."""
        gangs = sum(bool(g.min_count or g.min_group_count) and not g.parent for g in self.groups)
        return [
            *(["S-GROUPSTATE"] if self.groups else []),
            *(["S-QUORUM", "L-GANG"] if gangs else []),
            *(["L-DEADLOCK"] if gangs > 1 else []),
            *(["S-DOMAIN"] if any(group.topology_key for group in self.groups) else []),
        ]

    @property
    def lines(self) -> Iterator[str]:
        """What is kept of groups."""
        for group in self.groups:
            policy = "basic" if group.min_count is None else f"a gang, minCount {group.min_count}"
            if group.min_group_count is not None:
                policy = f"a group of groups, minGroupCount {group.min_group_count}"
            below = f", below {self.name_of(group.parent)}" if group.parent else ""
            within = f", within one {group.topology_key}" if group.topology_key else ""
            yield f"{group.shown}: {policy}{below}{within}"

    @property
    def section(self) -> dict[str, dict[str, object]]:
        """The groups as a scenario has them."""
        return {
            self.name_of(g.key): {
                name: value
                for name, value in (
                    ("minCount", g.min_count),
                    ("minGroupCount", g.min_group_count),
                    ("parent", self.name_of(g.parent)),
                    ("topologyKey", g.topology_key),
                )
                if value
            }
            for g in self.groups
        }

    @property
    def doubts(self) -> Iterator[str]:
        """What is in doubt because a group is left out."""
        for key, why in self.left_out.items():
            if key.startswith(f"{COMPOSITE}/"):
                continue
            yield f"the pods of group {key.partition('/')[2]} are scheduled each by itself here: {why}"


def groups_kept(
    situation: Situation,
    pods: Sequence[ClusterPod],
    nodes: Sequence[ClusterNode],
    claims: KeptClaims,
    waiting: Sequence[ClusterPod],
    refused: str,
) -> KeptGroups:
    """What is kept of the groups of kept pods, of which some are `waiting` to be placed. `refused`: why no group can be in a scenario."""
    keys = list(
        dict.fromkeys(key for pod in pods if pod.group for key in _tree(pod.group, situation.inventory))
    )
    found = {key: situation.inventory.group(key) for key in keys}

    def why_left_out(key: str) -> str:
        reasons = (
            why
            for one in dict.fromkeys((key, *_tree(key, situation.inventory)))
            for why in _why_left_out(
                one, situation.inventory.group(one), situation, pods, nodes, claims, waiting
            )
        )
        return refused or next(reasons, "")

    left_out = {key: why for key in keys if (why := why_left_out(key))}
    kept = KeptGroups(tuple(g for key, g in found.items() if g is not None and key not in left_out), left_out)
    names = {kept.name_of(group.key) for group in kept.groups}
    if len(names) < len(kept.groups):
        return KeptGroups((), dict.fromkeys(keys, "two of the groups would have one name in a scenario"))
    return kept


def _tree(key: str, inventory: Inventory) -> list[str]:
    """The groups of the tree that a group is in, the root first and those below it by age; only itself if it is in none."""
    group = inventory.group(key)
    root = key if group is None or not group.parent else group.parent
    below = sorted((g for g in inventory.groups.values() if g.parent == root), key=lambda g: g.age)
    return [root, *(g.key for g in below)]


def _why_no_tree(group: GroupObject, inventory: Inventory) -> Iterator[str]:
    """What is not modelled of a group in a tree."""
    root = group if not group.parent else inventory.group(group.parent)
    if root is None or (root is group and group.min_group_count is None):
        return
    if root.parent or (group.parent and group.min_group_count is not None):
        yield "trees of groups with more than two levels are not modelled"
    if group.topology_key:
        yield "topology keys in trees of groups are not modelled"
    if group.parent and group.min_count is None:
        yield "groups with the basic policy in trees of groups are not modelled"
    if (group.priority, group.workload) != (root.priority, root.workload):
        yield "the groups of its tree have several priorities or Workloads, which the scheduler refuses"


_COUNTED = "pod affinity, topology spread constraints and host ports next to groups with topology keys or in trees are not modelled"


def _why_left_out(
    key: str,
    group: GroupObject | None,
    situation: Situation,
    pods: Sequence[ClusterPod],
    nodes: Sequence[ClusterNode],
    claims: KeptClaims,
    waiting: Sequence[ClusterPod],
) -> Iterator[str]:
    inventory = situation.inventory
    kind = key.partition("/")[0]
    if group is None:
        yield f"its {kind} is not among the objects; dump {kind.lower()}s, too"
        return
    if group.unlike:
        yield group.unlike
    yield from _why_no_tree(group, inventory)
    if (group.topology_key or group.parent) and any(p.terms or p.spread or p.host_ports for p in pods):
        yield _COUNTED
    if key in inventory.apart:
        yield f"some of its pods are {inventory.apart[key]}"
    members = list(dict.fromkeys([*inventory.members(key), *(p for p in pods if p.group == key)]))
    yield from _of_schedulers({p.scheduler for p in members}, inventory)
    yield from _not_kept(members, pods, nodes)
    if group.min_count is not None and group.min_count > MOST_MIN_COUNT:
        yield f"its minCount is above {MOST_MIN_COUNT}"
    if any(claims.volumes.get(p.name) or p.name in claims.extended for p in members):
        yield "volumes, and extended resources that devices back, are not modelled for pods of groups"
    if _lack_room([p for p in members if p in waiting], group.topology_key, pods, nodes, situation):
        place = f" within one {group.topology_key}" if group.topology_key else ""
        yield f"the kept nodes have no room for all of its pods{place}; --nodes {len(nodes) + 1} may"


def _of_schedulers(names: Collection[str], inventory: Inventory) -> Iterator[str]:
    if len(names) > 1:
        yield "its pods have several schedulerNames"
    profiles = map(inventory.configuration.of, names)
    if any("GangScheduling" in profile.without for profile in profiles if profile):
        yield "a profile runs without GangScheduling"


def _not_kept(
    members: Sequence[ClusterPod], pods: Sequence[ClusterPod], nodes: Sequence[ClusterNode]
) -> Iterator[str]:
    missing = [p for p in members if p not in pods or p.stands_for > 1]
    if missing:
        more = sum(p.stands_for for p in missing)
        where = {p.node for p in missing if p.node} - {n.name for n in nodes}
        at = f" --nodes {len(nodes) + len(where)}" if where else ""
        yield f"{counted(more, 'pod')} of it {'is' if more == 1 else 'are'} not kept; --pods {len(pods) + more}{at} may keep all"


def _lack_room(
    placed: Sequence[ClusterPod],
    label: str,
    pods: Sequence[ClusterPod],
    nodes: Sequence[ClusterNode],
    situation: Situation,
) -> bool:
    """Whether no domain of the nodes that are kept has room for all of these pods."""
    domains = {n.labels[label] for n in nodes if label in n.labels} if label else {""}
    within = [[n for n in nodes if not label or n.labels.get(label) == domain] for domain in domains]
    return all(without_room(placed, pods, some, situation) for some in within)


def without_room(
    waiting: Sequence[ClusterPod],
    pods: Sequence[ClusterPod],
    nodes: Sequence[ClusterNode],
    situation: Situation,
) -> list[ClusterNode]:
    """The nodes that could be added, if these have no room for all the pods that wait, once less important ones of `pods` are gone."""
    gone = [p for p in pods if p.node and all(p.priority < w.priority and w.preempts for w in waiting)]
    placed: dict[ClusterNode, list[ClusterPod]] = {}
    for pod in waiting:
        node = next((n for n in nodes if situation.fits(pod, n, gone, placed.get(n, ()))), None)
        if node is None:
            others = [n for n in situation.sound_nodes if n not in nodes]
            return [n for n in others if situation.fits(pod, n)] or [
                n for n in others if situation.can_preempt(pod, n)
            ]
        placed.setdefault(node, []).append(pod)
    return []
