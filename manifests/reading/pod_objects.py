"""Pods, workloads and their topology spread constraints.

A pod specification is that of a pod, or stands in the template of a workload. A workload says how many pods a controller wants.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import field, replace
from datetime import datetime

from ...base.structs import Data
from ...model.environment.cluster.placement_rules import SpreadConstraint
from ...model.environment.objects import HostPort, NodeAffinity, Operator, Requirement, Selector, Toleration
from ...scenarios.reader.sections.pod_section import read_time
from ...scenarios.tables.directives import read_toleration
from ...scenarios.tables.host_ports import host_port
from ...scenarios.tables.placement import MAX_PORT, SKEW
from ...scenarios.tables.pods import GRACE, MAX_PRIORITY, MIN_PRIORITY, POLICY
from ...scenarios.tables.selectors import read_selector
from ...scenarios.values.labels import read_labels
from .affinity_terms import WrittenTerm, read_node_affinity, read_terms
from .conditions import read_conditions
from .csi_objects import IN_TREE
from .device_objects import ClaimReference, read_references, read_special, read_statuses
from .group_objects import read_group_of
from .manifest_files import Remarks
from .manifest_values import Fields, Manifest
from .metadata import Meta, read_ignored, read_key
from .resource_amounts import Amounts, read_amounts, requests_of
from .volume_objects import Mount, VolumeWish, read_claim_templates, read_mounts

SINCE = {"matchLabelKeys": "1.27", "nodeAffinityPolicy": "1.26", "nodeTaintsPolicy": "1.26"}
"""Fields that the scheduler did not heed from the start, and from when on it does unless told otherwise: what is counted of pods that are left out goes by them."""

_NEEDED = ("maxSkew", "topologyKey", "whenUnsatisfiable")
_POLICIES = ("Honor", "Ignore")


class Spread(Data):
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


def read_constraints(fields: Fields, owner: str, remarks: Remarks) -> tuple[Spread, ...]:
    """The hard constraints among the fields of a pod specification; soft ones are scores, and need no model."""
    found: list[Spread] = []
    for element in fields.elements("topologySpreadConstraints", "a list of constraints"):
        given = element.mapping("a constraint with `maxSkew` and `topologyKey`")
        for needed in _NEEDED:
            given.need(needed, f"a constraint has {', '.join(_NEEDED)}")
        if is_hard(given["whenUnsatisfiable"]):
            found.append(_constraint(given))
    for name in sorted({name for c in found for name in c.newer}):
        remarks.doubt(
            f"{name} of a topology spread constraint is heeded as by default from {SINCE[name]} on: "
            "a verdict on an older release is not about what that one makes of it",
            owner,
            before=SINCE[name],
        )
    return tuple(found)


def is_hard(when: Manifest) -> bool:
    """What whenUnsatisfiable says."""
    return when.one_of(("DoNotSchedule", "ScheduleAnyway"), "a value of whenUnsatisfiable") == "DoNotSchedule"


def _constraint(given: Fields) -> Spread:
    keys = tuple(read_key(key) for key in given.elements("matchLabelKeys", "a list of label keys"))
    if keys and "labelSelector" not in given:
        given["matchLabelKeys"].fail("without `labelSelector` it says nothing: add one, or remove it")
    return Spread(
        read_key(given["topologyKey"]),
        given.read("labelSelector", read_selector) or Selector(nothing=True),
        SKEW.read(given["maxSkew"]),
        given.read("minDomains", SKEW.read) or 1,
        keys,
        given.one_of("nodeAffinityPolicy", _POLICIES, "a policy") == "Honor",
        given.one_of("nodeTaintsPolicy", _POLICIES, "a policy", "Ignore") == "Honor",
    )


class ResizeStatus(Data, slots=False):
    """What a pod's status says of a resize: with it, a container counts for more than its specification asks for (component-helpers resource.PodRequests, 1.36).

    `held` is what containers have, by name: what was allocated to them, and what they run with. `pending` is why what is asked for is not allocated yet: it is Deferred, or Infeasible and never will be.
    """

    held: Mapping[str, Amounts] = field(default_factory=dict)
    pending: str = ""

    def counted(self, name: str, asked: Amounts) -> Amounts:
        """What a container counts for that asks for this much (determineEffectiveRequests)."""
        held = self.held.get(name)
        if held is None:
            return asked
        wanted = {} if self.pending == INFEASIBLE else asked
        return {r: max(wanted.get(r, 0), held.get(r, 0)) for r in {**wanted, **held}}


INFEASIBLE, DEFERRED = "Infeasible", "Deferred"
NO_RESIZE = ResizeStatus()


def _resize(status: Fields) -> ResizeStatus:
    """The status of the containers that say what they run with; all others count for what they ask for."""
    held: dict[str, Amounts] = {}
    for name in ("containerStatuses", "initContainerStatuses"):
        for given in status.mappings(name, "a list of container statuses", "a container status"):
            if "name" not in given or "resources" not in given:
                continue
            runs = given.below("resources", "a mapping with `requests`")
            actual = read_amounts(runs.get("requests"))
            allocated = read_amounts(given.get("allocatedResources"))
            most = {r: max(actual.get(r, 0), allocated.get(r, 0)) for r in {**actual, **allocated}}
            held[given.scalar("name", "the name of a container")] = most
    return ResizeStatus(held, _resize_pending(status))


def _resize_pending(status: Fields) -> str:
    """The reason of the condition PodResizePending."""
    for given in status.mappings("conditions", "a list of conditions", "a condition"):
        if given.scalar("type", "a type") == "PodResizePending":
            return given.scalar("reason", "a reason")
    return ""


DEFAULT_SCHEDULER = "default-scheduler"


class PodSpec(Data):
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
    group: tuple[str, ...] = ()

    @property
    def label_keys(self) -> dict[str, set[str]]:
        """The pod's own labels by whose values its rules select, by the field that names them."""
        return {
            "matchLabelKeys of a topology spread constraint": {k for c in self.spread for k in c.keys},
            "matchLabelKeys or mismatchLabelKeys of an affinity term": {
                k for t in self.terms for k, _ in t.keys
            },
        }


