"""What a case adds to preemption from outside: extenders, and a predicate for victims (IsEligiblePod, 1.34)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ..model.environment.objects import Node, Pod
from ..model.language import Component, Expr, all_of, as_expr
from ..model.scheduler import Preemption
from .outcome import Case, NotCovered, NotTranslated

ACCEPT_ALL = ("true", "all", "accept_all")
ACCEPT_NONE = ("false", "none", "reject_all")
ONLY = "only_"


def preemption_plugins(case: Case) -> tuple[type[Component], ...]:
    """Subclasses of Preemption with the extenders and the hook of a case; none if it has neither."""
    found: list[type[Component]] = []
    if case.get("extenders"):
        extenders = [e for e in case["extenders"] if not _ignored(e)]
        found.append(type("WithExtenders", (WithExtenders,), {"extenders": extenders}))
    if case.get("eligibility_hook"):
        found.append(type("WithHook", (WithHook,), {"node": _hook(case["eligibility_hook"])}))
    return tuple(found)


def _ignored(extender: Mapping[str, Any]) -> bool:
    """Whether an extender is not asked, or fails and may be ignored."""
    asked = extender.get("interested", not (extender.get("uninterested") or extender.get("unInterested")))
    return not asked or (extender.get("kind") == "error" and bool(extender.get("ignorable")))


def _hook(hook: Mapping[str, Any]) -> str:
    if set(hook) != {"victim_on_node"}:
        raise NotTranslated(f"the hook {', '.join(sorted(hook))} is not known")
    return str(hook["victim_on_node"])


class WithExtenders(Preemption):
    """Extenders that say of each node whether the preemptor may go there."""

    extenders: Sequence[Mapping[str, Any]] = ()

    def extenders_accept(self, pod: Pod, node: Node) -> Expr:
        return all_of(as_expr(self._accepts(e, node)) for e in self.extenders)

    def _accepts(self, extender: Mapping[str, Any], node: Node) -> bool:
        kind = str(extender.get("kind"))
        if kind in ACCEPT_ALL:
            return True
        if kind in ACCEPT_NONE or kind == "error":  # an error that counts ends the preemption
            return False
        if kind.startswith(ONLY):
            return node.name == kind.removeprefix(ONLY)
        raise NotCovered(f"the extender {kind} is not modelled")


class WithHook(Preemption):
    """Only pods of one node may be evicted, beside the rule of priorities."""

    node: str = ""

    def may_evict(self, pod: Pod, victim: Pod, node: Node) -> Expr:
        return super().may_evict(pod, victim, node) & (node.name == self.node)
