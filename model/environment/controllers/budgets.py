"""Disruption budgets that are kept: the eviction subresource takes from them, and the disruption controller counts anew.

`EvictionREST.Create` (registry/core/pod/storage/eviction.go, 1.36) first takes one disruption from the budget's status, in a write of its own, and then
deletes the pod. The disruption controller (pkg/controller/disruption) sets the status to what its count says, some time after pods came or went.
Preemption deletes its victims without either. The scheduler has budgets from a lister that lags.

Where the scope has no disruption controller, budgets stay as the scenario gives them.
"""

from collections.abc import Sequence

from ...language import (
    Component,
    Expr,
    Words,
    any_of,
    as_expr,
    boolean,
    clamp,
    count,
    integer,
    per,
    require,
    select,
    step,
    tells,
    when,
)
from ..api import APIServer
from ..faults import Fault, Faults
from ..names import namesakes
from ..objects import DisruptionBudget, Pod, Scope

MOST = 15
"""So many disruptions a budget that is kept allows at most: no cluster of the model has more pods."""


def _kept(scope: Scope) -> int:
    return int(scope.disruption_controller)


def _most(scope: Scope) -> int:
    return MOST * _kept(scope)


def _lags(scope: Scope) -> int:
    return _kept(scope) * scope.disruption_controller_lags


def _probes(scope: Scope) -> int:
    return _kept(scope) * scope.readiness


def _starts(scope: Scope) -> int:
    return _probes(scope) * scope.pod_phases


def _most_healthy(scope: Scope) -> int:
    return MOST * _probes(scope)


def _most_counted_healthy(scope: Scope) -> int:
    return MOST * _probes(scope) * _lags(scope)


def _most_counted(scope: Scope) -> int:
    return MOST * _lags(scope)