class WrittenPod(Data):
    """A Pod object as it was read. `unstarted`: its status says Pending. `ready` is what its condition Ready says; where it says nothing, whether it runs. `target` is why it has the condition DisruptionTarget. `made` are the ResourceClaims that were made for its claims, `special` that for its extended resources."""

    meta: Meta
    spec: PodSpec
    finished: bool
    start: datetime | None
    nominated: str
    made: Mapping[str, str | None] = field(default_factory=dict)
    special: str = ""
    unstarted: bool = False
    ready: bool = True
    target: str = ""


PHASES = ("Pending", "Running", "Succeeded", "Failed", "Unknown")


def read_pod(meta: Meta, fields: Fields, remarks: Remarks) -> WrittenPod:
    """A Pod."""
    described = fields.need("spec", "a Pod has at least `spec.containers`")
    status = fields.below("status", "a mapping with `phase`")
    spec = read_spec(described, meta.shown, remarks, _resize(status))
    _remark_whole(described, status, meta.shown, remarks)
    phase = status.one_of("phase", PHASES, "a phase")
    special = read_special(status)
    conditions = read_conditions(status)
    unstarted = "phase" in status and phase == "Pending"
    ready, _ = conditions.get("Ready", ("False" if unstarted else "True", ""))
    said, reason = conditions.get("DisruptionTarget", ("False", ""))
    return WrittenPod(
        meta,
        spec,
        phase in ("Succeeded", "Failed"),
        status.read("startTime", read_time),
        status.scalar("nominatedNodeName", "the name of a node"),
        read_statuses(status),
        f"{meta.namespace}/{special}" if special else "",
        unstarted,
        ready == "True",
        (reason or "without a reason") if said == "True" else "",
    )


