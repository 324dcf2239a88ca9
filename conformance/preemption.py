"""Tables 1 to 5: dry run and choice (`dry_run`), eligibility, nodes to try, and preemption from end to end."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from typing import Any

from ..model.scheduler.framework.status import NodeStatus, Phase
from .cluster import Facts, Situation, facts_of, situation
from .drive import Drive, stand_at
from .dry_run import by_name, dry_runs, earliest_start, more_important, pick_one
from .extenders import preemption_plugins
from .later import restated
from .outcome import Case, NotCovered, NotTranslated, Outcome, any_of_these, differ, first_failure
from .plugins import chosen_filters


def run(case: Case, release: str) -> Outcome:
    """One case of tables 1 to 5."""
    if case.get("extenders") and (case.get("integration") or "expected_nominated_node" not in case):
        raise NotCovered("extenders are modelled in preemption only")
    kinds = {"earliest_start": earliest_start, "more_important": more_important}
    if case.get("kind") in kinds:
        return kinds[case["kind"]](case, release)
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
            return check(case, release)
    raise NotTranslated("a scenario of its own: neither one preemptor's end nor a dry run")


# --- who may preempt, and where ----------------------------------------------------------------------


def eligible(case: Case, release: str) -> Outcome:
    """Whether the preemptor may preempt at all."""
    here = situation(facts_of(case, case["preemptor"]), release)
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
    """From PostFilter, or for integration rows from Pop, to the nomination."""
    case = _as_of(row, release)
    whole = bool(case.get("integration"))
    here, drive = _preempt(case, facts_of(case, case["preemptor"]), release, whole)
    expected = case.get("expected_nominated_node") or None
    outcomes = [
        any_of_these("nominated node", expected, drive.candidates),
        differ("evicted", set(case.get("expected_evicted") or ()), set(drive.evicted)),
    ]
    if whole:
        outcomes.append(differ("status.nominatedNodeName", expected, _nomination(here)))
    status = case.get("expected_status")
    if status is not None:
        found = "Success" if drive.candidates else "Unschedulable"
        outcomes.append(differ("status", str(status).partition(":")[0], found))
    if case.get("expected_reason_counts"):
        outcomes.append(_reasons(case, here))
    if case.get("second_round"):
        outcomes.append(_second_round(case, drive, release))
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


def _preempt(case: Case, facts: Facts, release: str, whole: bool) -> tuple[Situation, Drive]:
    plugins = (chosen_filters(case.get("filters")), *preemption_plugins(case))
    here = situation(replace(facts, test_plugins=plugins), release)
    hoped = here.nodes.get(case.get("expected_nominated_node") or "")
    drive = Drive(here, by_name(here), hoped)
    if whole:
        return here, drive.run((Phase.IDLE, Phase.ASSUMED))
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
    return here, drive.run((Phase.FAIL, Phase.IDLE))


def _nomination(here: Situation) -> str | None:
    node = here.model.get(lambda: here.part("api").pod[here.preemptor].nominated)
    return None if node is None else str(node.name)


def _reasons(case: Case, here: Situation) -> Outcome:
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
    if "helpful" in words:
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
        pods=[{**p, "terminating": True} if p.get("name") in gone else p for p in case["pods"]],
    )
    _, second = _preempt(case, again, release, bool(case.get("integration")))
    if case["second_round"].get("expect_no_new_evictions", True):
        return differ("evicted in the second round", set(), set(second.evicted))
    return Outcome("PASS")
