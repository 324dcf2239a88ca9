"""The scope of a run: how often each fault may happen, how far views may lag, and how the scheduler is configured."""

from __future__ import annotations

from dataclasses import field, fields

from ....base.structs import dataclass

RESOURCE_SCORES = ("NodeResourcesFit", "NodeResourcesBalancedAllocation")
"""Those of the score plugins that score by requests, where a scenario has a strategy for that."""

SCORED_RESOURCES = ("cpu", "memory")
"""The resources that both look at by default; each counts once."""

LEAST_ALLOCATED, MOST_ALLOCATED = RESOURCE_STRATEGIES = ("LeastAllocated", "MostAllocated")

SCORE_PLUGINS = (
    "TaintToleration", "NodeAffinity", "PodTopologySpread", "InterPodAffinity", *RESOURCE_SCORES,
)  # fmt: skip
"""The score plugins that are modelled."""


@dataclass(frozen=True, slots=True)
class Config:
    """What the scheduler's configuration says of scoring, sampling and preemption.

    `scored`: of the feasible nodes only those with the best score may win. Without it each may: the scenario then
    stands for whatever scores a real scheduler computes. `score_weights` are those of score plugins that the profile sets, by name; 0 is for one
    that it disables. Others have the weights that they have by default. `scoring_strategy`, of NodeResourcesFit, is LeastAllocated or MostAllocated where resources
    are scored, too; else the nodes are such that they tell none apart.
    """

    scored: bool = False
    scoring_strategy: str = ""
    score_weights: tuple[tuple[str, int], ...] = ()
    hard_affinity_weight: int = 1
    ignore_preferred_of_existing: bool = False
    percentage_of_nodes: int = 0
    min_candidates_percentage: int = 10
    min_candidates: int = 100


DEFAULTS = Config()


@dataclass(frozen=True, slots=True)
class Scope:
    """How often each fault may happen, and how far views may lag behind the API server.

    Each count of faults is a total over a run (see `Fault`). `pod_events` and `node_events` bound the backlog of undelivered
    events of one watch: a full backlog stops API writes, and a verdict names it; `claim_events` that of claims, where there are any. `pod_gc`: the pod garbage collector runs. `disruption_controller`: budgets are kept (see `Budgets`); without it they stay as they are; `disruption_controller_lags`: by a view of its own, in writes that may conflict; `readiness`: of pods that are bound, only those count that are ready; `pod_phases`: and they are Pending until their containers have been started. `scale_down_looks_again`:
    the autoscaler looks at a node once more in the moment in which it takes it away; `scale_down_taints`, `scale_down_waits`: it taints it first, and waits until it looks. `scale_down_drains`: it evicts the pods of a node that is not empty (see `Drain`), `scale_down_until_empty`: until nobody is left. `scale_down_keeps_room`: it leaves a node alone on which a pod that waits fits.
    `autoscaler`: one makes nodes and takes them away as often as it likes; `autoscaler_nominates`: it says for whom. `kubelet_admission`: kubelets decide which pods they run (see `Kubelet`).
    `taint_eviction`: the taint eviction controller runs (see `TaintEviction`). `node_lifecycle`: so does the node lifecycle controller (see `NodeLifecycle`).
    `bound_finalizers`: finalizers keep the objects of pods that are bound, too; whoever set them may never take them away.
    `flush`: the periodic flush of long-parked pods may happen. `fair_flush`: liveness may count on that flush. `backoff` off:
    every backoff is over at once (podInitialBackoffSeconds 0). `file_order`: pods that wait at the start, and those that a new process finds, came in the order of the scenario; else, in any.
    `aims` says which objects a kind of fault strikes, where it may not be any: the count, the section of the scenario that has them, and their names.
    """

    pod_events: int = 4
    node_events: int = 2
    claim_events: int = 3
    node_deletions: int = 0
    node_creations: int = 0
    node_updates: int = 0
    pod_updates: int = 0
    pod_deletions: int = 0
    pod_creations: int = 0
    bind_failures: int = 0
    lost_replies: int = 0
    late_bindings: int = 0
    write_failures: int = 0
    status_failures: int = 0
    assume_expiries: int = 0
    plugin_errors: int = 0
    permit_rejections: int = 0
    restarts: int = 0
    leader_changes: int = 0
    external_binds: int = 0
    evictions: int = 0
    scale_downs: int = 0
    relists: int = 0
    watch_stalls: int = 0
    volume_creations: int = 0
    volume_deletions: int = 0
    provision_failures: int = 0
    bind_timeouts: int = 0
    claim_creations: int = 0
    claim_deletions: int = 0
    missed_claim_updates: int = 0
    controller_restarts: int = 0
    device_failures: int = 0
    extender_failures: int = 0
    late_answers: int = 0
    readiness_losses: int = 0
    start_failures: int = 0
    heartbeat_losses: int = 0
    node_failures: int = 0
    disruption_controller: bool = False
    disruption_controller_lags: bool = False
    readiness: bool = False
    pod_phases: bool = False
    kubelet_admission: bool = False
    scale_down_looks_again: bool = False
    scale_down_taints: bool = False
    scale_down_waits: bool = False
    scale_down_drains: bool = False
    scale_down_until_empty: bool = False
    scale_down_keeps_room: bool = False
    autoscaler: bool = False
    autoscaler_nominates: bool = False
    taint_eviction: bool = False
    node_lifecycle: bool = False
    bound_finalizers: bool = False
    pod_gc: bool = True
    flush: bool = True
    backoff: bool = True
    fair_flush: bool = False
    file_order: bool = False
    aims: tuple[tuple[str, str, tuple[str, ...]], ...] = ()
    config: Config = field(default_factory=lambda: DEFAULTS)

    def aimed(self, name: str) -> dict[str, tuple[str, ...]]:
        """The objects that this kind of fault strikes, by the section of the scenario that has them; empty if it may be any."""
        return {section: names for kind, section, names in self.aims if kind == name}


