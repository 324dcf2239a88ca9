"""What the objects of nodes and pods may be updated to."""

from ....model.environment.cluster.node_versions import INITIAL
from ....model.environment.cluster.pod_versions import is_directed_anew, may_become, narrows
from ...tables.nodes import NODE_UPDATES
from ...tables.pods import POD_UPDATES
from ...tables.resources import MAX_VERSIONS
from ...values.labels import Member, Members, read_name
from ...values.ranges import Range
from ...values.resources import Amounts, read_amounts, units_of
from .draft import Draft, Fields, Updates


def read_updates(draft: Draft) -> None:
    """What nodes and pods may be updated to, and the units in which all amounts are whole numbers."""
    draft.node_updates = _all_updates("node", draft.node_members, NODE_UPDATES.names)
    draft.pod_updates = _all_updates("pod", draft.pod_members, POD_UPDATES.names)
    later = [
        amounts
        for of_kind in (draft.node_updates, draft.pod_updates)
        for found in of_kind.values()
        for _, amounts in found.values()
    ]
    draft.units = units_of([*draft.has.values(), *later, *draft.asked.values()])


def _all_updates(kind: str, members: Members, known: tuple[str, ...]) -> Updates:
    found = {name: _updates(kind, name, member, known) for name, member in members.items()}
    return {n: {word: (f, _amounts(kind, f)) for word, f in some.items()} for n, some in found.items()}


def _updates(kind: str, name: str, member: Member, known: tuple[str, ...]) -> dict[str, Fields]:
    """What an object may be updated to: by a name, the fields that change, of those `known`, on top of those that stay."""
    section = member.fields.get("updates")
    found: dict[str, Fields] = {}
    for key, value in section.items("a mapping from names to what changes") if section is not None else ():
        word = read_name(key)
        if word == INITIAL:
            key.fail(f"`{INITIAL}` is what the {kind} is at first: give the update another name")
        example, field = _EXAMPLES[kind]
        fields = value.fields(known, f"a mapping such as {example}")
        if not fields:
            value.fail(f"the update changes nothing: name a field, such as `{field}`")
        found[word] = {n: v for n, v in member.fields.items() if n != "updates"} | fields
    if section is not None and not 0 < len(found) < MAX_VERSIONS:
        section.fail(f"give {kind} {name} 1 to {MAX_VERSIONS - 1} updates")
    return found


_EXAMPLES = {"node": ("{unschedulable: true}", "taints: []"), "pod": ("{cpu: 2}", "labels: {}")}


def _amounts(kind: str, fields: Fields) -> Amounts:
    """What a node has, or a pod asks for, in a version. A range is refused: which change an update is must be known beforehand."""
    place = next(iter(fields.values()))
    amounts = read_amounts(place, fields, "allocatable" if kind == "node" else "requested")
    for resource, amount in amounts.amount.items():
        if isinstance(amount, Range):
            amounts.place[resource].fail(
                f"a {kind} with updates has no ranges: give one amount, or remove the updates"
            )
    return amounts


def refuse_updates(draft: Draft) -> None:
    """Refuse updates that the API server would refuse, and what is not modelled of them."""
    scored, budgets = draft.config.scored, "podDisruptionBudgets" in draft.sections
    for pod in draft.pods:
        section = draft.pod_members[pod.name].fields.get("updates")
        if section is None:
            continue
        for word, value in section.items("a mapping from names to what changes"):
            version = pod.later[read_name(word)]
            if is_directed_anew(pod, version) and not pod.gated:
                value.fail(
                    "what a pod asks of its node stays once it has no scheduling gates: give it `schedulingGates`, or leave nodeSelector and nodeAffinity as they are"
                )
            if not narrows(pod, version):
                value.fail(
                    "what a gated pod asks of its node can be narrowed, not widened: name the labels and the requirements that it has at first, too"
                )
            if not may_become(pod, version):
                value.fail(
                    "tolerations can be added, not taken away: name those that the pod has at first, too"
                )
            if version.spread != pod.spread:
                value.fail(
                    "matchLabelKeys of its topology spread constraints names a label that the update changes, and which value counts depends on the release: leave that label as it is"
                )
            if version.labels != pod.labels and scored:
                value.fail(
                    "scores look at the labels that a pod has at first: let no update change labels, or remove `scored: true`"
                )
            if version.labels != pod.labels and budgets:
                value.fail(
                    "budgets look at the labels that a pod has at first: let no update change labels, or remove the budgets"
                )
