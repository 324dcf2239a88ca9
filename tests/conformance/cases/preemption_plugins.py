"""What a case plugs into preemption: extenders, a predicate for victims (IsEligiblePod, 1.34), plugins that fail in the dry run, or that
there is no preemption.

All are subclasses of the model's own Preemption.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from podrace.base.text import one_line
from podrace.model.environment.objects import Node, Pod
from podrace.model.history.versions import version_of
from podrace.model.history.versions.gates import find_gate
from podrace.model.language import Component, Expr, Value, all_of, any_of, as_expr
from podrace.model.scheduler import Preemption
from tests.conformance.cases.cases import Case, NotCovered, NotTranslated

DISRUPTION_TARGET = {"type": "DisruptionTarget", "status": "True", "reason": "PreemptionByScheduler"}
"""What a victim's status says before it is deleted, from 1.26 on."""
PREEMPTION_REASONS = (
    DISRUPTION_TARGET["reason"],
    "PodReasonPreemptionByScheduler",
    "PreemptionByKubeScheduler",
)
"""The reason, the name of upstream's constant, and what the reason was at first."""

ACCEPT_ALL = ("true", "all", "accept_all")
ACCEPT_NONE = ("false", "none", "reject_all")
ONLY = "only_"
ERROR = "error"


def preemption_plugins(case: Case) -> tuple[type[Component], ...]:
    """Subclasses of Preemption with the extenders, the hook and the errors of a case, or without preemption; none if it has none of these."""
    found: list[type[Component]] = []
    if case.get("extenders"):
        found.append(type("WithExtenders", (WithExtenders,), {"extenders": asked_extenders(case)}))
    if case.get("eligibility_hook"):
        found.append(type("WithHook", (WithHook,), {"conditions": hook_conditions(case["eligibility_hook"])}))
    if is_disabled(case):
        found.append(WithoutPreemption)
    failing = failing_nodes(case)
    if failing:
        found.append(type("WithErrors", (WithErrors,), {"failing": failing}))
    return tuple(found)


# --- no preemption ---------------------------------------------------------------------------------------

_PREEMPT = {"preemption", "preempt", "preempting", "postfilter"}
_OFF = {"disable", "disabled", "disables", "without", "no", "off"}
_ON = {"enable", "enabled", "enables", "with", "on"}


def _words(name: str) -> set[str]:
    return set(re.findall(r"[a-z]+", re.sub(r"([a-z])([A-Z])", r"\1_\2", name).lower()))


def switches_of_preemption(case: Case) -> list[str]:
    """The fields that say whether the scheduler preempts at all, such as `preemption_disabled`."""
    return [name for name, value in case.items() if isinstance(value, bool) and _is_like_a_switch(name)]


def _is_like_a_switch(name: str) -> bool:
    words = _words(name)
    others = words - _PREEMPT - _OFF - _ON - {"is", "default", "plugin", "scheduler"}
    return bool(words & _PREEMPT) and not others and not name.startswith("expect")


def refuse_unclear_switches(case: Case) -> None:
    """Raises NotTranslated for such a field with a text or a number: whether that switches preemption off is a guess."""
    for name, value in case.items():
        if isinstance(value, (str, int, float)) and not isinstance(value, bool) and _is_like_a_switch(name):
            raise NotTranslated(f"{one_line(name)} is {one_line(repr(value), 40)}, not true or false")


def is_disabled(case: Case) -> bool:
    """Whether one of them says that it does not. Raises NotTranslated where a nomination would have to be explained."""
    off = any(bool(case[name]) is bool(_words(name) & _OFF) for name in switches_of_preemption(case))
    preemptor = case.get("preemptor")
    if off and isinstance(preemptor, Mapping) and preemptor.get("nominatedNodeName"):
        raise NotTranslated("without preemption, a preemptor that is nominated")
    return off


class WithoutPreemption(Preemption):
    """PostFilter has no plugin (DisablePreemption up to 1.18): nobody may preempt, and nothing is written."""

    def eligible(self, pod: Pod, nominated: Value) -> Expr:
        return as_expr(False)


# --- extenders ---------------------------------------------------------------------------------------------


def asked_extenders(case: Case) -> list[Mapping[str, Any]]:
    """The extenders that are asked, in order, but for those that fail and may be ignored."""
    return [e for e in case.get("extenders") or () if not _ignored(e)]


def _ignored(extender: Mapping[str, Any]) -> bool:
    asked = extender.get("interested", not (extender.get("uninterested") or extender.get("unInterested")))
    return not asked or (extender.get("kind") == ERROR and bool(extender.get("ignorable")))


