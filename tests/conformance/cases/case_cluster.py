"""From the plain facts of a case to the model's objects."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import ceil
from typing import Any

from podrace.model.cluster import build_cluster
from podrace.model.environment.cluster.placement_rules import (
    ANY_ADDRESS,
    UNPARSED,
    NodeAffinity,
    NodeTerm,
    SpreadConstraint,
    Wishes,
    parsed,
)
from podrace.model.environment.objects import (
    ClusterSpec,
    Config,
    DisruptionBudget,
    HostPort,
    Node,
    Operator,
    Pod,
    PodObject,
    Requirement,
    Scope,
    Selector,
    Taint,
    Term,
    Toleration,
)
from podrace.model.history import resolve
from podrace.model.language import Component, Concrete
from tests.conformance.cases.cases import Case, NotTranslated
from tests.conformance.cases.nominations import nominated_pods
from tests.conformance.cases.preemption_plugins import known_victims
from tests.conformance.cases.read_fields import refuse_unread
from tests.conformance.cases.shapes import refuse_parts


def selector(facts: Mapping[str, Any] | None) -> Selector:
    """A label selector; one that is not set matches nothing."""
    if facts is None:
        return Selector(nothing=True)
    return Selector(dict(facts.get("matchLabels") or {}), _requirements(facts))


def _requirements(facts: Mapping[str, Any], name: str = "matchExpressions") -> tuple[Requirement, ...]:
    return tuple(
        Requirement(e["key"], Operator(e["operator"]), tuple(e.get("values") or ()))
        for e in facts.get(name) or ()
    )


def terms(pod: Mapping[str, Any]) -> list[Term]:
    """The affinity and anti-affinity terms of a pod."""
    found = []
    for name, anti in (("affinity", False), ("antiAffinity", True)):
        for kind in ("required", "preferred"):
            found += [_term(t, kind == "required", anti) for t in (pod.get(name) or {}).get(kind) or ()]
    return found


def _terms_as_parsed(pod: Mapping[str, Any], queued: bool) -> list[Term]:
    """The terms of a pod as the scheduler knows them: of one that is `queued`, whose terms PreFilter looks at, or of any other."""
    found = terms(pod)
    broken = not all(t.valid for t in found)
    return [*found, UNPARSED] if broken and queued else parsed(found)


def _term(facts: Mapping[str, Any], required: bool, anti: bool) -> Term:
    chosen, spaces = selector(facts.get("labelSelector")), facts.get("namespaceSelector")
    return Term(
        chosen.match_labels,
        facts.get("topologyKey") or "",
        required,
        anti,
        expressions=chosen.expressions,
        namespaces=tuple(facts.get("namespaces") or ()),
        namespace_selector=None if spaces is None else selector(spaces),
        weight=int(facts.get("weight", 1)),
        nothing=chosen.nothing,
    )


def spread(pod: Mapping[str, Any]) -> list[SpreadConstraint]:
    """The hard topology spread constraints of a pod."""
    told = pod.get("topologySpreadConstraints") or ()
    return [_constraint(c, pod) for c in told if c.get("whenUnsatisfiable") != "ScheduleAnyway"]


def soft_spread(pod: Mapping[str, Any]) -> list[SpreadConstraint]:
    """The soft ones; those with `default` are from the plugin's own list."""
    told = pod.get("topologySpreadConstraints") or ()
    return [_constraint(c, pod) for c in told if c.get("whenUnsatisfiable") == "ScheduleAnyway"]


def _constraint(facts: Mapping[str, Any], pod: Mapping[str, Any]) -> SpreadConstraint:
    labels, counted = pod.get("labels") or {}, selector(facts.get("labelSelector"))
    if not counted.valid:  # an error of PreFilter and PreScore upstream
        raise NotTranslated("the labelSelector of a spread constraint cannot be parsed")
    own = (
        Requirement(k, Operator.IN, (labels[k],)) for k in facts.get("matchLabelKeys") or () if k in labels
    )
    return SpreadConstraint(
        facts["topologyKey"],
        replace(counted, expressions=(*counted.expressions, *own)),
        int(facts["maxSkew"]),
        min_domains=int(facts.get("minDomains") or 1),
        honors_affinity=facts.get("nodeAffinityPolicy") != "Ignore",
        honors_taints=facts.get("nodeTaintsPolicy") == "Honor",
        by_default=bool(facts.get("default")),
    )


def _resources(facts: Mapping[str, Any] | None) -> dict[str, Any]:
    """Amounts in the model's names; fractions round up (Quantity.Value and MilliValue)."""
    facts = facts or {}
    return {
        "cpu": ceil(facts.get("cpu_milli") or 0),
        "memory": ceil(facts.get("memory_bytes") or 0),
        "ephemeral": ceil(facts.get("ephemeral_bytes") or 0),
        "extended": {name: ceil(amount or 0) for name, amount in (facts.get("extended") or {}).items()},
    }


