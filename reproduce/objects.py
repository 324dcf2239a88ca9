"""The pods, nodes and budgets of a scenario as Kubernetes objects: what a real scheduler is given.

The model counts each resource in a unit of the scenario's own; here one of CPU is a core, one of memory a
megabyte. What cannot be said in objects is named.
"""

from collections.abc import Iterator, Mapping

from ..base.structs import Data
from ..model.environment import objects
from ..model.environment.cluster.derived import Roster
from ..model.environment.cluster.node_versions import versions_of
from ..model.environment.cluster.placement_rules import (
    NodeTerm,
    Requirement,
    Selector,
    SpreadConstraint,
    Term,
)
from ..model.environment.cluster.pod_versions import pod_versions_of
from ..model.environment.cluster.workloads import ExtenderSpec, OwnerKind, OwnerSpec
from ..model.environment.extender import HTTPExtender
from ..model.language import Parameter
from .claim_objects import (
    annotations_of_pod,
    claim_object,
    claims_named_at_start,
    claims_of_pod,
    device_objects,
    extended_resources,
)
from .storage_objects import Object, missing_storage, of_kind, storage_objects, volumes_of_pod

MOST_PODS = "110"
"""What a node admits for which the scenario has no limit."""

GATE = "podrace.io/held-back"
VERSION_MARK = "podrace.io/version"
"""The annotation that says which version of a pod its object is, where that is not the first: its number in the model."""

GATES_MARK = "podrace.io/gates"
"""The annotation that says with how many gates a pod is created, where these are several."""

DEFAULT_SCHEDULER, OTHER_SCHEDULER = "default-scheduler", "another-scheduler"
"""Who places pods: the one that is run, and another one."""

_UNPLAYED = ("percentage_of_nodes", "min_candidates_percentage", "min_candidates")
"""Settings of sampling: with which node it begins upstream draws at random."""

_FINALIZER = "podrace.io/seen-off"
_MOST = 1 << 40
_EPOCH = "2000-01-01T{:02}:{:02}:{:02}Z"


class ClusterObjects(Data):
    """The objects of a cluster, in the order of the scenario; `missing` says what of it could not be said in them."""

    nodes: tuple[Object, ...]
    pods: tuple[Object, ...]
    budgets: tuple[Object, ...]
    groups: tuple[tuple[Object, ...], ...]
    claims: tuple[Object, ...]
    devices: tuple[Object, ...]
    storage: tuple[Object, ...]
    namespaces: tuple[Object, ...]
    services: tuple[Object, ...]
    missing: tuple[str, ...]
    node_versions: dict[str, Object]
    pod_versions: dict[str, Object]


def objects_of(spec: objects.ClusterSpec) -> ClusterObjects:
    """All nodes, pods and budgets of a cluster, also those that are not there at the start."""
    return ClusterObjects(
        tuple(map(node_object, spec.nodes)),
        tuple(_pod_at_start(pod, spec) for pod in spec.pods),
        tuple(budget_object(budget, spec.pods) for budget in spec.budgets),
        tuple(group_objects(group, spec) for group in spec.groups),
        tuple(claim_object(claim, spec) for claim in spec.claims),
        device_objects(spec) if spec.claims else (),
        storage_objects(spec),
        tuple(namespace_objects(spec)),
        tuple(service_objects(spec)),
        tuple(dict.fromkeys(_missing(spec))),
        {v.name: node_object(v.content) for v in versions_of(spec.nodes) if v.content is not v.node},
        {v.name: pod_object(v.content) for v in pod_versions_of(spec.pods) if v.content is not v.pod},
    )


