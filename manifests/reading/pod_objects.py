"""Pods, workloads and their topology spread constraints.

A pod specification is that of a pod, or stands in the template of a workload. A workload says how many pods a controller wants.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime

from ...model.environment.cluster.placement_rules import SpreadConstraint
from ...model.environment.objects import (
    HostPort,
    NodeAffinity,
    Operator,
    Requirement,
    Selector,
    Toleration,
)
from ...scenarios.reader.sections.pod_section import (
    read_time,
)
from ...scenarios.tables.directives import (
    read_toleration,
)
from ...scenarios.tables.host_ports import host_port
from ...scenarios.tables.placement import MAX_PORT, SKEW
from ...scenarios.tables.pods import GRACE, MAX_PRIORITY, MIN_PRIORITY, POLICY
from ...scenarios.tables.selectors import read_selector
from ...scenarios.values.labels import label_key, read_labels
from .affinity_terms import WrittenTerm, read_node_affinity, read_terms
from .conditions import read_conditions
from .device_objects import ClaimReference, read_references, read_special, read_statuses
from .manifest_files import Manifest, Remarks
from .metadata import Meta, read_ignored
from .needed_features import needed_features
from .resize_status import DEFERRED, NO_RESIZE, ResizeStatus, read_resize
from .resource_amounts import Amounts, read_amounts, requests_of
from .volume_objects import Mount, VolumeWish, read_claim_templates, read_mounts

SINCE = {"matchLabelKeys": "1.27", "nodeAffinityPolicy": "1.26", "nodeTaintsPolicy": "1.26"}
"""Fields that the scheduler did not heed from the start, and from when on it does unless told otherwise: what is counted of pods that are left out goes by them."""

_NEEDED = ("maxSkew", "topologyKey", "whenUnsatisfiable")
_POLICIES = ("Honor", "Ignore")


@dataclass(frozen=True, slots=True)
class Spread:
    """A hard constraint (DoNotSchedule). `keys` are matchLabelKeys that are not yet part of the selector.

    `honors_affinity` and `honors_taints` say whether it counts only nodes that pass the pod's node affinity, and whose
    taints the pod tolerates.
    """

    topology_key: str
    selector: Selector
    max_skew: int
    min_domains: int = 1
    keys: tuple[str, ...] = ()
    honors_affinity: bool = True
    honors_taints: bool = False

    @property
    def newer(self) -> list[str]:
        """Which fields of SINCE say something else than if they were not there."""
        said = {
            "matchLabelKeys": bool(self.keys),
            "nodeAffinityPolicy": not self.honors_affinity,
            "nodeTaintsPolicy": self.honors_taints,
        }
        return [field for field, differs in said.items() if differs]

    def entity(self, others: Mapping[str, int], key: str | None = None) -> SpreadConstraint:
        """The constraint as the model knows it, with the pods that it counts beside those of the model, and by another key if one is given."""
        return SpreadConstraint(
            key or self.topology_key, self.selector, self.max_skew, others, self.min_domains, self.honors_affinity,
            self.honors_taints,
        )  # fmt: skip

    def of(self, labels: Mapping[str, str]) -> Spread:
        """The constraint of a pod with these labels: its selector also asks for the pod's own values of the keys.

        Keys that the pod does not have say nothing (filterTopologySpreadConstraints, 1.34).
        """
        own = tuple(Requirement(k, Operator.IN, (labels[k],)) for k in self.keys if k in labels)
        # From 1.34 on the API server writes the same into the selector.
        new = tuple(r for r in own if r not in self.selector.expressions)
        return replace(
            self, selector=replace(self.selector, expressions=self.selector.expressions + new), keys=()
        )


def read_constraints(fields: Mapping[str, Manifest], owner: str, remarks: Remarks) -> tuple[Spread, ...]:
    """The hard constraints among the fields of a pod specification; soft ones are scores, and need no model."""
    if "topologySpreadConstraints" not in fields:
        return ()
    found: list[Spread] = []
    for element in fields["topologySpreadConstraints"].elements("a list of constraints"):
        given = element.fields(
            (*_NEEDED, "labelSelector", "minDomains", *SINCE), "a constraint with `maxSkew` and `topologyKey`"
        )
        for needed in _NEEDED:
            if needed not in given:
                element.fail(f"`{needed}` is missing: a constraint has {', '.join(_NEEDED)}")
        if is_hard(given["whenUnsatisfiable"]):
            found.append(_constraint(given))
    for name in sorted({name for c in found for name in c.newer}):
        remarks.add(
            f"{name} of a topology spread constraint is heeded as by default from {SINCE[name]} on: "
            "a verdict on an older release is not about what that one makes of it",
            owner,
        )
    return tuple(found)


def is_hard(when: Manifest) -> bool:
    """What whenUnsatisfiable says."""
    return when.one_of(("DoNotSchedule", "ScheduleAnyway"), "a value of whenUnsatisfiable") == "DoNotSchedule"


def _constraint(given: Mapping[str, Manifest]) -> Spread:
    listed = given["matchLabelKeys"].elements("a list of label keys") if "matchLabelKeys" in given else []
    keys = tuple(_key(key) for key in listed)
    if keys and "labelSelector" not in given:
        given["matchLabelKeys"].fail("without `labelSelector` it says nothing: add one, or remove it")
    return Spread(
        _key(given["topologyKey"]),
        read_selector(given["labelSelector"]) if "labelSelector" in given else Selector(nothing=True),
        SKEW.read(given["maxSkew"]),
        SKEW.read(given["minDomains"]) if "minDomains" in given else 1,
        keys,
        _honors(given, "nodeAffinityPolicy", True),
        _honors(given, "nodeTaintsPolicy", False),
    )


def _key(value: Manifest) -> str:
    value.text("a label key such as app or example.com/zone")
    return label_key(value)


def _honors(given: Mapping[str, Manifest], name: str, default: bool) -> bool:
    return given[name].one_of(_POLICIES, "a policy") == "Honor" if name in given else default


SPEC_FIELDS = (
    "containers", "initContainers", "overhead", "resources", "nodeName", "nodeSelector", "affinity", "tolerations",
    "priority", "priorityClassName", "preemptionPolicy", "schedulerName", "terminationGracePeriodSeconds",
    "schedulingGates", "topologySpreadConstraints", "volumes", "resourceClaims",
    "hostNetwork", "hostUsers", "schedulingGroup", "workloadRef",
)  # fmt: skip

DEFAULT_SCHEDULER = "default-scheduler"


@dataclass(frozen=True, slots=True)
class PodSpec:
    """What of a pod's specification the scheduler looks at. Priority and policy as written, not yet resolved."""

    requests: Amounts
    node: str | None
    node_selector: Mapping[str, str]
    node_affinity: NodeAffinity | None
    terms: tuple[WrittenTerm, ...]
    tolerations: tuple[Toleration, ...]
    spread: tuple[Spread, ...]
    priority: int | None
    priority_class: Manifest | None
    policy: str | None
    scheduler: str
    grace: int
    gated: bool
    host_ports: tuple[HostPort, ...] = ()
    mounts: tuple[Mount, ...] = ()
    claims: tuple[ClaimReference, ...] = ()
    features: frozenset[str] = frozenset()

    @property
    def label_keys(self) -> dict[str, set[str]]:
        """The pod's own labels by whose values its rules select, by the field that names them."""
        return {
            "matchLabelKeys of a topology spread constraint": {k for c in self.spread for k in c.keys},
            "matchLabelKeys or mismatchLabelKeys of an affinity term": {
                k for t in self.terms for k, _ in t.keys
            },
        }