def _keeps(extender: Mapping[str, Any], node: str) -> bool:
    kind = str(extender.get("kind"))
    if kind in ACCEPT_ALL:
        return True
    if kind in ACCEPT_NONE or kind == ERROR:  # an error that counts ends the preemption
        return False
    if kind.startswith(ONLY):
        return node == kind.removeprefix(ONLY)
    raise NotCovered(f"the extender {kind} is not modelled")


def extenders_fail(case: Case, candidates: Sequence[str]) -> bool:
    """Whether an extender ends the preemption with an error: callExtenders asks one after the other until no candidate is left."""
    left = list(candidates)
    for extender in asked_extenders(case):
        if not left:
            return False
        if extender.get("kind") == ERROR:
            return True
        left = [node for node in left if _keeps(extender, node)]
    return False


class WithExtenders(Preemption):
    """Extenders that say of each node whether the preemptor may go there."""

    extenders: Sequence[Mapping[str, Any]] = ()

    def extenders_accept(self, pod: Pod, node: Node) -> Expr:
        return all_of(as_expr(_keeps(e, node.name)) for e in self.extenders)


# --- who is being evicted already ------------------------------------------------------------------------


def known_victims(pods: Iterable[tuple[str, Mapping[str, Any]]], release: str) -> tuple[type[Component], ...]:
    """A subclass of Preemption that waits for the pods with the condition DisruptionTarget only, where a release asks for it (1.26).

    The model's objects have no such condition (A-DISRUPTION), the pods of a case do.
    """
    gate, at = find_gate("PodDisruptionConditions"), version_of(release)
    states = [state for since, state in gate.history if version_of(since) <= at and state is not None]
    if not states or not states[-1].on:  # a gate that was removed stays as it was
        return ()
    marked = frozenset(name for name, facts in pods if _is_preempted(facts))
    return (type("WithConditions", (WithConditions,), {"marked": marked}),)


def _is_preempted(facts: Mapping[str, Any]) -> bool:
    condition: Mapping[str, Any] = next(
        (c for c in facts.get("conditions") or () if c.get("type") == DISRUPTION_TARGET["type"]), {}
    )
    reason = condition.get("reason") or DISRUPTION_TARGET["reason"]
    return (condition.get("status") or "") == "True" and reason in PREEMPTION_REASONS


class WithConditions(Preemption):
    """Of the pods that terminate, these do so because of a preemption."""

    marked: frozenset[str] = frozenset()

    def ends_by_preemption(self, victim: Pod) -> Expr:
        return super().ends_by_preemption(victim) & (victim.name in self.marked)


# --- plugins that fail -------------------------------------------------------------------------------------

ERROR_LABEL = ("error", "true")
"""The label of the nodes on which upstream's TestPlugin fails whenever a pod is added or removed."""

ERROR_FIELD = re.compile(r"(?!expect).*(error|fail|inject|test_?plugin)", re.IGNORECASE)
ELSEWHERE = frozenset({"filter_fails_on"})
NODES_OF = (
    "nodes", "node", "on", "on_nodes", "fails_on", "fail_on", "failing_nodes", "remove_pod", "add_pod", "RemovePod", "AddPod",
)  # fmt: skip


def failing_nodes(case: Case) -> frozenset[str]:
    """The nodes on which a plugin answers with an error when the dry run takes a pod out, or puts one in.

    They are those that carry the label of upstream's TestPlugin, and those that a field such as `plugin_errors` names.
    """
    named = {node["name"]: node.get("labels") or {} for node in case.get("nodes") or ()}
    found = {name for name, labels in named.items() if labels.get(ERROR_LABEL[0]) == ERROR_LABEL[1]}
    for field, value in case.items():
        if ERROR_FIELD.match(field) and field not in ELSEWHERE and value:
            found |= _nodes_in(field, value, named)
    return frozenset(found)


def _nodes_in(field: str, value: Any, nodes: Mapping[str, Mapping[str, str]]) -> set[str]:
    if isinstance(value, str):
        return {value} if value in nodes else set()  # any other text is a remark
    if isinstance(value, list) and all(isinstance(entry, (str, Mapping)) for entry in value):
        unknown = [entry for entry in value if isinstance(entry, str) and entry not in nodes]
        if unknown:
            raise NotTranslated(f"{field} names {unknown[0]}, which is no node")
        return set().union(*(_nodes_in(field, entry, nodes) for entry in value))
    if isinstance(value, Mapping):
        told = [value[name] for name in NODES_OF if value.get(name)]
        label = value.get("label") or value.get("node_label") or value.get("labels")
        if isinstance(label, Mapping):
            return {n for n, has in nodes.items() if all(has.get(k) == v for k, v in label.items())}
        if told:
            return set().union(*(_nodes_in(field, entry, nodes) for entry in told))
    raise NotTranslated(f"nobody reads {field}")


