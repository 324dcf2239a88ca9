"""Which fields of a case its runner reads. What nobody reads must not be passed over, because the case may mean something by it.

Text is a remark, and so is what says nothing (null, false, empty); any other field has to be known.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from typing import Any

from podrace.base.text import one_line
from tests.conformance.cases.cases import REMARKS, Case, NotTranslated, says_nothing
from tests.conformance.cases.nominations import nomination_fields
from tests.conformance.cases.preemption_plugins import ERROR_FIELD

_EVERYWHERE = {"id", "kind", "source", "applies_to", "notes"}
_REMARK = re.compile(r"(expected|note|derived|behaviour_before|uses_|era$)", re.IGNORECASE)
"""Fields that restate or explain. Whether somebody compares what is expected is asked elsewhere."""

_CLUSTER = {"nodes", "pods", "pdbs", "namespaces"}
_PREEMPTION = {
    *_CLUSTER, "preemptor", "filters", "cycles", "args", "parallelism", "eligibility_hook", "nominatedNodeStatus", "statuses",
    "filteredNodeStatuses", "extenders", "second_round", "integration", "victims", "a", "b",
}  # fmt: skip
_OF_KIND: Mapping[str, Collection[str]] = {
    "nominated_filter": {"node", "podsOnNode", "pod", "stub_on_add_nominated", "stub_filter"},
    "prefer_nominated": {*_CLUSTER, "podsOnNode", "pod", "filters", "integration"},
    "filter_call_count": {*_CLUSTER, "podsOnNode", "pod", "filter_fails_on"},
    "select_host": {"scores"}, "num_feasible": {"percentage", "all_nodes"},
    "rotation": {"percentage", "all_nodes", "cycles"},
    "schedule": {*_CLUSTER, "pod", "filters", "scorers"},
    "spread_score": {*_CLUSTER, "pod", "not_feasible"},
    "event_match": {"event", "registrations", "event_registrations", "unschedulable_plugins"},
}  # fmt: skip
_OF_HOME: Mapping[str, Collection[str]] = {
    "preemption": _PREEMPTION,
    "scheduling": {
        *_CLUSTER, "pod", "hardPodAffinityWeight", "ignorePreferredTermsOfExistingPods", "score_scale",
    },
    "queue": {
        "params", "pods", "known_pods", "groups", "registrations", "event_registrations", "ops", "unschedulable_plugins",
    },
    "cache": {"params", "pods", "nodes", "ops"},
    "order_backoff": {"a", "b", "initial_ns", "max_ns", "attempts", "initial_s", "max_s"},
    "claims": {
        "cluster", "for", "in_flight", "selected", "missing", "deleting", "named", "written", "deallocated", "fails", "then", "gates",
    },
}  # fmt: skip
CYCLE = {"preemptor", "offset", "numCandidates"}


def refuse_unread(at: str, facts: Mapping[str, Any], read: Collection[str]) -> None:
    """Raises NotTranslated for the first field that says something and is none of these."""
    for name, value in facts.items():
        said = not says_nothing(value) and not isinstance(value, str)
        if said and name not in read and name not in REMARKS and not _REMARK.match(name):
            raise NotTranslated(f"nobody reads {one_line(f'{at}{name}', 80)}")


def refuse_unread_fields(case: Case, home: str, more: Collection[str] = ()) -> None:
    """The same for a case, by its kind or else its runner; `more` is read, too."""
    if home not in _OF_HOME:
        return
    read = {*_EVERYWHERE, *_OF_KIND.get(case.get("kind") or "", _OF_HOME[home]), *more}
    if home in ("preemption", "scheduling"):
        read.update(nomination_fields(case))
    if home == "preemption":
        read.update(name for name in case if ERROR_FIELD.match(name))
    refuse_unread("", case, read)
    cycles = case.get("cycles")
    for number, cycle in enumerate(cycles if home == "preemption" and isinstance(cycles, list) else (), 1):
        refuse_unread(f"cycles[{number - 1}].", cycle, {*CYCLE, *nomination_fields(cycle)})
