"""From files to the cluster that their objects describe: nodes, pods where they are, pods that wait, pods that controllers owe.

Every document is read by its kind, then what objects say of each other is resolved.
"""

from __future__ import annotations

import gc
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import cached_property
from operator import attrgetter

from ..base.problems import Problem
from ..base.structs import Data
from ..base.text import one_line
from ..model.environment.objects import Node
from ..scenarios.reader.sections.pod_section import NAMESPACE_NAME
from .backed_resources import BackedResources
from .members import ClusterNode, ClusterPod, Maker, asked_of_nodes, group_key, keys_of_selector, owed_pods
from .pod_claims import ClusterClaims, PodClaims, WrittenVolumes
from .reading.cluster_objects import (
    HOSTNAME,
    BudgetObject,
    NodeObject,
    Priorities,
    PriorityClass,
    read_budget,
    read_class,
    read_node,
)
from .reading.cluster_version import ClusterVersion, NamedVersions
from .reading.csi_objects import read_attachment, read_csi_driver, read_csi_node
from .reading.device_objects import WrittenDevices, read_claim, read_device_class, read_slice, read_template
from .reading.device_taints import read_taint_rule
from .reading.group_objects import GroupObject, read_composite, read_pod_group, read_workload_groups
from .reading.known_fields import check_fields
from .reading.manifest_files import Doubt, Remarks, documents, folders_passed_over, read_sources
from .reading.manifest_values import Fields, Manifest
from .reading.metadata import ANNOTATION, Meta, read_meta
from .reading.pod_objects import WORKLOADS, PodSpec, Workload, WrittenPod, read_pod, read_workload
from .reading.scheduler_configuration import Configuration, read_configuration
from .reading.volume_objects import read_storage_class, read_volume, read_volume_claim


@dataclass(slots=True)
class Written:
    """The objects as they were read, none of which knows another yet."""

    nodes: list[NodeObject] = field(default_factory=list)
    pods: list[WrittenPod] = field(default_factory=list)
    workloads: list[Workload] = field(default_factory=list)
    classes: list[PriorityClass] = field(default_factory=list)
    budgets: list[BudgetObject] = field(default_factory=list)
    namespaces: dict[str, Mapping[str, str]] = field(default_factory=dict)
    groups: dict[str, GroupObject] = field(default_factory=dict)
    volumes: WrittenVolumes = field(default_factory=WrittenVolumes)
    devices: WrittenDevices = field(default_factory=WrittenDevices)
    configuration: Configuration | None = None
    metas: dict[str, Meta] = field(default_factory=dict)
    uids: dict[str, Meta] = field(default_factory=dict)
    seen: int = 0
    passed_over: dict[str, int] = field(default_factory=dict)
    limited: set[str] = field(default_factory=set)
    where: str = ""
    versions: NamedVersions = field(default_factory=NamedVersions)

    def register(self, meta: Meta) -> bool:
        """Note that this object is there, and say whether it is new: kubectl prints what it was asked for twice twice.

        Refused if its name or its uid was given before to something else, or to another version of it.
        """
        twin = self.metas.setdefault(meta.shown, meta)
        if twin is not meta and meta.uid and meta.version and twin.identity == meta.identity:
            return False
        if twin is not meta:
            meta.place.fail(f"{meta.shown} was already given in {_where(twin)}: remove one of them")
        if meta.uid:
            twin = self.uids.setdefault(meta.uid, meta)
            if twin is not meta:
                meta.place.fail(
                    f"{meta.shown} has the uid of {twin.shown} in {_where(twin)}: no two objects share one"
                )
        return True


