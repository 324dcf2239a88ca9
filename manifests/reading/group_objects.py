"""Groups of pods: PodGroups (scheduling.k8s.io/v1alpha2 of 1.36, v1alpha3 of 1.37, v1beta1 of 1.38), groups of these (CompositePodGroup), and the pod groups of a Workload (v1alpha1 of 1.35).

A Workload of a later version only says what its controller makes PodGroups of. The scheduler does not look at it, and neither does anything here.
"""

from collections.abc import Iterator, Mapping
from dataclasses import field, replace
from datetime import UTC, datetime

from ...base.structs import Data
from ...base.text import one_line
from ...scenarios.reader.sections.pod_section import read_time
from ...scenarios.tables.pods import MAX_PRIORITY, MIN_PRIORITY
from .device_objects import ClaimReference, read_references, read_statuses
from .manifest_values import Fields
from .metadata import Meta, read_label

MOST_MEMBERS = (1 << 31) - 1
FIRST_ON_PODS, FIRST_WITH_OBJECTS, COMPOSITE = "Workload", "PodGroup", "CompositePodGroup"
"""What the group of a pod is an object of: in 1.35 workloadRef names a Workload, from 1.36 on schedulingGroup a PodGroup."""


class GroupObject(Data):
    """A group, by its kind and its names with slashes between them: a gang of at least `min_count` pods, or of at least `min_group_count` groups that have it as `parent`, or a group with the basic policy.

    Its pods have to be within one domain of `topology_key`. `unlike` is what it asks for that is not modelled. `claims` are those that its pods share, `made` the ResourceClaims that were made for them. `priority` is its own,
    0 for none. `owners` are as Kind/namespace/name, `parent` as a key. It is of a `workload`, and was `created` then.
    """

    key: str
    min_count: int | None = None
    unlike: str = ""
    claims: tuple[ClaimReference, ...] = ()
    made: Mapping[str, str | None] = field(default_factory=dict)
    priority: int = 0
    owners: tuple[str, ...] = ()
    min_group_count: int | None = None
    parent: str = ""
    topology_key: str = ""
    workload: str = ""
    created: datetime | None = None

    @property
    def shown(self) -> str:
        """The group in a sentence: namespace/name, of one of a Workload namespace/workload/name."""
        return self.key.partition("/")[2]

    @property
    def age(self) -> tuple[datetime, str]:
        """What the groups of one parent are ordered by (sortChildren in framework/types.go, 1.38)."""
        return self.created or datetime.min.replace(tzinfo=UTC), self.shown

    def shares(self, claim: ClaimReference) -> bool:
        """Whether a claim of a pod is the group's: all that is said of it has to be the same (BindTo in resourceclaim/claim.go, 1.36)."""
        return claim in self.claims


def read_pod_group(meta: Meta, fields: Fields) -> GroupObject:
    """A PodGroup."""
    spec = _spec(fields, "PodGroup")
    statuses = read_statuses(fields.below("status", "a mapping"))
    group = _group(meta, spec)
    return replace(
        group,
        min_count=_min_count(spec, "schedulingPolicy"),
        claims=read_references(spec),
        made={name: claim or None for name, claim in statuses.items()},
        owners=tuple(f"{o.kind}/{meta.namespace}/{o.name}" for o in meta.owners),
    )


def read_composite(meta: Meta, fields: Fields) -> GroupObject:
    """A CompositePodGroup."""
    spec = _spec(fields, "CompositePodGroup")
    group = _group(meta, spec)
    least = _min_count(spec, "schedulingPolicy", "minGroupCount")
    unlike = "" if least else "the basic policy of a CompositePodGroup is not modelled"
    return replace(group, min_group_count=least, unlike=group.unlike or unlike)


def _spec(fields: Fields, kind: str) -> Fields:
    needed = f"a {kind} has at least `spec.schedulingPolicy`"
    return fields.inner("spec", needed, "a mapping with `schedulingPolicy`")


def _group(meta: Meta, spec: Fields) -> GroupObject:
    """What groups of pods and groups of groups have in common."""
    parent = spec.text("parentCompositePodGroupName", "the name of a CompositePodGroup")
    below = spec.below("schedulingConstraints")
    constraints = below.mappings("topology", "a list of constraints", "a constraint with `key`")
    keys = [c.need("key", "the key of a label").text("the key of a label") for c in constraints]
    several = ["several topology keys of one group are not modelled"] if len(keys) > 1 else []
    return GroupObject(
        meta.shown,
        unlike="; ".join([*_unlike(meta, spec), *several]),
        priority=spec.integer("priority", MIN_PRIORITY, MAX_PRIORITY, 0),
        parent=f"{COMPOSITE}/{meta.namespace}/{parent}" if parent else "",
        topology_key=keys[0] if keys else "",
        workload=spec.below("workloadRef").text("workloadName", "the name of a Workload"),
        created=meta.place.mapping("a mapping with `name`").read("creationTimestamp", read_time),
    )


def read_workload_groups(meta: Meta, fields: Fields) -> Iterator[GroupObject]:
    """The pod groups of a Workload of 1.35; none of a later one."""
    each = "a pod group with `name` and `policy`"
    for group in fields.below("spec").mappings("podGroups", "a list of pod groups", each):
        name = read_label(group.need("name", "a pod group has one"), "a name")
        deleted = "it is being deleted" if meta.deleted else ""
        yield GroupObject(f"{meta.shown}/{name}", _min_count(group, "policy"), deleted)


def _min_count(fields: Fields, policy: str, least: str = "minCount") -> int | None:
    said = fields.inner(policy, f"a group has a policy: `basic: {{}}`, or `gang` with `{least}`", "a policy")
    if "gang" not in said:
        return None
    members = "pods" if least == "minCount" else "groups"
    gang = said["gang"].mapping(f"a mapping with `{least}`")
    return gang.need(least, f"so many {members} of a gang are scheduled together").integer(1, MOST_MEMBERS)


def _unlike(meta: Meta, spec: Fields) -> Iterator[str]:
    if "disruptionMode" in spec:
        mode = spec["disruptionMode"]
        said = (
            one_line(mode.scalar("a mode"))
            if mode.is_scalar
            else next(iter(mode.mapping("a mode")), "single")
        )
        if said not in ("Pod", "single"):
            yield f"its disruptionMode {said} is not modelled"
    if "priorityClassName" in spec and "priority" not in spec:
        yield "its priorityClassName was never resolved, as it is when an API server stores it"
    if meta.deleted:
        yield "it is being deleted"


def read_group_of(pod: Fields) -> tuple[str, ...]:
    """The kind and the names of the group that a pod specification names; the key of a replica of a group of 1.35 is part of it. Nothing for none."""
    if "schedulingGroup" in pod:
        said = pod["schedulingGroup"].mapping("a mapping with `podGroupName`")
        name = said.text("podGroupName", "the name of a PodGroup")
        return (FIRST_WITH_OBJECTS, name) if name else ()
    if "workloadRef" not in pod:
        return ()
    said = pod["workloadRef"].mapping("a mapping with `name` and `podGroup`")
    names = [
        said.need(n, "it names a Workload, and a pod group of it").text("a name")
        for n in ("name", "podGroup")
    ]
    replica = said.text("podGroupReplicaKey", "a key")
    return (FIRST_ON_PODS, *names, *([replica] if replica else []))
