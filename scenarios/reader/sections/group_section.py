"""The `podGroups` section."""

from ....base.text import known_names
from ....model.environment.objects import PodGroup
from ...tables.objects import GROUPS
from ...values.labels import read_members
from ...values.yaml_values import Value
from .draft import Draft


def read_groups(section: Value | None) -> dict[str, PodGroup]:
    """The groups of pods, by name; one without `minCount` has the basic policy."""
    if section is None:
        return {}
    members = read_members(section, "pod groups", GROUPS.names, "{minCount: 2}")
    found = {}
    for index, (name, member) in enumerate(members.items()):
        found[name] = PodGroup(index, name, **GROUPS.read(member.fields))
    return found


def refuse_groups(draft: Draft) -> None:
    """Refuse members of groups that there are not, and what is not modelled of pods that belong to a group."""
    pods, made, groups = draft.pod_members, draft.pods, draft.groups
    for pod in made:
        fields = pods[pod.name].fields
        value = fields.get("podGroup")
        if value is None:
            continue
        if pod.group not in groups:
            value.fail(f"there is no pod group {value.described}; {known_names(str(pod.group), groups)}")
        if not isinstance(pod.quantities[-1], int):
            fields["priority"].fail(
                "the members of a group are tried in the order of their priorities, which has to be known: write one number here"
            )
        for other in ("updates", "recreates", "volumes", "extensionPoints"):
            if other in fields:
                fields[other].fail(
                    f"of a pod that belongs to a group, this is not modelled: remove `{other}` or `podGroup`"
                )
