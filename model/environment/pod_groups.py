"""PodGroups at the API server (scheduling.k8s.io, 1.36; a pod group of a Workload in 1.35), and what of them the scheduler has been shown.

A group is created once, and neither changed nor deleted (A-GROUP-OBJECTS). Which pods belong to it the pods say. Behind the gate GangScheduling, in 1.37 GenericWorkload;
without it (`is_there`) nobody looks at the group of a pod.
"""

from collections.abc import Callable

from ..language import (
    Component,
    Expr,
    Fact,
    Knowledge,
    Lasts,
    Value,
    Words,
    boolean,
    count,
    per,
    require,
    step,
    tells,
)
from .cluster.derived import Derived, Found, Roster
from .objects import Node, Pod, PodGroup


class Member(Derived):
    """That a pod belongs to a group (spec.schedulingGroup, in 1.35 spec.workloadRef): `leaf`. `group` is the root of its tree, which is the CompositePodGroup if the group has one."""

    pod: Pod
    group: PodGroup
    leaf: PodGroup

    @classmethod
    def found_in(cls, cluster: Roster) -> Found:
        named = {group.name: group for group in cluster.spec.groups}
        leaves = ((pod, named[pod.group]) for pod in cluster.spec.pods if pod.group is not None)
        return ((pod, named[leaf.parent] if leaf.parent else leaf, leaf) for pod, leaf in leaves)


class Domain(Derived, named="{group.name}/{value}"):
    """The nodes with one value of a group's topology key: a placement of the group, if it has any nodes."""

    group: PodGroup
    value: str

    @classmethod
    def found_in(cls, cluster: Roster) -> Found:
        for group in cluster.spec.groups:
            if group.topology_key is not None:
                said = (node.labels.get(group.topology_key) for node in cluster.spec.nodes)
                yield from ((group, value) for value in dict.fromkeys(filter(None, said)))

    def has(self, node: Node) -> bool:
        """Whether the node is in the domain."""
        return node.labels.get(str(self.group.topology_key)) == self.value


class PodGroups(Component):
    """Groups at the API server and in the scheduler's lister (`listed`), and those that the queue knows (`told`)."""

    kinds = (Member, Domain)

    exists = per(PodGroup, boolean())
    listed = per(PodGroup, boolean())
    told = per(PodGroup, boolean())

    phrases = {
        "exists": Words("API server: pod group {0} is created", "API server: pod group {0} is gone"),
        "listed": Words("lister: pod group {0} exists", "lister: pod group {0} is gone"),
    }
    knowledge = (
        Knowledge("API server", {"exists": Fact("created", "exists", "not created")}),
        Knowledge("lister", {"listed": Fact("created", "exists", "not created")}),
    )

    def setup(self) -> None:
        for group in self.universe[PodGroup]:
            self.exists[group] = group.exists
            self.listed[group] = group.exists
            self.told[group] = group.exists

    def is_there(self) -> bool:
        """Whether the scheduler schedules groups (GangScheduling)."""
        return False

    def heeds_topology(self) -> bool:
        """Whether the scheduler heeds the topology keys of groups (TopologyAwareWorkloadScheduling)."""
        return False

    def domains(self, group: PodGroup) -> list[Domain]:
        """The domains of which one is chosen for the group; none if all nodes are one placement."""
        return [d for d in self.universe[Domain] if d.group is group] if self.keeps_together(group) else []

    def keeps_together(self, group: PodGroup) -> bool:
        """Whether the group has to be placed within one domain."""
        return self.heeds_topology() and group.topology_key is not None

    def member(self, pod: Pod) -> Member | None:
        """The pod as a member of a group. None if it is in no group, or groups are ignored."""
        found = (member for member in self.universe[Member] if member.pod is pod)
        return next(found, None) if self.is_there() else None

    def members(self, group: PodGroup) -> list[Member]:
        """All pods that belong to the group, or to one below it."""
        return [member for member in self.universe[Member] if group in (member.group, member.leaf)]

    def roots(self) -> list[PodGroup]:
        """The groups that are scheduled on their own."""
        return [group for group in self.universe[PodGroup] if group.parent is None]

    def root(self, group: PodGroup) -> PodGroup:
        """The root of the tree that the group is in."""
        return next(root for root in self.roots() if root.name == (group.parent or group.name))

    def children(self, group: PodGroup) -> list[PodGroup]:
        """The groups of a CompositePodGroup, in the order of the scenario (A-GROUP-TREES); none of any other."""
        return [child for child in self.universe[PodGroup] if child.parent == group.name]

    def complete(self, group: PodGroup, counts: Callable[[Member], Value]) -> Expr:
        """Whether minCount pods of the group count; of a CompositePodGroup, whether minGroupCount of its groups are complete."""
        if group.min_group_count is None:
            return count(counts(m) for m in self.members(group)) >= (group.min_count or 1)
        return count(self.complete(child, counts) for child in self.children(group)) >= group.min_group_count

    @step(actor="user", fair=False)
    @tells("A user creates the pod group {group}.")
    def create_group(self, group: PodGroup) -> None:
        """POST of a group that the cluster did not have at the start."""
        require(not group.exists and self.is_there())
        require(~self.exists[group])
        self.exists[group] = True

    @step(actor="pod group informer", lasts=Lasts.SHORT)
    @tells("The informer's store receives the pod group {group}: listers see it from now on.")
    def store_group(self, group: PodGroup) -> None:
        """The event of the new group reaches the informer's store."""
        require(not group.exists and self.is_there())
        require(self.exists[group] & ~self.listed[group])
        self.listed[group] = True
