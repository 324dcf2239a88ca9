"""Pod specifications: those of pods, and those in the templates of workloads."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime

from ..model.environment.objects import NodeAffinity, Term, Toleration
from ..scenarios.reader.directives import read_node_selector, read_tolerations
from ..scenarios.reader.labels import read_labels
from ..scenarios.reader.pods import MAX_GRACE, MAX_PRIORITY, MIN_PRIORITY, POLICIES, read_time
from ..scenarios.reader.terms import REQUIRED, required_term
from .documents import Manifest
from .metadata import Meta
from .quantities import Amounts
from .remarks import Remarks
from .requests import requests_of
from .spread import Spread, read_constraints

SPEC_FIELDS = (
    "containers", "initContainers", "overhead", "resources", "nodeName", "nodeSelector", "affinity", "tolerations",
    "priority", "priorityClassName", "preemptionPolicy", "schedulerName", "terminationGracePeriodSeconds",
    "schedulingGates", "topologySpreadConstraints", "volumes",
)  # fmt: skip

DEFAULT_SCHEDULER = "default-scheduler"


@dataclass(frozen=True, slots=True)
class PodSpec:
    """What of a pod's specification the scheduler looks at. Priority and policy as written, not yet resolved."""

    requests: Amounts
    node: str | None
    node_selector: Mapping[str, str]
    node_affinity: NodeAffinity | None
    terms: tuple[Term, ...]
    tolerations: tuple[Toleration, ...]
    spread: tuple[Spread, ...]
    priority: int | None
    priority_class: Manifest | None
    policy: str | None
    scheduler: str
    grace: int
    gated: bool


@dataclass(frozen=True, slots=True)
class WrittenPod:
    """A Pod object as it was read."""

    meta: Meta
    spec: PodSpec
    finished: bool
    start: datetime | None
    nominated: bool


def read_pod(top: Manifest, meta: Meta, fields: Mapping[str, Manifest], remarks: Remarks) -> WrittenPod:
    """A Pod."""
    if "spec" not in fields:
        top.fail("`spec` is missing: a Pod has at least `spec.containers`")
    spec = read_spec(fields["spec"], meta.shown, remarks)
    status = (
        fields["status"].fields(("phase", "startTime", "nominatedNodeName"), "a mapping with `phase`")
        if "status" in fields
        else {}
    )
    phases = ("Pending", "Running", "Succeeded", "Failed", "Unknown")
    phase = status["phase"].one_of(phases, "a phase") if "phase" in status else "Pending"
    nominated = "nominatedNodeName" in status and bool(
        status["nominatedNodeName"].scalar("the name of a node")
    )
    start = read_time(status["startTime"]) if "startTime" in status else None
    return WrittenPod(meta, spec, phase in ("Succeeded", "Failed"), start, nominated)


def read_spec(value: Manifest, owner: str, remarks: Remarks) -> PodSpec:
    """A pod specification; `owner` is the object that remarks name."""
    fields = value.fields(SPEC_FIELDS, "a pod specification with `containers`")
    if "containers" not in fields:
        value.fail("`containers` is missing: a pod has at least one")
    _note_left_out(fields, owner, remarks)
    affinity = (
        fields["affinity"].fields(
            ("nodeAffinity", "podAffinity", "podAntiAffinity"), "a mapping with kinds of affinity"
        )
        if "affinity" in fields
        else {}
    )
    grace = fields.get("terminationGracePeriodSeconds")
    gates = fields["schedulingGates"].elements("a list of gates") if "schedulingGates" in fields else []
    return PodSpec(
        requests_of(fields),
        _text(fields, "nodeName", "the name of a node"),
        read_labels(fields, "nodeSelector"),
        _node_affinity(affinity.get("nodeAffinity")),
        (*_terms(affinity.get("podAffinity"), False), *_terms(affinity.get("podAntiAffinity"), True)),
        tuple(read_tolerations(fields.get("tolerations"))),
        read_constraints(fields, owner, remarks),
        fields["priority"].integer(MIN_PRIORITY, MAX_PRIORITY) if "priority" in fields else None,
        fields.get("priorityClassName"),
        fields["preemptionPolicy"].one_of(POLICIES, "a preemption policy")
        if "preemptionPolicy" in fields
        else None,
        _text(fields, "schedulerName", "the name of a scheduler") or DEFAULT_SCHEDULER,
        grace.integer(0, MAX_GRACE) if grace else 30,
        bool(gates),
    )


def _text(fields: Mapping[str, Manifest], name: str, wanted: str) -> str | None:
    return fields[name].text(wanted) or None if name in fields else None


def _node_affinity(value: Manifest | None) -> NodeAffinity | None:
    # Preferences are scores: as the scenario has none, every feasible node may win.
    required = value.fields((REQUIRED,), "a mapping of node affinity") if value is not None else {}
    return read_node_selector(required[REQUIRED]) if REQUIRED in required else None


def _terms(value: Manifest | None, anti: bool) -> list[Term]:
    required = value.fields((REQUIRED,), "a mapping of pod affinity") if value is not None else {}
    if REQUIRED not in required:
        return []
    return [required_term(e, anti) for e in required[REQUIRED].elements("a list of terms with `topologyKey`")]


def _note_left_out(fields: Mapping[str, Manifest], owner: str, remarks: Remarks) -> None:
    if "volumes" in fields:
        for v in fields["volumes"].elements("a list of volumes"):
            if v.fields(("persistentVolumeClaim",), "a volume"):
                remarks.add("volumes are not modelled: claims are taken to fit everywhere", owner)
                break
    for container in fields["containers"].elements("a list of containers"):
        ports = container.fields(("ports",), "a container").get("ports")
        if ports and any(p.fields(("hostPort",), "a port") for p in ports.elements("a list of ports")):
            remarks.add("host ports are not modelled: they are left out", owner)
            break
