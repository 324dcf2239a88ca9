"""Releases and their composition."""

from functools import cache
from itertools import pairwise

import pytest

from podrace.model.cluster import build_cluster
from podrace.model.environment.objects import Pod
from podrace.model.history import CHANGES, LATER, RELEASES, UnknownName, resolve
from podrace.model.history.registry.other_numbers import OTHER_NUMBERS
from podrace.model.language import Expr, trace_system
from podrace.model.language.expressions.graph import topological
from tests.model.clusters import nodes, race_72124, spec


def test_a_release_is_its_first_version():
    assert "72259" in {c.key for c in resolve("1.13").missing}
    assert "72259" not in {c.key for c in resolve("1.14").missing}


def test_the_newest_release_lacks_only_what_was_taken_back_or_came_later():
    coming = [
        "135486", "139450", "141785", "142289", "claim-written-whole", "empty-effects-tolerated", "flight-ends-alone", "last-victim-gone", "namespace-labels-asked", "nominated-node-shrinks", "pre-queueing-hints", "141255",
    ]  # fmt: skip
    assert [c.key for c in resolve(RELEASES[-1]).missing] == ["133167", *coming]
    assert [CHANGES[key].first_in for key in coming] == [*["1.38.0-beta.0"] * 11, LATER]
    assert all(CHANGES[key].is_coming for key in coming)


def test_what_a_pre_release_lacks():
    missing = [c.key for c in resolve("1.38.0-beta.0").missing]
    assert missing == ["empty-spread-selector", "133167", "141255"]


def test_a_change_that_was_taken_back_is_in_the_releases_between():
    having = [r for r in RELEASES if "133167" not in {c.key for c in resolve(r).missing}]
    assert having == ["1.34"]
    assert not CHANGES["133167"].is_in("1.34.2")


def test_a_regression_is_missing_only_in_the_releases_that_had_it():
    having = {key: [r for r in RELEASES if not CHANGES[key].is_in(r)] for key in ("93938", "95130", "86964")}
    assert having == {"93938": ["1.18"], "95130": ["1.18", "1.19"], "86964": ["1.14", "1.15", "1.16", "1.17"]}


TAKEN_BACK = {
    "73097", "103019", "108366", "84014", "86964", "93044", "93355", "93938", "95130", "116550", "118438", "120413", "127470", "130189", "133167", "137139", "138324", "139162", "139450", "139522", "142289", "empty-effects-tolerated", "gated-beside-another", "gated-replaces-parked", "gone-victims-condition", "own-terms-merged",
    "removed-not-preempted", "update-in-one-lock",
}  # fmt: skip
"""Changes that an earlier release had, or had no need of, and a later one lacks."""


@pytest.mark.parametrize(("before", "release"), list(pairwise(RELEASES)))
def test_each_release_lacks_less_than_the_one_before(before, release):
    earlier, later = ({c.key for c in resolve(r).missing} for r in (before, release))
    assert later != earlier
    assert later - TAKEN_BACK <= earlier


def test_putting_in_and_taking_out():
    with_fix, without = resolve("1.13", ["72259"]), resolve("1.14", (), ["72259"])
    assert with_fix.label == "1.13.0 + 72259"
    assert without.label == "1.14.0 - 72259"
    assert "72259" not in {c.key for c in with_fix.missing}
    assert "72259" in {c.key for c in without.missing}


def test_requests_without_effect_are_noted():
    assert resolve("1.14", ["72259"]).notes == ("1.14.0 already has 72259",)
    assert resolve("1.13", (), ["72259"]).notes == ("1.13.0 does not have 72259",)
    assert resolve("1.14", ["72259"]).label == "1.14.0"


def test_unknown_names():
    with pytest.raises(UnknownName, match=r"unknown release `1\.99`; known: 1\.8, 1\.9, "):
        resolve("1.99")
    with pytest.raises(UnknownName, match="unknown fix `1`; known: "):
        resolve("1.13", ["1"])
    with pytest.raises(ValueError, match="72259 cannot be put in and taken out at once"):
        resolve("1.13", ["72259"], ["72259"])