class WithErrors(Preemption):
    """A plugin that answers with an error on some nodes when the dry run adds or removes a pod: they are no candidates."""

    failing: frozenset[str] = frozenset()

    def candidate(self, pod: Pod, node: Node) -> tuple[Expr, Expr, dict[Pod, Expr]]:
        possible, error, victims = super().candidate(pod, node)
        if node.name not in self.failing:
            return possible, error, victims
        return as_expr(False), any_of(self.potential_victims(pod, node).values()), victims


# --- the predicate for victims -----------------------------------------------------------------------------

Condition = Callable[[Pod, Pod, Node], Expr]
"""Says of the preemptor, the victim and the victim's node whether the victim may go."""

_LEAST = {"min", "minimum", "least", "ge", "gte", "from"}
_MOST = {"max", "maximum", "most", "le", "lte", "upto"}
_ABOVE = {"above", "gt", "greater", "over"}
_BELOW = {"below", "lt", "less", "under"}
_NOT = {"not", "cannot", "never", "no"}
_PREEMPTOR = {"preemptor", "preempting", "incoming", "preempt"}
_VICTIM = {"victim", "preemptible", "preemptable", "evictable", "preempted"}
_NODE = {"node"}
_LABEL = {"label", "labels", "labelled", "labeled"}


def hook_conditions(hook: Mapping[str, Any]) -> tuple[Condition, ...]:
    """What a hook demands, all of it: the victim's node or label, or bounds of the victim's or of the preemptor's priority.

    Fields are read by their words: `victim_on_node`, `victim_label`, `preemptor_min_priority`, `max_victim_priority`.
    """
    conditions = []
    for name, value in hook.items():
        if name in ("note", "comment", "description"):
            continue
        conditions += _conditions(name, value)
    if not conditions:
        raise NotTranslated("the hook demands nothing")
    return tuple(conditions)


def _conditions(name: str, value: Any) -> list[Condition]:
    words = _words(name)
    about_preemptor = bool(words & _PREEMPTOR)
    is_priority = bool(words & {"priority", "threshold"})
    if words & _NOT and not is_priority:
        raise NotTranslated(f"the hook {name} is not known")
    if words & _NODE and not about_preemptor and isinstance(value, str):
        return [lambda pod, victim, node: as_expr(node.name == value)]
    if words & _LABEL and isinstance(value, Mapping):
        wanted = {value["key"]: value.get("value", "")} if "key" in value else dict(value)

        def labelled(pod: Pod, victim: Pod, node: Node) -> Expr:
            has = pod.labels if about_preemptor else victim.labels
            return as_expr(all(has.get(key) == text for key, text in wanted.items()))

        return [labelled]
    if is_priority and (about_preemptor or words & _VICTIM):
        if isinstance(value, Mapping):
            return [c for more, bound in value.items() for c in _conditions(f"{name}_{more}", bound)]
        if isinstance(value, int) and not isinstance(value, bool):
            return [_bound(name, words, about_preemptor, value)]
    raise NotTranslated(f"the hook {name} is not known")


def _bound(name: str, words: set[str], about_preemptor: bool, bound: int) -> Condition:
    def of(pod: Pod, victim: Pod) -> Expr:
        return pod.priority if about_preemptor else victim.priority

    if words & _NOT:
        swapped = {"above": "most", "below": "least", "least": "below", "most": "above"}
        kinds = {"above": _ABOVE, "below": _BELOW, "least": _LEAST, "most": _MOST}
        meant = {swapped[kind] for kind, spelled in kinds.items() if words & spelled}
        return _bound(name, meant, about_preemptor, bound)
    if words & _LEAST:
        return lambda pod, victim, node: of(pod, victim) >= bound
    if words & _MOST:
        return lambda pod, victim, node: of(pod, victim) <= bound
    if words & _ABOVE:
        return lambda pod, victim, node: of(pod, victim) > bound
    if words & _BELOW:
        return lambda pod, victim, node: of(pod, victim) < bound
    raise NotTranslated(f"the hook {name} does not say whether {bound} is the least or the most")


class WithHook(Preemption):
    """Only pods that the predicate lets go may be evicted, beside the rule of priorities."""

    conditions: Sequence[Condition] = ()

    def may_evict(self, pod: Pod, victim: Pod, node: Node) -> Expr:
        return super().may_evict(pod, victim, node) & all_of(c(pod, victim, node) for c in self.conditions)
