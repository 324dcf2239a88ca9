"""What a pod asks of nodes and of other pods, as a scenario file says it: selectors, terms, constraints, taints, host ports."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from ...model.environment.cluster.placement_rules import (
    HostPort,
    NodeTerm,
    PreferredNodes,
    Requirement,
    Selector,
    SpreadConstraint,
    Taint,
    Term,
    Toleration,
)

NOBODY = {"matchExpressions": [{"key": "podrace.io/nobody", "operator": "Exists"}]}
"""A selector that no pod meets: a scenario has no word for one that is not set."""


def requirement_in_words(requirement: Requirement) -> dict[str, Any]:
    """One of the matchExpressions or matchFields."""
    values = {"values": list(requirement.values)} if requirement.values else {}
    return {"key": requirement.key, "operator": requirement.operator.value, **values}


def node_term_in_words(term: NodeTerm) -> dict[str, Any]:
    """A term of node affinity."""
    parts = {"matchExpressions": term.expressions, "matchFields": term.fields}
    return {name: [requirement_in_words(r) for r in rs] for name, rs in parts.items() if rs}


def preferred_nodes_in_words(preferred: PreferredNodes) -> dict[str, Any]:
    """A preferred term of node affinity."""
    expressions = [requirement_in_words(r) for r in preferred.term.expressions]
    return {"weight": preferred.weight, "matchExpressions": expressions}


def selector_in_words(selector: Selector) -> dict[str, Any]:
    """A label selector."""
    if selector.nothing:
        return NOBODY
    found: dict[str, Any] = {"matchLabels": dict(selector.match_labels)} if selector.match_labels else {}
    if selector.expressions:
        found["matchExpressions"] = [requirement_in_words(r) for r in selector.expressions]
    return found


def term_in_words(term: Term) -> dict[str, Any]:
    """A term of pod affinity or anti-affinity, with its weight if it is preferred."""
    found: dict[str, Any] = {} if term.required else {"weight": term.weight}
    found |= {"topologyKey": term.topology_key, "labelSelector": selector_in_words(term.selector)}
    if term.namespaces:
        found["namespaces"] = list(term.namespaces)
    if term.namespace_selector is not None:
        found["namespaceSelector"] = selector_in_words(term.namespace_selector)
    return found


def terms_in_words(terms: Iterable[Term], anti: bool, own: tuple[str, ...]) -> dict[str, Any]:
    """The terms below podAffinity or podAntiAffinity of a pod whose namespace is `own`, which they need not name."""
    found: dict[str, Any] = {}
    for term in terms:
        if term.anti == anti:
            told = term_in_words(term)
            if term.namespaces == own and term.namespace_selector is None:
                del told["namespaces"]
            found.setdefault("required" if term.required else "preferred", []).append(told)
    return found


def constraint_in_words(constraint: SpreadConstraint, soft: bool = False) -> dict[str, Any]:
    """A topology spread constraint."""
    return {
        "maxSkew": constraint.max_skew,
        "topologyKey": constraint.topology_key,
        "whenUnsatisfiable": "ScheduleAnyway" if soft else "DoNotSchedule",
        "labelSelector": selector_in_words(constraint.selector),
        **({"minDomains": constraint.min_domains} if constraint.min_domains > 1 else {}),
        **({} if constraint.honors_affinity else {"nodeAffinityPolicy": "Ignore"}),
        **({"nodeTaintsPolicy": "Honor"} if constraint.honors_taints else {}),
        **({"others": dict(constraint.others)} if constraint.others else {}),
    }


def taint_in_words(taint: Taint) -> dict[str, Any]:
    """A taint."""
    return {f: getattr(taint, f) for f in ("key", "value", "effect") if getattr(taint, f)}


def toleration_in_words(toleration: Toleration) -> dict[str, Any]:
    """A toleration."""
    seconds = {} if toleration.seconds is None else {"tolerationSeconds": toleration.seconds}
    fields = ("key", "operator", "value", "effect")
    return {**{f: getattr(toleration, f) for f in fields if getattr(toleration, f)}, **seconds}


def host_port_in_words(port: HostPort) -> Any:
    """A host port: its number, if that says all."""
    if port == HostPort(port.port):
        return port.port
    return {"port": port.port, "protocol": port.protocol, "hostIP": port.ip}