def _remark_whole(spec: Manifest, status: Fields, owner: str, remarks: Remarks) -> None:
    """Say so where a pod as a whole has something else than it asks for (InPlacePodLevelResourcesVerticalScaling)."""
    pod = spec.mapping("a pod specification")
    if "resources" not in pod:
        return
    asked = read_amounts(pod.below("resources", "a mapping with `requests`").get("requests"))
    runs = status.below("resources").get("requests")
    for held in (read_amounts(runs), read_amounts(status.get("allocatedResources"))):
        if any(held.get(resource, amount) > amount for resource, amount in asked.items()):
            remarks.doubt(
                "a resize of the pod as a whole is not over: it counts with what it asks for, where the scheduler of 1.36 counts what it has, too",
                owner,
                room=True,
            )


RESTART_ALL = "RestartAllContainersOnContainerExits"
HOST_NETWORK_USERS = "UserNamespacesHostNetworkSupport"


def read_spec(value: Manifest, owner: str, remarks: Remarks, resize: ResizeStatus = NO_RESIZE) -> PodSpec:
    """A pod specification; `owner` is the object that remarks name."""
    fields = value.mapping("a pod specification with `containers`")
    fields.need("containers", "a pod has at least one")
    affinity = fields.below("affinity", "a mapping with kinds of affinity")
    grace = fields.read("terminationGracePeriodSeconds", GRACE.read)
    for kind in _conflicting(fields):
        remarks.doubt(
            f"a disk that is named in the pod itself ({kind}) keeps other pods with it from the node, or counts among those that it takes, which is not modelled: left out",
            owner,
        )
    if "resources" in fields:
        remarks.doubt(
            "resources of the pod as a whole count as by default from 1.34 on: a verdict on an older release is not about what that one makes of them",
            owner,
            before="1.34",
            room=True,
        )
    terms = (
        *read_terms(affinity, "podAffinity", owner, remarks),
        *read_terms(affinity, "podAntiAffinity", owner, remarks),
    )
    gated = bool(fields.elements("schedulingGates", "a list of gates"))
    for first, what, is_there in (
        ("1.18", "the overhead of a pod counts", "overhead" in fields),
        ("1.22", "a namespaceSelector counts", any(t.term.namespace_selector is not None for t in terms)),
        ("1.27", "a scheduling gate keeps a pod back", gated),
        ("1.29", "a sidecar counts like a container", any(_sidecars(fields, "resources"))),
    ):  # fmt: skip
        if is_there:
            remarks.doubt_before(first, what, owner)
    requests = requests_of(fields, resize.counted)
    if resize.held and requests != requests_of(fields):
        remarks.doubt(
            "a resize is not over: the pod counts as by 1.33 and later, with what it has", owner, before="1.33", room=True
        )  # fmt: skip
    if resize.held and resize.pending == DEFERRED:
        remarks.add(
            "the kubelet puts off a resize: to the scheduler the pod counts with what it asks for; that the kubelet allocates it later is not "
            "in the scenario, and a node that it overfills is left out", owner,
        )  # fmt: skip
    return PodSpec(
        requests,
        fields.text("nodeName", "the name of a node") or None,
        read_labels(fields, "nodeSelector"),
        read_node_affinity(affinity, owner, remarks),
        terms,
        _tolerations(fields, owner, remarks),
        read_constraints(fields, owner, remarks),
        fields.read("priority", lambda value: value.integer(MIN_PRIORITY, MAX_PRIORITY)),
        fields.get("priorityClassName"),
        fields.read("preemptionPolicy", POLICY.read),
        fields.text("schedulerName", "the name of a scheduler") or DEFAULT_SCHEDULER,
        30 if grace is None else grace,
        gated,
        _host_ports(fields, owner, remarks),
        read_mounts(fields),
        read_references(fields),
        _needed_features(fields),
        read_group_of(fields),
    )