def _missing(spec: objects.ClusterSpec) -> Iterator[str]:
    for parameter in spec.unknown:
        yield f"the quantity {parameter.name} is open"
    entities: tuple[objects.Node | objects.Pod, ...] = (*spec.nodes, *spec.pods)
    if any(_number(q) >= _MOST for entity in entities for q in entity.quantities if q is not None):
        yield "the amounts of a resource have no common unit that is large enough"
    yield from _same_names(spec)
    for pod in spec.pods:
        if any(constraint.others for constraint in (*pod.spread, *pod.wishes.spread)):
            yield f"a topology spread constraint of {pod.name} counts pods that are no part of the cluster"
    if any(pod.features for pod in spec.pods):
        yield "the driver does not play features that nodes declare"
    yield from missing_storage(spec)
    if any(d.parts and d.conditions for d in spec.devices):
        yield "claims for several devices with binding conditions: the driver reports one of them ready"
    yield from _several_namespaces(spec)
    config = spec.scope.config
    if said := [n for n in _UNPLAYED if getattr(config, n) != getattr(objects.DEFAULTS, n)]:
        yield f"the configuration says {', '.join(f'{name}={getattr(config, name)}' for name in said)}"


def _same_names(spec: objects.ClusterSpec) -> Iterator[str]:
    names = [_short_name(pod.name) + "/" + pod.namespace for pod in spec.pods if pod.recreates is None]
    if len(set(names)) < len(names):
        yield "two pods have one name in one namespace"
        return
    named = [name.partition("/")[0] for name in names]
    twice = next((name for name in named if named.count(name) > 1), None)
    if twice is not None:
        yield f"two pods are called {twice}, in two namespaces, and the driver knows pods by their names: give one of them another name"


def _several_namespaces(spec: objects.ClusterSpec) -> Iterator[str]:
    for claim in spec.claims:
        users = [pod for pod in spec.pods if claim.name in pod.claims]
        if "/" in claim.name or len({pod.namespace for pod in users}) > 1:
            yield f"the pods that refer to the claim {claim.name} are in several namespaces"
    for group in spec.groups:
        if len({pod.namespace for pod in spec.pods if pod.group == group.name}) > 1:
            yield f"the pods of {group.name} are in several namespaces"


def node_object(node: objects.Node) -> Object:
    """A v1.Node."""
    spec: Object = {}
    if node.taints:
        spec["taints"] = [_present(key=t.key, value=t.value, effect=t.effect) for t in node.taints]
    if node.unschedulable:
        spec["unschedulable"] = True
    amounts = _amounts(node._allocatable)
    amounts["pods"] = MOST_PODS if node._pods is None else str(_number(node._pods))
    status: Object = {"allocatable": amounts, "capacity": dict(amounts)}
    if conditions := {
        kind: word for kind, word in node.conditions.items() if (kind, word) != (objects.READY, "True")
    }:
        status["conditions"] = [{"type": kind, "status": word} for kind, word in conditions.items()]
    metadata = {"name": node.name, "uid": node.name, "labels": dict(node.labels)}
    return of_kind("v1", "Node", metadata, spec=spec, status=status)


def extender_objects(spec: objects.ClusterSpec) -> list[Object]:
    """What the driver is told of the extenders, in the order of the configuration."""
    return [extender_object(e.spec, e.name, spec.scope.config.scored) for e in Roster(spec)[HTTPExtender]]


def extender_object(extender: ExtenderSpec, name: str, scored: bool = False) -> Object:
    """What the driver is told of an extender. It is asked for scores only where scores decide."""
    verbs = {
        "filter": extender.filters,
        "bind": extender.binds,
        "preempt": extender.preempts,
        "prioritize": scored and bool(extender.scores),
    }
    return {
        "name": name,
        "resource": extender.resource or "",
        "ignored_by_scheduler": extender.ignored_by_scheduler,
        "verbs": [verb for verb, has in verbs.items() if has],
        "ignorable": extender.ignorable,
        "counts": extender.noting.value,
        "nodes": None if extender.nodes is None else sorted(extender.nodes),
        "unresolvable": extender.unresolvable,
        "scores": dict(extender.scores),
        "weight": extender.weight,
    }


def scores_object(config: objects.Config) -> Object:
    """How nodes are scored, where scores decide."""
    return {
        "weights": dict(config.score_weights),
        "strategy": config.scoring_strategy,
        "hard_affinity_weight": config.hard_affinity_weight,
        "ignore_preferred_of_existing": config.ignore_preferred_of_existing,
    }