def last_version(scope: object) -> int:
    """The highest version of a pod's object."""
    return int(getattr(scope, "pod_versions", 1)) - 1


@dataclass(frozen=True, slots=True)
class _WiderScope(Scope):
    gates: int = 0
    finishing: int = 0
    pod_versions: int = 1
    names_of_claims: int = 0
    passing_claims: int = 0
    conditions: int = 0
    more_gates: int = 0


def with_more(
    scope: Scope,
    *,
    gates: bool,
    finishing: bool,
    pod_versions: int,
    names_of_claims: int = 0,
    passing_claims: bool = False,
    conditions: bool = False,
    more_gates: int = 0,
) -> Scope:
    """The scope of a cluster in which some pod has scheduling gates, may finish, has several versions, or has claims made for it; or claims come and go.

    `more_gates`: how many gates a pod may have lost that has another, where they go one by one. `names_of_claims`: what the status of a pod may name, from nothing to the claims of another pod. Elsewhere, their place in an object costs nothing.
    """
    if not gates and not finishing and pod_versions == 1 and not passing_claims and not conditions:
        return scope
    known = {field.name: getattr(scope, field.name) for field in fields(Scope)}
    return _WiderScope(
        **known,
        gates=int(gates),
        finishing=int(finishing),
        pod_versions=pod_versions,
        names_of_claims=names_of_claims,
        passing_claims=int(passing_claims),
        conditions=int(conditions),
        more_gates=more_gates,
    )


def gates_possible(scope: object) -> int:
    """Whether a pod may have scheduling gates."""
    return int(getattr(scope, "gates", 0))


def last_gate(scope: object) -> int:
    """How many gates a pod may have lost that has another."""
    return int(getattr(scope, "more_gates", 0))


def last_name(scope: object) -> int:
    """The last of what a pod's status may name: nothing, its own claims, those of the pod that had its name before."""
    return int(getattr(scope, "names_of_claims", 0))


def passing_claims(scope: object) -> int:
    """Whether claims come and go."""
    return int(getattr(scope, "passing_claims", 0))


def conditions_possible(scope: object) -> int:
    """Whether a device has binding conditions."""
    return int(getattr(scope, "conditions", 0))


def bound_finalizers_possible(scope: object) -> int:
    """Whether finalizers keep the objects of pods that are bound."""
    return int(getattr(scope, "bound_finalizers", False))


def finishing_possible(scope: object) -> int:
    """Whether a pod may finish."""
    return int(getattr(scope, "finishing", 0))
