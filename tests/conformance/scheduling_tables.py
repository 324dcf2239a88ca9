"""Tables 6, 9 and 10: filters with nominated pods, scores, and which node wins."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from typing import Any

from podrace.model.environment.objects import Config, Node, Scope
from podrace.model.language import Component, Concrete, Expr, Model, Universe, as_expr, build
from podrace.model.scheduler import Sampling
from podrace.model.scheduler.framework.status import Code, NodeStatus, Phase
from tests.conformance.cases.case_cluster import CaseSituation, Facts, facts_of, situation
from tests.conformance.cases.cases import (
    Case,
    NotTranslated,
    Outcome,
    any_of_these,
    differ,
    first_failure,
    needed,
)
from tests.conformance.cases.drive import Drive
from tests.conformance.cases.nominations import nominated_pods
from tests.conformance.cases.upstream_plugins import (
    CODES,
    chosen_filters,
    chosen_scores,
    code_named,
    fails_always,
    stub_filters,
)
from tests.conformance.sampled_shares import sampled_shares

DECIDED = (Phase.ASSUMED, Phase.FAIL, Phase.REREAD_PREEMPTOR, Phase.IDLE)

INTER_POD_AFFINITY = "InterPodAffinity"


def run(case: Case, release: str) -> Outcome:
    """One case of tables 6, 9 and 10."""
    kinds = {
        "nominated_filter": nominated_filter,
        "prefer_nominated": prefer_nominated,
        "filter_call_count": filter_call_count,
        "select_host": select_host,
        "num_feasible": num_feasible,
        "rotation": rotation,
        "schedule": schedule,
        "spread_score": spread_score,
    }
    kind = case.get("kind")
    if kind is None and "expected_scores" in case:
        return interpod_score(case, release)
    if kind not in kinds:
        raise NotTranslated(f"cases of kind {kind}")
    return kinds[kind](case, release)


# --- table 6 -----------------------------------------------------------------------------------------


def nominated_filter(case: Case, release: str) -> Outcome:
    """The two passes of the filters, with stubs for the plugins."""
    node = needed(case, "node")["name"]
    on_add, on_filter = (_code(case.get(f)) for f in ("stub_on_add_nominated", "stub_filter"))
    facts = Facts(
        nodes=[needed(case, "node")],
        pods=[{**p, "nodeName": node} for p in case.get("podsOnNode") or ()],
        pod=needed(case, "pod"),
        nominated=[(pod, node) for pod, _ in nominated_pods(case, [node])],
        test_plugins=(stub_filters(on_add, on_filter),),
    )
    here = situation(facts, release)
    filters, snapshot = here.part("filters"), here.part("snapshot")
    found = here.model.get(
        lambda: filters.run_with_nominated(here.preemptor, here.node(node), snapshot.placement())
    )
    expected = case["expected_status"] or "Success"  # upstream's nil
    return differ("status", expected, next(n for n, c in CODES.items() if c is found))


def _code(name: str | None) -> Code | None:
    return None if name is None else code_named(name)


def _pods(case: Case) -> list[Mapping[str, Any]]:
    return [*(case.get("pods") or ()), *(case.get("podsOnNode") or ())]


def prefer_nominated(case: Case, release: str) -> Outcome:
    """A whole cycle of a pod that is nominated."""
    filters = chosen_filters(case.get("filters"))
    facts = replace(facts_of(case, needed(case, "pod")), pods=_pods(case), test_plugins=(filters,))
    drive = Drive(situation(facts, release)).run(DECIDED)
    return any_of_these("host", case["expected_node"], drive.hosts)


def filter_call_count(case: Case, release: str) -> Outcome:
    """How often the filters run in one cycle."""
    filters = chosen_filters([{"kind": "FailsOn", "fails_on": case.get("filter_fails_on") or ()}])
    facts = replace(facts_of(case, needed(case, "pod")), pods=_pods(case), test_plugins=(filters,))
    here = situation(facts, release)
    Drive(here).run((Phase.SELECT, Phase.FAIL, Phase.REREAD_PREEMPTOR))
    calls = here.model.get(lambda: here.part("filters").calls)
    return differ("filter calls", case["expected_filter_calls"], calls)


# --- table 9 -----------------------------------------------------------------------------------------


def interpod_score(case: Case, release: str) -> Outcome:
    """The normalised scores of inter-pod affinity."""
    weight = case.get("hardPodAffinityWeight")
    config = Config(
        hard_affinity_weight=1 if weight is None else int(weight),
        ignore_preferred_of_existing=bool(case.get("ignorePreferredTermsOfExistingPods")),
    )
    here = situation(replace(facts_of(case, needed(case, "pod")), config=config), release)
    scores, snapshot = here.part("scores"), here.part("snapshot")
    if scores.max_score() != int(case.get("score_scale") or 100):
        return Outcome("SKIP", f"{release} scores on another scale (0 to {scores.max_score()})")
    status, said = scores.pre_score(here.preemptor), case.get("expected_status")
    if said not in (None, "Success", "Skip", "Error"):
        raise NotTranslated(f"expected_status is {said}, not Success, Skip or Error")
    if said == "Error" or status is Code.ERROR:
        return differ("status", said, "Error" if status is Code.ERROR else None)
    feasible = dict.fromkeys(here.nodes.values(), as_expr(True))
    got = here.model.get(lambda: scores.interpod(here.preemptor, feasible, snapshot.placement()))
    found_scores = {n.name: s for n, s in got.items()}
    told = case.get("expected_scores")
    if not told and said != "Skip" and found_scores:
        raise NotTranslated("the case expects neither scores nor Skip nor Error")
    expected = told or dict.fromkeys(found_scores, 0)
    return differ("scores", dict(sorted(expected.items())), dict(sorted(found_scores.items())))


def spread_score(case: Case, release: str) -> Outcome:
    """The normalised scores of topology spread. All nodes are feasible but those that are named as `not_feasible`."""
    here = situation(facts_of(case, needed(case, "pod")), release)
    scores, snapshot = here.part("spread_scores"), here.part("snapshot")
    left_out = set(case.get("not_feasible") or ())
    feasible = {node: as_expr(name not in left_out) for name, node in here.nodes.items()}
    got = here.model.get(lambda: scores.scores(here.preemptor, feasible, snapshot.placement()))
    found = {n.name: s for n, s in got.items() if n.name not in left_out}
    return differ("scores", dict(sorted(case["expected_scores"].items())), dict(sorted(found.items())))


# --- table 10 ----------------------------------------------------------------------------------------


def select_host(case: Case, release: str) -> Outcome:
    """The winners among scored nodes."""
    told = {entry["node"]: int(entry["score"]) for entry in case.get("scores") or ()}
    here = situation(Facts([{"name": n} for n in told], (), {"name": "pod"}), release)
    scores = {here.node(name): as_expr(score) for name, score in told.items()}
    feasible = dict.fromkeys(scores, as_expr(True))
    part = here.part("scores")
    winners = [n.name for n in scores if here.model.get(partial(part.may_win, n, feasible, scores))]
    any_of, fails = case.get("expected_any_of"), case.get("expected_error")
    outcomes = [differ("an error", bool(fails), not winners)] if fails is not None else []
    if any_of is not None or fails is None:
        outcomes.append(any_of_these("host", any_of, winners))
    return first_failure(outcomes)


class SamplingAlone(Model):
    """Nothing but the index of the next node."""

    sampling: Sampling


def _sampling(case: Case, release: str) -> tuple[Concrete, Any]:
    scope = Scope(config=Config(percentage_of_nodes=int(case.get("percentage") or 0)))
    model = Concrete(build(SamplingAlone, Universe({}, scope), sampled_shares(release)))
    return model, model.part("sampling")


def num_feasible(case: Case, release: str) -> Outcome:
    """How many feasible nodes are enough."""
    model, sampling = _sampling(case, release)
    return differ("nodes to find", case["expected"], model.get(lambda: sampling.wanted(case["all_nodes"])))


def rotation(case: Case, release: str) -> Outcome:
    """Where cycle after cycle begins, all nodes being feasible."""
    model, sampling = _sampling(case, release)
    outcomes, starts = [], case["expected_next_start"]
    if len(starts) != int(case["cycles"]):
        raise NotTranslated(f"expected_next_start has {len(starts)} numbers for {case['cycles']} cycles")
    for number in range(int(case["cycles"])):
        found = model.do(lambda: sampling.walk([True] * int(case["all_nodes"])).found)
        outcomes.append(differ(f"nodes found in cycle {number + 1}", case["expected_found_each"], found))
        expected = starts[number]
        outcomes.append(
            differ(f"start after cycle {number + 1}", expected, model.get(lambda: sampling.start))
        )
    return first_failure(outcomes)


def schedule(case: Case, release: str) -> Outcome:
    """A whole cycle with chosen filters and scorers."""
    scorers = case.get("scorers") or ()
    sound = [scorer for scorer in scorers if not fails_always(str(scorer.get("kind")))]
    plugins: tuple[type[Component], ...] = (chosen_filters(case.get("filters")), chosen_scores(sound))
    facts = replace(facts_of(case, needed(case, "pod")), config=Config(scored=True), test_plugins=plugins)
    here = situation(facts, release)
    failed = _filter_fails(here)
    drive = Drive(here)
    if not failed:
        drive.run((Phase.SELECT, *DECIDED))
        if drive.phase is Phase.SELECT and not (len(sound) < len(scorers) and _is_scored(here)):
            drive.run(DECIDED)
    outcomes = []
    any_of, fails = case.get("expected_any_of"), case.get("expected_error")
    expected = case.get("expected_unschedulable_by")
    if any_of is not None:
        outcomes.append(any_of_these("host", any_of, drive.hosts))
    if fails or (expected is None and (any_of is None or fails is not None)):
        # Upstream's rows that name no node and no error still end without one. A diagnosis is an error, too, which not every row says.
        outcomes.append(differ("an error", bool(fails), not drive.hosts))
    if expected is not None:
        found = {} if failed else _rejections(here)
        outcomes.append(differ("rejected by", dict(sorted(expected.items())), found))
    return first_failure(outcomes)


def _filter_fails(here: CaseSituation) -> bool:
    """Whether a filter's status is Error on some node, which ends the cycle without a diagnosis (findNodesThatPassFilters)."""
    filters, snapshot = here.part("filters"), here.part("snapshot")

    def says(node: Node) -> Expr:
        code: Expr = filters.run_with_nominated(here.preemptor, node, snapshot.placement())
        return code

    return any(here.model.get(partial(says, node)) is Code.ERROR for node in here.nodes.values())


def _is_scored(here: CaseSituation) -> bool:
    """Whether scorers are asked, so that one which fails ends the cycle: of a single feasible node they are not (schedulePod)."""
    verdict, nodes = here.part("scheduler").verdict, here.nodes.values()
    feasible = here.model.get(lambda: [verdict[n] == NodeStatus.FEASIBLE for n in nodes])
    return sum(map(bool, feasible)) > 1


def _rejections(here: CaseSituation) -> dict[str, str]:
    found = {}
    if (
        not all(t.valid for t in here.preemptor.terms)
        and INTER_POD_AFFINITY in here.part("filters").plugins()
    ):
        return dict.fromkeys(sorted(here.nodes), INTER_POD_AFFINITY)  # by PreFilter, before any filter runs
    for name, node in sorted(here.nodes.items()):
        said = here.model.get(partial(_rejection, here, node))
        for plugin, rejects in said.items():
            if rejects:
                found[name] = plugin
    return found


def _rejection(here: CaseSituation, node: Node) -> dict[str, Expr]:
    placement = here.part("snapshot").placement()
    said: dict[str, Expr] = here.part("filters").rejected_by(here.preemptor, node, placement)
    return said