AMOUNTS = {"cpu_milli", "memory_bytes", "ephemeral_bytes", "extended"}
NODE = {
    "name", "allocatable", "labels", "taints", "unschedulable", "zone", "annotations", "conditions", "capacity",
}  # fmt: skip
"""What is read of a node, and what of it decides nothing."""


def make_node(index: int, facts: Mapping[str, Any]) -> Node:
    """A node; where nothing is said of its size, it has no room for requests but any number of pods."""
    allocatable = facts.get("allocatable")
    refuse_unread(f"{facts['name']}.", facts, NODE)
    refuse_unread(f"{facts['name']}.allocatable.", allocatable or {}, {*AMOUNTS, "pods"})
    pods = (allocatable or {}).get("pods")
    return Node(
        index,
        facts["name"],
        labels=dict(facts.get("labels") or {}),
        **_resources(allocatable),
        pods=None if pods is None else int(pods),
        taints=[
            Taint(t.get("key", ""), t.get("value") or "", t.get("effect", ""))
            for t in facts.get("taints") or ()
        ],
        unschedulable=bool(facts.get("unschedulable")),
        hostname_label=False,
    )


def _node_affinity(facts: Sequence[Mapping[str, Any]] | Mapping[str, Any] | None) -> NodeAffinity | None:
    """Required node affinity: its terms, or the expressions of a single one."""
    if isinstance(facts, Mapping):
        terms = facts.get("nodeSelectorTerms") or ()
        return NodeAffinity(tuple(map(_node_term, terms)))
    return NodeAffinity((_node_term({"matchExpressions": facts}),)) if facts else None


def _node_term(facts: Mapping[str, Any]) -> NodeTerm:
    return NodeTerm(_requirements(facts), _requirements(facts, "matchFields"))


def _host_ports(facts: Sequence[Mapping[str, Any]]) -> list[HostPort]:
    """The ports of its node that a pod occupies, each once."""
    ports = (HostPort(int(p["port"]), p.get("protocol") or "TCP", p.get("ip") or ANY_ADDRESS) for p in facts)
    return list(dict.fromkeys(port for port in ports if port.port > 0))


_POLICIES = {"": True, "PreemptLowerPriority": True, "Never": False, "PreemptNever": False}
"""By their values, and by the names of upstream's constants."""


def _preempts(policy: str | None) -> bool:
    if (policy or "") not in _POLICIES:
        raise NotTranslated(f"there is no preemptionPolicy {policy}")
    return _POLICIES[policy or ""]


def make_pod(
    index: int,
    name: str,
    facts: Mapping[str, Any],
    nodes: Mapping[str, Node],
    namespaces: Mapping[str, Mapping[str, str]],
    queued: bool,
) -> Pod:
    """A pod, bound where the case says; a node that the case does not have holds nobody.

    Of the pods that are not bound only those to be `queued` are in activeQ.
    """
    refuse_parts(name, facts)
    refuse_unread(f"{name}.requests.", facts.get("requests") or {}, AMOUNTS)
    namespace, node = facts.get("namespace") or "", nodes.get(facts.get("nodeName") or "")
    started = facts.get("startTime")
    return Pod(
        index,
        name,
        **_resources(facts.get("requests")),
        priority=int(facts.get("priority") or 0),
        namespace=namespace,
        namespace_labels=namespaces.get(namespace, {}),
        uid=facts.get("uid") or None,
        start=None if started is None else start_number(started),
        preempts=_preempts(facts.get("preemptionPolicy")),
        labels=dict(facts.get("labels") or {}),
        terms=_terms_as_parsed(facts, queued),
        tolerations=[
            Toleration(
                t.get("key") or "", t.get("operator") or "Equal", t.get("value") or "", t.get("effect") or ""
            )
            for t in facts.get("tolerations") or ()
        ],
        spread=spread(facts),
        wishes=Wishes(soft_spread(facts)),
        node_selector=facts.get("nodeSelector"),
        host_ports=_host_ports(facts.get("hostPorts") or ()),
        node_affinity=_node_affinity(facts.get("nodeAffinity")),
        node=node,
        exists=node is not None or queued,
    )


def start_number(seconds: float) -> int:
    """A start time as a whole number of milliseconds."""
    return round(float(seconds) * 1000)


