"""What the objects of a cluster say beside sizes and priorities, in words: labels, taints, terms, ports, budgets, devices."""

from collections.abc import Iterable, Iterator, Mapping

from ...base.text import listed, plural
from ...model.environment.cluster import placement_rules as rules
from ...model.environment.objects import READY, ClusterSpec, DisruptionBudget, Node, Pod, PodGroup

HOSTNAME, ZONE = "kubernetes.io/hostname", "topology.kubernetes.io/zone"
DOMAINS = {HOSTNAME: "node", ZONE: "zone"}
"""What the best known topology keys tell apart."""


def node_says(node: Node) -> tuple[str, ...]:
    """What follows the name of a node: its labels, taints and conditions, as far as it has more than every node."""
    return tuple(_of_node(node))


def _of_node(node: Node) -> Iterator[str]:
    if labels := {k: v for k, v in node.labels.items() if (k, v) != (HOSTNAME, node.name)}:
        yield _has("label", [f"{k}={v}" for k, v in labels.items()])
    if node.taints:
        yield _has("taint", map(_taint, node.taints))
    if node.unschedulable:
        yield "is cordoned"
    if conditions := {k: v for k, v in node.conditions.items() if (k, v) != (READY, "True")}:
        yield _has("condition", [f"{kind}={status}" for kind, status in conditions.items()])
    if node.features:
        yield f"declares {listed(sorted(node.features))}"


def pod_says(pod: Pod) -> tuple[str, ...]:
    """What follows the name of a pod: what it has, and what it asks of nodes and of other pods."""
    return tuple(_of_pod(pod))


def _of_pod(pod: Pod) -> Iterator[str]:
    if pod.namespace != "default" and "/" not in pod.name:
        yield f"is in namespace {pod.namespace}"
    if pod.labels:
        yield _has("label", [f"{k}={v}" for k, v in pod.labels.items()])
    if pod.group is not None:
        yield f"belongs to pod group {pod.group}"
    if pod.gates:
        yield _has("scheduling gate", pod.gates)
    if pod.tolerations:
        yield f"tolerates {listed([_toleration(t) for t in pod.tolerations])}"
    yield from _of_its_node(pod)
    yield from map(_constraint, pod.spread)
    yield from (_constraint(c, soft=True) for c in pod.wishes.spread)
    yield from (_term(term, pod.namespace) for term in pod.terms)
    if pod.host_ports:
        yield f"wants {_named('host port', map(_port, pod.host_ports))}"
    if pod.claims:
        yield f"needs {_named('resource claim', pod.claims)}"
    if pod.volumes:
        yield f"mounts {_named('volume claim', pod.volumes)}"
    if not pod.preempts:
        yield "may not preempt"


def _of_its_node(pod: Pod) -> Iterator[str]:
    if pod.node_selector:
        yield f"wants a node with {_labels(pod.node_selector)}"
    if pod.node_affinity is not None:
        terms = [_node_term(term) for term in pod.node_affinity.terms]
        yield f"wants a node with {' or '.join(terms)}"
    if pod.wishes.nodes:
        yield f"prefers nodes with {' or '.join(_node_term(liked.term) for liked in pod.wishes.nodes)}"
    if pod.features:
        yield f"needs a node that declares {listed(sorted(pod.features))}"
    if pod.extender_selector:
        yield f"may go, as its extender says, to nodes with {_labels(pod.extender_selector)}"


def others_of(spec: ClusterSpec) -> tuple[str, ...]:
    """A sentence for each budget, pod group, device and volume."""
    return (
        *map(_budget, spec.budgets),
        *map(_group, spec.groups),
        *(
            f"Device {d.shared or d.name} is on {'every node' if d.node is None else d.node.name}."
            for d in spec.devices
            if not d.parts
        ),
        *(
            f"Node {node} takes {_limit(*limit)} of {d.name}."
            for d in spec.drivers
            for node, limit in d.limits.items()
        ),
        *(
            f"Volume {v.name} can be used on {listed([n.name for n in v.nodes]) if v.nodes else 'every node'}."
            for v in spec.volumes
            if v.provisioned_for is None
        ),
    )


def _limit(first: int | None, last: int) -> str:
    if first == last:
        return f"{last} {plural(last, 'volume')}"
    early = "any number of volumes" if first is None else f"{first} {plural(first, 'volume')}"
    return f"{early} at first, and later {last},"


