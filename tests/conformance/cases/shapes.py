"""What the fields of a case must look like. A value of another form is named with its place, before anything is played."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from math import isfinite
from typing import Any

from podrace.base.text import one_line
from tests.conformance.cases.cases import Case, NotTranslated, says_nothing
from tests.conformance.cases.nominations import is_bare, is_wrapped, nomination_fields
from tests.conformance.cases.read_fields import refuse_unread

Shape = Callable[[str, Any], None]
"""Looks at a value at a place; raises NotTranslated."""

LARGEST = 1 << 63
MOST = 100_000
"""How many of anything a case may count up to: what is counted is made, one by one."""


def _refuse(at: str, value: Any, wanted: str) -> None:
    raise NotTranslated(f"{at} is {one_line(repr(value), 40)}, not {wanted}")


def text(at: str, value: Any) -> None:
    """A text."""
    if not isinstance(value, str):
        _refuse(at, value, "a text")


def number(at: str, value: Any) -> None:
    """A number that 64 bits can hold."""
    numeric = isinstance(value, (int, float)) and not isinstance(value, bool)
    if not numeric or not isfinite(value) or abs(value) > LARGEST:
        _refuse(at, value, "a number")


def whole(at: str, value: Any) -> None:
    """A whole number that 64 bits can hold."""
    number(at, value)
    if value != int(value):
        _refuse(at, value, "a whole number")


def natural(at: str, value: Any) -> None:
    """A number that is not below zero."""
    number(at, value)
    if value < 0:
        _refuse(at, value, "a number from 0 on")


def counted(at: str, value: Any) -> None:
    """How many there are of something that is made one by one."""
    whole(at, value)
    if not 0 <= value <= MOST:
        _refuse(at, value, f"a number from 0 to {MOST}")


def whole_natural(at: str, value: Any) -> None:
    """A whole number that is not below zero."""
    whole(at, value)
    natural(at, value)


def flag(at: str, value: Any) -> None:
    """True or false."""
    if not isinstance(value, bool):
        _refuse(at, value, "true or false")


def anything(at: str, value: Any) -> None:
    """Whatever it is."""


def either(*shapes: Shape, wanted: str) -> Shape:
    """One of several forms."""

    def look(at: str, value: Any) -> None:
        for shape in shapes:
            try:
                shape(at, value)
            except NotTranslated:
                continue
            return
        _refuse(at, value, wanted)

    return look


def listed(of: Shape) -> Shape:
    """A list."""

    def look(at: str, value: Any) -> None:
        if not isinstance(value, list):
            _refuse(at, value, "a list")
        for index, entry in enumerate(value):
            of(f"{at}[{index}]", entry)

    return look


def mapped(of: Shape) -> Shape:
    """An object whose fields are names of the case's own."""

    def look(at: str, value: Any) -> None:
        if not isinstance(value, Mapping):
            _refuse(at, value, "an object")
        for name, entry in value.items():
            of(f"{at}.{one_line(str(name))}", entry)

    return look


def fields(known: Mapping[str, Shape], needed: Sequence[str] = ()) -> Shape:
    """An object with these fields, of which only those needed may be null or left out. It may have others."""

    def look(at: str, value: Any) -> None:
        if not isinstance(value, Mapping):
            _refuse(at, value, "an object")
        for name in needed:
            if value.get(name) is None:
                raise NotTranslated(f"{at or 'the case'} has no `{name}`")
        for name, shape in known.items():
            if value.get(name) is not None:
                shape(f"{at}.{name}" if at else name, value[name])

    return look


def closed(known: Mapping[str, Shape], needed: Sequence[str] = ()) -> Shape:
    """An object with these fields and no others that say something: each would change what it means."""
    look = fields(known, needed)

    def all_known(at: str, value: Any) -> None:
        look(at, value)
        refuse_unread(f"{at}.", value, known)

    return all_known


def one_of(*words: str) -> Shape:
    """One of these texts."""

    def look(at: str, value: Any) -> None:
        if value not in words:
            _refuse(at, value, f"one of {', '.join(filter(None, words))}")

    return look


def optional(of: Shape) -> Shape:
    """The same, or null."""
    return lambda at, value: None if value is None else of(at, value)


def list_or_map(of: Shape) -> Shape:
    """A list, or an object by name."""
    return lambda at, value: (mapped(of) if isinstance(value, Mapping) else listed(of))(at, value)


# --- the common objects ------------------------------------------------------------------------------------