class Inventory(Data, slots=False):
    """A cluster, described by the files in `where`. `bound` pods are on one of the nodes; `pending` ones wait for this scheduler. `managed` are the workloads by name, `sources` file and line of every object, by kind and name.

    `groups` are those of pods; of one that has pods which do not count, `apart` says why. `flags` are the feature gates that kube-scheduler is started with, None if its Pod is not among the objects.
    """

    where: str
    nodes: Sequence[ClusterNode]
    bound: Sequence[ClusterPod]
    pending: Sequence[ClusterPod]
    budgets: Sequence[BudgetObject]
    namespaces: Mapping[str, Mapping[str, str]]
    configuration: Configuration
    classes: int
    workloads: int
    claims: ClusterClaims
    remarks: Sequence[str]
    set_aside: Mapping[str, int]
    managed: Mapping[str, Workload] = field(default_factory=dict)
    sources: Mapping[str, tuple[str, int]] = field(default_factory=dict)
    version: ClusterVersion | None = None
    doubts: Sequence[Doubt] = ()
    groups: Mapping[str, GroupObject] = field(default_factory=dict)
    apart: Mapping[str, str] = field(default_factory=dict)
    flags: Mapping[str, bool] | None = None

    def without_claims(self, why: str) -> Inventory:
        """The same, with all claims taken to be had everywhere; a remark says why, if a pod that waits has one, and nothing holds of such pods."""
        names = [p.name for p in self.pending if p.claims.volumes or p.claims.devices]
        said = Remarks()
        for name in names:
            said.add(why, name)
        none = ClusterClaims(WrittenVolumes(), WrittenDevices(), {}, Remarks())
        bound, pending = (
            [replace(p, claims=PodClaims(doubt=f"{p.name}: {why}" if of(p.claims) else "")) for p in some]
            for some, of in (
                (self.bound, attrgetter("devices")),
                (self.pending, lambda c: c.volumes or c.devices),
            )
        )
        return replace(
            self, bound=bound, pending=pending, claims=none, remarks=[*self.remarks, *said.lines()]
        )

    def on(self, node: str) -> list[ClusterPod]:
        """The pods on a node."""
        return self._by_node.get(node, [])

    def group(self, key: str) -> GroupObject | None:
        """A group; every replica of a pod group of a Workload is one of its own."""
        found = self.groups.get("/".join(key.split("/")[:4]))
        return found and replace(found, key=key)

    def members(self, group: str) -> list[ClusterPod]:
        """The pods of a group, on nodes or waiting; none of no group."""
        return self._by_group.get(group, []) if group else []

    def together(self, group: str) -> list[ClusterPod]:
        """The pods that are scheduled together with those of a group: its own, and those of the other groups of its parent."""
        found = self.group(group)
        if found is None or not found.parent:
            return self.members(group)
        return [
            pod for key, g in self.groups.items() if g.parent == found.parent for pod in self.members(key)
        ]

    @cached_property
    def _by_group(self) -> dict[str, list[ClusterPod]]:
        found: dict[str, list[ClusterPod]] = {}
        for pod in (*self.bound, *self.pending):
            found.setdefault(pod.group, []).append(pod)
        return found

    @cached_property
    def _by_node(self) -> dict[str, list[ClusterPod]]:
        found: dict[str, list[ClusterPod]] = {}
        for pod in self.bound:
            found.setdefault(pod.node or "", []).append(pod)
        return found


def assemble(written: Written, remarks: Remarks, devices_back: bool = True) -> Inventory:
    """The inventory of these objects, where `devices_back` extended resources. Raises Problem if they contradict each other."""
    _refuse_cycles(written.metas)
    if not written.nodes:
        raise Problem(
            f"{written.where}: there is no Node among the objects, so there is nowhere to schedule to: dump the nodes, too, "
            "or write one with status.allocatable"
        )
    configuration = written.configuration or Configuration()
    at = {n.name: Node(0, n.name, 0, labels=n.labels) for n in written.nodes}
    uids = {pod.meta.name: pod.meta.uid for pod in written.pods}
    claims = ClusterClaims(written.volumes, written.devices, at, remarks, uids)
    asked = [pod.spec.requests for pod in written.pods] + [w.spec.requests for w in written.workloads]
    make = Maker(
        Priorities(written.classes), written.namespaces, configuration, written.nodes, claims,
        BackedResources(written.devices, [n.allocatable for n in written.nodes], asked, devices_back, remarks), remarks, written.groups,
    )  # fmt: skip
    nodes = {n.name: make.node(n) for n in written.nodes}
    aside: dict[str, int] = {}
    apart: dict[str, str] = {}
    bound: list[ClusterPod] = []
    pending: list[ClusterPod] = []
    for pod in written.pods:
        reason = _set_aside(pod, nodes, configuration)
        if reason is not None:
            aside[reason] = aside.get(reason, 0) + 1
            if not pod.finished:
                apart[group_key(pod.spec.group, pod.meta.namespace)] = reason
        else:
            (pending if pod.spec.node is None else bound).append(make.pod(pod))
    specs = {w.meta.shown: w.spec for w in written.workloads}
    for made in owed_pods(written.workloads, written.pods, make, set(written.metas)):
        if (reason := _kept_back(specs[made.owner], configuration)) is not None:
            aside[reason] = aside.get(reason, 0) + 1
            apart[made.group] = reason
        else:
            pending.append(made)
            if made.namespace in written.limited:
                remarks.doubt(LIMITED, made.owner)
    _remark_namespaces([*bound, *pending], written.namespaces, remarks)
    _remark_hostnames([*bound, *pending], written.nodes, remarks)
    claims.note_users((p.name, p.claims) for p in bound)
    for waiting in pending:
        claims.remarks(waiting.name, waiting.claims)
    return Inventory(
        written.where, list(nodes.values()), bound, pending, written.budgets, written.namespaces, configuration,
        len(written.classes), len(written.workloads), claims, list(remarks.lines()), aside,
        {w.meta.shown: w for w in written.workloads}, {name: meta.source for name, meta in written.metas.items()},
        written.versions.surest(), [*remarks.doubts], written.groups, apart, written.versions.flags,
    )  # fmt: skip


