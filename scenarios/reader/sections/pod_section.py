"""The `pods` section."""

import re
from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime
from typing import Any

from ....base.text import known_names
from ....model.environment.cluster.placement_rules import Wishes
from ....model.environment.objects import Node, Pod
from ...tables.directives import read_default_spread, read_preferred_nodes, read_spread, read_terms
from ...tables.objects import NAMESPACES
from ...tables.pods import PODS
from ...values.labels import Member, Members, known, read_labels, read_name, refuse_fields
from ...values.resources import Amounts
from ...values.yaml_values import Value
from .claim_section import read_pod_claims, special_claim
from .draft import Draft, Fields
from .gate_section import read_gates
from .volume_section import read_mounts

NAMESPACE_NAME = "kubernetes.io/metadata.name"
"""The label that the API server gives to every namespace."""

_TIME = re.compile(
    r"[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}(Z|[+-][0-9]{2}:[0-9]{2})", re.ASCII
)
_TIME_WORDS = "a time such as 2021-08-04T12:00:00Z"


def read_pods(draft: Draft) -> None:
    """The pods, with the versions of their objects."""
    namespaces = _namespaces(draft.sections.get("namespaces"))
    start, arrival = _start_order(draft.pod_members), _arrival_order(draft.pod_members)

    def version(index: int, name: str, fields: Fields, amounts: Amounts, **others: Any) -> Pod:
        order = {"start": start.get(name), "arrival": arrival.get(name, 0)}
        member = replace(draft.pod_members[name], fields=fields)
        return _pod(
            index, name, member, draft.nodes, namespaces, **draft.units.scaled(amounts), **order, **others
        )

    found = []
    for i, (name, member) in enumerate(draft.pod_members.items()):
        later = {word: version(i, name, *form) for word, form in draft.pod_updates[name].items()}
        others = {"extended_claim": special_claim(name)} if name in draft.backed else {}
        found.append(version(i, name, member.fields, draft.asked[name], later=later, **others))
    draft.as_read = tuple(found)


def _pod(
    index: int,
    name: str,
    member: Member,
    nodes: Mapping[str, Node],
    namespaces: Mapping[str, Mapping[str, str]],
    **others: Any,
) -> Pod:
    fields = member.fields
    namespace = namespace_of(name, fields)
    claims = read_pod_claims(name, fields.get("resourceClaims"))
    _refuse_unbound(fields)
    return Pod(
        index,
        name,
        namespace=namespace,
        namespace_labels={NAMESPACE_NAME: namespace, **namespaces.get(namespace, {})},
        terms=[
            *read_terms(fields.get("podAffinity"), anti=False),
            *read_terms(fields.get("podAntiAffinity"), anti=True),
        ],
        spread=read_spread(fields.get("topologySpreadConstraints"), read_labels(fields)),
        wishes=_wishes(fields),
        node=_node(member, nodes),
        exists=member.exists and "recreates" not in fields,
        claims=list(claims),
        generated=[claim for claim, template in claims.items() if template is not None],
        volumes=read_mounts(fields.get("volumes")),
        gates=read_gates(fields),
        recreates=_recreates(fields),
        **PODS.read(fields),
        **others,
    )


def _wishes(fields: Mapping[str, Value]) -> Wishes:
    soft = read_spread(fields.get("topologySpreadConstraints"), read_labels(fields), soft=True)
    nodes = read_preferred_nodes(fields.get("nodeAffinity"))
    return Wishes((*soft, *read_default_spread(fields)), nodes)


def namespace_of(name: str, fields: Mapping[str, Value]) -> str:
    """The namespace of a pod or a budget: what its name says before a slash, else the field."""
    before = name.rpartition("/")[0]
    if "namespace" not in fields:
        return before or "default"
    written = read_name(fields["namespace"])
    if before and written != before:
        fields["namespace"].fail(f"the name says `{before}` before its slash: remove one of them")
    return written


def _node(member: Member, nodes: Mapping[str, Node]) -> Node | None:
    if "nodeName" not in member.fields:
        return None
    value = member.fields["nodeName"]
    wanted = known(value, nodes, "node")
    if not member.exists:
        value.fail("a pod that does not exist yet cannot be bound: remove `nodeName` or `exists: false`")
    return nodes[wanted]


def refuse_foreign(draft: Draft) -> None:
    """Refuse what is not modelled of a pod that another scheduler places, and a third scheduler."""
    others: set[str] = set()
    for member in draft.pod_members.values():
        name = member.fields.get("schedulerName")
        if name is None or not PODS["schedulerName"].value(name):
            continue
        others.add(name.scalar("a name"))
        if len(others) > 1:
            name.fail("one scheduler next to kube-scheduler is modelled: name the same one")
        why = "of a pod that another scheduler places, this is not modelled: remove `{}` or `schedulerName`"
        refused = ("resourceClaims", "volumes", "podGroup", "extensionPoints", "recreates")
        refuse_fields(member.fields, refused, why)