LABELS = mapped(text)
AMOUNTS = {
    "cpu_milli": number, "memory_bytes": number, "ephemeral_bytes": number, "extended": mapped(number),
}  # fmt: skip
OPERATOR = one_of("In", "NotIn", "Exists", "DoesNotExist", "Gt", "Lt")
REQUIREMENT = closed({"key": text, "operator": OPERATOR, "values": listed(text)}, ["key", "operator"])
SELECTOR = closed({"matchLabels": LABELS, "matchExpressions": listed(REQUIREMENT)})
TAINT = fields({"key": text, "value": text, "effect": text})
NODE = fields(
    {
        "name": text, "allocatable": fields({**AMOUNTS, "pods": whole}), "labels": LABELS, "taints": listed(TAINT),
        "unschedulable": flag, "zone": text,
    },
    ["name"],
)  # fmt: skip
TERM = closed({
    "labelSelector": SELECTOR, "topologyKey": text, "namespaces": listed(text), "namespaceSelector": SELECTOR,
    "weight": whole,
})  # fmt: skip
AFFINITY = closed({"required": listed(TERM), "preferred": listed(TERM)})
POLICY = one_of("Honor", "Ignore", "")
SPREAD = closed(
    {
        "maxSkew": whole, "topologyKey": text, "labelSelector": SELECTOR,
        "whenUnsatisfiable": one_of("DoNotSchedule", "ScheduleAnyway", ""),
        "minDomains": whole, "nodeAffinityPolicy": POLICY, "nodeTaintsPolicy": POLICY, "default": flag,
        "matchLabelKeys": listed(text),
    },
    ["maxSkew", "topologyKey"],
)  # fmt: skip
NODE_SELECTOR = closed(
    {"nodeSelectorTerms": listed(closed({"matchExpressions": listed(REQUIREMENT), "matchFields": listed(REQUIREMENT)}))},
    ["nodeSelectorTerms"],
)  # fmt: skip


def node_affinity(at: str, value: Any) -> None:
    """Required node affinity: a node selector, or the expressions of its only term."""
    (NODE_SELECTOR if isinstance(value, Mapping) else listed(REQUIREMENT))(at, value)


PORT = closed({"ip": text, "protocol": text, "port": whole}, ["port"])
TOLERATION = closed({
    "key": text, "operator": one_of("Equal", "Exists", ""), "value": text, "effect": text, "tolerationSeconds": whole,
})  # fmt: skip
POD_FIELDS: Mapping[str, Shape] = {
    "name": text, "uid": text, "namespace": text, "labels": LABELS, "priority": whole, "requests": fields(AMOUNTS),
    "nodeName": text, "nominatedNodeName": text, "startTime": number, "terminating": flag, "preemptionPolicy": text,
    "affinity": AFFINITY, "antiAffinity": AFFINITY, "topologySpreadConstraints": listed(SPREAD),
    "conditions": listed(fields({"type": text, "status": text, "reason": text})), "annotations": LABELS,
    "hostPorts": listed(PORT), "pvcs": listed(text), "tolerations": listed(TOLERATION),
    "nodeSelector": LABELS, "nodeAffinity": node_affinity,
}  # fmt: skip
POD = fields(POD_FIELDS)
NAMED_POD = fields({"name": text}, ["name"])
BUDGET = fields({
    "name": text, "namespace": text, "selector": SELECTOR, "disruptionsAllowed": whole, "disruptedPods": listed(text),
})  # fmt: skip
STATUS = either(text, fields({"code": text}, ["code"]), wanted="a status code")
FILTER = either(text, fields({"codes": mapped(text), "fails_on": listed(text)}), wanted="a filter")
EXTENDER = fields({"kind": text, "ignorable": flag}, ["kind"])
CANDIDATE = fields({"node": text, "victims": listed(text), "numPDBViolations": whole}, ["node", "victims"])
CYCLE = fields({
    "preemptor": POD, "offset": whole, "numCandidates": whole, "expected_filter_calls": whole,
    "expected_candidates": listed(CANDIDATE),
})  # fmt: skip
KEYS = either(text, listed(text), wanted="the key of a pod or a list of keys")
NAMES = either(text, listed(text), wanted="a name or a list of names")
EVENT = either(
    text, fields({"name": text, "label": text, "resource": text, "action": NAMES}), wanted="an event"
)
SPAN = either(number, text, wanted="a number of seconds or a span of the queue's own")
SIDE = fields({"priority": whole, "queued_at": number})
NOMINATED = fields({"pod": POD, "node": text, "nodeName": text, "nominatedNodeName": text}, ["pod"])
REGISTRATION = fields({"event": EVENT, "plugins": listed(text)}, ["event", "plugins"])


