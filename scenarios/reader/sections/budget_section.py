"""`podDisruptionBudgets`: what budgets select and allow, and what the disruption controller would never have allowed."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from ....model.environment.objects import DisruptionBudget, Pod, Scope
from ..values.labels import Member, Members, read_members, read_selector
from ..values.ranges import integer_or_range
from ..values.yaml_values import Value, known_names, one_line
from .pod_section import namespace_of

BUDGET_FIELDS = (
    "selector",
    "disruptionsAllowed",
    "namespace",
    "disruptedPods",
    "minAvailable",
    "unhealthyPodEvictionPolicy",
)
POLICIES = ("IfHealthyBudget", "AlwaysAllow")

MAX_ALLOWED = 1000
MAX_AVAILABLE = 15


def read_budgets(section: Value | None, pods: Iterable[str]) -> tuple[DisruptionBudget, ...]:
    """The budgets of a cluster that has these pods."""
    if section is None:
        return ()
    known = list(pods)
    members = read_members(section, "budgets", BUDGET_FIELDS, "{selector: {matchLabels: {app: web}}}")
    return tuple(_budget(i, name, member, known) for i, (name, member) in enumerate(members.items()))


def _budget(index: int, name: str, member: Member, pods: list[str]) -> DisruptionBudget:
    fields = member.fields
    if "selector" not in fields:
        member.place.fail("`selector` is missing: say which pods the budget protects")
    selector = read_selector(fields["selector"])
    if selector.empty:
        fields["selector"].fail(
            "the scheduler takes an empty selector for one that matches no pod: name a label"
        )
    given, policy = fields.get("disruptionsAllowed"), fields.get("unhealthyPodEvictionPolicy")
    allowed = 0 if given is None else integer_or_range(given, 0, MAX_ALLOWED)
    wanted = fields.get("minAvailable")
    return DisruptionBudget(
        index,
        name,
        selector,
        allowed,
        namespace=namespace_of(name, fields),
        disrupted=_disrupted(fields.get("disruptedPods"), pods),
        min_available=None if wanted is None else wanted.integer(0, MAX_AVAILABLE),
        always_allow=policy is not None and policy.one_of(POLICIES, "a policy") == "AlwaysAllow",
    )


def _disrupted(value: Value | None, pods: list[str]) -> list[str]:
    found = []
    for element in value.elements("a list of the names of pods") if value is not None else []:
        name = element.scalar("the name of a pod")
        if name not in pods:
            element.fail(f"there is no pod {element.described}; {known_names(name, pods)}")
        found.append(name)
    return found


def refuse_uncounted(
    top: Value, pods: Sequence[Pod], budgets: Sequence[DisruptionBudget], readiness: bool
) -> None:
    """Refuse budgets that the disruption controller, which counts their pods, would never have allowed."""
    if not budgets:
        top.fail(
            "a disruption controller has nothing to count: add `podDisruptionBudgets`, or remove it from `scope`"
        )
    for budget in budgets:
        bound = [pod for pod in pods if budget.selects(pod) and pod.node is not None]
        running = sum(pod.ready or not readiness for pod in bound)
        (allowed,) = budget.quantities
        if not isinstance(allowed, int):
            top.fail(
                f"{one_line(budget.name)}: a budget that is kept allows a number of disruptions, not a range"
            )
        if allowed > running:
            top.fail(
                f"{one_line(budget.name)} allows {allowed} disruptions and has {running} running pods, and the "
                "disruption controller would never allow more than run: lower `disruptionsAllowed`"
            )
        if budget.min_available is not None and allowed != max(0, running - budget.min_available):
            top.fail(
                f"{one_line(budget.name)} has {running} running pods and wants {budget.min_available}, so that the disruption controller "
                f"allows {max(0, running - budget.min_available)} disruptions: let `disruptionsAllowed` be that"
            )


def refuse_readiness(
    top: Value,
    fields: Mapping[str, Value],
    members: Members,
    budgets: Sequence[DisruptionBudget],
    scope: Scope,
) -> None:
    """Refuse what is said of pods that are not ready where nobody looks whether they are."""
    if scope.readiness:
        if not scope.disruption_controller:
            top.fail(
                "only budgets that are kept look at it: add `disruption_controller: true`, or remove `readiness`"
            )
        if "controllers" in fields:
            top.fail(
                "pods that controllers make anew are not asked whether they are ready: remove `readiness` or `controllers`"
            )
        return
    if scope.readiness_losses:
        top.fail("nobody looks whether pods are ready: add `readiness: true`, or remove `readiness_losses`")
    for member in members.values():
        if "ready" in member.fields:
            member.fields["ready"].fail(
                "nobody looks whether pods are ready: add `readiness: true` to `scope`, or remove this"
            )
    for budget in budgets:
        if budget.always_allow:
            top.fail(
                f"{one_line(budget.name)}: nobody looks whether pods are ready: add `readiness: true` to `scope`, or remove `unhealthyPodEvictionPolicy`"
            )
        if budget.min_available is not None and not scope.disruption_controller:
            top.fail(
                f"{one_line(budget.name)}: the budget stays as it is: remove `minAvailable`, or add `disruption_controller: true` to `scope`"
            )