@pytest.mark.parametrize("release", RELEASES)
def test_every_release_can_be_traced(release):
    system = trace_system(build_cluster(race_72124(), resolve(release).classes))
    assert {t.part for t in system.transitions} >= {"scheduler", "handlers", "binding", "failure", "queue"}


_SPREAD = "needs a pod with spread constraints: see test_spread and the scenarios with zones"
_UPDATES = "needs a node that is updated: see test_node_updates"
_PLUGINS = "needs plugins that have work to do: see test_permit"

_LIMITS = "needs limits of volumes: see tests/races/test_volumes.py"
_CLAIMS = "needs pods with claims: see test_claims and the scenario device-twice"

_SHARED = "needs pods of a group that share a claim: see test_shared_claims"

_GROUPS = "needs groups of pods, and their gate: see test_groups"

_SCORED = "needs scores that decide: see tests/model/scheduler/framework/test_scores.py and the scenario spread-outweighed"

UNSEEN = {
    "104251": _SCORED,
    "105046": _SCORED,
    "107384": _SCORED,
    "129119": _SCORED,
    "90475": _SCORED,
    "91258": _SCORED,
    "91793": _SCORED,
    "namespace-labels-asked": "needs a term with a selector of namespaces: see test_coming",
    "pre-queueing-hints": "needs a claim that changes: see test_coming",
    "137607": "needs a search for devices that takes too long: see tests/races/test_failing_selectors.py",
    "filter-timeout": "the same",
    "prioritized-lists": "needs a claim with firstAvailable: see tests/conformance/upstream/claims.json",
    "135486": "needs a dry run that needs no victim: see tests/model/scheduler/preemption/test_nobody_to_evict.py",
    "nominated-node-shrinks": "needs a node that becomes smaller: see test_coming",
    "list-kept": "needs nodes that come or go: see node-left-out in test_catalogue",
    "82152": "needs a disruption controller that lags: see the scenario overwritten-budget",
    "111999": "needs an attempt that ends in an error: see tests/model/environment/test_extender.py",
    "122503": "needs an extender: see tests/model/environment/test_extender.py",
    "103019": "needs an extender: see tests/model/environment/test_extender.py",
    "122022": "needs a pod of which an extender has a say: see the scenario unheard-extender",
    "108366": "needs kubelets that decide: see the scenario counted-by-its-kubelet",
    "139522": "needs kubelets that decide: see the scenario counted-when-rejected",
    "101218": "needs kubelets that decide, and taints: see the hazard tainted-in-flight",
    "node-declared-features": "needs a pod that needs a feature of its node: see test_declared_features",
    "pre-check-taints": "needs a node with a NoExecute taint that comes: see test_filters",
    "min-domains": _SPREAD,
    "node-inclusion-policies": _SPREAD,
    "73097": "needs the node lifecycle controller: see the scenario untainted-arrival",
    "120816": "needs the node lifecycle controller: see test_node_lifecycle",
    "115331": "needs finalizers of bound pods: see the scenario ended-and-kept",
    "68892": "needs a pod that has ended, and a budget: see the scenario undrained-when-ended",
    "83906": "needs a pod that is Pending on its node: see the scenario undrained-while-pending",
    "94381": "needs pods that are not ready: see the scenario undrained",
    "113375": "needs pods that are not ready, and a budget with a policy: see test_actors",
    "129577": "needs the taint eviction controller: see the scenario kept-name",
    "out-of-service": "needs a node that is out of service: see the hazard twin",
    "gangs-off": _GROUPS,
    "workloads-off": _GROUPS,
    "136618": _GROUPS,
    "138445": _GROUPS,
    "141182": _GROUPS,
    "141253": _GROUPS,
    "141577": _GROUPS,
    "142684": _GROUPS,
    "hierarchy-tracker": _GROUPS,
    "ranked-nodes": _GROUPS,
    "placements-off": _GROUPS,
    "trees-off": _GROUPS,
    "victims-awaited-first": _GROUPS,
    "members-rank-as-pods": _GROUPS,
    "bound-leaves-sets": _GROUPS,
    "136269": _CLAIMS,
    "136269-events": _CLAIMS,
    "137371": _CLAIMS,
    "137647": _SHARED,
    "137897": _SHARED,
    "139418": _SHARED,
    "140089": _SHARED,
    "140269": _SHARED,
    "140831": "needs claims that go: see test_claims",
    "142289": "needs devices that are tainted: see test_device_taints",
    "134479": "needs claims with tolerations: see test_device_taints",
    "empty-effects-tolerated": "needs claims with tolerations: see test_device_taints",
    "binding-conditions": _CLAIMS,
    "reservations-assumed": _CLAIMS,
    "133929": "needs pods with volumes: see test_volumes and the scenario volume-told-early",
    "confirmed-object": "needs objects that differ in more than is explored: see the cache's conformance tables",
    "missing-status": "a cycle filters every node: see the conformance table might_help",
    "103805": "needs a binding cycle that fails: see the scenario forgotten-wakes-nobody",
    "106102": "needs a deletion that the watch missed: see the scenario missed-deletion",
    "in-order-informers": "needs an interrupted watch: see test_of_what_was_missed_deletions_are_told_first",
    "116729": "needs a restart: see the scenario restart-before-handlers",
    "110925": "needs assume_expiries: see the scenario expired-assumption",
    "86964": "needs a node that may be removed: see changes/test_snapshot",
    "95130": "needs a node that may be removed: see changes/test_snapshot",
    "53647": "needs affinity terms: see the scenario 53647",
    "55262": "needs a pod that is bound elsewhere than where it is assumed: see the scenario corrupted-cache",
    "no-victims": "decides how often the filters run, and with 101560 also what wins",
    "affinity-skips": "needs affinity terms: see test_filters",
    "98096": "needs scores",
    "score-scale": "needs scores",
    "preemption-policy": "needs a pod that never preempts",
    "disrupted-pods": "needs budgets",
    "budget-countdown": "needs budgets",
    "128307": "needs budgets: see test_evaluator",
    "111544": "needs extended resources: see test_filters",
    "116408": "needs a pod that does not ask for a resource: see test_filters",
    "too-small-nodes": "needs a pod that asks for more than a node has: see test_filters",
    "start-time-tie": "needs start times",
    "scheduling-gates": "needs a pod with gates: see test_gates",
    "host-port-addresses": "needs pods with host ports: see test_node_ports",
    "138855": "needs a Binding that fails: see test_binding",
    "extended-resources": "needs an extended resource that devices back: see test_extended_resources",
    "130189": _PLUGINS,
    "133021": _PLUGINS,
    "135502": _PLUGINS,
    "139450": _PLUGINS,
    "119046": _PLUGINS,
    "119785": _PLUGINS,
    "preemption-events": _PLUGINS,
    "135325": "needs affinity terms: see test_event_handlers",
    "hints-see-nominations": "needs affinity terms: see test_event_handlers",
    "140054": _PLUGINS,
    "105913": "needs a name that is used again: see the scenario namesake-bound",
    "116550": "needs a name that is used again: see the scenario namesake-bound",
    "138324": "needs a name that is used again: see the scenario namesake-in-flight",
    "141255": "needs a name that is used again: see the scenario swapped-by-a-list",
    "updates-by-uid": "needs a list that shows the next pod of a name: see tests/model/scheduler/queue/test_entries.py",
    "entries-of-one-name": "needs a name that is used again: see the scenario namesake-displaced",
    "gated-beside-another": "needs a name that is used again: see scheduler/queue/test_entries",
    "gated-replaces-parked": "needs a name that is used again: see scheduler/queue/test_entries",
    "preempts-for-the-popped": "needs a name that is used again: see scheduler/preemption/test_namesakes",
    "135394": "needs a pod whose labels change: see test_pod_updates",
    "in-place-resize": "needs a pod that is resized: see test_pod_updates",
    "109442": _UPDATES,
    "121755": _UPDATES,
    "122292": _UPDATES,
    "127220": _UPDATES,
    "127470": "needs affinity terms: see the scenario keyless-node",
    "135905": "needs a pod that changes while others are in flight: see test_pod_updates",
    "taints-asked-for": _UPDATES,
    "137981": "needs budgets: see test_evaluator",
    "141785": "needs budgets: see test_empty_budgets",
    "last-victim-gone": _PLUGINS,
    "flight-ends-alone": _CLAIMS,
    "claim-written-whole": "needs an extended resource that devices back: see test_special_claims",
    "139057": "needs a pod with gates: see changes/test_queue",
    "139161": "needs affinity terms: see test_pod_updates",
    "139238": "needs a claim that one pod only may use: see cache/test_claim_counts",
    "127757": _LIMITS,
    "csi-node-updates": _LIMITS,
    "140612": _LIMITS,
    "92866": "needs an extender: see tests/model/environment/test_several_extenders.py",
    "101946": "needs scores of resources: see scheduler/framework/test_resource_scores",
    "135573": "needs scores of resources: see scheduler/framework/test_resource_scores",
    "78259": "needs an extender: see tests/model/environment/test_several_extenders.py",
    "own-terms-merged": "needs terms that select namespaces: see scheduler/framework/test_own_terms",
    "139162": "needs a pod that is held back when the flush comes: see the scenario gated-past-the-flush",
    "even-pods-spread": _SPREAD,
    "empty-spread-selector": _SPREAD,
    "122627": _SPREAD,
    "127464": _SPREAD,
    "framework": _PLUGINS,
    "permit-in-cycle": _PLUGINS,
    "permit-timers": _PLUGINS,
    "buffered-signal": _PLUGINS,
    "reject-on-delete": _PLUGINS,
    "waiting-victims-kept": _PLUGINS,
    "waiting-victims-rejected": _PLUGINS,
    "reserve-after-assume": _PLUGINS,
}


