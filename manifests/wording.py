"""Selectors, terms and constraints as a scenario has them."""

from __future__ import annotations

from typing import Any

from ..model.environment.objects import NodeTerm, Requirement, Selector, Taint, Term, Toleration
from ..model.environment.placement_rules import SpreadConstraint

NOBODY = {"matchExpressions": [{"key": "podrace.io/nobody", "operator": "Exists"}]}
"""A selector that no pod meets: a scenario has no word for one that is not set."""


def node_term_in_words(term: NodeTerm) -> dict[str, Any]:
    """A term of node affinity."""
    parts = {"matchExpressions": term.expressions, "matchFields": term.fields}
    return {name: [_requirement(r) for r in rs] for name, rs in parts.items() if rs}


def _requirement(requirement: Requirement) -> dict[str, Any]:
    values = {"values": list(requirement.values)} if requirement.values else {}
    return {"key": requirement.key, "operator": requirement.operator.value, **values}


def selector_in_words(selector: Selector) -> dict[str, Any]:
    """A label selector."""
    if selector.nothing:
        return NOBODY
    found: dict[str, Any] = {"matchLabels": dict(selector.match_labels)} if selector.match_labels else {}
    if selector.expressions:
        found["matchExpressions"] = [_requirement(r) for r in selector.expressions]
    return found


def term_in_words(term: Term) -> dict[str, Any]:
    """A required term of pod affinity or anti-affinity."""
    found: dict[str, Any] = {
        "topologyKey": term.topology_key,
        "labelSelector": selector_in_words(term.selector),
    }
    if term.namespaces:
        found["namespaces"] = list(term.namespaces)
    if term.namespace_selector is not None:
        found["namespaceSelector"] = selector_in_words(term.namespace_selector)
    return found


def constraint_in_words(constraint: SpreadConstraint) -> dict[str, Any]:
    """A topology spread constraint."""
    return {
        "maxSkew": constraint.max_skew,
        "topologyKey": constraint.topology_key,
        "whenUnsatisfiable": "DoNotSchedule",
        "labelSelector": selector_in_words(constraint.selector),
        **({"others": dict(constraint.others)} if constraint.others else {}),
    }


def taint_in_words(taint: Taint) -> dict[str, Any]:
    """A taint."""
    return {f: getattr(taint, f) for f in ("key", "value", "effect") if getattr(taint, f)}


def toleration_in_words(toleration: Toleration) -> dict[str, Any]:
    """A toleration."""
    return {
        f: getattr(toleration, f) for f in ("key", "operator", "value", "effect") if getattr(toleration, f)
    }
