"""Tables 1 to 5: dry run, choice, eligibility, nodes to try, and preemption from end to end."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

from ...model.environment.objects import Config, Node
from ...model.language import any_of, count
from ...model.scheduler.verdicts import NodeVerdict, Phase
from .cluster import Facts, NotCovered, Situation, facts_of, situation, start_number
from .drive import Drive, stand_at
from .outcome import Case, Outcome, version
from .plugins import chosen_filters

AFTER_PREEMPTION = (
    Phase.FAIL,
    Phase.EVICT,
    Phase.CLEAR_NOMINATIONS,
    Phase.NOMINATE,
    Phase.PATCH_NOMINATION,
    Phase.IDLE,
)


def differ(what: str, expected: Any, found: Any) -> Outcome:
    """A failed comparison, or a pass."""
    if expected == found:
        return Outcome("PASS")
    return Outcome("FAIL", f"{what}: expected {_show(expected)}, the model gives {_show(found)}")


def first_failure(outcomes: Sequence[Outcome]) -> Outcome:
    """The first that is no pass."""
    return next((o for o in outcomes if o.status != "PASS"), Outcome("PASS"))


def _show(value: Any) -> str:
    if isinstance(value, (set, frozenset)):
        return "{" + ", ".join(sorted(map(str, value))) + "}"
    return "none" if value is None else str(value)


UNCHANGED = object()


def later(case: Case, release: str) -> Any:
    """What a case expects from a later release on (`expected_from_1_22`), if the release is as late."""
    found: Any = UNCHANGED
    for key in sorted(case, key=_since):
        if key.startswith(_FROM) and version(release) >= _since(key):
            found = case[key]
    return found


_FROM = "expected_from_"


def _since(key: str) -> tuple[int, ...]:
    return version(key.removeprefix(_FROM).replace("_", ".")) if key.startswith(_FROM) else ()


def _inner(value: Any) -> Any:
    """The list in a note such as `{candidates: [...], note: ...}`, or the value itself."""
    if not isinstance(value, Mapping):
        return value
    return next((v for v in value.values() if isinstance(v, list)), None)


def run(case: Case, release: str) -> Outcome:
    """One case of tables 1 to 5."""
    kind = case.get("kind")
    if kind == "earliest_start":
        return earliest_start(case, release)
    if kind == "more_important":
        return more_important(case, release)
    if case.get("eligibility_hook"):
        raise NotCovered("custom eligibility hooks are not modelled")
    if case.get("extenders"):
        raise NotCovered("extenders are not modelled")
    if "cycles" in case:
        return dry_runs(case, release)
    if "expected_eligible" in case:
        return eligible(case, release)
    if "expected_candidate_nodes" in case:
        return might_help(case, release)
    if "expected_any_of" in case:
        return pick_one(case, release)
    if "expected_nominated_node" in case or "expected_evicted" in case:
        return preempt(case, release)
    raise NotCovered("a scenario in steps of its own is not translated")


# --- dry run and choice ------------------------------------------------------------------------------


def by_name(here: Situation) -> list[Node]:
    """The nodes in the order of their names."""
    return sorted(here.nodes.values(), key=lambda n: n.name)


def dry_runs(case: Case, release: str) -> Outcome:
    """Each cycle is a dry run of its own."""
    if case.get("uses_topology_spread"):
        raise NotCovered("PodTopologySpread is not modelled")
    outcomes = []
    for number, cycle in enumerate(case["cycles"], 1):
        outcome = _dry_run(case, cycle, release)
        where = f"cycle {number}, " if len(case["cycles"]) > 1 else ""
        outcomes.append(Outcome(outcome.status, outcome.reason and where + outcome.reason))
    return first_failure(outcomes)


def _dry_run(case: Case, cycle: Mapping[str, Any], release: str) -> Outcome:
    filters = chosen_filters(case.get("filters") or ())
    facts = replace(
        facts_of(case, cycle["preemptor"]), config=_candidate_limits(case, cycle), test_plugins=(filters,)
    )
    here = situation(facts, release)
    order = by_name(here)
    offset = int(cycle.get("offset") or 0) % max(1, len(order))
    stand_at(here, Phase.DRY_RUN, None, NodeVerdict.REJECTED)
    for node in order[offset:] + order[:offset]:
        if here.model.get(lambda: here.part("scheduler").phase == Phase.DRY_RUN):
            _try(here, node)
    found = {n.name: outcome for n in order if (outcome := _candidate(here, n)) is not None}
    changed = later(case, release)
    told = cycle["expected_candidates"] if changed is UNCHANGED else _inner(changed) or ()
    expected = {c["node"]: (frozenset(c["victims"]), int(c.get("numPDBViolations") or 0)) for c in told}
    outcomes = [differ("candidates", _sentence(expected), _sentence(found))]
    calls = cycle.get("expected_filter_calls")
    if calls is not None and changed is UNCHANGED:
        outcomes.append(differ("filter calls", calls, here.model.get(lambda: here.part("filters").calls)))
    return first_failure(outcomes)


def _candidate_limits(case: Case, cycle: Mapping[str, Any]) -> Config:
    args = case.get("args") or {}
    percentage = args.get("minCandidateNodesPercentage", args.get("MinCandidateNodesPercentage", 10))
    absolute = args.get("minCandidateNodesAbsolute", args.get("MinCandidateNodesAbsolute", 100))
    if cycle.get("numCandidates") is not None:
        percentage, absolute = 0, int(cycle["numCandidates"])
    return Config(min_candidates_percentage=int(percentage), min_candidates=int(absolute))


def _try(here: Situation, node: Node) -> None:
    drive = Drive(here)
    step = next(s for s in drive._steps("scheduler") if s.name == "dry_run")
    drive._take(step, (here.preemptor, node))


def _candidate(here: Situation, node: Node) -> tuple[frozenset[str], int] | None:
    scheduler, preemption = here.part("scheduler"), here.part("preemption")
    if not here.model.get(lambda: scheduler.verdict[node] == NodeVerdict.CANDIDATE):
        return None
    victims = here.model.get(lambda: preemption.victims_on(node))
    violations = here.model.get(
        lambda: count(preemption.violations(here.preemptor, preemption.victims_on(node), node).values())
    )
    return frozenset(p.name for p, is_victim in victims.items() if is_victim), violations


def _sentence(candidates: Mapping[str, tuple[frozenset[str], int]]) -> str:
    shown = [f"{n} ({_show(victims)}, {v} violations)" for n, (victims, v) in sorted(candidates.items())]
    return ", ".join(shown) or "none"


def pick_one(case: Case, release: str) -> Outcome:
    """Dry run on all nodes, then the choice."""
    facts = facts_of(case, case["preemptor"])
    here = situation(replace(facts, test_plugins=(chosen_filters(case.get("filters") or ()),)), release)
    stand_at(here, Phase.DRY_RUN, None, NodeVerdict.REJECTED)
    drive = Drive(here, by_name(here)).run(AFTER_PREEMPTION)
    changed = later(case, release)
    expected = case["expected_any_of"] if changed is UNCHANGED else _inner(changed)
    return any_of_these("chosen node", expected, drive.candidates)


def any_of_these(what: str, expected: Sequence[str] | str | None, found: Sequence[str]) -> Outcome:
    """Every node that the model lets win is one of those expected, and there is one if any is."""
    allowed = {expected} if isinstance(expected, str) else {e for e in expected or () if e}
    if set(found) <= allowed and bool(found) == bool(allowed):
        return Outcome("PASS")
    return Outcome("FAIL", f"{what}: expected {_show(allowed)}, the model lets {_show(set(found))} win")


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


# --- who may preempt, and where ----------------------------------------------------------------------


def eligible(case: Case, release: str) -> Outcome:
    """Whether the preemptor may preempt at all."""
    here = situation(facts_of(case, case["preemptor"]), release)
    nominated = case["preemptor"].get("nominatedNodeName") or ""
    status = case.get("nominatedNodeStatus")
    told = {nominated: status} if status is not None else None
    stand_at(here, Phase.REREAD_PREEMPTOR, told, NodeVerdict.UNTRIED)
    preemption, target = here.part("preemption"), here.nodes.get(nominated)
    found = here.model.get(lambda: preemption.eligible(here.preemptor, target))
    return differ("eligible", case["expected_eligible"], found)


def might_help(case: Case, release: str) -> Outcome:
    """The nodes that are worth a dry run."""
    here = situation(Facts(case["nodes"], (), {"name": "preemptor"}), release)
    statuses = {name: _status(said) for name, said in case["statuses"].items()}
    stand_at(here, Phase.DRY_RUN, statuses, NodeVerdict.UNTRIED)
    preemption = here.part("preemption")
    found = {name for name, n in here.nodes.items() if here.model.get(partial(preemption.might_help, n))}
    return differ("nodes to try", set(case["expected_candidate_nodes"]), found)


def _status(said: Any) -> str:
    return str(said["code"] if isinstance(said, Mapping) else said)


# --- from end to end ---------------------------------------------------------------------------------


def preempt(case: Case, release: str) -> Outcome:
    """From PostFilter, or for integration rows from Pop, to the nomination."""
    if "preemptor" not in case or "nodes" not in case:
        raise NotCovered("a scenario in steps of its own is not translated")
    whole = bool(case.get("integration"))
    here, drive = _preempt(case, facts_of(case, case["preemptor"]), release, whole)
    expected = case.get("expected_nominated_node")
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


def _preempt(case: Case, facts: Facts, release: str, whole: bool) -> tuple[Situation, Drive]:
    here = situation(replace(facts, test_plugins=(chosen_filters(case.get("filters") or ()),)), release)
    hoped = here.nodes.get(case.get("expected_nominated_node") or "")
    drive = Drive(here, by_name(here), hoped)
    if whole:
        return here, drive.run((Phase.IDLE, Phase.ASSUMED))
    told = {name: _status(said) for name, said in (case.get("filteredNodeStatuses") or {}).items()}
    stand_at(here, Phase.REREAD_PREEMPTOR, told, NodeVerdict.UNTRIED)
    scheduler, preemption = here.part("scheduler"), here.part("preemption")

    def try_what_might_help() -> None:
        for node in here.nodes.values():
            untried = scheduler.verdict[node] == NodeVerdict.UNTRIED
            if here.model._plain(untried & preemption.might_help(node)):
                scheduler.verdict[node] = NodeVerdict.REJECTED

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