@dataclass(frozen=True)
class CaseSituation:
    """A model in the state that a case describes, and its objects by the names that the case gives them."""

    model: Concrete
    nodes: Mapping[str, Node]
    pods: Mapping[str, Pod]
    preemptor: Pod

    def part(self, name: str) -> Any:
        """A part of the model."""
        return self.model.part(name)

    def node(self, name: str) -> Node:
        """A node by its name."""
        return self.nodes[name]


@dataclass
class Facts:
    """What a case says of its cluster. `pod` is the pod to be scheduled; `nominated` wait with a nomination."""

    nodes: Sequence[Mapping[str, Any]]
    pods: Sequence[Mapping[str, Any]]
    pod: Mapping[str, Any]
    budgets: Sequence[Mapping[str, Any]] = ()
    namespaces: Sequence[Mapping[str, Any]] = ()
    nominated: Sequence[tuple[Mapping[str, Any], str]] = ()
    config: Config = field(default_factory=Config)
    test_plugins: Sequence[type[Component]] = ()


def facts_of(case: Case, pod: Mapping[str, Any]) -> Facts:
    """The common fields of a case."""
    return Facts(
        nodes=case.get("nodes") or (),
        pods=case.get("pods") or (),
        pod=pod,
        budgets=case.get("pdbs") or (),
        namespaces=case.get("namespaces") or (),
        nominated=_nominated(case),
    )


def _nominated(case: Case) -> list[tuple[Mapping[str, Any], str]]:
    """Pods that wait with a nomination; one that names no node is on the first."""
    nodes = [node["name"] for node in case.get("nodes") or ()]
    return [
        (pod, node or pod.get("nominatedNodeName") or (nodes[0] if nodes else ""))
        for pod, node in nominated_pods(case, nodes)
    ]


def unique(names: Iterable[str]) -> list[str]:
    """The names, told apart where they are not set or given twice."""
    found: list[str] = []
    for name in names:
        fresh, number = name or "pod", 2
        while fresh in found or (not name and number == 2 and fresh in found):
            fresh, number = f"{name or 'pod'}~{number}", number + 1
        found.append(fresh)
    return found


def situation(facts: Facts, release: str) -> CaseSituation:
    """The model of a release in the state that the facts describe, with a snapshot taken."""
    nodes = [make_node(i, n) for i, n in enumerate(facts.nodes)]
    by_name = {n.name: n for n in nodes}
    spaces = {n["name"]: dict(n.get("labels") or {}) for n in facts.namespaces}
    told = [facts.pod, *(p for p, _ in facts.nominated), *facts.pods]
    names = unique(p.get("name") or "" for p in told)
    # The pod to be scheduled is last: it is the youngest.
    order = [*range(1, len(told)), 0]
    pods = {i: make_pod(at, names[i], told[i], by_name, spaces, queued=i == 0) for at, i in enumerate(order)}
    budgets = [
        DisruptionBudget(
            i,
            name,
            selector(b.get("selector")),
            int(b.get("disruptionsAllowed") or 0),
            namespace=b.get("namespace") or "",
            disrupted=b.get("disruptedPods") or (),
        )
        for i, (name, b) in enumerate(
            zip(unique(b.get("name") or "" for b in facts.budgets), facts.budgets, strict=True)
        )
    ]
    # Nobody handles events in a case: every pod may be evicted, and the one to be scheduled written twice.
    scope = Scope(pod_events=len(told) + 2, config=facts.config)
    spec = ClusterSpec("case", tuple(pods[i] for i in order), tuple(nodes), scope, tuple(budgets))
    victims = known_victims(zip(names, told, strict=True), release)
    classes = [*facts.test_plugins, *victims, *resolve(release).classes]
    model = Concrete(build_cluster(spec, classes))
    found = CaseSituation(model, by_name, {names[i]: p for i, p in pods.items()}, pods[0])
    for i, pod in pods.items():
        wish = told[i].get("nominatedNodeName") or ""
        if 1 <= i <= len(facts.nominated):
            wish = facts.nominated[i - 1][1]
        _tell(found, pod, by_name.get(wish), bool(told[i].get("terminating")))
    model.do(model.part("snapshot").update)
    return found


def _tell(found: CaseSituation, pod: Pod, nominated: Node | None, terminating: bool) -> None:
    """Everybody knows that a pod is nominated, or terminates."""
    if nominated is None and not terminating and pod.exists:
        return
    told = PodObject(exists=True, node=pod.node, nominated=nominated, terminating=terminating)

    def spread() -> None:
        found.part("api").pod[pod] = told
        found.part("pod_watch").lister[pod] = told
        if pod.node is not None:
            found.part("cache").update_pod(pod, told)
        else:
            if pod is found.preemptor:
                found.part("queue").copy[pod] = told.copy()
            found.part("nominator").add(pod, None, nominated)

    found.model.do(spread)
