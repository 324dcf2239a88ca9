"""`podDisruptionBudgets`: what budgets select and allow, and what the disruption controller would never have allowed."""

from collections.abc import Iterable

from ....base.text import known_names
from ....model.environment.objects import DisruptionBudget
from ...tables.objects import BUDGETS
from ...tables.selectors import read_selector
from ...values.labels import Member, read_members
from ...values.yaml_values import Value
from .draft import Draft
from .pod_section import namespace_of


def read_budgets(section: Value | None, pods: Iterable[str]) -> tuple[DisruptionBudget, ...]:
    """The budgets of a cluster that has these pods."""
    if section is None:
        return ()
    known = list(pods)
    members = read_members(section, "budgets", BUDGETS.names, "{selector: {matchLabels: {app: web}}}")
    return tuple(_budget(i, name, member, known) for i, (name, member) in enumerate(members.items()))


def _budget(index: int, name: str, member: Member, pods: list[str]) -> DisruptionBudget:
    fields = member.fields
    BUDGETS.require(member.place, fields)
    given = fields.get("disruptionsAllowed")
    return DisruptionBudget(
        index,
        name,
        read_selector(fields["selector"]),
        0 if given is None else BUDGETS["disruptionsAllowed"].value(given),
        namespace=namespace_of(name, fields),
        disrupted=_disrupted(fields.get("disruptedPods"), pods),
        **BUDGETS.read(fields),
    )


def _disrupted(value: Value | None, pods: list[str]) -> list[str]:
    found = []
    for element in value.elements("a list of the names of pods") if value is not None else []:
        name = element.scalar("the name of a pod")
        if name not in pods:
            element.fail(f"there is no pod {element.described}; {known_names(name, pods)}")
        found.append(name)
    return found


def key_of(top: Value, section: str, name: str) -> Value:
    """Where a section of the file has this name; the section, or the file, where it has not."""
    key = place = top
    for wanted in (section, name):
        inner = place.items("a mapping") if place.is_mapping else ()
        found = next(((key, value) for key, value in inner if key.node.value == wanted), None)
        if found is None:
            return place
        key, place = found
    return key


def refuse_uncounted(draft: Draft) -> None:
    """Refuse budgets that the disruption controller, which counts their pods, would never have allowed."""
    if not draft.scope.disruption_controller:
        return
    top, pods, budgets, readiness = draft.top, draft.pods, draft.budgets, draft.scope.readiness
    for budget in budgets:
        place = key_of(top, "podDisruptionBudgets", budget.name)
        bound = [pod for pod in pods if budget.selects(pod) and pod.node is not None]
        running = sum(not pod.deleted and ((pod.ready and pod.started) or not readiness) for pod in bound)
        (allowed,) = budget.quantities
        if not isinstance(allowed, int):
            place.fail("a budget that is kept allows a number of disruptions, not a range")
        if allowed > running:
            place.fail(
                f"it allows {allowed} disruptions and has {running} running pods, and the "
                "disruption controller would never allow more than run: lower `disruptionsAllowed`"
            )
        if budget.min_available is not None and allowed != max(0, running - budget.min_available):
            place.fail(
                f"it has {running} running pods and wants {budget.min_available}, so that the disruption controller "
                f"allows {max(0, running - budget.min_available)} disruptions: let `disruptionsAllowed` be that"
            )


def refuse_readiness(draft: Draft) -> None:
    """Refuse what is said of pods that are not ready, or Pending, where nobody looks at that."""
    top, fields, members, budgets, scope = (
        draft.top,
        draft.sections,
        draft.pod_members,
        draft.budgets,
        draft.scope,
    )
    for member in members.values():
        if "phase" in member.fields and not scope.pod_phases:
            member.fields["phase"].fail(
                "nobody looks at the phase of a pod: add `readiness: true` and `pod_phases: true` to `scope`, or remove this"
            )
        if "deleted" in member.fields and "controllers" in fields:
            member.fields["deleted"].fail(
                "whose controller has replaced a pod already is not modelled: remove this, or `controllers`"
            )
        if "ready" in member.fields and not scope.readiness:
            member.fields["ready"].fail(
                "nobody looks whether pods are ready: add `readiness: true` to `scope`, or remove this"
            )
    for budget in budgets if not scope.readiness else ():
        place = key_of(top, "podDisruptionBudgets", budget.name)
        if budget.always_allow:
            place.fail(
                "nobody looks whether pods are ready: add `readiness: true` to `scope`, or remove `unhealthyPodEvictionPolicy`"
            )
        if budget.min_available is not None and not scope.disruption_controller:
            place.fail(
                "the budget stays as it is: remove `minAvailable`, or add `disruption_controller: true` to `scope`"
            )
