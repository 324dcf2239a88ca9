"""The `podDisruptionBudgets` section."""

from __future__ import annotations

from collections.abc import Iterable

from ...model.environment.objects import Budget
from .document import Value
from .errors import known_names
from .labels import read_selector
from .names import Member, read_members
from .pods import namespace_of
from .ranges import integer_or_open

BUDGET_FIELDS = ("selector", "disruptionsAllowed", "namespace", "disruptedPods")

MAX_ALLOWED = 1000


def read_budgets(section: Value | None, pods: Iterable[str]) -> tuple[Budget, ...]:
    """The budgets of a cluster that has these pods."""
    if section is None:
        return ()
    known = list(pods)
    members = read_members(section, "budgets", BUDGET_FIELDS, "{selector: {matchLabels: {app: web}}}")
    return tuple(_budget(i, name, member, known) for i, (name, member) in enumerate(members.items()))


def _budget(index: int, name: str, member: Member, pods: list[str]) -> Budget:
    fields = member.fields
    if "selector" not in fields:
        member.place.fail("`selector` is missing: say which pods the budget protects")
    selector = read_selector(fields["selector"])
    if selector.empty:
        fields["selector"].fail(
            "the scheduler takes an empty selector for one that matches no pod: name a label"
        )
    given = fields.get("disruptionsAllowed")
    allowed = 0 if given is None else integer_or_open(given, 0, MAX_ALLOWED)
    return Budget(
        index,
        name,
        selector,
        allowed,
        namespace=namespace_of(name, fields),
        disrupted=_disrupted(fields.get("disruptedPods"), pods),
    )


def _disrupted(value: Value | None, pods: list[str]) -> list[str]:
    found = []
    for element in value.elements("a list of the names of pods") if value is not None else []:
        name = element.scalar("the name of a pod")
        if name not in pods:
            element.fail(f"there is no pod {element.described}; {known_names(name, pods)}")
        found.append(name)
    return found
