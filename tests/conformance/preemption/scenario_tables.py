"""Scenario rows of the table of preemption: a whole scheduler, played on the explorer.

The row is played as upstream's integration tests play it (test/integration/scheduler/preemption). Pods that have to be bound, nominated
or evicted: every fair run comes to that, which is decided as a liveness. Pods that must never be bound or evicted: an invariant of all
states. As in such a test, timers are slow: a backoff ends only when every event has been handled, and the periodic flush does
not come. There is a kubelet only if a pod is to be bound in the room that victims leave.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import replace
from time import monotonic
from typing import TYPE_CHECKING, Any

from podrace.checker.core.exploration import Budget
from podrace.checker.core.result import Result, Verdict
from podrace.checker.search import check
from podrace.model.environment.actors import Users
from podrace.model.environment.kubelet import Kubelet
from podrace.model.environment.objects import ClusterSpec, DisruptionBudget, Node, Pod, Scope
from podrace.model.history import resolve
from podrace.model.language import Case as Condition
from podrace.model.language import Component, Expr, all_of, as_expr, boolean, integer, require, step, tells
from podrace.model.scheduler import Clock
from podrace.model.scheduler.cycles.failure import FailurePhase
from podrace.properties import Property, instrument
from tests.conformance.cases.case_cluster import make_node, make_pod, selector, unique
from tests.conformance.cases.cases import Case, Differs, NotCovered, NotTranslated, Outcome
from tests.conformance.cases.nominations import nomination_fields
from tests.conformance.cases.preemption_plugins import preemption_plugins
from tests.conformance.cases.upstream_plugins import chosen_filters
from tests.conformance.preemption.scenario_reading import Claim, Plot, read_plot
from tests.conformance.preemption.scenario_words import SAFETY, Fate

if TYPE_CHECKING:
    from podrace.model.environment.api import APIServer
    from podrace.model.environment.watch import NodeWatch, PodWatch
    from podrace.model.scheduler import EventHandlers, FailureHandler

MAX_STATES = 2_000_000
SECONDS = 60.0
"""How long one claim is looked at."""
SECONDS_OF_ALL = 150.0
"""And all claims of a row together, once one of them has been left open."""
LIKE_EACH_OTHER = (2, 1)
"""How many equal pods that wait are played: so many, and fewer if that is too much to explore."""


def run(case: Case, release: str) -> Outcome:
    """Play a scenario row; PASS says what was played."""
    if nomination_fields(case):
        raise NotCovered("a scenario that begins with a nomination")
    plot = _with_bound_claims(_settled(read_plot(case)))
    told_apart, named = _labels_count(case, plot), _names_that_count(case, plot)
    forms = list(
        dict.fromkeys(_with_few_equals(plot, most, told_apart, named)[1] for most in LIKE_EACH_OTHER)
    )
    for most in LIKE_EACH_OTHER[: len(forms)]:
        kept, remark = _with_few_equals(plot, most, told_apart, named)
        has_smaller = remark != forms[-1]
        try:
            counts = _play(case, kept, release, has_smaller)
        except NotCovered:
            if not has_smaller:
                raise
            continue
        return Outcome("PASS", f"{counts}{remark}")
    raise NotCovered("nothing was played")


def _labels_count(case: Case, plot: Plot) -> bool:
    """Whether anything of the row selects pods by their labels."""
    chosen = ("affinity", "antiAffinity", "topologySpreadConstraints")
    selects = case.get("pdbs") or case.get("eligibility_hook")
    return bool(selects) or any(f.get(name) for f in plot.pods.values() for name in chosen)


def _names_that_count(case: Case, plot: Plot) -> frozenset[str]:
    """The names by which anything of the row knows a pod: a node's (the filter NodeNameEqualsPodName), or that of a pod that a budget has paid for."""
    paid = (name for budget in case.get("pdbs") or () for name in budget.get("disruptedPods") or ())
    return frozenset([*plot.nodes, *paid])


