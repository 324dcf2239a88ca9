"""From files to an inventory: every document by its kind, then what objects say of each other."""

from __future__ import annotations

import gc
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from ..scenarios.reader.errors import ScenarioError, one_line
from .configuration import read_configuration
from .documents import Manifest, documents
from .files import read_sources
from .ignored import ANNOTATION
from .inventory import Inventory, Written, assemble
from .metadata import Meta, read_meta
from .nodes import read_node
from .pods import read_pod
from .policies import read_budget, read_class
from .remarks import Remarks
from .workloads import WORKLOADS, read_workload

GROUPS = {
    "Pod": "", "Node": "", "Namespace": "", "PriorityClass": "scheduling.k8s.io", "PodDisruptionBudget": "policy",
    "KubeSchedulerConfiguration": "kubescheduler.config.k8s.io", "Job": "batch",
    "Deployment": "apps", "ReplicaSet": "apps", "StatefulSet": "apps",
}  # fmt: skip
"""The kinds that are read, and the API group of each."""

MOST_OBJECTS = 200_000
_FIELDS = ("apiVersion", "kind", "metadata", "spec", "status", "items")


def read_manifests(names: Sequence[str], recursive: bool = False, strict: bool = False) -> Inventory:
    """The objects in these files, directories (`recursive`: and those below), or `-`.

    Kinds that podrace does not know are left out with a remark, or refused if `strict`. Raises ScenarioError, whose message
    is one line with file, line and path, for everything that is malformed.
    """
    where = ", ".join("<stdin>" if name == "-" else name for name in names)
    written, remarks = Written(where=one_line(where, 200)), Remarks()
    with _uncollected():
        for source in read_sources(names, recursive):
            for top in documents(source.text, source.file):
                for kind, item in _objects(top):
                    _read(kind, item, written, remarks, strict)
    if not written.seen:
        raise ScenarioError(
            f"{written.where}: no Kubernetes object in it: "
            "give what kubectl get nodes,pods,pdb,priorityclass -A -o yaml prints"
        )
    return assemble(written, remarks)


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


def _objects(top: Manifest) -> Iterator[tuple[Manifest | None, Manifest]]:
    """The objects of a document with, where a typed list says it for them, their kind."""
    fields = top.fields(("kind", "items"), "a Kubernetes object: a mapping with `apiVersion` and `kind`")
    kind = fields["kind"].text("a kind such as Pod") if "kind" in fields else ""
    if not kind.endswith("List"):
        yield None, top
        return
    inherited = fields["kind"] if kind != "List" else None
    for item in fields["items"].elements("a list of objects") if "items" in fields else ():
        yield inherited, item


def _read(
    inherited: Manifest | None, top: Manifest, written: Written, remarks: Remarks, strict: bool
) -> None:
    fields = top.fields(_FIELDS, "a Kubernetes object: a mapping with `apiVersion` and `kind`")
    kind = fields["kind"].text("a kind such as Pod") if "kind" in fields else ""
    if not kind and inherited is not None:
        kind = inherited.text("").removesuffix("List")
    if not kind:
        top.fail(
            "`kind` is missing: a Kubernetes object has `apiVersion`, `kind` and `metadata`; a scenario is named without -f"
        )
    if "apiVersion" not in fields and inherited is None:
        top.fail(f"`apiVersion` is missing: this {kind[:60]} belongs to some API group and version")
    version = fields["apiVersion"].text("an API version such as apps/v1") if "apiVersion" in fields else None
    group = GROUPS.get(kind, "") if version is None else version.rpartition("/")[0]
    if kind not in GROUPS or (group != GROUPS[kind] and not (kind in WORKLOADS and group == "extensions")):
        if strict:
            place = fields.get("kind", top)
            place.fail(
                f"podrace knows no kind {place.described} of {version or 'v1'}; known: {', '.join(GROUPS)}"
            )
        remarks.add(f"objects of kind {kind[:60]} say nothing to the scheduler's model: left out", top.file)
        return
    written.seen += 1
    if written.seen > MOST_OBJECTS:
        top.fail(f"more than {MOST_OBJECTS} objects: dump fewer namespaces")
    if kind == "KubeSchedulerConfiguration":
        if written.configuration is not None:
            top.fail("a second KubeSchedulerConfiguration: leave only the one that the scheduler runs with")
        written.configuration = read_configuration(top, remarks)
        return
    meta = read_meta(top, kind, fields.get("metadata"))
    written.register(meta)
    if meta.ignored and kind != "Pod":
        remarks.add(f"{ANNOTATION} counts on Pods and in the pod templates of workloads only", meta.shown)
    _read_kind(meta, top, fields, written, remarks)


def _read_kind(
    meta: Meta, top: Manifest, fields: dict[str, Manifest], written: Written, remarks: Remarks
) -> None:
    match meta.kind:
        case "Pod":
            written.pods.append(read_pod(top, meta, fields, remarks))
        case "Node":
            written.nodes.append(read_node(top, meta, fields))
        case "Namespace":
            written.namespaces[meta.name] = meta.labels
        case "PriorityClass":
            written.classes.append(read_class(top, meta))
        case "PodDisruptionBudget":
            budget = read_budget(top, meta, fields, remarks)
            if budget is not None:
                written.budgets.append(budget)
        case _:
            written.workloads.append(read_workload(top, meta, fields, remarks))
