"""Workloads: how many pods a controller wants, and what they look like."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from ..model.environment.objects import Selector
from ..scenarios.reader.labels import read_labels, read_selector
from .documents import Manifest
from .ignored import read_ignored
from .metadata import Meta
from .pods import PodSpec, read_spec
from .remarks import Remarks

WORKLOADS = ("Deployment", "ReplicaSet", "StatefulSet", "Job")
MOST_REPLICAS = (1 << 31) - 1


@dataclass(frozen=True, slots=True)
class Workload:
    """A controller's object: it wants `wanted` pods with these labels and this specification."""

    meta: Meta
    wanted: int
    selector: Selector | None
    labels: Mapping[str, str]
    ignored: Mapping[str, str]
    spec: PodSpec


def read_workload(top: Manifest, meta: Meta, fields: Mapping[str, Manifest], remarks: Remarks) -> Workload:
    """A Deployment, ReplicaSet, StatefulSet or Job."""
    if "spec" not in fields:
        top.fail(f"`spec` is missing: a {meta.kind} has at least `spec.template`")
    known = ("replicas", "selector", "template", "parallelism", "completions", "suspend")
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
    return Workload(meta, wanted, selector, labels, ignored, made)


def _number(fields: Mapping[str, Manifest], name: str, default: int) -> int:
    return fields[name].integer(0, MOST_REPLICAS) if name in fields else default


def _of_job(spec: Mapping[str, Manifest], fields: Mapping[str, Manifest]) -> int:
    """How many pods a Job runs at a time, at most as many as are still to succeed."""
    status = (
        fields["status"].fields(("succeeded", "completionTime"), "a mapping") if "status" in fields else {}
    )
    parallel = _number(spec, "parallelism", 1)
    suspended = spec["suspend"].boolean() if "suspend" in spec else False
    if suspended or "completionTime" in status:
        return 0
    if "completions" not in spec:
        return parallel
    return max(0, min(parallel, _number(spec, "completions", 1) - _number(status, "succeeded", 0)))