def namespace_objects(spec: objects.ClusterSpec) -> Iterator[Object]:
    """The v1.Namespaces of pods, where an affinity term asks for the labels of some."""
    if any(term.namespace_selector is not None for pod in spec.pods for term in pod.terms):
        for name, labels in {pod.namespace: pod.namespace_labels for pod in spec.pods}.items():
            yield of_kind("v1", "Namespace", {"name": name, "uid": name, "labels": dict(labels)})


def service_objects(spec: objects.ClusterSpec) -> Iterator[Object]:
    """The v1.Services from whose selectors pods have topology spread constraints by default."""
    wanted = {
        (pod.namespace, tuple(sorted(constraint.selector.match_labels.items())))
        for pod in spec.pods
        for constraint in pod.wishes.spread
        if constraint.by_default
    }
    for number, (namespace, labels) in enumerate(sorted(wanted)):
        metadata = {"name": f"service-{number + 1}", "namespace": namespace}
        yield of_kind("v1", "Service", metadata, spec={"selector": dict(labels)})


def pod_object(pod: objects.Pod) -> Object:
    """A v1.Pod, as it is when it is created, or as it is on the node that it is bound to at the start; or a version of it. The driver knows it by its UID."""
    metadata: Object = {
        "name": _short_name(pod.recreates or pod.name),
        "namespace": pod.namespace,
        "uid": pod.name,
    }
    if pod.labels:
        metadata["labels"] = dict(pod.labels)
    annotations = annotations_of_pod(pod)
    if pod.number:
        annotations[VERSION_MARK] = str(pod.number)
    if len(pod.gates) > 1:
        annotations[GATES_MARK] = str(len(pod.gates))
    if annotations:
        metadata["annotations"] = annotations
    if pod.finalizers:
        metadata["finalizers"] = [_FINALIZER]
    spec: Object = {
        "schedulerName": OTHER_SCHEDULER if pod.foreign else DEFAULT_SCHEDULER,
        "containers": [
            {"name": "c", "image": "none", "resources": {"requests": _amounts(pod._requests, whole=False)}}
        ],
        "priority": _number(pod._priority),
        "preemptionPolicy": "PreemptLowerPriority" if pod.preempts else "Never",
        "terminationGracePeriodSeconds": 30 if pod.graceful else 0,
    }
    if pod.node is not None:
        spec["nodeName"] = pod.node.name
    if pod.host_ports:
        spec["containers"][0]["ports"] = [
            {"containerPort": p.port, "hostPort": p.port, "protocol": p.protocol, "hostIP": p.ip}
            for p in pod.host_ports
        ]
    if pod.volumes:
        spec["volumes"] = volumes_of_pod(pod)
    if pod.claims:
        spec["resourceClaims"] = claims_of_pod(pod)
    if pod.group is not None:
        spec["schedulingGroup"] = {"podGroupName": pod.group}
        spec["workloadRef"] = {"name": pod.group, "podGroup": pod.group}
    if pod.gated:
        spec["schedulingGates"] = [{"name": name} for name in pod.gates or (GATE,)]
    if pod.tolerations:
        spec["tolerations"] = [
            _present(key=t.key, operator=t.operator, value=t.value, effect=t.effect) for t in pod.tolerations
        ]
    if pod.node_selector:
        spec["nodeSelector"] = dict(pod.node_selector)
    affinity = _affinity(pod)
    if affinity:
        spec["affinity"] = affinity
    wished = (_spread(c, soft=True) for c in pod.wishes.spread if not c.by_default)
    if constraints := [*map(_spread, pod.spread), *wished]:
        spec["topologySpreadConstraints"] = constraints
    status: Object = {"phase": "Running" if pod.node is not None and pod.started else "Pending"}
    if pod.start != objects.NOW:
        minutes, seconds = divmod(pod.start, 60)
        status["startTime"] = _EPOCH.format(minutes // 60, minutes % 60, seconds)
    return of_kind("v1", "Pod", metadata, spec=spec, status=status)


def _pod_at_start(pod: objects.Pod, spec: objects.ClusterSpec) -> Object:
    made = pod_object(pod)
    owners = {name: owner for owner in spec.owners for _, names in owner.slots for name in names}
    if pod.name in owners:
        made["metadata"]["ownerReferences"] = [_owner(owners[pod.name])]
    if spec.scope.readiness and pod.node is not None:
        made["status"]["conditions"] = [{"type": "Ready", "status": str(pod.ready and pod.started)}]
    made["spec"]["containers"][0]["resources"]["requests"] |= extended_resources(pod, spec)
    if named := claims_named_at_start(pod, spec):
        made["status"]["resourceClaimStatuses"] = named
    return made


def _owner(owner: OwnerSpec) -> Object:
    of = owner.kind
    group = "batch/v1" if of is OwnerKind.JOB else "apps/v1"
    kind = OwnerKind.REPLICA_SET if of is OwnerKind.DEPLOYMENT else of
    return {
        "apiVersion": group,
        "kind": kind.value,
        "name": owner.name,
        "uid": owner.name,
        "controller": True,
    }


def budget_object(budget: objects.DisruptionBudget, pods: tuple[objects.Pod, ...]) -> Object:
    """A policy/v1 PodDisruptionBudget, with the status that the disruption controller last wrote."""
    status: Object = {"disruptionsAllowed": _number(budget._allowed)}
    disrupted = sorted(_short_name(pod.name) for pod in pods if pod.name in budget.disrupted)
    if disrupted:
        status["disruptedPods"] = dict.fromkeys(disrupted, _EPOCH.format(0, 0, 0))
    wanted: Object = {} if budget.selector.nothing else {"selector": _selector(budget.selector)}
    if budget.min_available is not None:
        wanted["minAvailable"] = budget.min_available
    if budget.always_allow:
        wanted["unhealthyPodEvictionPolicy"] = "AlwaysAllow"
    metadata = {"name": _short_name(budget.name), "namespace": budget.namespace, "uid": budget.name}
    return of_kind("policy/v1", "PodDisruptionBudget", metadata, spec=wanted, status=status)


def group_objects(group: objects.PodGroup, spec: objects.ClusterSpec) -> tuple[Object, ...]:
    """The group as each release has it that has groups: a PodGroup of scheduling.k8s.io, v1beta1 from 1.37 on and v1alpha2 in 1.36, the only group of a Workload of v1alpha1 in 1.35. A group of groups is a CompositePodGroup of v1beta1.

    From 1.37 on a group has the priority of its pods. The groups of a tree are of one Workload, and upstream tries them by their age.
    """
    root = group.parent or group.name
    in_tree = {root, *(child.name for child in spec.groups if child.parent == root)}
    pods = [pod for pod in spec.pods if pod.group in in_tree]
    namespace = next((pod.namespace for pod in pods), "default")
    metadata: Object = {"name": group.name, "namespace": namespace, "uid": group.name}
    api = "scheduling.k8s.io"
    newest: Object = {"priority": next((_number(pod._priority) for pod in pods), 0)}
    if group.parent is not None or group.min_group_count is not None:
        metadata["creationTimestamp"] = f"2000-01-01T00:00:{group.index:02}Z"
        newest["workloadRef"] = {"workloadName": root, "templateName": group.name}
    if group.min_group_count is not None:
        newest["schedulingPolicy"] = {"gang": {"minGroupCount": group.min_group_count}}
        return (of_kind(f"{api}/v1beta1", "CompositePodGroup", metadata, spec=newest),)
    policy: Object = {"basic": {}} if group.min_count is None else {"gang": {"minCount": group.min_count}}
    newest["schedulingPolicy"] = policy
    if group.parent is not None:
        newest["parentCompositePodGroupName"] = group.parent
    if group.topology_key is not None:
        newest["schedulingConstraints"] = {"topology": [{"key": group.topology_key}]}
    in_workload = {"name": group.name, "policy": policy}
    return (
        of_kind(f"{api}/v1beta1", "PodGroup", metadata, spec=newest),
        of_kind(f"{api}/v1alpha2", "PodGroup", metadata, spec={"schedulingPolicy": policy}),
        of_kind(f"{api}/v1alpha1", "Workload", metadata, spec={"podGroups": [in_workload]}),
    )


def _short_name(name: str) -> str:
    return name.rpartition("/")[2]


def _number(quantity: objects.Quantity) -> int:
    return 0 if isinstance(quantity, Parameter) else int(quantity)


def _amounts(amounts: Mapping[str, objects.Quantity], whole: bool = True) -> dict[str, str]:
    """Amounts as quantities; without `whole`, nothing is said of those that are zero."""
    numbers = {resource: _number(amount) for resource, amount in amounts.items()}
    return {
        resource: quantity(resource, number)
        for resource, number in numbers.items()
        if number or (whole and (resource == "cpu" or objects.is_scalar_resource(resource)))
    }


def quantity(resource: str, number: int) -> str:
    """An amount of the model as Kubernetes writes it. All amounts of one resource are in one unit, whatever they are."""
    if (resource in objects.NATIVE and resource != "cpu") or resource.startswith("hugepages-"):
        return f"{number}Mi"
    return str(number)


def _affinity(pod: objects.Pod) -> Object:
    found: Object = {}
    if pod.node_affinity is not None:
        terms = [_node_term(term) for term in pod.node_affinity.terms]
        found["nodeAffinity"] = {
            "requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": terms}
        }
    if pod.wishes.nodes:
        found.setdefault("nodeAffinity", {})["preferredDuringSchedulingIgnoredDuringExecution"] = [
            {"weight": liked.weight, "preference": _node_term(liked.term)} for liked in pod.wishes.nodes
        ]
    for name, anti in (("podAffinity", False), ("podAntiAffinity", True)):
        required = [_term(term, pod) for term in pod.terms if term.anti is anti and term.required]
        preferred = [
            {"weight": term.weight, "podAffinityTerm": _term(term, pod)}
            for term in pod.terms
            if term.anti is anti and not term.required
        ]
        kinds = _present(
            requiredDuringSchedulingIgnoredDuringExecution=required,
            preferredDuringSchedulingIgnoredDuringExecution=preferred,
        )
        if kinds:
            found[name] = kinds
    return found