DISKS = ("rbd", "iscsi", *IN_TREE)
"""Volumes of which VolumeRestrictions lets no two pods share one on a node, unless they only read (needsRestrictionsCheck, 1.36), or that NodeVolumeLimits counts."""


def _conflicting(pod: Fields) -> list[str]:
    """The kinds of DISKS among the volumes of a pod."""
    listed = pod.elements("volumes", "a list of volumes")
    return list(dict.fromkeys(kind for volume in listed for kind in volume.fields(DISKS, "a volume")))


COMPARISONS = ("Lt", "Gt")


def _tolerations(fields: Fields, owner: str, remarks: Remarks) -> tuple[Toleration, ...]:
    """The tolerations but for those that compare numbers, which tolerate nothing while the gate TaintTolerationComparisonOperators is off (ToleratesTaint in api core/v1/toleration.go, 1.36)."""
    found: list[Toleration] = []
    for element in fields.elements("tolerations", "a list of tolerations"):
        if element.mapping("a toleration").scalar("operator", "an operator") in COMPARISONS:
            remarks.doubt(
                "a toleration that compares numbers (Lt, Gt) tolerates nothing here, as by default: "
                "the verdict is not about a scheduler with TaintTolerationComparisonOperators", owner,
            )  # fmt: skip
        else:
            found.append(read_toleration(element))
    return tuple(found)


def _sidecars(fields: Fields, having: str = "name") -> Iterator[Fields]:
    """The init containers that go on running, and say something of this."""
    for given in fields.mappings("initContainers", "a list of containers", "a container: a mapping"):
        if (
            given.scalar("restartPolicy", "a restart policy: Always, OnFailure, Never") == "Always"
            and having in given
        ):
            yield given


def _host_ports(fields: Fields, owner: str, remarks: Remarks) -> tuple[HostPort, ...]:
    """The host ports of the containers, and of the init containers that go on running (GetHostPorts, 1.34)."""
    found: list[HostPort] = []
    on_host = fields.boolean("hostNetwork")
    for container in fields.mappings("containers", "a list of containers", "a container"):
        found += _ports_of(container, on_host)
    for given in _sidecars(fields):
        if ports := _ports_of(given, on_host):
            found += ports
            remarks.doubt(
                "host ports of init containers are heeded, as by 1.34 and later",
                owner,
                before="1.34",
                room=True,
            )
    return tuple(dict.fromkeys(found))


def _ports_of(container: Fields, on_host: bool) -> list[HostPort]:
    """The ports of the node that a container occupies; in the network of its node all that it names, as the API server fills in where a pod is created (defaultHostNetworkPorts)."""
    found = []
    for given in container.mappings("ports", "a list of ports", "a port"):
        number = next((n for n in ("hostPort", "containerPort") if given.integer(n, 0, MAX_PORT, 0) > 0), "")
        if number == "hostPort" or (number and on_host):
            found.append(host_port(given.place, given, number))
    return found


WORKLOADS = ("Deployment", "ReplicaSet", "StatefulSet", "Job")
MOST_REPLICAS = (1 << 31) - 1


class Workload(Data):
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