_ONLY_BOUND = (
    ("ready", "a pod that is not bound is not ready in any case: give it `nodeName`, or remove this"),
    ("phase", "a pod that is not bound is Pending in any case: give it `nodeName`, or remove this"),
    (
        "deleted",
        "of pods that are being deleted at the start, only bound ones are modelled: give it `nodeName`, or remove this",
    ),
)


def _refuse_unbound(fields: Mapping[str, Value]) -> None:
    """Refuse what only a pod that is bound at the start can be."""
    for name, problem in _ONLY_BOUND:
        if name in fields:
            said = PODS[name].value(fields[name])
            if "nodeName" not in fields and (said or name != "deleted"):
                fields[name].fail(problem)
    if (
        "phase" in fields
        and "ready" in fields
        and PODS["phase"].value(fields["phase"]) is False
        and fields["ready"].boolean()
    ):
        fields["ready"].fail("a pod that is Pending is not ready: remove `ready`, or `phase`")


def _recreates(fields: Mapping[str, Value]) -> str | None:
    if "recreates" not in fields:
        return None
    why = "a pod that takes another's name is created when that one is gone: remove `{}`"
    refuse_fields(fields, ("nodeName", "exists"), why)
    return fields["recreates"].scalar("the name of a pod")


def refuse_names(draft: Draft) -> None:
    """Each name that is used again must be that of a pod which is there at the start, and be used again once."""
    pods = draft.pod_members
    taken: set[str] = set()
    for name, member in pods.items():
        if "recreates" not in member.fields:
            continue
        value = member.fields["recreates"]
        before = value.scalar("the name of a pod")
        if before == name:
            value.fail("a pod does not take its own name: name another")
        if before not in pods:
            value.fail(f"there is no pod {value.described}; {known_names(before, pods)}")
        if "recreates" in pods[before].fields or not pods[before].exists:
            value.fail(f"pod {before} is not there at the start: name one that is")
        if before in taken:
            value.fail(f"the name of pod {before} is used again by another pod: a name is used at most twice")
        if namespace_of(before, pods[before].fields) != namespace_of(name, member.fields):
            value.fail(f"pod {before} is in another namespace: names are used again within one")
        taken.add(before)


def _start_order(pods: Members) -> dict[str, int]:
    """For each pod with a startTime, how many other times are earlier: nothing but their order matters."""
    times = {}
    for name, member in pods.items():
        if "startTime" not in member.fields:
            continue
        value = member.fields["startTime"]
        if "nodeName" not in member.fields:
            value.fail("only a pod on a node has started: add `nodeName`, or remove `startTime`")
        times[name] = read_time(value)
    return _ranks(times)


def _arrival_order(pods: Members) -> dict[str, int]:
    """For each pod that waits at the start, how many other creationTimestamps are earlier: of two with the same one, either may have come first."""
    times = {}
    for name, member in pods.items():
        if "creationTimestamp" not in member.fields:
            continue
        value = member.fields["creationTimestamp"]
        if not _waits(member):
            value.fail(
                "only of pods that wait at the start it says who came first: remove it, or `nodeName`, `exists` and `recreates`"
            )
        times[name] = read_time(value)
    for name, member in pods.items():
        if times and name not in times and _waits(member):
            member.place.fail(
                f"{name} waits at the start, as others do that have a creationTimestamp: give it one, too, or none to all"
            )
    return _ranks(times)


def _waits(member: Member) -> bool:
    return member.exists and "nodeName" not in member.fields and "recreates" not in member.fields


def _ranks(times: Mapping[str, datetime]) -> dict[str, int]:
    order = sorted(set(times.values()))
    return {name: order.index(time) for name, time in times.items()}


def read_time(value: Value) -> datetime:
    """A time."""
    written = value.scalar(_TIME_WORDS)
    if not _TIME.fullmatch(written):
        value.expect(_TIME_WORDS)
    try:
        return datetime.fromisoformat(written)
    except ValueError:
        value.expect(_TIME_WORDS)


def _namespaces(section: Value | None) -> dict[str, dict[str, str]]:
    """The labels of the namespaces that have any but their name."""
    if section is None:
        return {}
    found = {}
    for key, value in section.items("a mapping from names to namespaces"):
        fields = value.fields(NAMESPACES.names, "a mapping with labels")
        found[read_name(key)] = read_labels(fields)
    return found