@dataclass(frozen=True, slots=True)
class WrittenPod:
    """A Pod object as it was read. `unstarted`: its status says Pending. `ready` is what its condition Ready says; where it says nothing, whether it runs. `created` is its creationTimestamp. `target` is why it has the condition DisruptionTarget. `made` are the ResourceClaims that were made for its claims, `special` that for its extended resources."""

    meta: Meta
    spec: PodSpec
    finished: bool
    start: datetime | None
    nominated: bool
    made: Mapping[str, str | None] = field(default_factory=dict)
    special: str = ""
    unstarted: bool = False
    ready: bool = True
    target: str = ""
    created: datetime | None = None


_STATUS_FIELDS = (
    "phase", "startTime", "nominatedNodeName", "resourceClaimStatuses", "containerStatuses", "initContainerStatuses", "conditions",
    "extendedResourceClaimStatus", "resources", "allocatedResources",
)  # fmt: skip


def read_pod(top: Manifest, meta: Meta, fields: Mapping[str, Manifest], remarks: Remarks) -> WrittenPod:
    """A Pod."""
    if "spec" not in fields:
        top.fail("`spec` is missing: a Pod has at least `spec.containers`")
    status = fields["status"].fields(_STATUS_FIELDS, "a mapping with `phase`") if "status" in fields else {}
    spec = read_spec(fields["spec"], meta.shown, remarks, read_resize(status))
    _remark_whole(fields["spec"], status, meta.shown, remarks)
    phases = ("Pending", "Running", "Succeeded", "Failed", "Unknown")
    phase = status["phase"].one_of(phases, "a phase") if "phase" in status else "Pending"
    nominated = "nominatedNodeName" in status and bool(
        status["nominatedNodeName"].scalar("the name of a node")
    )
    start = read_time(status["startTime"]) if "startTime" in status else None
    created = meta.place.fields(("creationTimestamp",), "a mapping with `name`").get("creationTimestamp")
    made = read_statuses(status.get("resourceClaimStatuses"))
    special = read_special(status.get("extendedResourceClaimStatus"))
    named = f"{meta.namespace}/{special}" if special else ""
    conditions = read_conditions(status.get("conditions"))
    unstarted = "phase" in status and phase == "Pending"
    ready, _ = conditions.get("Ready", ("False" if unstarted else "True", ""))
    said, reason = conditions.get("DisruptionTarget", ("False", ""))
    return WrittenPod(
        meta, spec, phase in ("Succeeded", "Failed"), start, nominated, made, named, unstarted, ready == "True",
        (reason or "without a reason") if said == "True" else "",
        None if created is None or created.is_null else read_time(created),
    )  # fmt: skip