NUMBERS: dict[object, int] = {}
"""A number for each expression that was seen, the same in every system."""


def numbered(roots):
    """The numbers of these expressions and of all below them."""
    found: dict[Expr, int] = {}
    for e in topological(roots):
        key = e.op, tuple(found[a] for a in e.args), e.value if e.args else repr(e)
        found[e] = NUMBERS.setdefault(key, len(NUMBERS))
    return found


def shape(composition):
    """All steps: when they can be taken and what they change."""
    on = nodes(2, 2)
    cluster = spec([Pod(0, "v", 2, 0, node=on[0]), Pod(1, "p", 2, 10), Pod(2, "q", 1, 10)], on)
    system = trace_system(build_cluster(cluster, composition.classes))
    enabled = [t.enabled for t in system.transitions]
    number = numbered([*enabled, *(e for t in system.transitions for e in t.updates.values())])
    return [
        (t.label, number[when], {v.name: number[e] for v, e in t.updates.items()})
        for t, when in zip(system.transitions, enabled, strict=True)
    ]


@cache
def shape_of_release(release):
    """That of a release as it is, which is the same for all of its changes."""
    return shape(resolve(release))


@pytest.mark.representatives(100)
@pytest.mark.parametrize("key", sorted(CHANGES))
def test_every_change_alone_can_be_undone_and_changes_the_system(key):
    if key in UNSEEN:
        pytest.skip(UNSEEN[key])
    having = CHANGES[key].first_in
    assert shape(resolve(having, (), [key])) != shape_of_release(having)


def test_other_numbers_name_a_change():
    assert not OTHER_NUMBERS.keys() & CHANGES.keys()
    assert set(OTHER_NUMBERS.values()) <= CHANGES.keys()
    made = resolve("1.35", ["135495"], ["134294"])
    assert (made.added, made.removed) == (("last-victim-spared",), ("134730",))
    assert made == resolve("1.35", ["last-victim-spared"], ["134730"])