def _remark_namespaces(
    pods: Sequence[ClusterPod], known: Mapping[str, Mapping[str, str]], remarks: Remarks
) -> None:
    """Say which pods select by labels of namespaces that nobody knows; that a namespace is labelled with its name is known."""
    unknown = {pod.namespace for pod in pods} - known.keys()
    for pod in pods if unknown else ():
        spaces = (t.namespace_selector for t in pod.terms if t.namespace_selector is not None)
        asked = {key for selector in spaces for key in keys_of_selector(selector)}
        if asked - {NAMESPACE_NAME}:
            remarks.doubt(
                f"a namespaceSelector asks for labels of namespaces, and of some, such as {min(unknown)}, the object is not there: "
                "they count as without labels; dump namespaces, too", f"Pod/{pod.name}", room=any(t.anti for t in pod.terms),
            )  # fmt: skip


def _remark_hostnames(pods: Sequence[ClusterPod], nodes: Sequence[NodeObject], remarks: Remarks) -> None:
    """Say which nodes that an API server has stored have no label with their name, if some pod has a rule by that label."""
    bare = [n.meta.shown for n in nodes if n.meta.uid and HOSTNAME not in n.meta.labels]
    if not bare or HOSTNAME not in asked_of_nodes(pods):
        return
    for name in bare:
        remarks.doubt(
            f"the node has no label {HOSTNAME}: it counts as if it had one with its name, and the verdict is not about what rules by that label "
            "make of it", name,
        )  # fmt: skip


def _set_aside(pod: WrittenPod, nodes: Mapping[str, object], configuration: Configuration) -> str | None:
    """Why a pod does not count."""
    if pod.finished:
        return "finished"
    if pod.spec.node is not None:
        return None if pod.spec.node in nodes else "on a node that is not among the objects"
    if pod.meta.deleted:
        return "being deleted before they were scheduled"
    return _kept_back(pod.spec, configuration)


def _kept_back(spec: PodSpec, configuration: Configuration) -> str | None:
    """Why the scheduler does not look at a pod that waits, or would wait if its workload made it."""
    if spec.gated:
        return "held by a scheduling gate"
    return None if configuration.of(spec.scheduler) else "left to another scheduler"


def _refuse_cycles(metas: Mapping[str, Meta]) -> None:
    done: set[str] = set()
    for start in metas:
        way: dict[str, Iterator[str]] = {start: iter(_owners(metas[start]))}
        while way:
            name, owners = next(reversed(way.items()))
            above = next((o for o in owners if o in metas and o not in done), None)
            if above is None:
                done.add(name)
                del way[name]
            elif above in way:
                names = list(way)
                round_ = names[names.index(above) :]
                shown = round_ if len(round_) <= 4 else [*round_[:3], f"({len(round_) - 3} more)"]
                cycle = " -> ".join([*shown, above])
                metas[above].place.fail(
                    f"the owners go round in a circle ({cycle}): remove an owner reference"
                )
            else:
                way[above] = iter(_owners(metas[above]))


def _owners(meta: Meta) -> list[str]:
    before = f"{meta.namespace}/" if meta.namespace else ""
    return [f"{o.kind}/{before}{o.name}" for o in meta.owners]


def _where(meta: Meta) -> str:
    return f"{meta.place.file}:{meta.place.line}"


