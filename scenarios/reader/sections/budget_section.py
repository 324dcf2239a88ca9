"""`podDisruptionBudgets`: what budgets select and allow, and what the disruption controller would never have allowed."""

from ....model.environment.objects import DisruptionBudget
from ...tables.objects import BUDGETS
from ...tables.selectors import read_selector
from ...values.labels import Member, Members, known
from ...values.yaml_values import Value
from .draft import Draft
from .pod_section import namespace_of


def read_budgets(draft: Draft) -> None:
    """The budgets."""
    example = "{selector: {matchLabels: {app: web}}}"
    members = draft.members("podDisruptionBudgets", "budgets", BUDGETS, example)
    draft.budgets = tuple(
        _budget(i, name, member, draft.pod_members) for i, (name, member) in enumerate(members.items())
    )


def _budget(index: int, name: str, member: Member, pods: Members) -> DisruptionBudget:
    fields = member.fields
    BUDGETS.require(member.place, fields)
    given, listed = fields.get("disruptionsAllowed"), fields.get("disruptedPods")
    disrupted = listed.elements("a list of the names of pods") if listed is not None else []
    return DisruptionBudget(
        index,
        name,
        read_selector(fields["selector"]),
        0 if given is None else BUDGETS["disruptionsAllowed"].value(given),
        namespace=namespace_of(name, fields),
        disrupted=[known(element, pods, "pod") for element in disrupted],
        **BUDGETS.read(fields),
    )


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
    top, scope = draft.top, draft.scope
    for member in draft.pod_members.values():
        if "phase" in member.fields and not scope.pod_phases:
            member.fields["phase"].fail(
                "nobody looks at the phase of a pod: add `readiness: true` and `pod_phases: true` to `scope`, or remove this"
            )
        if "deleted" in member.fields and "controllers" in draft.sections:
            member.fields["deleted"].fail(
                "whose controller has replaced a pod already is not modelled: remove this, or `controllers`"
            )
        if "ready" in member.fields and not scope.readiness:
            member.fields["ready"].fail(
                "nobody looks whether pods are ready: add `readiness: true` to `scope`, or remove this"
            )
    for budget in draft.budgets if not scope.readiness else ():
        place = key_of(top, "podDisruptionBudgets", budget.name)
        if budget.always_allow:
            place.fail(
                "nobody looks whether pods are ready: add `readiness: true` to `scope`, or remove `unhealthyPodEvictionPolicy`"
            )
        if budget.min_available is not None and not scope.disruption_controller:
            place.fail(
                "the budget stays as it is: remove `minAvailable`, or add `disruption_controller: true` to `scope`"
            )