class Budgets(Component):
    """Status of the budgets at the API server (`allowed`, `disrupted`) and in the scheduler's informer (`listed_allowed`, `listed_disrupted`).

    `read_allowed`, `read_disrupted`: what the preemption at hand has got from the lister: it lists the budgets once, before its first dry run.
    `evicting`: the eviction of the pod was granted, and its object is still to be deleted, of one that runs or of one that has succeeded or failed.

    Where the disruption controller lags: `running`, `staying` (it is there, and nobody has deleted it): what its informer has of the pod, if it has a budget. `counting`: it has counted, and is to write `counted`, `counted_disrupted`; `outdated`: the budget
    was written by somebody else since it was read.

    Where pods have to be ready: `ready`: the pod's condition Ready. `broken`: its probe fails until somebody mends it. `said_healthy`: status.currentHealthy; `counted_healthy`: what is to be written of it.
    `unready`: the eviction that is granted is of a pod that was not ready.

    Where pods have phases: `started`: the pod's phase is Running, and was Pending before. `unstarted`: the eviction that is granted is of a pod that was Pending.
    """

    api: APIServer
    faults: Faults

    allowed = per(DisruptionBudget, integer(0, _most))
    disrupted = per(DisruptionBudget, per(Pod, boolean(possible=_kept)))
    listed_allowed = per(DisruptionBudget, integer(0, _most))
    listed_disrupted = per(DisruptionBudget, per(Pod, boolean(possible=_kept)))
    read_allowed = per(DisruptionBudget, integer(0, _most))
    read_disrupted = per(DisruptionBudget, per(Pod, boolean(possible=_kept)))
    evicting = per(Pod, boolean(possible=_kept))
    running = per(Pod, boolean(possible=_lags))
    staying = per(Pod, boolean(possible=_lags))
    counting = per(DisruptionBudget, boolean(possible=_lags))
    counted = per(DisruptionBudget, integer(0, _most_counted))
    counted_disrupted = per(DisruptionBudget, per(Pod, boolean(possible=_lags)))
    outdated = per(DisruptionBudget, boolean(possible=_lags))
    ready = per(Pod, boolean(possible=_probes))
    broken = per(Pod, boolean(possible=_probes))
    unready = per(Pod, boolean(possible=_probes))
    started = per(Pod, boolean(possible=_starts))
    unstarted = per(Pod, boolean(possible=_starts))
    said_healthy = per(DisruptionBudget, integer(0, _most_healthy))
    counted_healthy = per(DisruptionBudget, integer(0, _most_counted_healthy))

    phrases = {
        "allowed": Words(
            "API server: budget {0} allows {after} of its pods to be disrupted",
            "API server: budget {0} allows no disruption",
            decisive=True,
        ),
        "disrupted": Words(
            "API server: budget {0} has paid for the eviction of {1}",
            "API server: budget {0} no longer counts {1} as being evicted",
        ),
        "listed_allowed": Words(
            "lister: budget {0} allows {after} of its pods to be disrupted",
            "lister: budget {0} allows no disruption",
        ),
        "listed_disrupted": Words(
            "lister: budget {0} has paid for the eviction of {1}",
            "lister: budget {0} no longer counts {1} as being evicted",
        ),
        "read_allowed": Words(
            "preemption reads that budget {0} allows {after} of its pods to be disrupted", ""
        ),
        "read_disrupted": Words("preemption reads that budget {0} has paid for {1}", ""),
        "running": Words("disruption controller: {0} runs", "disruption controller: {0} does not run"),
        "staying": Words("", "disruption controller: {0} is being deleted, or gone"),
        "counted": Words("disruption controller: {0} is to allow {after}", ""),
        "ready": Words("API server: {0} is ready", "API server: {0} is not ready any more", decisive=True),
        "broken": Words("{0} cannot become ready", "{0} may become ready again"),
        "unready": Words("API server: {0} is evicted as a pod that is not ready", ""),
        "started": Words("API server: {0} is Running", "", decisive=True),
        "unstarted": Words("API server: {0} is evicted as a pod that is Pending", ""),
        "said_healthy": Words(
            "API server: of the pods of budget {0}, {after} are healthy",
            "API server: of the pods of budget {0} none is healthy",
        ),
        "outdated": Words("the status that the disruption controller has read of {0} is old", ""),
        "evicting": Words("API server: the eviction of {0} is granted", "", decisive=True),
    }

    @property
    def kept(self) -> bool:
        """Whether budgets change in a run."""
        return bool(self.scope.disruption_controller)

    @property
    def lags(self) -> bool:
        """Whether the disruption controller has a view of its own, and writes some time after it has counted."""
        return bool(self.kept and self.scope.disruption_controller_lags)

    def setup(self) -> None:
        if not self.kept:
            return
        for pod in self.universe[Pod]:
            if self.probes and pod.exists and pod.node is not None:
                self.ready[pod], self.broken[pod] = pod.ready and pod.started, not pod.ready
            if self.has_phases and pod.exists and pod.node is not None:
                self.started[pod] = pod.started
            if self.lags and self.protecting(pod):
                self.running[pod] = pod.exists and pod.node is not None and self.at_first(pod)
                self.staying[pod] = pod.exists and not pod.deleted
        for budget in self.universe[DisruptionBudget]:
            self.allowed[budget] = self.listed_allowed[budget] = budget.allowed
            if self.probes:
                self.said_healthy[budget] = len(self._running_at_first(budget))
            for pod in self.universe[Pod]:
                paid = any(named.name in budget.disrupted for named in self._of_name(pod))
                self.disrupted[budget][pod] = self.listed_disrupted[budget][pod] = paid

    # --- what the scheduler reads ----------------------------------------------------------------------------

    def read(self) -> None:
        """getPodDisruptionBudgets: a preemption lists the budgets once, for all its dry runs and its choice."""
        if not self.kept:
            return
        for budget in self.universe[DisruptionBudget]:
            self.read_allowed[budget] = self.listed_allowed[budget]
            for pod in self.universe[Pod]:
                self.read_disrupted[budget][pod] = self.listed_disrupted[budget][pod]

    def forget(self) -> None:
        """The preemption is over: the budgets that it read are dropped."""
        if not self.kept:
            return
        for budget in self.universe[DisruptionBudget]:
            self.read_allowed[budget] = 0
            for pod in self.universe[Pod]:
                self.read_disrupted[budget][pod] = False

    def allowance(self, budget: DisruptionBudget) -> Expr:
        """status.disruptionsAllowed, as the current preemption has read it."""
        return as_expr(self.read_allowed[budget]) if self.kept else budget.allowed

    def has_paid_for(self, budget: DisruptionBudget, pod: Pod) -> Expr:
        """Whether status.disruptedPods has the pod, as the current preemption has read it."""
        if self.kept:
            return as_expr(self.read_disrupted[budget][pod])
        return as_expr(any(named.name in budget.disrupted for named in self._of_name(pod)))

    # --- the truth -------------------------------------------------------------------------------------------

    def runs(self, pod: Pod) -> Expr:
        """Whether the pod counts as healthy for its budget: it is bound, not deleted, not evicted, and ready if readiness is modelled."""
        current = self.api.pod[pod]
        goes = self.evicting[pod] & ~self.was_unready(pod) if self.probes else self.evicting[pod]
        return current.assigned & ~current.terminating & ~goes & self.is_ready(pod)

    @property
    def probes(self) -> bool:
        """Whether pods count only if they are ready."""
        return bool(self.kept and self.scope.readiness)

    def is_ready(self, pod: Pod) -> Expr:
        """Whether the pod's condition Ready is True. If readiness is not modelled, every pod is ready."""
        return as_expr(self.ready[pod]) if self.probes else as_expr(True)

    @property
    def has_phases(self) -> bool:
        """Whether a pod is Pending until its containers have been started."""
        return bool(self.probes and self.scope.pod_phases)

    def is_pending(self, pod: Pod) -> Expr:
        """Whether a bound pod is in phase Pending. If phases are not modelled, none is."""
        return ~as_expr(self.started[pod]) if self.has_phases else as_expr(False)

    def at_first(self, pod: Pod) -> bool:
        """Whether a pod that is bound at the start counts as healthy then."""
        return not pod.deleted and ((pod.ready and pod.started) or not self.probes)

    def healthy(self, budget: DisruptionBudget) -> Expr:
        """How many healthy pods a budget has."""
        return count(self.runs(pod) for pod in self.universe[Pod] if budget.selects(pod))

    def desired(self, budget: DisruptionBudget) -> Expr:
        """How many of its pods a budget wants to run: those that run at the start, minus the disruptions allowed then."""
        if budget.min_available is not None:
            return as_expr(budget.min_available)
        return as_expr(len(self._running_at_first(budget))) - budget.allowed

    def _running_at_first(self, budget: DisruptionBudget) -> list[Pod]:
        at_start = [p for p in self.universe[Pod] if p.node is not None and p.exists and budget.selects(p)]
        return [p for p in at_start if p.name not in budget.disrupted and self.at_first(p)]

    # --- readiness -------------------------------------------------------------------------------------------

    @step(actor="kubelet", each="pod")
    @tells("The kubelet has started {pod}, and reports that it is Running.")
    def start(self, pod: Pod) -> None:
        """The pod's images and volumes are ready, and a container runs (getPhase, pkg/kubelet/kubelet_pods.go)."""
        require(self.has_phases and bool(self.protecting(pod)))
        require(self._lives(pod) & ~self.started[pod] & ~self.broken[pod])
        self.started[pod] = True

    @step(actor="kubelet", fair=False)
    @tells("The containers of {pod} cannot be started, say for want of an image or a volume.")
    def fail_to_start(self, pod: Pod) -> None:
        """The pod stays Pending until its problem is repaired."""
        require(self.has_phases and bool(self.protecting(pod)) and bool(self.scope.start_failures))
        require(self._lives(pod) & ~self.started[pod] & ~self.broken[pod])
        self.faults.spend(Fault.START_FAILURE, pod)
        self.broken[pod] = True

    @step(actor="kubelet", each="pod")
    @tells("The kubelet reports that {pod} is ready.")
    def get_ready(self, pod: Pod) -> None:
        """Its readiness probe succeeds."""
        require(self.probes and bool(self.protecting(pod)))
        require(self._lives(pod) & ~self.ready[pod] & ~self.broken[pod] & ~self.is_pending(pod))
        self.ready[pod] = True

    @step(actor="kubelet", fair=False)
    @tells("The readiness probe of {pod} fails, and the kubelet reports it.")
    def lose_readiness(self, pod: Pod) -> None:
        """The pod is not ready until its probe succeeds again."""
        require(self.probes and bool(self.protecting(pod)) and bool(self.scope.readiness_losses))
        require(self._lives(pod) & self.ready[pod])
        self.faults.spend(Fault.READINESS_LOSS, pod)
        self.ready[pod] = False
        self.broken[pod] = True

    @step(actor="user", fair=False)
    @tells("What kept {pod} from being ready is mended.")
    def mend(self, pod: Pod) -> None:
        """The pod's probe can succeed again."""
        require(self.probes and bool(self.protecting(pod)))
        require(self._lives(pod) & self.broken[pod])
        self.broken[pod] = False

    def _lives(self, pod: Pod) -> Expr:
        current = self.api.pod[pod]
        return current.assigned & ~current.terminating

    # --- who changes them ------------------------------------------------------------------------------------

    def protecting(self, pod: Pod) -> list[DisruptionBudget]:
        """The budgets of a pod."""
        return [budget for budget in self.universe[DisruptionBudget] if budget.selects(pod)]

    @step(actor="user", fair=False)
    @tells("Somebody evicts {pod} by the eviction subresource, as `kubectl drain` and the descheduler do.")
    def evict(self, pod: Pod) -> None:
        """checkAndDecrement: the budget allows a disruption, and its count goes down by one. A pod with two budgets cannot be evicted.

        One that has succeeded or failed, and whose object is there still, is deleted without a look at its budget (canIgnorePDB).
        """
        budgets = self.protecting(pod)
        require(self.kept and len(budgets) == 1)
        (budget,) = budgets
        current = self.api.pod[pod]
        there, ended = current.assigned & ~current.terminating, self.has_ended(pod)
        require((there | ended) & ~self.evicting[pod])
        spared = there & self.spares(budget, pod)
        unasked = spared | (ended & self.ignores_ended())
        require(unasked | (self.allowed[budget] > 0))
        self.faults.spend(Fault.EVICTION, pod)
        if self.probes:
            self.unready[pod] = spared
        if self.has_phases:
            self.unstarted[pod] = spared & self.is_pending(pod)
        with when(~unasked):
            self.take(budget, pod)
        self.evicting[pod] = True

    def has_ended(self, pod: Pod) -> Expr:
        """Whether the pod has succeeded or failed, and its object still exists."""
        return as_expr(self.api.remains[pod]) if self.may_end(pod) else as_expr(False)

    def may_end(self, pod: Pod) -> bool:
        """Whether the pod can succeed or fail: by itself, or because its kubelet rejects it."""
        return bool(pod.finishes or self.scope.kubelet_admission)

    def ignores_ended(self) -> bool:
        """Whether evictions of pods that have succeeded or failed ignore the budget."""
        return True

    def spares(self, budget: DisruptionBudget, pod: Pod) -> Expr:
        """Whether the eviction does not lower the budget (canIgnorePDB): the pod is Pending; or it is not ready, and either enough pods are healthy by the status, or the policy is AlwaysAllow."""
        if not self.probes:
            return as_expr(False)
        enough = (as_expr(self.said_healthy[budget]) >= self.desired(budget)) & (self.desired(budget) > 0)
        unready = ~as_expr(self.ready[pod]) & (enough & self.looks_at_health() | self.allows_always(budget))
        return unready | (self.is_pending(pod) & self.ignores_pending())

    def ignores_pending(self) -> bool:
        """Whether evictions of Pending pods ignore the budget."""
        return True

    def looks_at_health(self) -> bool:
        """Whether evictions check the readiness of pods."""
        return True

    def allows_always(self, budget: DisruptionBudget) -> bool:
        """Whether the budget's policy is AlwaysAllow."""
        return budget.always_allow

    def take(self, budget: DisruptionBudget, pod: Pod) -> None:
        """The budget allows a disruption, and the eviction uses it."""
        self.allowed[budget] = clamp(self.allowed[budget] - 1, 0, MOST)
        for named in self._of_name(pod):
            self.disrupted[budget][named] = True
        if self.lags:
            self.outdated[budget] = self.counting[budget]

    def _of_name(self, pod: Pod) -> tuple[Pod, ...]:
        """The pods that have the pod's name, one after the other: status.disruptedPods has names."""
        return (pod, *namesakes(self.universe, pod))

    @step(actor="API server", each="pod")
    @tells("The API server goes on with the eviction of {pod}, and deletes it.")
    def finish_eviction(self, pod: Pod) -> None:
        """After the budget was lowered, or needed no change, the pod is deleted if its object still exists."""
        require(self.kept and len(self.protecting(pod)) == 1)
        require(self.evicting[pod])
        self.evicting[pod] = False
        current = self.api.pod[pod]
        with when(current.assigned & ~current.terminating & ~self.conflicts(pod)):
            self.api.delete_pod(pod)
        if self.may_end(pod):
            with when(self.has_ended(pod) & ~self.conflicts(pod)):
                self.api.delete_finished(pod)
        for namesake in self.hit_by_name(pod):
            other = self.api.pod[namesake]
            with when(other.exists & ~other.terminating & ~self.was_unready(pod)):
                self.api.delete_pod(namesake)
        if self.probes:
            self.unready[pod] = False
        if self.has_phases:
            self.unstarted[pod] = False

    def was_unready(self, pod: Pod) -> Expr:
        """Whether the granted eviction is for a pod that was not ready."""
        return as_expr(self.unready[pod]) if self.probes else as_expr(False)

    def conflicts(self, pod: Pod) -> Expr:
        """Whether the DELETE is refused. For a pod that was not ready, the resourceVersion is a precondition: since then, the pod must not have become ready, ended or started.

        Of one that was Pending upstream looks at the object once more then, and asks the budget; here somebody evicts it once more, or does not.
        """
        begun = (self.unstarted[pod] & self.started[pod]) if self.has_phases else as_expr(False)
        return self.was_unready(pod) & (self.is_ready(pod) | begun | self.has_ended(pod))

    def hit_by_name(self, pod: Pod) -> Sequence[Pod]:
        """The other pods that the DELETE can hit, because it is by name. Only for a pod that is not ready it has a precondition (addConditionAndDeletePod), and for a finished pod it has none (shouldEnforceResourceVersion)."""
        return namesakes(self.universe, pod)

    @step(actor="disruption controller", each="budget")
    @tells("The disruption controller counts the pods of {budget} again.")
    def count_anew(self, budget: DisruptionBudget) -> None:
        """trySync and updatePdbStatus: removes pods that are gone or terminating from disruptedPods, and counts again."""
        require(self.kept and not self.lags)
        api, pods = self.api.pod, [p for p in self.universe[Pod] if budget.selects(p)]
        kept = {
            p: any_of(api[named].exists & ~api[named].terminating for named in self._of_name(p)) for p in pods
        }
        paid = {p: self.disrupted[budget][p] & kept[p] for p in pods}
        healthy = count(api[p].assigned & ~api[p].terminating & ~paid[p] & self.is_ready(p) for p in pods)
        room = healthy - self.desired(budget)
        new = clamp(select(room > 0, room, 0), 0, MOST)
        pruned = any_of(self.disrupted[budget][p] & ~paid[p] for p in pods)
        news = (self.allowed[budget] != new) | pruned
        if self.probes:
            news |= self.said_healthy[budget] != healthy
            self.said_healthy[budget] = clamp(healthy, 0, MOST)
        require(news)
        self.allowed[budget] = new
        for pod in pods:
            self.disrupted[budget][pod] = paid[pod]

    # --- the same where the controller lags ------------------------------------------------------------------

    @step(actor="disruption controller's informer", each="pod")
    @tells("The disruption controller hears what has become of {pod}.")
    def hear(self, pod: Pod) -> None:
        """The informer receives the newest object."""
        require(self.lags and bool(self.protecting(pod)))
        current = self.api.pod[pod]
        runs = current.assigned & ~current.terminating & self.is_ready(pod)
        stays = current.exists & ~current.terminating
        require((self.running[pod] != runs) | (self.staying[pod] != stays))
        self.running[pod] = runs
        self.staying[pod] = stays

    @step(actor="disruption controller", each="budget")
    @tells("The disruption controller counts the pods of {budget}, as its informer has them.")
    def count_by_view(self, budget: DisruptionBudget) -> None:
        """trySync: the controller reads the budget, and counts. updatePdbStatus writes only if the status changes."""
        require(self.lags)
        pods = [p for p in self.universe[Pod] if budget.selects(p)]
        kept = {p: any_of(self.staying[named] for named in self._of_name(p)) for p in pods}
        paid = {p: self.disrupted[budget][p] & kept[p] for p in pods}
        healthy = count(self.running[p] & ~paid[p] for p in pods)
        room = healthy - self.desired(budget)
        new = clamp(select(room > 0, room, 0), 0, MOST)
        pruned = any_of(self.disrupted[budget][p] & ~paid[p] for p in pods)
        news = (self.allowed[budget] != new) | pruned
        if self.probes:
            news |= self.said_healthy[budget] != healthy
            self.counted_healthy[budget] = clamp(healthy, 0, MOST)
        require(~self.counting[budget] & news)
        self.counting[budget] = True
        self.counted[budget] = new
        for pod in pods:
            self.counted_disrupted[budget][pod] = paid[pod]

    @step(actor="disruption controller", each="budget")
    @tells(
        "The disruption controller writes the status of {budget}, which is refused if another was written since."
    )
    def write_status(self, budget: DisruptionBudget) -> None:
        """UpdateStatus of the object that was read. After a version conflict, the controller counts again."""
        require(self.lags)
        require(self.counting[budget])
        with when(self.is_written(budget)):
            self.allowed[budget] = self.counted[budget]
            if self.probes:
                self.said_healthy[budget] = self.counted_healthy[budget]
            for pod in self.universe[Pod]:
                self.disrupted[budget][pod] = self.counted_disrupted[budget][pod]
        self.counting[budget] = self.outdated[budget] = False
        self.counted[budget] = 0
        if self.probes:
            self.counted_healthy[budget] = 0
        for pod in self.universe[Pod]:
            self.counted_disrupted[budget][pod] = False

    def is_written(self, budget: DisruptionBudget) -> Expr:
        """Whether the API server accepts the status: it refuses an older version."""
        return ~as_expr(self.outdated[budget])

    @step(actor="budget informer", each="budget")
    @tells("The scheduler's informer gets the status of {budget}.")
    def store(self, budget: DisruptionBudget) -> None:
        """The scheduler's lister receives the newest status. Until then it has an older one."""
        require(self.kept)
        pods = [p for p in self.universe[Pod] if budget.selects(p)]
        differs = any_of(self.listed_disrupted[budget][p] != self.disrupted[budget][p] for p in pods)
        require((self.listed_allowed[budget] != self.allowed[budget]) | differs)
        self.listed_allowed[budget] = self.allowed[budget]
        for pod in pods:
            self.listed_disrupted[budget][pod] = self.disrupted[budget][pod]