def nomination(at: str, value: Any) -> None:
    """A pod that waits with a nomination: the pod itself, or {pod, node}."""
    (NOMINATED if isinstance(value, Mapping) and is_wrapped(value) else POD)(at, value)


def nominations(at: str, value: Any) -> None:
    """Pods that wait with a nomination: one, a list, or one or a list by node."""
    if not isinstance(value, (Mapping, list)):
        _refuse(at, value, "pods that are nominated")
    if isinstance(value, list):
        listed(nomination)(at, value)
    elif is_wrapped(value) or is_bare(value):
        nomination(at, value)
    else:
        for node, pods in value.items():
            (listed(nomination) if isinstance(pods, list) else nomination)(
                f"{at}.{one_line(str(node))}", pods
            )


def registrations(at: str, value: Any) -> None:
    """Plugins by event, or a list of events with their plugins."""
    (mapped(listed(text)) if isinstance(value, Mapping) else listed(REGISTRATION))(at, value)


def cycles(at: str, value: Any) -> None:
    """The dry runs of a case, or how many cycles it has."""
    (listed(CYCLE) if isinstance(value, list) else counted)(at, value)


# --- a case ------------------------------------------------------------------------------------------------

_OPERATION = fields({
    "op": text, "old": text, "new": text, "node": text, "cycle": either(whole, text, wanted="a cycle"), "seconds": SPAN,
    "at": number, "timestamp": number, "attempts": counted, "event": EVENT, "precheck": mapped(anything), "as": text,
    "by": counted, "queue": text, "pod": KEYS, "pods": KEYS, "group": anything, "first": counted, "count": counted,
    "unschedulable_plugins": listed(text), "expect_not": KEYS, "bind": text,
    "expect_attempts": whole, "expect_initial_attempt": number, "counts": listed(whole), "used_ports": listed(PORT),
    "requested": fields(AMOUNTS), "nonzero_requested": fields(AMOUNTS), "keys": KEYS, "active_count": whole,
    "active": listed(text), "backoff": listed(text), "unschedulable": listed(text), "pending": listed(text),
    "active_order": listed(text), "backoff_order": listed(text), "active_contains": KEYS,
    "nominated": mapped(listed(text)), "nominated_for": mapped(listed(text)), "nominated_node_count": whole,
    "nodes": listed(text),
})  # fmt: skip


def operation(at: str, value: Any) -> None:
    """An operation: what it expects of itself is a pod or several, of an answer true or false."""
    _OPERATION(at, value)
    if value.get("expect") is not None:
        (flag if value.get("op") == "expect_is_assumed" else KEYS)(f"{at}.expect", value["expect"])


CASE = fields({
    "kind": text, "nodes": list_or_map(NODE), "pods": list_or_map(POD), "pdbs": listed(BUDGET),
    "preemptor": POD, "pod": POD, "victims": listed(POD), "podsOnNode": listed(POD), "node": NODE,
    "filters": listed(FILTER), "cycles": cycles,
    "statuses": mapped(STATUS), "filteredNodeStatuses": mapped(STATUS), "nominatedNodeStatus": STATUS,
    "extenders": listed(EXTENDER), "eligibility_hook": mapped(anything), "args": mapped(optional(whole)),
    "params": mapped(optional(anything)), "ops": listed(operation), "known_pods": listed(text),
    "unschedulable_plugins": listed(text), "expected_incoming": listed(
        fields({"event": text, "queue": text, "count": whole}, ["event", "queue", "count"])
    ),
    "namespaces": listed(fields({"name": text, "labels": LABELS}, ["name"])), "hardPodAffinityWeight": whole,
    "score_scale": whole, "ignorePreferredTermsOfExistingPods": flag, "expected_scores": mapped(number),
    "expected_candidate_nodes": listed(text), "expected_evicted": listed(text), "expected_nominated_node": text,
    "expected_reason_counts": mapped(whole), "expected_status": STATUS, "expected_start": number, "second_round": fields({}),
    "scores": listed(fields({"node": text, "score": whole}, ["node", "score"])), "percentage": whole,
    "all_nodes": counted, "scorers": listed(fields({"kind": text, "weight": whole}, ["kind"])),
    "expected_unschedulable_by": mapped(text), "expected_next_start": listed(whole), "filter_fails_on": listed(text),
    "expected_any_of": NAMES, "expected_node": text, "expected_filter_calls": whole, "expected_found_each": whole,
    "registrations": registrations, "event_registrations": registrations, "event": EVENT, "expected_match": flag,
    "stub_on_add_nominated": text, "stub_filter": text, "not_feasible": listed(text),
    "attempts": counted, "initial_ns": whole_natural, "max_ns": whole_natural, "initial_s": natural, "max_s": natural,
    "expected_initial_s": number, "expected_max_s": number, "expected_ns": whole, "integration": flag,
})  # fmt: skip

