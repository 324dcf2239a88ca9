"""What a pod asks of nodes and of other pods, as a scenario file says it: selectors, terms, constraints, taints, host ports."""

from collections.abc import Iterable
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

from ...model.environment.cluster import placement_rules as rules
from ...model.environment.cluster.pods import Pod

NOBODY = {"matchExpressions": [{"key": "podrace.io/nobody", "operator": "Exists"}]}
"""A selector that no pod meets: a scenario has no word for one that is not set."""


def requirement_in_words(requirement: rules.Requirement) -> dict[str, Any]:
    """One of the matchExpressions or matchFields."""
    values = {"values": list(requirement.values)} if requirement.values else {}
    return {"key": requirement.key, "operator": requirement.operator.value, **values}


def node_term_in_words(term: rules.NodeTerm) -> dict[str, Any]:
    """A term of node affinity."""
    parts = {"matchExpressions": term.expressions, "matchFields": term.fields}
    return {name: [requirement_in_words(r) for r in rs] for name, rs in parts.items() if rs}


def preferred_nodes_in_words(preferred: rules.PreferredNodes) -> dict[str, Any]:
    """A preferred term of node affinity."""
    expressions = [requirement_in_words(r) for r in preferred.term.expressions]
    return {"weight": preferred.weight, "matchExpressions": expressions}


def selector_in_words(selector: rules.Selector) -> dict[str, Any]:
    """A label selector."""
    if selector.nothing:
        return NOBODY
    found: dict[str, Any] = {"matchLabels": dict(selector.match_labels)} if selector.match_labels else {}
    if selector.expressions:
        found["matchExpressions"] = [requirement_in_words(r) for r in selector.expressions]
    return found


def term_in_words(term: rules.Term) -> dict[str, Any]:
    """A term of pod affinity or anti-affinity, with its weight if it is preferred."""
    found: dict[str, Any] = {} if term.required else {"weight": term.weight}
    found |= {"topologyKey": term.topology_key, "labelSelector": selector_in_words(term.selector)}
    if term.namespaces:
        found["namespaces"] = list(term.namespaces)
    if term.namespace_selector is not None:
        found["namespaceSelector"] = selector_in_words(term.namespace_selector)
    return found


def terms_in_words(terms: Iterable[rules.Term], anti: bool, own: tuple[str, ...]) -> dict[str, Any]:
    """The terms below podAffinity or podAntiAffinity of a pod whose namespace is `own`, which they need not name."""
    found: dict[str, Any] = {}
    for term in terms:
        if term.anti == anti:
            told = term_in_words(term)
            if term.namespaces == own and term.namespace_selector is None:
                del told["namespaces"]
            found.setdefault("required" if term.required else "preferred", []).append(told)
    return found


def constraint_in_words(constraint: rules.SpreadConstraint, soft: bool = False) -> dict[str, Any]:
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


def taint_in_words(taint: rules.Taint) -> dict[str, Any]:
    """A taint."""
    return {f: getattr(taint, f) for f in ("key", "value", "effect") if getattr(taint, f)}


def toleration_in_words(toleration: rules.Toleration) -> dict[str, Any]:
    """A toleration."""
    seconds = {} if toleration.seconds is None else {"tolerationSeconds": toleration.seconds}
    fields = ("key", "operator", "value", "effect")
    return {**{f: getattr(toleration, f) for f in fields if getattr(toleration, f)}, **seconds}


def host_port_in_words(port: rules.HostPort) -> Any:
    """A host port: its number, if that says all."""
    if port == rules.HostPort(port.port):
        return port.port
    return {"port": port.port, "protocol": port.protocol, "hostIP": port.ip}


FIRST_TIME = datetime(2024, 1, 1, tzinfo=UTC)
"""When the first pod was created or started: nothing but the order of times matters."""


def time_in_words(rank: int) -> str:
    """The time of which so many others are earlier."""
    return (FIRST_TIME + timedelta(seconds=rank)).isoformat().replace("+00:00", "Z")


def node_affinity_in_words(pod: Pod) -> dict[str, Any]:
    """The nodes that a pod requires and prefers."""
    found: dict[str, Any] = {}
    if pod.node_affinity is not None:
        found["required"] = {"nodeSelectorTerms": [node_term_in_words(t) for t in pod.node_affinity.terms]}
    if pod.wishes.nodes:
        found["preferred"] = [preferred_nodes_in_words(liked) for liked in pod.wishes.nodes]
    return found


def spread_in_words(pod: Pod) -> list[Any]:
    """The topology spread constraints of a pod, but for those that it has by default."""
    return [
        *(_constraint_of(pod, c, False) for c in pod.spread),
        *(_constraint_of(pod, c, True) for c in pod.wishes.spread if not c.by_default),
    ]


def _constraint_of(pod: Pod, constraint: rules.SpreadConstraint, soft: bool) -> dict[str, Any]:
    """The constraint; what of its selector follows the labels of each version came from matchLabelKeys."""
    expressions = constraint.selector.expressions
    own = [
        e.key for e in expressions if e.operator is rules.Operator.IN and e.values == (pod.labels.get(e.key),)
    ]
    follows = any(version.wishes.spread != pod.wishes.spread for version in pod.later.values())
    if not (soft and own and follows):
        return constraint_in_words(constraint, soft)
    selector = replace(constraint.selector, expressions=tuple(e for e in expressions if e.key not in own))
    return {**constraint_in_words(replace(constraint, selector=selector), soft), "matchLabelKeys": own}
