"""Which groups of pods are in a scenario: those of kept pods, as far as all their pods can be kept; and whether the scheduler heeds groups at all.

A group is never made smaller. If not all of its pods are kept, or something of it is not modelled, the kept ones are scheduled each by itself, and a doubt says so.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import field, replace

from ..base.structs import Data
from ..base.text import counted
from ..model.history import GateProblem, UnknownName, resolve
from ..model.history.versions import exact, version_of
from .inventory import Inventory
from .kept_claims import KeptClaims
from .members import ClusterNode, ClusterPod
from .reading.cluster_version import NOT_READ
from .reading.group_objects import FIRST_ON_PODS, FIRST_WITH_OBJECTS, GroupObject
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
    if how is not None and any(p.group for p in (*bound, *pending)):
        gates[how.gate] = True
    found = replace(
        inventory, bound=bound, pending=pending, groups=_with_priorities(inventory, release),
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
        gangs = sum(group.min_count is not None for group in self.groups)
        return [
            *(["S-GROUPSTATE"] if self.groups else []),
            *(["S-QUORUM", "L-GANG"] if gangs else []),
            *(["L-DEADLOCK"] if gangs > 1 else []),
        ]

    @property
    def lines(self) -> Iterator[str]:
        """What is kept of groups."""
        for group in self.groups:
            policy = "basic" if group.min_count is None else f"a gang, minCount {group.min_count}"
            yield f"{group.shown}: {policy}"

    @property
    def doubts(self) -> Iterator[str]:
        """What is in doubt because a group is left out."""
        for key, why in self.left_out.items():
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
    keys = list(dict.fromkeys(pod.group for pod in pods if pod.group))
    found = {key: situation.inventory.group(key) for key in keys}

    def why_left_out(key: str) -> str:
        reasons = _why_left_out(key, found[key], situation, pods, nodes, claims, waiting)
        return refused or next(reasons, "")

    left_out = {key: why for key in keys if (why := why_left_out(key))}
    kept = KeptGroups(tuple(g for key, g in found.items() if g is not None and key not in left_out), left_out)
    names = {kept.name_of(group.key) for group in kept.groups}
    if len(names) < len(kept.groups):
        return KeptGroups((), dict.fromkeys(keys, "two of the groups would have one name in a scenario"))
    return kept


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
    if key in inventory.apart:
        yield f"some of its pods are {inventory.apart[key]}"
    members = list(dict.fromkeys([*inventory.members(key), *(p for p in pods if p.group == key)]))
    if len({p.scheduler for p in members}) > 1:
        yield "its pods have several schedulerNames"
    if any(
        "GangScheduling" in profile.without
        for p in members
        if (profile := inventory.configuration.of(p.scheduler))
    ):
        yield "a profile runs without GangScheduling"
    missing = [p for p in members if p not in pods or p.stands_for > 1]
    if missing:
        more = sum(p.stands_for for p in missing)
        where = {p.node for p in missing if p.node} - {n.name for n in nodes}
        at = f" --nodes {len(nodes) + len(where)}" if where else ""
        yield f"{counted(more, 'pod')} of it {'is' if more == 1 else 'are'} not kept; --pods {len(pods) + more}{at} may keep all"
    if group.min_count is not None and group.min_count > MOST_MIN_COUNT:
        yield f"its minCount is above {MOST_MIN_COUNT}"
    if any(claims.volumes.get(p.name) or p.name in claims.extended for p in members):
        yield "volumes, and extended resources that devices back, are not modelled for pods of groups"
    if without_room([p for p in members if p in waiting], pods, nodes, situation):
        yield f"the kept nodes have no room for all of its pods; --nodes {len(nodes) + 1} may"


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