def _remark_whole(spec: Manifest, status: Mapping[str, Manifest], owner: str, remarks: Remarks) -> None:
    """Say so where a pod as a whole has something else than it asks for (InPlacePodLevelResourcesVerticalScaling)."""
    whole = spec.fields(("resources",), "a pod specification").get("resources")
    if whole is None:
        return
    asked = read_amounts(whole.fields(("requests",), "a mapping with `requests`").get("requests"))
    runs = status["resources"].fields(("requests",), "a mapping") if "resources" in status else {}
    for held in (read_amounts(runs.get("requests")), read_amounts(status.get("allocatedResources"))):
        if any(held.get(resource, amount) > amount for resource, amount in asked.items()):
            remarks.add(
                "a resize of the pod as a whole is not over: it counts with what it asks for, where the scheduler of 1.36 counts what it has, too",
                owner,
            )


def read_spec(value: Manifest, owner: str, remarks: Remarks, resize: ResizeStatus = NO_RESIZE) -> PodSpec:
    """A pod specification; `owner` is the object that remarks name."""
    fields = value.fields(SPEC_FIELDS, "a pod specification with `containers`")
    if "containers" not in fields:
        value.fail("`containers` is missing: a pod has at least one")
    affinity = (
        fields["affinity"].fields(
            ("nodeAffinity", "podAffinity", "podAntiAffinity"), "a mapping with kinds of affinity"
        )
        if "affinity" in fields
        else {}
    )
    grace = fields.get("terminationGracePeriodSeconds")
    gates = fields["schedulingGates"].elements("a list of gates") if "schedulingGates" in fields else []
    if "schedulingGroup" in fields or "workloadRef" in fields:
        remarks.add(
            "the pod belongs to a group, and is scheduled by itself here: the verdict is not about a scheduler with GangScheduling "
            "(a written scenario has `podGroups` for that)", owner,
        )  # fmt: skip
    for kind in _conflicting(fields.get("volumes")):
        remarks.add(
            f"a disk that is named in the pod itself ({kind}) keeps other pods with it from the node, which is not modelled: left out",
            owner,
        )
    if "resources" in fields:
        remarks.add(
            "resources of the pod as a whole count as by default from 1.34 on: a verdict on an older release is not about what that one makes of them",
            owner,
        )
    requests = requests_of(fields, resize.counted)
    if resize.held and requests != requests_of(fields):
        remarks.add("a resize is not over: the pod counts as by 1.33 and later, with what it has", owner)
    if resize.held and resize.pending == DEFERRED:
        remarks.add(
            "the kubelet puts off a resize: to the scheduler the pod counts with what it asks for; that the kubelet allocates it later is not "
            "in the scenario, and a node that it overfills is left out", owner,
        )  # fmt: skip
    return PodSpec(
        requests,
        _text(fields, "nodeName", "the name of a node"),
        read_labels(fields, "nodeSelector"),
        read_node_affinity(affinity.get("nodeAffinity"), owner, remarks),
        (
            *read_terms(affinity.get("podAffinity"), False, owner, remarks),
            *read_terms(affinity.get("podAntiAffinity"), True, owner, remarks),
        ),
        _tolerations(fields.get("tolerations"), owner, remarks),
        read_constraints(fields, owner, remarks),
        fields["priority"].integer(MIN_PRIORITY, MAX_PRIORITY) if "priority" in fields else None,
        fields.get("priorityClassName"),
        POLICY.read(fields["preemptionPolicy"]) if "preemptionPolicy" in fields else None,
        _text(fields, "schedulerName", "the name of a scheduler") or DEFAULT_SCHEDULER,
        GRACE.read(grace) if grace else 30,
        bool(gates),
        _host_ports(fields, owner, remarks),
        read_mounts(fields["volumes"]) if "volumes" in fields else (),
        read_references(fields.get("resourceClaims"), owner, remarks),
        needed_features(fields),
    )