def _term(term: Term, pod: objects.Pod) -> Object:
    found: Object = {"topologyKey": term.topology_key}
    if not term.nothing:
        found["labelSelector"] = _selector(term.selector)
    if term.namespaces and (term.namespaces != (pod.namespace,) or term.namespace_selector is not None):
        found["namespaces"] = list(term.namespaces)
    if term.namespace_selector is not None:
        found["namespaceSelector"] = _selector(term.namespace_selector)
    return found


def _node_term(term: NodeTerm) -> Object:
    return _present(
        matchExpressions=list(map(_requirement, term.expressions)),
        matchFields=list(map(_requirement, term.fields)),
    )


def _spread(constraint: SpreadConstraint, soft: bool = False) -> Object:
    found: Object = {
        "maxSkew": constraint.max_skew,
        "topologyKey": constraint.topology_key,
        "whenUnsatisfiable": "ScheduleAnyway" if soft else "DoNotSchedule",
    }
    if not constraint.selector.nothing:
        found["labelSelector"] = _selector(constraint.selector)
    if constraint.min_domains > 1:
        found["minDomains"] = constraint.min_domains
    if not constraint.honors_affinity:
        found["nodeAffinityPolicy"] = "Ignore"
    if constraint.honors_taints:
        found["nodeTaintsPolicy"] = "Honor"
    return found


def _selector(selector: Selector) -> Object:
    return _present(
        matchLabels=dict(selector.match_labels),
        matchExpressions=list(map(_requirement, selector.expressions)),
    )


def _requirement(requirement: Requirement) -> Object:
    return _present(key=requirement.key, operator=requirement.operator.value, values=list(requirement.values))


def _present(**fields: Object | list[Object] | list[str] | str) -> Object:
    """The fields that say something."""
    return {name: value for name, value in fields.items() if value}
