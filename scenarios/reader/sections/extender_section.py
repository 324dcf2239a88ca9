"""The sections `extender`, for one, and `extenders`, for several, which are called in their order."""

from collections.abc import Collection

from ....model.environment.cluster.workloads import ExtenderSpec, Noting
from ....model.environment.objects import is_scalar_resource
from ...tables.actors import EXTENDERS, MAX_EXTENDERS, SCORE, VERBS
from ...values.labels import known, refuse_fields
from ...values.yaml_values import Value
from .draft import Draft

_EXAMPLE = "{resource: example.com/gpu, verbs: [filter]}"
_OF_PODS = ("updates", "recreates", "podGroup", "extenderSelector", "schedulerName")


def read_extenders(draft: Draft) -> None:
    """The extenders, in the order in which they are called."""
    one, several = draft.sections.get("extender"), draft.sections.get("extenders")
    if several is None:
        draft.extenders = () if one is None else (_read(one, "", draft.nodes),)
        return
    if one is not None:
        one.fail("there are `extenders`, too: name this one among them")
    members = draft.members("extenders", "extenders", EXTENDERS, _EXAMPLE)
    if not 1 <= len(members) <= MAX_EXTENDERS:
        several.fail(f"there are {len(members)} extenders: name 1 to {MAX_EXTENDERS}, or remove the section")
    found = tuple(_read(member.place, name, draft.nodes) for name, member in members.items())
    if sum(of.binds for of in found) > 1:
        several.fail("kube-scheduler takes one extender that binds: remove `bind` from the others")
    managed = [of.resource for of in found if of.resource is not None]
    for resource in managed:
        if managed.count(resource) > 1:
            several.fail(f"kube-scheduler takes one extender for {resource}: let it have one")
    draft.extenders = found


def _read(section: Value, name: str, nodes: Collection[str]) -> ExtenderSpec:
    fields = EXTENDERS.fields(section, f"an extender, such as {_EXAMPLE}")
    resource = None
    if "resource" in fields:
        resource = fields["resource"].scalar("the name of an extended resource")
        if not is_scalar_resource(resource):
            fields["resource"].fail("an extender manages an extended resource, such as example.com/gpu")
    verbs = VERBS.read(fields["verbs"])
    if not verbs:
        fields["verbs"].fail("an extender without verbs is never called: name one")
    read = EXTENDERS.read(fields)
    for noting, verb in ((Noting.FILTERED, "filter"), (Noting.BOUND, "bind")):
        if read.get("noting") is noting and verb not in verbs:
            fields["counts"].fail(f"it is never called for that: add `{verb}` to `verbs`")
    for of_resource in ("ignoredByScheduler", "counts"):
        if of_resource in fields and resource is None:
            fields[of_resource].fail("it manages no resource: add `resource`, or remove this")
    for field, verb in (("nodes", "filter"), ("unresolvable", "filter"), ("scores", "prioritize"), ("weight", "prioritize")):  # fmt: skip
        if field in fields and verb not in verbs:
            fields[field].fail(f"it is never called for that: add `{verb}` to `verbs`")
    if "prioritize" in verbs and "scores" not in fields:
        section.fail("`scores` is missing: say which score it gives to which node")

    return ExtenderSpec(
        resource,
        filters="filter" in verbs,
        binds="bind" in verbs,
        preempts="preempt" in verbs,
        name=name,
        nodes=_accepted(fields["nodes"], nodes) if "nodes" in fields else None,
        scores=_scores(fields["scores"], nodes) if "scores" in fields else (),
        **read,
    )


def _accepted(value: Value, nodes: Collection[str]) -> frozenset[str]:
    return frozenset(known(element, nodes, "node") for element in value.elements("a list of nodes"))


def _scores(value: Value, nodes: Collection[str]) -> tuple[tuple[str, int], ...]:
    given = value.items("a mapping from nodes to scores, such as {n1: 10}")
    return tuple((known(key, nodes, "node"), SCORE.read(score)) for key, score in given)


def refuse_extenders(draft: Draft) -> None:
    """Refuse an extender that nobody asks for, and what is not modelled beside one."""
    sections, extenders = draft.sections, draft.extenders
    if not extenders:
        return
    section = sections["extender"] if "extender" in sections else sections["extenders"]
    for extender in extenders:
        _refuse(section, extender, draft)
    if draft.scope.late_answers and not any(of.noting is Noting.FILTERED for of in extenders):
        sections["scope"].fail(
            "no extender does anything before it answers: add `counts: filtered`, or remove `late_answers`"
        )
    if any(version.room != node.room for node in draft.nodes.values() for version in node.later.values()):
        section.fail("what an extender makes of nodes that are resized is not modelled: remove one of them")
    again = [pod for pod in draft.pods if pod.name in draft.owned]
    for of in extenders:
        counts = of.resource is not None and any(pod.requests.get(of.resource, 0) for pod in again)
        if again and (counts or (of.binds and of.resource is None)):
            section.fail(
                "what an extender counts and binds of pods that `controllers` recreate is not modelled: let it manage a resource that other pods ask for"
            )


def _refuse(section: Value, extender: ExtenderSpec, draft: Draft) -> None:
    resource = extender.resource
    asking = [pod for pod in draft.pods if resource is None or pod.requests.get(resource, 0)]
    if not asking:
        section.fail(f"no pod asks for {resource}: let one, or remove the section")
    why = "of a pod that an extender is asked about, this is not modelled: remove `{}` or `extender`"
    for pod in asking:
        refuse_fields(draft.pod_members[pod.name].fields, _OF_PODS, why)
    if extender.scores and not draft.config.scored:
        section.fail(
            "without scores every node may win, whatever an extender says: add `config: {scored: true}`, or remove `prioritize`"
        )
