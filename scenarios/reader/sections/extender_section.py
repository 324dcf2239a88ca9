"""The section `extender`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ....model.environment.cluster.scope import Scope
from ....model.environment.cluster.workloads import ExtenderSpec, Noting
from ....model.environment.objects import Node, Pod, is_scalar_resource
from ..values.labels import Members
from ..values.yaml_values import Value

EXTENDER_FIELDS = ("resource", "ignoredByScheduler", "verbs", "ignorable", "counts")
VERBS = ("filter", "bind", "preempt")
COUNTS = tuple(noting.value for noting in Noting)
_NOT_WITH_EXTENDERS = ("restarts", "leader_changes")
_OF_PODS = ("updates", "recreates", "podGroup", "extenderSelector", "schedulerName")


def read_extender(section: Value | None) -> ExtenderSpec | None:
    """The extender, if there is one."""
    if section is None:
        return None
    fields = section.fields(
        EXTENDER_FIELDS, "an extender, such as {resource: example.com/gpu, verbs: [filter]}"
    )
    for needed in ("resource", "verbs"):
        if needed not in fields:
            section.fail(f"`{needed}` is missing: an extender has a `resource` and `verbs`")
    resource = fields["resource"].scalar("the name of an extended resource")
    if not is_scalar_resource(resource):
        fields["resource"].fail("an extender manages an extended resource, such as example.com/gpu")
    verbs = [element.one_of(VERBS, "a verb") for element in fields["verbs"].elements("a list of verbs")]
    if not verbs:
        fields["verbs"].fail("an extender without verbs is never called: name one")
    counts = Noting(fields["counts"].one_of(COUNTS, "a moment")) if "counts" in fields else Noting.HEARD
    for noting, verb in ((Noting.FILTERED, "filter"), (Noting.BOUND, "bind")):
        if counts is noting and verb not in verbs:
            fields["counts"].fail(f"it is never called for that: add `{verb}` to `verbs`")

    def flag(name: str) -> bool:
        return name in fields and fields[name].boolean()

    return ExtenderSpec(
        resource,
        flag("ignoredByScheduler"),
        "filter" in verbs,
        "bind" in verbs,
        "preempt" in verbs,
        flag("ignorable"),
        counts,
    )


def refuse_extender(
    sections: Mapping[str, Value],
    extender: ExtenderSpec | None,
    pods: Members,
    made: Sequence[Pod],
    nodes: Sequence[Node],
    scope: Scope,
) -> None:
    """Refuse an extender that nobody asks for, and what is not modelled beside one."""
    if extender is None:
        if scope.extender_failures:
            sections["scope"].fail("there is no extender to fail: remove `extender_failures`")
        return
    section = sections["extender"]
    asking = [pod for pod in made if pod.requests.get(extender.resource, 0)]
    if not asking:
        section.fail(f"no pod asks for {extender.resource}: let one, or remove the section")
    for pod in asking:
        for other in _OF_PODS:
            if other in pods[pod.name].fields:
                pods[pod.name].fields[other].fail(
                    f"of a pod that an extender is asked about, this is not modelled: remove `{other}` or `extender`"
                )
    if any(version.room != node.room for node in nodes for version in node.later.values()):
        section.fail("what an extender makes of nodes that are resized is not modelled: remove one of them")
    if "controllers" in sections:
        section.fail("an extender beside `controllers` is not modelled: remove one of them")
    if scope.config.scored:
        section.fail("what an extender scores is not modelled: remove it, or `scored: true`")
    for name in _NOT_WITH_EXTENDERS:
        if getattr(scope, name):
            sections["scope"].fail(
                f"what a new process makes of calls under way is not modelled: remove `{name}` or `extender`"
            )
