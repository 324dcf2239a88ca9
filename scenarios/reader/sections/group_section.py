"""The `podGroups` section."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from ....base.text import known_names
from ....model.environment.objects import Pod, PodGroup
from ..values.labels import Members, read_members
from ..values.yaml_values import Value

GROUP_FIELDS = ("minCount", "exists")
MAX_MIN_COUNT = 8


def read_groups(section: Value | None) -> dict[str, PodGroup]:
    """The groups of pods, by name; one without `minCount` has the basic policy."""
    if section is None:
        return {}
    members = read_members(section, "pod groups", GROUP_FIELDS, "{minCount: 2}")
    found = {}
    for index, (name, member) in enumerate(members.items()):
        count = member.fields.get("minCount")
        least = None if count is None else count.integer(1, MAX_MIN_COUNT)
        found[name] = PodGroup(index, name, least, member.exists)
    return found


def refuse_groups(pods: Members, made: Iterable[Pod], groups: Mapping[str, PodGroup]) -> None:
    """Refuse members of groups that there are not, and what is not modelled of pods that belong to a group."""
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
        for other in (
            "updates",
            "recreates",
            "volumes",
            "extensionPoints",
        ):
            if other in fields:
                fields[other].fail(
                    f"of a pod that belongs to a group, this is not modelled: remove `{other}` or `podGroup`"
                )