GROUPS = {
    "Pod": "", "Node": "", "Namespace": "", "PriorityClass": "scheduling.k8s.io", "PodGroup": "scheduling.k8s.io", "CompositePodGroup": "scheduling.k8s.io", "Workload": "scheduling.k8s.io", "PodDisruptionBudget": "policy",
    "KubeSchedulerConfiguration": "kubescheduler.config.k8s.io", "Job": "batch",
    "Deployment": "apps", "ReplicaSet": "apps", "StatefulSet": "apps",
    "PersistentVolumeClaim": "", "PersistentVolume": "", "StorageClass": "storage.k8s.io",
    "ResourceClaim": "resource.k8s.io", "ResourceClaimTemplate": "resource.k8s.io", "DeviceClass": "resource.k8s.io",
    "ResourceSlice": "resource.k8s.io", "DeviceTaintRule": "resource.k8s.io",
    "CSINode": "storage.k8s.io", "CSIDriver": "storage.k8s.io", "VolumeAttachment": "storage.k8s.io",
}  # fmt: skip
"""The kinds that are read, and the API group of each."""

DAEMONS_OWED = (
    "pods that a DaemonSet still owes are left out, though they would wait for their nodes and could preempt there; "
    "those among the objects count"
)

NOT_MODELLED = {
    "CSIStorageCapacity": "say where there is capacity for volumes, which is not modelled",
    "ReplicationController": "say which pods are still owed, and nobody waits for these here",
    "ResourceQuota": "may keep pods from being created, which does not apply here to those that are still owed",
    "v1 Policy": "said up to 1.22 which predicates run and which extenders are asked, which only a KubeSchedulerConfiguration says here",
    "componentconfig/v1alpha1 KubeSchedulerConfiguration": "said in old releases what only one of kubescheduler.config.k8s.io says here",
    "LimitRange": "give requests to pods when they are created, which those that are still owed go without",
    "PodGroup": "of another API group gather pods for a scheduler other than kube-scheduler",
    "Workload": "of another API group gather pods for a scheduler other than kube-scheduler",
    "RuntimeClass": "give overhead to pods when they are created, which those that are still owed go without",
}
"""Kinds by which the scheduler decides otherwise, or pods are not created, and the model does not heed that; with a version before it, of this one only."""

LIMITED = "a LimitRange of the namespace gives requests to pods when they are created: those that are still owed go without"

NOTHING_SAID = "say nothing to the scheduler's model"

VERSIONS = {
    "": ("v1",), "apps": ("v1", "v1beta2", "v1beta1"), "extensions": ("v1beta1",), "batch": ("v1",), "policy": ("v1", "v1beta1"),
    "scheduling.k8s.io": ("v1", "v1beta1", "v1alpha3", "v1alpha2", "v1alpha1"), "storage.k8s.io": ("v1", "v1beta1"),
    "kubescheduler.config.k8s.io": ("v1", "v1beta3", "v1beta2", "v1beta1", "v1alpha2", "v1alpha1"),
}  # fmt: skip
"""The versions that Kubernetes has had of the groups whose kinds are read, the newest first; those of the others their readers know."""

MOST_OBJECTS = 200_000


def read_manifests(
    names: Sequence[str],
    recursive: bool = False,
    strict: bool = False,
    devices_back: Callable[[ClusterVersion | None], bool] = lambda _: True,
) -> Inventory:
    """The objects in these files, directories (`recursive`: and those below), or `-`. `devices_back` of the version that they name: extended resources may be devices, as from 1.36 on.

    Kinds that podrace does not know are left out with a remark, or refused if `strict`. Raises Problem, whose message
    is one line with file, line and path, for everything that is malformed.
    """
    where = ", ".join("<stdin>" if name == "-" else name for name in names)
    written, remarks = Written(where=one_line(where, 200)), Remarks()
    with _uncollected():
        for folder in () if recursive else folders_passed_over(names):
            remarks.add(FOLDER_PASSED_OVER, folder)
        for source in read_sources(names, recursive):
            try:
                for top in documents(source.text, source.file):
                    if written.versions.read_server(top):
                        continue
                    if source.found and not strict and is_foreign(top):
                        remarks.add(FOREIGN, source.file)
                        continue
                    for kind, item in _objects(top):
                        _read(kind, item, written, remarks, strict)
            except Problem as problem:
                raise Problem(f"{problem}{_of_a_template(source.text)}") from None
    if not written.seen:
        raise Problem(
            f"{written.where}: {_what_is_there(written.passed_over)}: "
            "give what kubectl get nodes,pods,pdb,priorityclass,pvc,pv,storageclass,csinode,csidriver,volumeattachment -A -o yaml prints"
        )
    return assemble(written, remarks, devices_back(written.versions.surest()))