def _with_few_equals(
    plot: Plot, most: int, told_apart: bool = True, named: Collection[str] = ()
) -> tuple[Plot, str]:
    """The same with no more than so many pods that wait and are equal in all but their names, and in their labels unless those tell pods
    apart. A pod whose name is one of those `named` equals no other.
    """
    names = ("name", "uid") if told_apart else ("name", "uid", "labels")
    kept: dict[str, list[str]] = {}
    dropped: dict[str, str] = {}
    for name, facts in plot.pods.items():
        if facts.get("nodeName") or any(c.pod == name and c.fate not in SAFETY for c in plot.claims):
            continue
        said = sorted({(c.fate.value, c.node or "", c.after) for c in plot.claims if c.pod == name})
        when = next((i for i, batch in enumerate(plot.batches) if name in batch), -1)
        alike = json.dumps(
            [{k: v for k, v in facts.items() if k not in names}, said, when, name if name in named else ""],
            sort_keys=True,
            default=str,
        )
        members = kept.setdefault(alike, [])
        if len(members) < most:
            members.append(name)
        else:
            dropped[name] = members[0]
    if not dropped:
        return plot, ""
    few = Plot(
        {name: facts for name, facts in plot.pods.items() if name not in dropped},
        plot.groups,
        [[name for name in batch if name not in dropped] for batch in plot.batches],
        [claim for claim in plot.claims if claim.pod not in dropped],
        plot.nodes,
        plot.preemptor,
    )
    stand = sum(len(members) for members in kept.values())
    return few, f", with {stand} of {stand + len(dropped)} equal pods that wait"


# --- the cluster and the test ------------------------------------------------------------------------------


class PatientClock(Clock):
    """A backoff ends only when failure handlers and event handlers have nothing left to do: it takes a second, and they take
    milliseconds.
    """

    pod_watch: PodWatch
    node_watch: NodeWatch
    handlers: EventHandlers
    failure: FailureHandler

    def backoff_may_end(self, pod: Pod) -> Expr:
        undelivered = (self.pod_watch.log.length > 0) | (self.node_watch.log.length > 0)
        handled = ~undelivered & ~self.handlers.queue_busy & ~self.handlers.cache_busy
        noted = all_of(self.failure.phase[p] == FailurePhase.NONE for p in self.universe[Pod])
        return super().backoff_may_end(pod) & handled & noted


class NoKubelet(Kubelet):
    """Integration tests have no kubelets: a pod with a grace period goes on terminating."""

    keeps: frozenset[str] = frozenset()

    def finish_termination(self, pod: Pod) -> None:
        require(pod.name not in self.keeps)
        super().finish_termination(pod)


class Tester(Users):
    """Makes the pods of the batches in their order, a batch when what was claimed before it is so."""

    turn: Mapping[str, int] = {}
    awaited: Mapping[int, tuple[Claim, ...]] = {}

    made = integer(0, lambda scope: max(1, scope.pod_creations))

    @step(actor="the test")
    @tells("The test creates {pod}.")
    def create_pod(self, pod: Pod) -> None:
        require(pod.name in self.turn)
        require(self.made == self.turn[pod.name])
        for claim in self.awaited.get(self.turn[pod.name], ()):
            require(self._so(claim))
        self.made = self.turn[pod.name] + 1
        super().create_pod(pod)

    def _so(self, claim: Claim) -> Expr:
        """Whether the claim has come true, or what it waited for is over."""
        pod = next(p for p in self.universe[Pod] if p.name == claim.pod)
        over = ~self.api.pod[pod].exists | self.api.pod[pod].node.is_some
        return over | said_by(self.api, pod, claim, self.universe[Node])


def said_by(api: APIServer, pod: Pod, claim: Claim, nodes: Iterable[Node]) -> Expr:
    """Whether the API server's object says what the claim wants (or, of safety, what it forbids)."""
    told = api.pod[pod]
    node = next((n for n in nodes if n.name == claim.node), None)
    if claim.fate in (Fate.BOUND, Fate.NEVER_BOUND):
        bound: Expr = told.node.is_some if node is None else told.node == node
        return bound
    if claim.fate in (Fate.NOMINATED, Fate.NEVER_NOMINATED):
        nominated: Expr = told.nominated.is_some if node is None else told.nominated == node
        return nominated
    if claim.fate is Fate.CLEARED:
        return ~told.nominated.is_some if node is None else ~(told.nominated == node)
    return ~told.exists | told.terminating