PARTS = {
    "initContainers", "containers", "overhead", "schedulingGates", "gates", "gated", "volumes", "resourceClaims", "podGroup", "schedulingGroup",
    "resources", "limits", "spec", "status", "metadata",
}  # fmt: skip
"""What else a pod may have that decides where it fits, or when it is tried."""

NEUTRAL = {
    "resourceVersion",
    "hasRequests",
    "priorityClassName",
    "terminationGracePeriodSeconds",
    "gracePeriodSeconds",
}
"""Fields that sound as if they decided something. `hasRequests` repeats what `requests` tell."""

_DECIDES = re.compile(
    r"affinit|tolerat|taint|select|spread|topolog|resourc|request|overhead|(?<!im)(?<!sup)(?<!re)port|volume|claim|priorit|group|preempt|nominat|terminat|delet"
    r"|node|label|container|gate(s|d|$)|(?<!re)start",
    re.IGNORECASE,
)
"""Of `restartPolicy`, `importance`, `supported` and `reported` only the letters sound like that."""

_NOTE = re.compile(
    r"(^|_)(note|comment|remark|description|explanation)s?(_|$)|(Note|Comment|Remark|Description)s?$"
    r"|^(expected|derived|behaviour_before|uses_)"
)
"""Fields that restate or explain, as they do of a case."""


def refuse_parts(at: str, pod: Mapping[str, Any]) -> None:
    """Raises NotTranslated for a part of a pod that nobody reads although it would matter: a known one, or one whose name says so, such as one that is misspelt."""
    for name, value in pod.items():
        matters = name in PARTS or (_DECIDES.search(name) and name not in NEUTRAL and not _NOTE.search(name))
        if matters and name not in POD_FIELDS and not says_nothing(value):
            raise NotTranslated(f"nobody reads {one_line(at)}.{one_line(name)}")


OF_KIND: Mapping[str, Mapping[str, Shape]] = {
    "less": {"a": SIDE, "b": SIDE},
    "more_important": {"a": POD, "b": POD},
}
NEEDED = {
    "less": ["a", "b"], "more_important": ["a", "b"], "earliest_start": ["victims"], "num_feasible": ["all_nodes"],
    "rotation": ["all_nodes", "cycles"], "backoff": ["initial_ns", "max_ns", "attempts"],
}  # fmt: skip
"""What a kind of case cannot do without."""

TIMES = ("initial_backoff_s", "max_backoff_s", "max_in_unschedulable_s", "assume_ttl_s")
NUMBERS = ("start_cycle", "start_move_request_cycle")


def refuse_malformed(case: Case) -> None:
    """Raises NotTranslated for the first field whose value is not of the form that the schema says."""
    CASE("", case)
    for name in nomination_fields(case):
        nominations(name, case[name])
    told = case.get("cycles")
    for number, cycle in enumerate(told if isinstance(told, list) else ()):
        for name in nomination_fields(cycle):
            nominations(f"cycles[{number}].{name}", cycle[name])
    fields(OF_KIND.get(case.get("kind") or "", {}), NEEDED.get(case.get("kind") or "", ()))("", case)
    params = fields(
        {**dict.fromkeys(TIMES, natural), **dict.fromkeys(NUMBERS, whole), "queueing_hints": flag}
    )
    params("params", case.get("params") or {})
    unknown = [
        n
        for n, v in (case.get("params") or {}).items()
        if n not in (*TIMES, *NUMBERS, "queueing_hints", "note") and v is not None
    ]
    if unknown:
        raise NotTranslated(f"nobody reads params.{one_line(str(unknown[0]))}")
    if "ops" in case or case.get("kind") == "ops":
        if not case.get("ops"):
            raise NotTranslated("the case has no operations")
        for key, pod in _entries(case, "pods"):
            NAMED_POD(f"pods.{one_line(str(key))}", pod)


def _entries(case: Case, name: str) -> list[tuple[Any, Any]]:
    held = case.get(name) or {}
    return list(held.items() if isinstance(held, Mapping) else enumerate(held))
