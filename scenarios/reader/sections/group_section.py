"""The `podGroups` section."""

from ....model.environment.objects import PodGroup
from ...tables.objects import GROUPS
from ...values.labels import known, refuse_fields
from .draft import Draft


def read_groups(draft: Draft) -> None:
    """The groups of pods, by name; one without `minCount` has the basic policy."""
    members = draft.members("podGroups", "pod groups", GROUPS, "{minCount: 2}")
    draft.groups = {
        name: PodGroup(index, name, **GROUPS.read(member.fields))
        for index, (name, member) in enumerate(members.items())
    }


def refuse_trees(draft: Draft) -> None:
    """Refuse trees of groups that are none, or have more than two levels, and what is not modelled of them."""
    groups = draft.groups
    if not any(group.min_group_count or group.parent for group in groups.values()):
        return
    section = draft.sections["podGroups"]
    for name, group in groups.items():
        composite = group.min_group_count is not None
        if composite and group.parent:
            section.fail(
                f"{name} has both `minGroupCount` and `parent`, and trees of more than two levels are not modelled: remove one of them"
            )
        if composite and group.min_count:
            section.fail(
                f"{name} has both `minCount` and `minGroupCount`: it is a group of pods or of groups, so remove one of them"
            )
        if composite and not any(child.parent == name for child in groups.values()):
            section.fail(
                f"{name} has `minGroupCount`, and is the parent of no group: name it as `parent` of another"
            )
        if group.parent:
            if group.parent not in groups or groups[group.parent].min_group_count is None:
                section.fail(
                    f"the parent of {name} is {group.parent}, which is no group with `minGroupCount`: name one"
                )
            if group.min_count is None:
                section.fail(f"{name} is below a gang, and so has to be one: give it a `minCount`")
        if (composite or group.parent) and (group.topology_key or not group.exists):
            section.fail(
                f"in a tree of groups, `topologyKey` and `exists: false` are not modelled: remove them from {name}"
            )


def refuse_groups(draft: Draft) -> None:
    """Refuse members of groups that there are not, and what is not modelled of pods that belong to a group."""
    pods, made, groups = draft.pod_members, draft.pods, draft.groups
    refuse_trees(draft)
    for pod in made:
        fields = pods[pod.name].fields
        value = fields.get("podGroup")
        if value is None:
            continue
        group = groups[known(value, groups, "pod group")]
        if group.min_group_count is not None:
            value.fail(f"{pod.group} is a group of groups: name one of those that have it as `parent`")
        if group.parent and "schedulingGates" in fields:
            fields["schedulingGates"].fail(
                "of a pod in a tree of groups, this is not modelled: remove `schedulingGates` or `parent` of its group"
            )
        if not isinstance(pod.quantities[-1], int):
            fields["priority"].fail(
                "the members of a group are tried in the order of their priorities, which has to be known: write one number here"
            )
        why = "of a pod that belongs to a group, this is not modelled: remove `{}` or `podGroup`"
        refuse_fields(fields, ("updates", "recreates", "volumes", "extensionPoints"), why)


def refuse_in_placements(draft: Draft) -> None:
    """Refuse what a trial within a domain would see otherwise than the model: plugins whose PreFilter counts the nodes of the placement only, and what is not undone between two trials."""
    keys = {group.topology_key for group in draft.groups.values() if group.topology_key}
    field = "topologyKey" if keys else "parent"
    if not keys and not any(group.parent for group in draft.groups.values()):
        return
    why = f"next to a pod group with `{field}`, this is not modelled: remove `{{}}` or `{field}`"
    for pod in draft.pods:
        refuse_fields(draft.pod_members[pod.name].fields, _NOT_IN_PLACEMENTS, why)
    for node in draft.nodes.values():
        for form in node.later.values():
            if any(form.labels.get(key) != node.labels.get(key) for key in keys):
                draft.sections["nodes"].fail(
                    f"the label of a pod group's `topologyKey` changes on {node.name}, which is not modelled: leave it as it is"
                )
    given = {name: section for name, section in draft.sections.items() if section.node.value}
    refuse_fields(given, ("extender", "extenders"), why)
    if keys and draft.config.scored:
        draft.sections["config"].fail(
            "next to a pod group with `topologyKey`, `scored` is not modelled, as any domain may be chosen: remove it"
        )


_NOT_IN_PLACEMENTS = ("podAffinity", "podAntiAffinity", "topologySpreadConstraints", "hostPorts")
