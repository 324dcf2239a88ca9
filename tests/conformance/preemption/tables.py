"""Tables 1 to 5: the dry run of preemption on each node, the choice among the candidates, eligibility, the nodes to try, and
preemption from end to end.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from typing import Any

from podrace.model.environment.objects import Config, Node
from podrace.model.language import any_of, count
from podrace.model.scheduler.framework.status import NodeStatus, Phase
from tests.conformance.cases.case_cluster import CaseSituation, Facts, facts_of, situation, start_number
from tests.conformance.cases.cases import (
    Case,
    NotCovered,
    NotTranslated,
    Outcome,
    any_of_these,
    differ,
    first_failure,
    listed,
    needed,
    restated,
    shown,
)
from tests.conformance.cases.drive import Drive, stand_at
from tests.conformance.cases.preemption_plugins import (
    DISRUPTION_TARGET,
    extenders_fail,
    failing_nodes,
    is_disabled,
    preemption_plugins,
)
from tests.conformance.cases.upstream_plugins import chosen_filters
from tests.conformance.preemption import scenario_tables

AFTER_PREEMPTION = (
    Phase.FAIL,
    Phase.EVICT,
    Phase.CLEAR_NOMINATIONS,
    Phase.NOMINATE,
    Phase.PATCH_NOMINATION,
    Phase.IDLE,
)


def by_name(here: CaseSituation) -> list[Node]:
    """The nodes in the order of their names."""
    return sorted(here.nodes.values(), key=lambda n: n.name)


def dry_runs(case: Case, release: str) -> Outcome:
    """Each cycle is a dry run of its own."""
    if not case["cycles"]:
        raise NotTranslated("the case has no cycles")
    outcomes = []
    for number, cycle in enumerate(case["cycles"], 1):
        outcome = _dry_run(case, number, cycle, release)
        where = f"cycle {number}, " if len(case["cycles"]) > 1 else ""
        outcomes.append(Outcome(outcome.status, outcome.reason and where + outcome.reason))
    return first_failure(outcomes)


def _dry_run(case: Case, number: int, cycle: Mapping[str, Any], release: str) -> Outcome:
    filters = chosen_filters(case.get("filters"))
    limits = _candidate_limits(case.get("args") or {}, cycle)
    plugins = (filters, *preemption_plugins(case))
    preemptor = needed(cycle, "preemptor", f"cycle {number}")
    facts = replace(facts_of({**case, **cycle}, preemptor), config=limits, test_plugins=plugins)
    here = situation(facts, release)
    order = by_name(here)
    offset = int(cycle.get("offset") or 0) % max(1, len(order))
    stand_at(here, Phase.DRY_RUN, None, NodeStatus.REJECTED)
    for node in order[offset:] + order[:offset]:
        if here.model.get(lambda: here.part("scheduler").phase == Phase.DRY_RUN):
            _try(here, node)
    found = {n.name: outcome for n in order if (outcome := _candidate(here, n)) is not None}
    changed = restated(cycle, release) or restated(case, release)
    told = cycle["expected_candidates"] if changed is None else listed(changed[0]) or ()
    expected = {c["node"]: (frozenset(c["victims"]), int(c.get("numPDBViolations") or 0)) for c in told}
    outcomes = [differ("candidates", _sentence(expected), _sentence(found))]
    calls = cycle.get("expected_filter_calls")
    if calls is not None and changed is None:
        outcomes.append(differ("filter calls", calls, here.model.get(lambda: here.part("filters").calls)))
    return first_failure(outcomes)


def _candidate_limits(args: Mapping[str, Any], cycle: Mapping[str, Any]) -> Config:
    if cycle.get("numCandidates") is not None:
        return Config(min_candidates_percentage=0, min_candidates=int(cycle["numCandidates"]))
    given = {name.lower(): int(value) for name, value in args.items() if value is not None}
    return Config(
        min_candidates_percentage=given.get("mincandidatenodespercentage", 10),
        min_candidates=given.get("mincandidatenodesabsolute", 100),
    )


def _try(here: CaseSituation, node: Node) -> None:
    drive = Drive(here)
    step = next(s for s in drive._steps("scheduler") if s.name == "dry_run")
    drive._take(step, (here.preemptor, node))


def _candidate(here: CaseSituation, node: Node) -> tuple[frozenset[str], int] | None:
    scheduler, preemption = here.part("scheduler"), here.part("preemption")
    if not here.model.get(lambda: scheduler.verdict[node] == NodeStatus.CANDIDATE):
        return None
    victims = here.model.get(lambda: preemption.victims_on(node))
    violations = here.model.get(
        lambda: count(preemption.violations(here.preemptor, preemption.victims_on(node), node).values())
    )
    return frozenset(p.name for p, is_victim in victims.items() if is_victim), violations


def _sentence(candidates: Mapping[str, tuple[frozenset[str], int]]) -> str:
    said = [f"{n} ({shown(victims)}, {v} violations)" for n, (victims, v) in sorted(candidates.items())]
    return ", ".join(said) or "none"


def pick_one(case: Case, release: str) -> Outcome:
    """Dry run on all nodes, then the choice."""
    facts = facts_of(case, needed(case, "preemptor"))
    plugins = (chosen_filters(case.get("filters")), *preemption_plugins(case))
    here = situation(replace(facts, test_plugins=plugins), release)
    stand_at(here, Phase.DRY_RUN, None, NodeStatus.REJECTED)
    drive = Drive(here, by_name(here)).run(AFTER_PREEMPTION)
    changed = restated(case, release)
    expected = case["expected_any_of"] if changed is None else listed(changed[0])
    return any_of_these("chosen node", expected, drive.candidates)


def earliest_start(case: Case, release: str) -> Outcome:
    """The earliest start among the most important victims."""
    node = {"name": "node"}
    placed = [{**v, "nodeName": "node"} for v in case["victims"]]
    here = situation(Facts([node], placed, {"name": "preemptor"}), release)
    victims = {p: any_of([True]) for p in here.pods.values() if p is not here.preemptor}
    found = here.model.get(lambda: here.part("preemption").earliest_start(victims))
    return differ("earliest start in milliseconds", start_number(case["expected_start"]), found)


def more_important(case: Case, release: str) -> Outcome:
    """The order of victims."""
    here = situation(Facts([{"name": "node"}], [case["b"]], case["a"]), release)
    a = here.preemptor
    b = next(p for p in here.pods.values() if p is not a)
    found = here.model.get(lambda: here.part("preemption").more_important(a, b))
    return differ("a is more important", bool(case["expected_a_more_important"]), found)


def run(case: Case, release: str) -> Outcome:
    """One case of tables 1 to 5."""
    if case.get("extenders") and (case.get("integration") or "expected_nominated_node" not in case):
        raise NotCovered("extenders are modelled in preemption only")
    kinds = {"earliest_start": earliest_start, "more_important": more_important}
    if case.get("kind") in kinds:
        return kinds[case["kind"]](case, release)
    if not case.get("nodes") and "expected_eligible" not in case:
        raise NotTranslated("the case has no `nodes`")
    expectations = {
        "cycles": dry_runs,
        "expected_eligible": eligible,
        "expected_candidate_nodes": might_help,
        "expected_any_of": pick_one,
        "expected_nominated_node": preempt,
        "expected_evicted": preempt,
    }
    for field, check in expectations.items():
        if field in case:
            told = next((name for name in ("steps", "expected") if case.get(name) is not None), None)
            if told is not None:
                raise NotTranslated(f"nobody compares {told} beside {field}")
            if is_disabled(case) and check is not preempt:
                raise NotTranslated(f"{field} without preemption")
            return check(case, release)
    return scenario_tables.run(case, release)


# --- who may preempt, and where ----------------------------------------------------------------------


def eligible(case: Case, release: str) -> Outcome:
    """Whether the preemptor may preempt at all."""
    here = situation(facts_of(case, needed(case, "preemptor")), release)
    nominated = case["preemptor"].get("nominatedNodeName") or ""
    status = case.get("nominatedNodeStatus")
    told = {nominated: _status(status)} if status is not None else None
    stand_at(here, Phase.REREAD_PREEMPTOR, told, NodeStatus.UNTRIED)
    preemption, target = here.part("preemption"), here.nodes.get(nominated)
    found = here.model.get(lambda: preemption.eligible(here.preemptor, target))
    return differ("eligible", case["expected_eligible"], found)


def might_help(case: Case, release: str) -> Outcome:
    """The nodes that are worth a dry run."""
    here = situation(Facts(case["nodes"], (), {"name": "preemptor"}), release)
    statuses = {name: _status(said) for name, said in case["statuses"].items()}
    stand_at(here, Phase.DRY_RUN, statuses, NodeStatus.UNTRIED)
    preemption = here.part("preemption")
    found = {name for name, n in here.nodes.items() if here.model.get(partial(preemption.might_help, n))}
    return differ("nodes to try", set(case["expected_candidate_nodes"]), found)


def _status(said: Any) -> str:
    return str(said["code"] if isinstance(said, Mapping) else said)


# --- from end to end ---------------------------------------------------------------------------------


def preempt(row: Case, release: str) -> Outcome:
    """From PostFilter, or for integration rows from Pop, to the nomination. What the case does not tell is not compared."""
    case = _as_of(row, release)
    whole = bool(case.get("integration"))
    here, drive, failed = _preempt(case, facts_of(case, needed(case, "preemptor")), release, whole)
    outcomes = []
    if "expected_nominated_node" in case:
        expected = case["expected_nominated_node"] or None
        outcomes.append(any_of_these("nominated node", expected, drive.candidates))
        if whole:
            outcomes.append(differ("status.nominatedNodeName", expected, _nomination(here)))
    if case.get("expected_evicted") is not None:
        outcomes.append(differ("evicted", set(case["expected_evicted"]), set(drive.evicted)))
    status = case.get("expected_status")
    if status is not None:
        found = "Success" if drive.candidates else "Error" if failed else "Unschedulable"
        outcomes.append(differ("status", _status(status).partition(":")[0], found))
    if case.get("expected_reason_counts"):
        outcomes.append(_reasons(case, here))
    if case.get("second_round"):
        outcomes.append(_second_round(case, drive, release))
    if not outcomes:
        raise NotTranslated("the case expects nothing")
    return first_failure(outcomes)


def _as_of(case: Case, release: str) -> Case:
    """The case with the end that it states anew for the release, such as `{nominated_node, evicted}`."""
    changed = restated(case, release)
    if changed is None:
        return case
    if not isinstance(changed[0], Mapping):
        raise NotTranslated(f"the end {changed[0]} instead of an object with a nominated node")
    end = {"expected_" + name.removeprefix("expected_"): value for name, value in changed[0].items()}
    return {**case, **end}


def _preempt(case: Case, facts: Facts, release: str, whole: bool) -> tuple[CaseSituation, Drive, bool]:
    """The situation at the end, the run, and whether PostFilter gave up with an error."""
    plugins = (chosen_filters(case.get("filters")), *preemption_plugins(case))
    here = situation(replace(facts, test_plugins=plugins), release)
    hoped = here.nodes.get(case.get("expected_nominated_node") or "")
    drive = Drive(here, by_name(here), hoped)
    if whole:
        return here, drive.run((Phase.IDLE, Phase.ASSUMED)), False
    statuses = case.get("filteredNodeStatuses")
    told = {name: _status(said) for name, said in (statuses or {}).items()}
    # A row without statuses is about what follows the filters: every node was rejected.
    unsaid = NodeStatus.REJECTED if statuses is None else NodeStatus.UNTRIED
    stand_at(here, Phase.REREAD_PREEMPTOR, told, unsaid)
    scheduler, preemption = here.part("scheduler"), here.part("preemption")

    def try_what_might_help() -> None:
        for node in here.nodes.values():
            untried = scheduler.verdict[node] == NodeStatus.UNTRIED
            if here.model._plain(untried & preemption.might_help(node)):
                scheduler.verdict[node] = NodeStatus.REJECTED

    here.model.do(try_what_might_help)
    failed = _fails(case, here)
    return here, drive.run((Phase.FAIL, Phase.IDLE)), failed


def _fails(case: Case, here: CaseSituation) -> bool:
    """Whether, without a candidate, PostFilter's status is Error: a plugin failed on a node with victims (DryRunPreemption collects
    such errors, and Preempt returns them if there is no candidate), or an extender whose errors count did.
    """
    failing = failing_nodes(case)
    if not failing and not case.get("extenders"):
        return False
    preemption, pod = here.part("preemption"), here.preemptor
    candidates = []
    for name, node in here.nodes.items():
        if not here.model.get(partial(preemption.might_help, node)):
            continue
        if name in failing:
            if any(here.model.get(partial(preemption.potential_victims, pod, node)).values()):
                return True
        elif here.model.get(partial(_is_candidate, here, node)):
            candidates.append(name)
    return extenders_fail(case, candidates)


def _is_candidate(here: CaseSituation, node: Node) -> Any:
    """What the dry run says of a node."""
    return here.part("preemption").dry_run(here.preemptor, node)[0]


def _nomination(here: CaseSituation) -> str | None:
    node = here.model.get(lambda: here.part("api").pod[here.preemptor].nominated)
    return None if node is None else str(node.name)


def _reasons(case: Case, here: CaseSituation) -> Outcome:
    found: dict[str, int] = {}
    for node in here.nodes.values():
        said = here.model.get(partial(here.part("preemption").reasons, here.preemptor, node))
        for reason, given in said.items():
            if given:
                found[reason] = found.get(reason, 0) + 1
    expected = {_reason(text): number for text, number in case["expected_reason_counts"].items()}
    return differ("reasons", dict(sorted(expected.items())), dict(sorted(found.items())))


def _reason(text: str) -> str:
    words = text.lower().replace("_", " ")
    if "help" in words or "unresolv" in words:
        return "not helpful"
    if "victim" in words:
        return "no victims"
    if "too many pods" in words:
        return "insufficient pods"
    return words


def _second_round(case: Case, drive: Drive, release: str) -> Outcome:
    gone = set(drive.evicted)
    node = drive.candidates[0] if drive.candidates else ""
    again = replace(
        facts_of(case, {**case["preemptor"], "nominatedNodeName": node}),
        pods=[
            {**p, "terminating": True, "conditions": [DISRUPTION_TARGET]} if p.get("name") in gone else p
            for p in case["pods"]
        ],
    )
    _, second, _ = _preempt(case, again, release, bool(case.get("integration")))
    if case["second_round"].get("expect_no_new_evictions", True):
        return differ("evicted in the second round", set(), set(second.evicted))
    return differ("evictions in the second round", True, bool(second.evicted))