def _what_is_there(passed_over: Mapping[str, int]) -> str:
    """What files have in them of which nothing is read; by kind, how many objects were passed over."""
    if not passed_over:
        return "no Kubernetes object in it"
    kinds = sorted(passed_over, key=lambda kind: (-passed_over[kind], kind))
    more = f" and {len(kinds) - 3} more" if len(kinds) > 3 else ""
    listed = ", ".join(f"{passed_over[kind]} of kind {one_line(kind)}" for kind in kinds[:3])
    return f"no object in it is of a kind that is read: {listed}{more}"


def is_foreign(top: Manifest) -> bool:
    """Whether a document is no Kubernetes object at all, such as the settings of another program; a list without its kind may be one that is cut off."""
    return not top.is_mapping or not top.fields(("apiVersion", "kind", "items", "metadata"), "a mapping")


FOREIGN = "files of a directory that have no Kubernetes object are passed over"
FOLDER_PASSED_OVER = "directories below those of -f were not looked into, -R does so"


def _of_a_template(text: str) -> str:
    """A remedy for what cannot be read because it is not written out yet."""
    return "; it has {{ as a template does: give what `helm template` prints" if "{{" in text else ""


@contextmanager
def _uncollected() -> Iterator[None]:
    """Without the garbage collector, which goes through the growing tree of a document again and again and takes two thirds
    of the time: trees have no cycles, so nothing is there to be found.
    """
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()


def _objects(top: Manifest, inherited: Manifest | None = None) -> Iterator[tuple[Manifest | None, Manifest]]:
    """The objects of a document with, where a typed list says it for them, their kind; lists may be in lists."""
    fields = top.mapping("a Kubernetes object: a mapping with `apiVersion` and `kind`")
    kind = fields.text("kind", "a kind such as Pod")
    # A kind of somebody's own may be called so without being a list.
    if kind != "List" and not (kind.endswith("List") and "items" in fields):
        yield inherited, top
        return
    inherited = fields["kind"] if kind != "List" else None
    for item in fields.elements("items", "a list of objects"):
        yield from _objects(item, inherited)


def _read(
    inherited: Manifest | None, top: Manifest, written: Written, remarks: Remarks, strict: bool
) -> None:
    fields = top.mapping("a Kubernetes object: a mapping with `apiVersion` and `kind`")
    kind = fields.text("kind", "a kind such as Pod")
    if not kind and inherited is not None:
        kind = inherited.text("").removesuffix("List")
    if not kind and "items" in fields:
        top.fail(
            "`kind` is missing, and there are `items`: the text may be cut off, as kubectl writes `kind` after them; dump or copy it again, "
            "or add `kind: List`"
        )
    if not kind:
        top.fail(
            "`kind` is missing: a Kubernetes object has `apiVersion`, `kind` and `metadata`; a scenario is named without -f"
        )
    if "apiVersion" not in fields and inherited is None:
        top.fail(f"`apiVersion` is missing: this {one_line(kind)} belongs to some API group and version")
    version = fields["apiVersion"].text("an API version such as apps/v1") if "apiVersion" in fields else None
    group = GROUPS.get(kind, "") if version is None else version.rpartition("/")[0]
    if kind not in GROUPS or (group != GROUPS[kind] and not (kind in WORKLOADS and group == "extensions")):
        if strict:
            place = fields.get("kind", top)
            place.fail(
                f"podrace knows no kind {place.described} of {one_line(version or 'v1')}; known: {', '.join(GROUPS)}"
            )
        written.passed_over[kind] = written.passed_over.get(kind, 0) + 1
        if kind == "DaemonSet" and group in ("apps", "extensions"):
            remarks.add(DAEMONS_OWED, read_meta(top, kind, fields.get("metadata")).shown)
        else:
            if kind == "LimitRange" and not group:
                written.limited.add(read_meta(top, kind, fields.get("metadata")).namespace)
            said = NOT_MODELLED.get(f"{version} {kind}", NOT_MODELLED.get(kind, NOTHING_SAID))
            note = remarks.doubt if f"{version} {kind}" in NOT_MODELLED else remarks.add
            note(f"objects of kind {one_line(kind)} {said}: left out", top.file)
            _remark_configuration(top, remarks)
        return
    written.seen += 1
    if written.seen > MOST_OBJECTS:
        top.fail(f"more than {MOST_OBJECTS} objects: dump fewer namespaces")
    if kind == "KubeSchedulerConfiguration":
        if written.configuration is not None:
            top.fail("a second KubeSchedulerConfiguration: leave only the one that the scheduler runs with")
        _refuse_version(fields.get("apiVersion"), kind, kind, remarks, strict)
        written.configuration = read_configuration(top, remarks, strict)
        return
    meta = read_meta(top, kind, fields.get("metadata"))
    if not written.register(meta):
        remarks.add("objects that are there twice, with the same resourceVersion, count once", meta.shown)
        return
    if meta.ignored and kind != "Pod":
        remarks.add(f"{ANNOTATION} counts on Pods and in the pod templates of workloads only", meta.shown)
    _refuse_version(fields.get("apiVersion"), kind, meta.shown, remarks, strict)
    check_fields(top, kind, meta.shown, remarks, strict)
    _read_kind(meta, fields, written, remarks)