def _budget(budget: DisruptionBudget) -> str:
    allowed = budget.allowed.value if budget.allowed.is_const else "some"
    what = "disruption" if allowed == 1 else "disruptions"
    whom = "all pods of its namespace" if budget.selector.empty else _pods(budget.selector)
    return f"Budget {budget.name} is for {whom} and allows {allowed} {what}."


def _group(group: PodGroup) -> str:
    if group.min_group_count is not None:
        return f"Composite pod group {group.name} needs at least {group.min_group_count} of its groups."
    within = "" if group.topology_key is None else f", on nodes with one value of {group.topology_key}"
    if group.parent is not None:
        within = f", below {group.parent}"
    if group.min_count is None:
        return f"Pod group {group.name} has the basic policy{within}."
    return f"Pod group {group.name} is a gang of at least {group.min_count}{within}."


def _has(what: str, names: Iterable[str]) -> str:
    return f"has the {_named(what, names)}"


def _named(what: str, names: Iterable[str]) -> str:
    """What there is, in the plural if there are several, with the names."""
    every = list(names)
    return f"{plural(len(every), what)} {listed(every)}"


def _labels(labels: Mapping[str, str]) -> str:
    return ",".join(f"{k}={v}" for k, v in labels.items())


def _requirement(requirement: rules.Requirement) -> str:
    """As kubectl writes label selectors."""
    key, values = requirement.key, ",".join(requirement.values)
    match requirement.operator:
        case rules.Operator.IN:
            return f"{key}={values}" if len(requirement.values) == 1 else f"{key} in ({values})"
        case rules.Operator.NOT_IN:
            return f"{key} notin ({values})"
        case rules.Operator.EXISTS:
            return key
        case rules.Operator.DOES_NOT_EXIST:
            return f"!{key}"
        case rules.Operator.GREATER:
            return f"{key}>{values}"
        case rules.Operator.LESS:
            return f"{key}<{values}"


def _node_term(term: rules.NodeTerm) -> str:
    return ",".join(map(_requirement, (*term.expressions, *term.fields))) or "a term that matches no node"


def _pods(selector: rules.Selector) -> str:
    if selector.nothing:
        return "no pods"
    told = [f"{k}={v}" for k, v in selector.match_labels.items()]
    told += map(_requirement, selector.expressions)
    return f"pods with {','.join(told)}" if told else "all pods"


def _taint(taint: rules.Taint) -> str:
    return f"{taint.key}{'=' if taint.value else ''}{taint.value}:{taint.effect}"


def _toleration(toleration: rules.Toleration) -> str:
    what = toleration.key or "every taint"
    what += f"={toleration.value}" if toleration.value else ""
    what += f":{toleration.effect}" if toleration.effect else ""
    return what if toleration.seconds is None else f"{what} for {toleration.seconds} s"


def _port(port: rules.HostPort) -> str:
    protocol = "" if port.protocol == "TCP" else f"/{port.protocol}"
    return f"{port.port}{protocol}" + ("" if port.ip == rules.ANY_ADDRESS else f" of {port.ip}")


def _domain(key: str) -> str:
    return DOMAINS.get(key, f"value of {key}")


def _constraint(constraint: rules.SpreadConstraint, soft: bool = False) -> str:
    would = "would like" if soft else "wants"
    domains = {HOSTNAME: "nodes", ZONE: "zones"}.get(
        constraint.topology_key, f"values of {constraint.topology_key}"
    )
    return f"{would} {_pods(constraint.selector)} spread over {domains} with a skew of at most {constraint.max_skew}"


def _term(term: rules.Term, own: str) -> str:
    must = {
        (True, False): "must share",
        (True, True): "must not share",
        (False, False): "would like to share",
        (False, True): "would rather not share",
    }[term.required, term.anti]
    where = "" if term.namespaces in ((), (own,)) else f" of {_named('namespace', term.namespaces)}"
    if term.namespace_selector is not None:
        chosen = _pods(term.namespace_selector).removeprefix("pods with ").replace("all pods", "any labels")
        where += f"{' and' if where else ''} of namespaces with {chosen}"
    return f"{must} a {_domain(term.topology_key)} with {_pods(term.selector)}{where}"