DISKS = ("gcePersistentDisk", "awsElasticBlockStore", "rbd", "iscsi")
"""Volumes of which VolumeRestrictions lets no two pods share one on a node, unless they only read (needsRestrictionsCheck, 1.36)."""


def _conflicting(volumes: Manifest | None) -> list[str]:
    """The kinds of DISKS among the volumes of a pod."""
    listed = volumes.elements("a list of volumes") if volumes is not None else ()
    return list(dict.fromkeys(kind for volume in listed for kind in volume.fields(DISKS, "a volume")))


COMPARISONS = ("Lt", "Gt")


def _tolerations(value: Manifest | None, owner: str, remarks: Remarks) -> tuple[Toleration, ...]:
    """The tolerations but for those that compare numbers, which tolerate nothing while the gate TaintTolerationComparisonOperators is off (ToleratesTaint in api core/v1/toleration.go, 1.36)."""
    found: list[Toleration] = []
    for element in value.elements("a list of tolerations") if value is not None else ():
        operator = element.fields(("operator",), "a toleration").get("operator")
        if operator is not None and operator.scalar("an operator") in COMPARISONS:
            remarks.add(
                "a toleration that compares numbers (Lt, Gt) tolerates nothing here, as by default: "
                "the verdict is not about a scheduler with TaintTolerationComparisonOperators", owner,
            )  # fmt: skip
        else:
            found.append(read_toleration(element))
    return tuple(found)


def _text(fields: Mapping[str, Manifest], name: str, wanted: str) -> str | None:
    return fields[name].text(wanted) or None if name in fields else None


def _host_ports(fields: Mapping[str, Manifest], owner: str, remarks: Remarks) -> tuple[HostPort, ...]:
    """The host ports of the containers, and of the init containers that go on running (GetHostPorts, 1.34)."""
    found: list[HostPort] = []
    on_host = "hostNetwork" in fields and fields["hostNetwork"].boolean()
    for container in fields["containers"].elements("a list of containers"):
        found += _ports_of(container.fields(("ports",), "a container"), on_host)
    for container in (
        fields["initContainers"].elements("a list of containers") if "initContainers" in fields else ()
    ):
        given = container.fields(("ports", "restartPolicy"), "a container")
        policy = given.get("restartPolicy")
        if policy and policy.scalar("a restart policy") == "Always" and (ports := _ports_of(given, on_host)):
            found += ports
            remarks.add("host ports of init containers are heeded, as by 1.34 and later", owner)
    return tuple(dict.fromkeys(found))


def _ports_of(container: Mapping[str, Manifest], on_host: bool) -> list[HostPort]:
    """The ports of the node that a container occupies; in the network of its node all that it names, as the API server fills in where a pod is created (defaultHostNetworkPorts)."""
    ports = container["ports"].elements("a list of ports") if "ports" in container else []
    found = []
    for port in ports:
        given = port.fields(("hostPort", "containerPort", "protocol", "hostIP"), "a port")
        number = next((n for n in ("hostPort", "containerPort") if _is_named(given, n)), "")
        if number == "hostPort" or (number and on_host):
            found.append(host_port(port, given, number))
    return found


def _is_named(given: Mapping[str, Manifest], number: str) -> bool:
    return number in given and given[number].integer(0, MAX_PORT) > 0


WORKLOADS = ("Deployment", "ReplicaSet", "StatefulSet", "Job")
MOST_REPLICAS = (1 << 31) - 1


@dataclass(frozen=True, slots=True)
class Workload:
    """A controller's object: it wants `wanted` pods with these labels and this specification.

    `ordered`: it creates each pod only once those before it are ready (podManagementPolicy OrderedReady). `claims` are the
    templates of volume claims of a StatefulSet, by name, `first` the number of its first pod. `waits_for_end`: a Job replaces a pod when it has ended (podReplacementPolicy Failed).
    """

    meta: Meta
    wanted: int
    selector: Selector | None
    labels: Mapping[str, str]
    ignored: Mapping[str, str]
    spec: PodSpec
    ordered: bool = False
    claims: tuple[tuple[str, VolumeWish], ...] = ()
    waits_for_end: bool = False
    first: int = 0


