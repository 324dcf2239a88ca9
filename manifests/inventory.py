"""The cluster that the objects describe: nodes, pods where they are, pods that wait, pods that controllers still owe."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

from ..scenarios.reader.errors import ScenarioError
from .configuration import Configuration
from .members import ClusterNode, ClusterPod, Maker
from .metadata import Meta
from .nodes import NodeObject
from .owed import owed_pods
from .pods import WrittenPod
from .policies import BudgetObject, Priorities, PriorityClass
from .remarks import Remarks
from .workloads import Workload


@dataclass(slots=True)
class Written:
    """The objects as they were read, none of which knows another yet."""

    nodes: list[NodeObject] = field(default_factory=list)
    pods: list[WrittenPod] = field(default_factory=list)
    workloads: list[Workload] = field(default_factory=list)
    classes: list[PriorityClass] = field(default_factory=list)
    budgets: list[BudgetObject] = field(default_factory=list)
    namespaces: dict[str, Mapping[str, str]] = field(default_factory=dict)
    configuration: Configuration | None = None
    metas: dict[str, Meta] = field(default_factory=dict)
    uids: dict[str, Meta] = field(default_factory=dict)
    seen: int = 0
    where: str = ""

    def register(self, meta: Meta) -> None:
        """Note that this object is there; refused if its name or its uid was given before."""
        twin = self.metas.setdefault(meta.shown, meta)
        if twin is not meta:
            meta.place.fail(f"{meta.shown} was already given in {_where(twin)}: remove one of them")
        if meta.uid:
            twin = self.uids.setdefault(meta.uid, meta)
            if twin is not meta:
                meta.place.fail(
                    f"{meta.shown} has the uid of {twin.shown} in {_where(twin)}: no two objects share one"
                )


@dataclass(frozen=True)
class Inventory:
    """A cluster, described by the files in `where`. `bound` pods are on one of the nodes; `pending` ones wait for this scheduler."""

    where: str
    nodes: Sequence[ClusterNode]
    bound: Sequence[ClusterPod]
    pending: Sequence[ClusterPod]
    budgets: Sequence[BudgetObject]
    namespaces: Mapping[str, Mapping[str, str]]
    configuration: Configuration
    classes: int
    workloads: int
    remarks: Sequence[str]
    set_aside: Mapping[str, int]

    def on(self, node: str) -> list[ClusterPod]:
        """The pods on a node."""
        return self._by_node.get(node, [])

    @cached_property
    def _by_node(self) -> dict[str, list[ClusterPod]]:
        found: dict[str, list[ClusterPod]] = {}
        for pod in self.bound:
            found.setdefault(pod.node or "", []).append(pod)
        return found


def assemble(written: Written, remarks: Remarks) -> Inventory:
    """The inventory of these objects. Raises ScenarioError if they contradict each other."""
    _refuse_cycles(written.metas)
    if not written.nodes:
        raise ScenarioError(
            f"{written.where}: there is no Node among the objects, so there is nowhere to schedule to: dump the nodes, too, "
            "or write one with status.allocatable"
        )
    configuration = written.configuration or Configuration()
    make = Maker(Priorities(written.classes), written.namespaces, configuration, written.nodes, remarks)
    nodes = {n.name: make.node(n) for n in written.nodes}
    aside: dict[str, int] = {}
    bound: list[ClusterPod] = []
    pending: list[ClusterPod] = []
    for pod in written.pods:
        reason = _set_aside(pod, nodes, configuration)
        if reason is not None:
            aside[reason] = aside.get(reason, 0) + 1
        else:
            (pending if pod.spec.node is None else bound).append(make.pod(pod))
    for made in owed_pods(written.workloads, written.pods, make, set(written.metas)):
        if configuration.of(made.scheduler) is not None:
            pending.append(made)
    return Inventory(
        written.where, list(nodes.values()), bound, pending, written.budgets, written.namespaces, configuration,
        len(written.classes), len(written.workloads), list(remarks.lines()), aside,
    )  # fmt: skip


def _set_aside(pod: WrittenPod, nodes: Mapping[str, object], configuration: Configuration) -> str | None:
    """Why a pod does not count."""
    if pod.finished:
        return "finished"
    if pod.spec.node is not None:
        return None if pod.spec.node in nodes else "on a node that is not among the objects"
    if pod.meta.deleted:
        return "being deleted before they were scheduled"
    if pod.spec.gated:
        return "held by a scheduling gate"
    return None if configuration.of(pod.spec.scheduler) else "left to another scheduler"


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
