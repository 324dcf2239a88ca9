"""Tables 1 and 2: the dry run of preemption on each node, and the choice among the candidates."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from ..model.environment.objects import Config, Node
from ..model.language import any_of, count
from ..model.scheduler.framework.status import NodeStatus, Phase
from .cluster import Facts, Situation, facts_of, situation, start_number
from .drive import Drive, stand_at
from .extenders import preemption_plugins
from .later import listed, restated
from .outcome import Case, Outcome, any_of_these, differ, first_failure, shown
from .plugins import chosen_filters

AFTER_PREEMPTION = (
    Phase.FAIL,
    Phase.EVICT,
    Phase.CLEAR_NOMINATIONS,
    Phase.NOMINATE,
    Phase.PATCH_NOMINATION,
    Phase.IDLE,
)


def by_name(here: Situation) -> list[Node]:
    """The nodes in the order of their names."""
    return sorted(here.nodes.values(), key=lambda n: n.name)


def dry_runs(case: Case, release: str) -> Outcome:
    """Each cycle is a dry run of its own."""
    outcomes = []
    for number, cycle in enumerate(case["cycles"], 1):
        outcome = _dry_run(case, cycle, release)
        where = f"cycle {number}, " if len(case["cycles"]) > 1 else ""
        outcomes.append(Outcome(outcome.status, outcome.reason and where + outcome.reason))
    return first_failure(outcomes)


def _dry_run(case: Case, cycle: Mapping[str, Any], release: str) -> Outcome:
    filters = chosen_filters(case.get("filters"))
    limits = _candidate_limits(case.get("args") or {}, cycle)
    plugins = (filters, *preemption_plugins(case))
    facts = replace(facts_of(case, cycle["preemptor"]), config=limits, test_plugins=plugins)
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


def _try(here: Situation, node: Node) -> None:
    drive = Drive(here)
    step = next(s for s in drive._steps("scheduler") if s.name == "dry_run")
    drive._take(step, (here.preemptor, node))


def _candidate(here: Situation, node: Node) -> tuple[frozenset[str], int] | None:
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
    facts = facts_of(case, case["preemptor"])
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