def read_workload(top: Manifest, meta: Meta, fields: Mapping[str, Manifest], remarks: Remarks) -> Workload:
    """A Deployment, ReplicaSet, StatefulSet or Job."""
    if "spec" not in fields:
        top.fail(f"`spec` is missing: a {meta.kind} has at least `spec.template`")
    known = (
        "replicas",
        "selector",
        "template",
        "parallelism",
        "completions",
        "suspend",
        "podManagementPolicy",
        "podReplacementPolicy",
        "podFailurePolicy",
        "volumeClaimTemplates",
        "ordinals",
        "managedBy",
    )
    spec = fields["spec"].fields(known, "a mapping with `template`")
    if "template" not in spec:
        fields["spec"].fail(f"`template` is missing: say what the pods of this {meta.kind} look like")
    template = spec["template"].fields(("metadata", "spec"), "a pod template")
    if "spec" not in template:
        spec["template"].fail("`spec` is missing: a pod template has at least `spec.containers`")
    about = (
        template["metadata"].fields(("labels", "annotations"), "a mapping") if "metadata" in template else {}
    )
    labels, ignored = read_labels(about), read_ignored(about)
    selector = read_selector(spec["selector"]) if "selector" in spec else None
    if selector is not None and meta.kind != "Job" and not selector.matches(labels):
        spec["selector"].fail(
            f"the selector of this {meta.kind} does not match the labels of its own template: make them agree"
        )
    wanted = _of_job(spec, fields) if meta.kind == "Job" else _number(spec, "replicas", 1)
    made = read_spec(template["spec"], meta.shown, remarks)
    if "runtimeClassName" in template["spec"].fields(("runtimeClassName",), "a pod specification"):
        remarks.add(
            "a RuntimeClass gives overhead, a node selector and tolerations to pods when they are created: those that are still owed go without",
            meta.shown,
        )
    claims = read_claim_templates(spec.get("volumeClaimTemplates")) if meta.kind == "StatefulSet" else ()
    waits = _waits_for_end(meta, spec)
    first = _number(spec["ordinals"].fields(("start",), "a mapping"), "start", 0) if "ordinals" in spec else 0
    ordered = _is_ordered(meta, spec)
    return Workload(meta, wanted, selector, labels, ignored, made, ordered, claims, waits, first)


def _waits_for_end(meta: Meta, spec: Mapping[str, Manifest]) -> bool:
    """Whether a Job replaces its pods when they have ended, and not when they begin to; as one with a podFailurePolicy does unless told otherwise."""
    if meta.kind != "Job":
        return False
    written = spec.get("podReplacementPolicy")
    if written is None:
        return "podFailurePolicy" in spec
    return written.one_of(("TerminatingOrFailed", "Failed"), "a policy of replacing pods") == "Failed"


def _is_ordered(meta: Meta, spec: Mapping[str, Manifest]) -> bool:
    """Whether a StatefulSet creates its pods one after the other, as it does unless told otherwise."""
    if meta.kind != "StatefulSet":
        return False
    policies = ("OrderedReady", "Parallel")
    written = spec.get("podManagementPolicy")
    return written is None or written.one_of(policies, "a policy of managing pods") == "OrderedReady"


def _number(fields: Mapping[str, Manifest], name: str, default: int) -> int:
    return fields[name].integer(0, MOST_REPLICAS) if name in fields else default


ENDS = ("Complete", "Failed", "SuccessCriteriaMet", "FailureTarget")
"""Conditions with which a Job makes no more pods (pkg/controller/job/job_controller.go, 1.36)."""

JOB_CONTROLLER = "kubernetes.io/job-controller"


def _of_job(spec: Mapping[str, Manifest], fields: Mapping[str, Manifest]) -> int:
    """How many pods a Job runs at a time, at most as many as are still to succeed; none where it has ended, is suspended, or is another controller's affair."""
    known = ("succeeded", "completionTime", "conditions")
    status = fields["status"].fields(known, "a mapping") if "status" in fields else {}
    parallel, succeeded = _number(spec, "parallelism", 1), _number(status, "succeeded", 0)
    suspended = spec["suspend"].boolean() if "suspend" in spec else False
    conditions = read_conditions(status.get("conditions"))
    ended = any(conditions.get(end, ("False", ""))[0] == "True" for end in ENDS)
    theirs = "managedBy" in spec and spec["managedBy"].text("a controller") != JOB_CONTROLLER
    if suspended or ended or theirs or "completionTime" in status:
        return 0
    if "completions" not in spec:  # a queue of work: once a pod has succeeded, no other begins
        return 0 if succeeded else parallel
    return max(0, min(parallel, _number(spec, "completions", 1) - succeeded))