class Comes(Property):
    """A claim comes true in every fair run."""

    kind = "liveness"
    claim: Claim
    users: Tester
    begins: int = 0

    seen = boolean()

    def _reached(self) -> Expr:
        return as_expr(True) if self.begins == 0 else self.users.made >= self.begins

    def observe(self) -> None:
        """Note that it came true: it need not stay so."""
        self.seen = self.seen | (self._reached() & self._is_so())

    def _is_so(self) -> Expr:
        pod = next(p for p in self.pods if p.name == self.claim.pod)
        return said_by(self.api, pod, self.claim, self.nodes)

    def cases(self) -> Iterable[Condition]:
        return [Condition(f"it never comes that {self.claim}", ~self.seen)]


class Never(Property):
    """A claim's opposite is true in no state."""

    claim: Claim

    def holds(self) -> Expr:
        pod = next(p for p in self.pods if p.name == self.claim.pod)
        return ~said_by(self.api, pod, self.claim, self.nodes)


_GRACE = (
    "terminationGracePeriodSeconds",
    "gracePeriodSeconds",
    "grace_period_seconds",
    "grace_period_s",
    "grace_s",
    "grace",
)


def _grace(facts: Mapping[str, Any]) -> Any:
    return next((facts[name] for name in _GRACE if facts.get(name) is not None), None)


def _spec(case: Case, plot: Plot) -> ClusterSpec:
    nodes = [make_node(i, facts) for i, facts in enumerate(case.get("nodes") or ())]
    by_name = {node.name: node for node in nodes}
    spaces = {n["name"]: dict(n.get("labels") or {}) for n in case.get("namespaces") or ()}
    made = plot.made
    pods: list[Pod] = []
    for name, facts in plot.pods.items():
        if facts.get("nominatedNodeName") or facts.get("terminating"):
            raise NotCovered("a scenario that begins with a nomination, or with a pod that terminates")
        if facts.get("nodeName") and facts["nodeName"] not in by_name:
            raise NotTranslated(f"{name} is on {facts['nodeName']}, which is no node")
        pod = make_pod(len(pods), name, facts, by_name, spaces, queued=name not in made)
        pod.graceful = _grace(facts) != 0
        pods.append(pod)
    budgets = tuple(
        DisruptionBudget(
            i, name, selector(b.get("selector")), int(b.get("disruptionsAllowed") or 0),
            namespace=b.get("namespace") or "", disrupted=b.get("disruptedPods") or (),
        )
        for i, (name, b) in enumerate(zip(unique(b.get("name") or "" for b in case.get("pdbs") or ()), case.get("pdbs") or (), strict=True))
    )  # fmt: skip
    if len(made) > 15:
        raise NotCovered(f"{len(made)} pods that come one after the other")
    scope = Scope(pod_events=max(4, len(pods)), pod_creations=len(made), flush=False)
    return ClusterSpec(case["id"], tuple(pods), tuple(nodes), scope, budgets)


def _settled(plot: Plot) -> Plot:
    """The same, begun where its first pods are bound, if it waits for that and there is one node only."""
    if not plot.batches or len(plot.nodes) != 1:
        return plot
    first = plot.batches[0]
    early = [c for c in plot.claims if c.after == 1]
    if {c.pod for c in early} != set(first) or any(c.fate is not Fate.BOUND for c in early):
        return plot
    placed = {n: {**f, "nodeName": plot.nodes[0]} if n in first else f for n, f in plot.pods.items()}
    later = [replace(c, after=c.after - 1) for c in plot.claims if c not in early]
    return Plot(placed, plot.groups, plot.batches[1:], later, plot.nodes, plot.preemptor)