def read_workload(meta: Meta, fields: Fields, remarks: Remarks) -> Workload:
    """A Deployment, ReplicaSet, StatefulSet or Job."""
    described = fields.need("spec", f"a {meta.kind} has at least `spec.template`")
    spec = described.mapping("a mapping with `template`")
    needed = f"say what the pods of this {meta.kind} look like"
    template = spec.inner("template", needed, "a pod template")
    pod = template.need("spec", "a pod template has at least `spec.containers`")
    about = template.below("metadata")
    labels, ignored = read_labels(about), read_ignored(about)
    selector = spec.read("selector", read_selector)
    if selector is not None and meta.kind != "Job" and not selector.matches(labels):
        spec["selector"].fail(
            f"the selector of this {meta.kind} does not match the labels of its own template: make them agree"
        )
    wanted = _of_job(spec, fields) if meta.kind == "Job" else _number(spec, "replicas", 1)
    made = read_spec(pod, meta.shown, remarks)
    if "runtimeClassName" in pod.mapping("a pod specification"):
        remarks.doubt(
            "a RuntimeClass gives overhead, a node selector and tolerations to pods when they are created: those that are still owed go without",
            meta.shown,
        )
    claims = read_claim_templates(spec) if meta.kind == "StatefulSet" else ()
    waits = _waits_for_end(meta, spec)
    first = _number(spec.below("ordinals"), "start", 0)
    ordered = _is_ordered(meta, spec)
    return Workload(meta, wanted, selector, labels, ignored, made, ordered, claims, waits, first)


def _waits_for_end(meta: Meta, spec: Fields) -> bool:
    """Whether a Job replaces its pods when they have ended, and not when they begin to; as one with a podFailurePolicy does unless told otherwise."""
    default = "Failed" if "podFailurePolicy" in spec else "TerminatingOrFailed"
    policies = ("TerminatingOrFailed", "Failed")
    return (
        meta.kind == "Job"
        and spec.one_of("podReplacementPolicy", policies, "a policy of replacing pods", default) == "Failed"
    )


def _is_ordered(meta: Meta, spec: Fields) -> bool:
    """Whether a StatefulSet creates its pods one after the other, as it does unless told otherwise."""
    policies = ("OrderedReady", "Parallel")
    return (
        meta.kind == "StatefulSet"
        and spec.one_of("podManagementPolicy", policies, "a policy of managing pods") == "OrderedReady"
    )


def _number(fields: Fields, name: str, default: int) -> int:
    return fields.integer(name, 0, MOST_REPLICAS, default)


ENDS = ("Complete", "Failed", "SuccessCriteriaMet", "FailureTarget")
"""Conditions with which a Job makes no more pods (pkg/controller/job/job_controller.go, 1.36)."""

JOB_CONTROLLER = "kubernetes.io/job-controller"


def _of_job(spec: Fields, fields: Fields) -> int:
    """How many pods a Job runs at a time, at most as many as are still to succeed; none where it has ended, is suspended, or is another controller's affair."""
    status = fields.below("status")
    parallel, succeeded = _number(spec, "parallelism", 1), _number(status, "succeeded", 0)
    suspended = spec.boolean("suspend")
    conditions = read_conditions(status)
    ended = any(conditions.get(end, ("False", ""))[0] == "True" for end in ENDS)
    theirs = "managedBy" in spec and spec.text("managedBy", "a controller") != JOB_CONTROLLER
    if suspended or ended or theirs or "completionTime" in status:
        return 0
    if "completions" not in spec:  # a queue of work: once a pod has succeeded, no other begins
        return 0 if succeeded else parallel
    return max(0, min(parallel, _number(spec, "completions", 1) - succeeded))


def _needed_features(fields: Fields) -> frozenset[str]:
    """The features that a pod needs of its node, as the scheduler infers them from the specification (component-helpers nodedeclaredfeatures, InferForScheduling, 1.36).

    Some container restarts all others when it exits; the host's network goes with a user namespace of the pod's own.
    """
    found = set()
    if fields.boolean("hostNetwork") and "hostUsers" in fields and not fields.boolean("hostUsers"):
        found.add(HOST_NETWORK_USERS)
    for name in ("containers", "initContainers"):
        containers = fields.elements(name, "a list of containers")
        found |= {RESTART_ALL for container in containers if _restarts_all(container)}
    return frozenset(found)


def _restarts_all(container: Manifest) -> bool:
    rules = container.mapping("a container").elements("restartPolicyRules", "a list of rules")
    actions = [rule.mapping("a rule with `action`").get("action") for rule in rules]
    return any(a is not None and a.scalar("an action") == "RestartAllContainers" for a in actions)
