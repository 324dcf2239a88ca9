"""Which runner a case goes to, and what comes out of it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from podrace.base.text import one_line
from podrace.model.history.versions import PATCH_VERSIONS, exact, version_of
from tests.conformance import claim_tables, scheduling_tables
from tests.conformance.cache import tables as cache_tables
from tests.conformance.cases.cases import (
    Case,
    CaseTable,
    Differs,
    NotCovered,
    NotTranslated,
    Outcome,
    Runner,
    applies,
    ill_formed,
)
from tests.conformance.cases.preemption_plugins import refuse_unclear_switches, switches_of_preemption
from tests.conformance.cases.read_fields import refuse_unread_fields
from tests.conformance.cases.shapes import refuse_malformed
from tests.conformance.preemption import tables as preemption_tables
from tests.conformance.queue import order_backoff
from tests.conformance.queue import tables as queue_tables

RUNNERS: dict[str, Runner] = {
    "preemption": preemption_tables.run,
    "scheduling": scheduling_tables.run,
    "queue": queue_tables.run,
    "cache": cache_tables.run,
    "order_backoff": order_backoff.run,
    "claims": claim_tables.run,
}

KINDS = {
    "earliest_start": "preemption", "more_important": "preemption",
    "nominated_filter": "scheduling", "prefer_nominated": "scheduling", "filter_call_count": "scheduling",
    "select_host": "scheduling", "num_feasible": "scheduling", "rotation": "scheduling", "schedule": "scheduling",
    "spread_score": "scheduling",
    "event_match": "queue", "less": "order_backoff", "backoff": "order_backoff", "options": "order_backoff",
    "claims": "claims",
}  # fmt: skip

FIELDS = {
    "expected_scores": "scheduling", "cycles": "preemption", "expected_eligible": "preemption",
    "expected_candidate_nodes": "preemption", "expected_nominated_node": "preemption",
    "expected_evicted": "preemption", "expected_any_of": "preemption", "steps": "preemption",
    "expected": "preemption",
}  # fmt: skip

CACHE_OPERATIONS = frozenset({
    "assume", "forget", "add_pod", "remove_pod", "update_pod", "finish_binding", "cleanup", "add_node",
    "update_node", "remove_node", "update_snapshot",
})  # fmt: skip


EXPECTATIONS = {
    "preemption": {
        "expected_any_of", "expected_start", "expected_a_more_important", "expected_eligible",
        "expected_candidate_nodes", "expected_nominated_node", "expected_evicted", "expected_status",
        "expected_reason_counts", "expected",
    },
    "scheduling": {
        "expected", "expected_any_of", "expected_error", "expected_filter_calls", "expected_found_each",
        "expected_next_start", "expected_node", "expected_scores", "expected_status", "expected_unschedulable_by",
    },
    "queue": {"expected_incoming", "expected_match"},
    "cache": set(),
    "order_backoff": {"expected_a_first", "expected_ns", "expected_initial_s", "expected_max_s"},
    "claims": {"expected"},
}  # fmt: skip
"""What each runner compares. A case that expects more than that must not pass."""


def home_of(case: Case, table: str) -> str | None:
    """The name of a case's runner: by its kind, or else by what it expects."""
    kind = case.get("kind")
    if kind == "ops" or (kind is None and "ops" in case):
        return "cache" if "cache" in table.lower() or _is_about_cache(case) else "queue"
    if kind in KINDS:
        return KINDS[kind]
    return next((home for field, home in FIELDS.items() if field in case), None)


def _is_about_cache(case: Case) -> bool:
    ops = case.get("ops") or ()
    names = {op.get("op") or op.get("kind") or next(iter(op), "") for op in ops if isinstance(op, Mapping)}
    return bool(names & CACHE_OPERATIONS)


def run_case(case: Case, table: str, release: str) -> Outcome:
    """Run one case; whatever goes wrong is a failure with its reason.

    A row says of a release what the last of its patch versions does, where it names no patch version: what the first version does not
    do, but the newest one does that the model has, passes, and the outcome says so.
    """
    found = _run(case, table, release)
    newest = _newest_of(release)
    if found.status != "FAIL" or newest is None:
        return found
    later = _run(case, table, newest)
    if later.status != "PASS":
        return found
    return Outcome("PASS", one_line(f"as {newest} does it; not yet {exact(release)}: {found.reason}", 300))


def _newest_of(release: str) -> str | None:
    known = [v for v in PATCH_VERSIONS if v.startswith(f"{release}.")]
    return max(known, key=version_of, default=None)


def _run(case: Case, table: str, release: str) -> Outcome:
    try:
        if not _applies(case, release):
            return Outcome("SKIP", f"does not apply to {release}: {_releases(case)}")
        refuse_malformed(case)
        home = home_of(case, table)
        if home is None:
            raise NotTranslated(f"no runner for {_subject(case)}")
        _refuse_other_expectations(case, home)
        if home == "preemption":
            refuse_unclear_switches(case)
        if not _is_scenario(case, home):
            refuse_unread_fields(case, home, switches_of_preemption(case))
        found = RUNNERS[home](case, release)
        return Outcome(found.status, one_line(found.reason, 300))
    except NotCovered as reason:
        return Outcome("SKIP", one_line(f"not covered: {reason}", 200))
    except NotTranslated as reason:
        return Outcome("FAIL", one_line(f"not translated: {reason}", 300))
    except Differs as difference:
        return Outcome("FAIL", one_line(str(difference), 300))
    except KeyError as error:
        return Outcome("FAIL", one_line(f"the case names no {error}", 300))
    except Exception as error:
        return Outcome("FAIL", f"not translated: {ill_formed(error)}")


def _applies(case: Case, release: str) -> bool:
    try:
        return applies(case, release)
    except (AttributeError, TypeError, ValueError):
        raise NotTranslated("`applies_to` must be {min, max} with versions such as 1.22, or null") from None


def _refuse_other_expectations(case: Case, home: str) -> None:
    for name, value in case.items():
        known = name in EXPECTATIONS.get(home, ()) or name.startswith("expected_from_")
        if name.startswith("expected") and value is not None and not known:
            raise NotTranslated(f"nobody compares {name}")


def _is_scenario(case: Case, home: str) -> bool:
    """Whether the row is a scenario, whose fields are free: its reader refuses what it does not understand."""
    table = any(FIELDS.get(name) == home and name not in ("expected", "steps") for name in case)
    return home == "preemption" and case.get("kind") is None and not table


def _subject(case: Case) -> str:
    if case.get("kind") is not None:
        return f"kind {case['kind']}"
    return f"a case with the fields {', '.join(sorted(map(str, case)))}"


def _releases(case: Case) -> str:
    bounds = case.get("applies_to") or {}
    low, high = bounds.get("min"), bounds.get("max")
    if low is None:
        return f"up to {high}"
    return f"from {low}" if high is None else f"{low} to {high}"


def run_table(table: CaseTable, release: str) -> Iterator[tuple[str, Outcome]]:
    """Run every case of a table, in order."""
    for case in table.cases:
        yield case["id"], run_case(case, table.name, release)