def _with_bound_claims(plot: Plot) -> Plot:
    """The same, with what is claimed of pods that are bound from the start said otherwise: a monitor sees what comes, not what there is.

    A pod that is bound stays so unless it is evicted. So at the end of a row "is bound" says that it is never evicted. Before anything
    was made it says nothing new, and between two batches it is a claim like any other: it must be so then.
    """
    claims = []
    for claim in plot.claims:
        node = plot.pods[claim.pod].get("nodeName")
        if claim.fate is not Fate.BOUND or not node:
            claims.append(claim)
        elif claim.node not in (None, node):
            raise Differs(f"expected that {claim}: the row has it on {node} from the start")
        elif claim.after == len(plot.batches):
            claims.append(replace(claim, fate=Fate.SPARED, node=None))
        elif claim.after:
            claims.append(claim)
    return Plot(plot.pods, plot.groups, plot.batches, claims, plot.nodes, plot.preemptor)


def _play(case: Case, plot: Plot, release: str, has_smaller: bool = False) -> str:
    """Decide all claims of a row. One that is left open ends it at once if there is a smaller form of the row."""
    spec = _spec(case, plot)
    properties = _properties(plot)
    classes = [
        *_actors(plot),
        *preemption_plugins(case),
        chosen_filters(case.get("filters")),
        *resolve(release).classes,
    ]
    system = instrument(spec, classes, list(properties))
    began = monotonic()
    states, open_ = 0, ""
    # What must never happen first: a run to it is often found where not all states can be seen.
    for prop, claim in sorted(properties.items(), key=lambda found: found[1].fate not in SAFETY):
        left = SECONDS_OF_ALL - (monotonic() - began) if open_ else SECONDS
        if left <= 0:
            break
        (result,) = check(system, [prop.id], Budget(max_states=MAX_STATES, timeout=min(SECONDS, left)))
        states = max(states, result.counts.states or 0)
        if result.verdict is Verdict.VIOLATED:
            raise Differs(f"expected that {claim}: the model has a run of {_steps(result)} steps against it")
        if result.verdict is not Verdict.HOLDS:
            open_ = open_ or f"{claim}: not decided within {result.counts.states} states ({result.stopped})"
            if has_smaller:
                break
    if open_:
        raise NotCovered(open_)
    return f"{states} states"


def _steps(result: Result) -> int:
    return len(result.trace.steps) if result.trace else 0


def _properties(plot: Plot) -> dict[type[Property], Claim]:
    found: dict[type[Property], Claim] = {}
    sizes = [len(batch) for batch in plot.batches]
    for number, claim in enumerate(dict.fromkeys(plot.claims), 1):
        base = Never if claim.fate in SAFETY else Comes
        about: Callable[..., Any] = type(base)
        body: dict[str, Any] = {
            "id": f"CLAIM-{number}",
            "claim": claim,
            "__doc__": f"{claim}.",
            "__module__": __name__,
        }
        if base is Comes:
            body["begins"] = sum(sizes[: claim.after])
        found[about(f"Claim{number}", (base,), body)] = claim
    return found


def _actors(plot: Plot) -> list[type[Component]]:
    order = [name for batch in plot.batches for name in batch]
    awaited: dict[int, tuple[Claim, ...]] = {}
    start = 0
    for number, batch in enumerate(plot.batches):
        awaited[start] = tuple(
            c for c in plot.claims if c.after == number and number and c.fate not in SAFETY
        )
        start += len(batch)
    tester = {"turn": {name: i for i, name in enumerate(order)}, "awaited": awaited, "__module__": __name__}
    waits = any(c.fate is Fate.BOUND and not plot.pods[c.pod].get("nodeName") for c in plot.claims)
    keeps = frozenset(name for name, facts in plot.pods.items() if _grace(facts) or not waits)
    return [
        type("TheTester", (Tester,), tester),
        type("TheKubelets", (NoKubelet,), {"keeps": keeps, "__module__": __name__}),
        PatientClock,
    ]
