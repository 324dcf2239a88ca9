"""The representative as a scenario file: what is checked is what this text says."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import yaml

from ...base.text import one_line
from ...model.environment.cluster.workloads import OwnerKind
from ...scenarios.tables.actors import CONTROLLERS
from ...scenarios.tables.rules import (
    constraint_in_words,
    host_port_in_words,
    node_term_in_words,
    selector_in_words,
    taint_in_words,
    term_in_words,
    toleration_in_words,
)
from ...scenarios.tables.table import plain
from ...scenarios.writer.sections import COUNTED
from ...scenarios.writing import PlainDumper
from ..kept_controllers import KeptController, without_name
from ..kept_lives import Lives
from ..left_out import Affinity, Closing, affinity_of, closings_of, constraints_of, leaving, tolerations_of
from ..members import ClusterNode, ClusterPod, selected_of_nodes
from ..reading.resource_amounts import write_amount
from ..representative import Representative
from ..request import repels
from .untested import not_asked

EVENTS = 3
"""How many undelivered events a watch may hold: what the known races take."""


def scenario_of(
    kept: Representative,
    name: str,
    title: str,
    comment: Sequence[str],
    release: str | None = None,
    properties: Sequence[str] = (),
    gates: Mapping[str, bool] | None = None,
) -> str:
    """The text of the scenario, on the release, with the feature gates and with the properties that were asked for, if some were."""
    affinity = {pod.name: affinity_of(pod, kept) for pod in kept.pods}
    closings = closings_of(kept, affinity)
    resources = {r for p in kept.pods for r, a in p.requests.items() if a}
    lives = Lives(kept)
    budgets = _budgets(lives)
    document: dict[str, Any] = {
        "name": name,
        "title": title,
        **({} if release is None else {"release": release}),
        **({"featureGates": dict(gates)} if gates else {}),
        "properties": list(properties)
        or [
            *(name for name in DEFAULT_PROPERTIES if name not in not_asked(kept)),
            *kept.claims.properties,
            *lives.properties,
            *kept.together.properties,
            *(["L-LOOP"] if kept.makers is not None and kept.makers.controllers else []),
        ],
        "nodes": {n.name: _node(n, kept, resources, affinity, closings) for n in kept.nodes},
        "pods": {p.name: _pod(p, kept, affinity, closings) | lives.of(p) for p in kept.pods},
    }
    if kept.together.groups:
        document["podGroups"] = kept.together.section
    if kept.makers is not None and kept.makers.controllers:
        document["controllers"] = _controllers(kept.makers.controllers)
    document |= kept.claims.sections
    if budgets:
        document["podDisruptionBudgets"] = budgets
    spaces = {p.namespace: kept.inventory.namespaces.get(p.namespace, {}) for p in kept.pods}
    if any(t.namespace_selector for a in affinity.values() for t in a.terms) and any(spaces.values()):
        document["namespaces"] = {n: {"labels": dict(labels)} for n, labels in spaces.items() if labels}
    if kept.inventory.configuration.preemption:
        document["config"] = dict(kept.inventory.configuration.preemption)
    document["scope"] = {
        "pod_events": EVENTS, **({"taint_eviction": True} if any(leaving(kept)) else {}), **lives.scope,
    }  # fmt: skip
    text = yaml.dump(
        document, Dumper=PlainDumper, sort_keys=False, default_flow_style=None, width=110, allow_unicode=True
    )
    return "".join(f"# {one_line(line, len(line))}\n" for line in comment) + text


DEFAULT_PROPERTIES = ("S-CAP", "S-NOM", "S-NOMVIS", "S-PDB", "S-AFF", "S-SPREAD", "S-STUCK", "L-PLACE")
"""What is checked of every cluster, as far as something in it can test it."""


def _amounts(amounts: Mapping[str, int], resources: Iterable[str]) -> dict[str, Any]:
    native = {
        r: write_amount(r, amounts.get(r, 0))
        for r in ("cpu", "memory", "ephemeral-storage")
        if r == "cpu" or (r in resources and amounts.get(r))
    }
    other = {r: write_amount(r, a) for r, a in amounts.items() if r in resources and r not in native and a}
    return {**native, **({"resources": other} if other else {})}


def _node(
    node: ClusterNode,
    kept: Representative,
    resources: set[str],
    affinity: Mapping[str, Affinity],
    closings: Sequence[Closing],
) -> dict[str, Any]:
    dropped = kept.dropped_on(node)
    taken = kept.taken_on(node)
    found = _amounts({r: a - taken.get(r, 0) for r, a in node.allocatable.items()}, resources)
    room = None if node.pods is None else node.pods - len(dropped)
    if room is not None and room < len(kept.pods):
        found["pods"] = room
    waiting = [p for p in kept.pods if kept.is_placed(p)]
    closed = [c for c in closings if node in c.nodes]
    if labels := _labels(node, waiting, kept, affinity) | {c.key: "true" for c in closed if c.taint is None}:
        found["labels"] = labels
    taints = [t for t in node.taints if repels(t)] + [c.taint for c in closed if c.taint]
    if taints:
        found["taints"] = [taint_in_words(t) for t in taints]
    if node.ready != "True":
        found["conditions"] = {"Ready": node.ready}
    if features := sorted(node.features & {f for p in waiting for f in p.features}):
        found["declaredFeatures"] = features
    return {**found, **({"unschedulable": True} if node.unschedulable else {})}


def _labels(
    node: ClusterNode, waiting: Sequence[ClusterPod], kept: Representative, affinity: Mapping[str, Affinity]
) -> dict[str, str]:
    """The labels that something kept asks for."""
    asked = selected_of_nodes(waiting) | {t.topology_key for a in affinity.values() for t in a.terms}
    asked |= {c.topology_key for p in waiting for c in p.spread}
    asked |= {group.topology_key for group in kept.together.groups}
    implied = ("kubernetes.io/hostname", node.name)
    return {k: v for k, v in node.labels.items() if k in asked and (k, v) != implied}


def _pod(
    pod: ClusterPod, kept: Representative, affinity: Mapping[str, Affinity], closings: Sequence[Closing]
) -> dict[str, Any]:
    """The pod; one that its controller makes anew as its template, where it is."""
    maker = kept.makers.of(pod) if kept.makers is not None else None
    if maker is None:
        return _as_it_is(pod, kept, affinity[pod.name], closings)
    found = _as_it_is(maker.template, kept, affinity[maker.template.name], closings)
    found.pop("exists", None)
    where = {} if pod.node is None else {"nodeName": pod.node}
    return {**found, **({} if pod.exists else {"exists": False}), **where}


def _as_it_is(
    pod: ClusterPod, kept: Representative, affinity: Affinity, closings: Sequence[Closing]
) -> dict[str, Any]:
    backed = kept.claims.extended.get(pod.name)
    asked_of_nodes = {**pod.requests, **({backed: 1} if backed else {})}
    found = _amounts(asked_of_nodes, set(asked_of_nodes))
    found["priority"] = pod.priority
    if not pod.exists:
        found["exists"] = False
    if group := kept.together.name_of(pod.group):
        found["podGroup"] = group
    if pod.labels:
        # A pod that has labels is not one that has none (a budget heeds that): one is kept that nobody asks for.
        asked = {k: v for k, v in pod.labels.items() if k in kept.groups.asked_of_pods}
        found["labels"] = asked or dict([min(pod.labels.items())])
    if pod.ignored:
        found["ignore"] = dict(pod.ignored)
    if pod.grace == 0:
        found["terminationGracePeriodSeconds"] = 0
    if not kept.is_placed(pod):
        found["nodeName"] = pod.node
        if pod.start is not None:
            found["startTime"] = pod.start.isoformat().replace("+00:00", "Z")
        if tolerations := tolerations_of(pod, kept, closings):
            found["tolerations"] = [toleration_in_words(t) for t in tolerations]
    else:
        found |= _wishes(pod, kept, closings)
    for name, claims in (("volumes", kept.claims.volumes), ("resourceClaims", kept.claims.devices)):
        if claims.get(pod.name):
            found[name] = list(claims[pod.name])
    if ports := host_ports_in_words(pod, kept.pods):
        found["hostPorts"] = ports
    for name, anti in (("podAffinity", False), ("podAntiAffinity", True)):
        if terms := [term_in_words(t) for t in affinity.terms if t.anti == anti]:
            found[name] = {"required": terms}
    return found


def _wishes(pod: ClusterPod, kept: Representative, closings: Sequence[Closing]) -> dict[str, Any]:
    """What only a pod that is still to be scheduled says."""
    found: dict[str, Any] = {} if pod.preempts else {"preemptionPolicy": "Never"}
    if tolerations := tolerations_of(pod, kept, closings):
        found["tolerations"] = [toleration_in_words(t) for t in tolerations]
    if pod.features:
        found["requiredFeatures"] = sorted(pod.features)
    if pod.node_selector:
        found["nodeSelector"] = dict(pod.node_selector)
    maker = kept.makers.of(pod) if kept.makers is not None else None
    daemon = maker is not None and maker.kind is OwnerKind.DAEMON_SET
    asked = without_name(pod.node_affinity) if daemon else pod.node_affinity
    terms = [node_term_in_words(t) for t in asked.terms] if asked else []
    closing = next((c.key for c in closings if c.pod is pod and c.taint is None), None)
    found |= _node_affinity(terms, closing)
    if constraints := constraints_of(pod, kept):
        found["topologySpreadConstraints"] = [constraint_in_words(c) for c in constraints]
    return found


def _controllers(kept: Sequence[KeptController]) -> dict[str, Any]:
    """The controllers, each by its own name, with a number where another one has that already."""
    found: dict[str, Any] = {}
    for of in kept:
        name = of.owner.rpartition("/")[2][:MOST_OF_NAME].rstrip("-.")
        found[f"{name}-{len(found)}" if name in found else name] = _controller(of)
    return found


MOST_OF_NAME = 60
"""The names of controllers in a scenario are no longer than labels; this leaves room for a number."""


def _controller(of: KeptController) -> dict[str, Any]:
    """The controller, which makes the kept pods anew."""
    names = [pod.name for pod in of.pods]
    by_node: dict[str, list[str]] = {}
    for node, name in zip(of.nodes, names, strict=False):
        by_node.setdefault(node, []).append(name)
    counted = {COUNTED[of.kind]: of.wanted} if of.kind in COUNTED else {}
    return {"kind": of.kind.value, **counted, "pods": by_node or names, **plain(CONTROLLERS.say(of))}


def host_ports_in_words(pod: ClusterPod, kept: Sequence[ClusterPod]) -> list[Any]:
    """The host ports of a kept pod that another kept pod wants as well."""
    others = [port for other in kept if other is not pod for port in other.host_ports]
    return [
        host_port_in_words(port) for port in pod.host_ports if any(port.conflicts(other) for other in others)
    ]


def _node_affinity(terms: list[dict[str, Any]], closing: str | None) -> dict[str, Any]:
    if closing is not None:
        closed = {"key": closing, "operator": "DoesNotExist"}
        # A term without requirements matches no node and must stay so.
        terms = [
            {**t, "matchExpressions": [*t.get("matchExpressions", []), closed]} if t else t for t in terms
        ] or [{"matchExpressions": [closed]}]
    return {"nodeAffinity": {"required": {"nodeSelectorTerms": terms}}} if terms else {}


def _budgets(lives: Lives) -> dict[str, Any]:
    """The budgets of kept pods."""
    return {
        of.budget.meta.name: {
            "selector": selector_in_words(of.budget.selector),
            "disruptionsAllowed": of.allowed,
            **({} if of.wanted is None else {"minAvailable": of.wanted}),
            **(
                {"unhealthyPodEvictionPolicy": "AlwaysAllow"}
                if of.wanted is not None and of.budget.always_allow
                else {}
            ),
            **({"disruptedPods": list(of.paid)} if of.paid else {}),
        }
        for of in lives.budgets
    }