def _refuse_version(value: Manifest | None, kind: str, shown: str, remarks: Remarks, strict: bool) -> None:
    """Refuse a version that no API server has; of a group that may get another one, note it, unless `strict`."""
    group, _, version = (value.scalar("a version") if value is not None else "").rpartition("/")
    known = VERSIONS.get(group)
    if value is None or known is None or version in known:
        return
    if strict or not group:
        value.fail(
            f"there is no such version of {kind}: {value.described}; "
            f"known: {', '.join(f'{group}/{v}' if group else v for v in known)}"
        )
    remarks.doubt(
        f"{group}/{one_line(version)} is a version that podrace does not know: read as {known[0]}", shown
    )


def _remark_configuration(top: Manifest, remarks: Remarks) -> None:
    """Say so where the scheduler's configuration lies in another object, such as the ConfigMap that its pod mounts."""
    data = top.fields(("data",), "an object").get("data")
    for key, value in data.items("a mapping") if data is not None and data.is_mapping else ():
        if isinstance(value.node.value, str) and _CONFIGURATION.search(value.node.value):
            remarks.doubt(
                "a KubeSchedulerConfiguration that lies in another object is not read: to have it heeded, write it into a file of its own",
                f"{one_line(key.node.value)} at {top.file}:{value.line}",
            )


_CONFIGURATION = re.compile(r"(?:^|[\s{,\"'])kind[\"']?\s*:\s*[\"']?KubeSchedulerConfiguration\b")


def _read_kind(meta: Meta, fields: Fields, written: Written, remarks: Remarks) -> None:
    match meta.kind:
        case "Pod":
            written.versions.read_pod(meta, fields, remarks)
            written.pods.append(read_pod(meta, fields, remarks))
        case "Node":
            written.versions.read_node(meta, fields)
            written.nodes.append(read_node(meta, fields, remarks))
        case "Namespace":
            written.namespaces[meta.name] = meta.labels
        case "PriorityClass":
            written.classes.append(read_class(meta, fields))
        case "PodGroup":
            written.groups[meta.shown] = read_pod_group(meta, fields)
        case "CompositePodGroup":
            written.groups[meta.shown] = read_composite(meta, fields)
        case "Workload":
            written.groups |= {group.key: group for group in read_workload_groups(meta, fields)}
        case "PodDisruptionBudget":
            budget = read_budget(meta, fields, remarks)
            if budget is not None:
                written.budgets.append(budget)
        case "StorageClass":
            written.volumes.classes[meta.name] = read_storage_class(meta, fields)
        case "PersistentVolume":
            written.volumes.volumes[meta.name] = read_volume(meta, fields)
        case "PersistentVolumeClaim":
            written.volumes.claims[meta.name] = read_volume_claim(meta, fields)
        case "CSINode":
            written.volumes.limits[meta.name] = read_csi_node(fields)
        case "CSIDriver":
            written.volumes.drivers[meta.name] = read_csi_driver(fields)
        case "VolumeAttachment":
            written.volumes.attached.append(read_attachment(fields))
        case "DeviceClass":
            written.devices.classes[meta.name] = read_device_class(meta, fields)
        case "ResourceSlice":
            written.devices.slices.append(read_slice(meta, fields))
        case "DeviceTaintRule":
            if (rule := read_taint_rule(fields)) is not None:
                written.devices.rules.append(rule)
        case "ResourceClaim":
            written.devices.claims[meta.name] = read_claim(meta, fields)
        case "ResourceClaimTemplate":
            written.devices.templates[meta.name] = read_template(fields)
        case _:
            written.workloads.append(read_workload(meta, fields, remarks))
