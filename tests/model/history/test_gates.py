"""Feature gates: the table, what a gate takes with it, and what cannot be set."""

from typing import Any

import pytest

from podrace.model.cluster import build_cluster
from podrace.model.history import CHANGES, PATCH_VERSIONS, RELEASE_ORDER, GateProblem, UnknownName, resolve
from podrace.model.history.versions import exact, version_of
from podrace.model.history.versions.gates import State, find_gate, gates, on_and_unmodelled
from podrace.model.language import trace_system
from tests.model.clusters import race_72124

VERSIONS = (*RELEASE_ORDER, *PATCH_VERSIONS)
BEHIND_A_GATE = {c.key: c for c in CHANGES.values() if c.gate}


UNMODELLED = {
    ("1.8", "PodPriority"),
    *((version, "NominatedNodeNameForExpectation") for version in VERSIONS if version.startswith("1.34")),
}
"""Settings of gates that are modelled in other versions only."""


def missing(release, **settings):
    return {change.key for change in resolve(release, gates=settings).missing}


def test_which_change_is_behind_which_gate():
    assert {key: change.gate for key, change in BEHIND_A_GATE.items()} == {
        "55109": "PodPriority",
        "even-pods-spread": "EvenPodsSpread",
        "preemption-policy": "NonPreemptingPriority",
        "node-declared-features": "NodeDeclaredFeatures",
        "min-domains": "MinDomainsInPodTopologySpread",
        "node-inclusion-policies": "NodeInclusionPolicyInPodTopologySpread",
        "prefer-nominated-node": "PreferNominatedNode",
        "scheduling-gates": "PodSchedulingReadiness",
        "91793": "DefaultPodTopologySpread",
        "118438": "SchedulerQueueingHints",
        "125578": "SchedulerQueueingHints",
        "hints-decide": "SchedulerQueueingHints",
        "async-preemption": "SchedulerAsyncPreemption",
        "pop-from-backoff": "SchedulerPopFromBackoffQ",
        "pre-queueing-hints": "SchedulerPreQueueingHints",
        "in-place-resize": "InPlacePodVerticalScaling",
        "133021": "NominatedNodeNameForExpectation",
        "132443": "ClearingNominatedNodeNameAfterBinding",
        "binding-conditions": "DRADeviceBindingConditions",
        "prioritized-lists": "DRAPrioritizedList",
        "extended-resources": "DRAExtendedResource",
        "140612": "VolumeLimitScaling",
        "filter-timeout": "DRASchedulerFilterTimeout",
        "134400": "SchedulerAsyncAPICalls",
        "gangs-off": "GangScheduling",
        "workloads-off": "GenericWorkload",
        "placements-off": "TopologyAwareWorkloadScheduling",
        "trees-off": "CompositePodGroup",
    }


@pytest.mark.parametrize("key", BEHIND_A_GATE)
@pytest.mark.parametrize("version", VERSIONS)
def test_a_version_has_a_change_behind_a_gate_where_the_gate_is_on(key, version):
    change = BEHIND_A_GATE[key]
    gate = find_gate(change.gate)
    if change.gate_off:  # what is before it came with the gate
        state = gate.at(version)
        assert change.is_in(version) == (state is None or not state.on)
    elif gate.at(version) is None:  # not yet, or taken for granted
        assert change.is_in(version) == (version_of(version) >= version_of(change.first_in))
    else:
        assert change.is_in(version) == (gate.is_on(version) and change.is_behind_gate_in(version))


def test_every_gate_is_modelled_or_says_why_not():
    for gate in gates().values():
        reasons = [gate.abstracted, gate.covered, gate.unmodelled]
        behind = [change for change in CHANGES.values() if change.gate == gate.name]
        assert sum(map(bool, reasons)) == (0 if behind else 1), gate.name
        assert (gate.how == "modelled") == bool(behind)
        since = [version_of(version) for version, _ in gate.history]
        assert since == sorted(since)


def test_a_patch_version_may_differ_from_its_release():
    gate = find_gate("SchedulerAsyncAPICalls")
    states = [gate.at(version) for version in ("1.34", "1.34.2", "1.35", "1.35.4", "1.36")]
    assert [state is not None and state.on for state in states] == [True, False, True, False, False]
    assert gate.at("1.33") is None
    assert find_gate("PodPriority").at("1.9") == State("alpha", False)
    assert find_gate("PodPriority").is_on("1.9")


def test_a_gate_takes_its_changes_out():
    assert missing("1.33", SchedulerQueueingHints=False) - missing("1.33") == {
        "118438",
        "125578",
        "hints-decide",
    }
    assert missing("1.36.3", SchedulerAsyncPreemption=False) - missing("1.36.3") == {"async-preemption"}
    made = resolve(
        "1.34", ["134157"], gates={"SchedulerPopFromBackoffQ": False, "SchedulerAsyncPreemption": False}
    )
    assert made.label == "1.34.0 SchedulerAsyncPreemption=false SchedulerPopFromBackoffQ=false + 134157"


def test_a_gate_that_the_model_takes_as_off_has_to_be_set():
    gate = find_gate("SchedulerAsyncAPICalls")
    assert [v for v in VERSIONS if gate.is_left_out(v)] == ["1.34", "1.35"]
    assert not any(gate.is_on(version) for version in VERSIONS)
    for version in ("1.34", "1.34.2", "1.35", "1.36.3"):
        assert "134400" not in missing(version)
        assert missing(version, SchedulerAsyncAPICalls=True) - missing(version) == {"134400"}
    assert resolve("1.34", gates={gate.name: True}).label == "1.34.0 SchedulerAsyncAPICalls=true"
    with pytest.raises(
        GateProblem, match=r"1\.33\.0 has no gate SchedulerAsyncAPICalls: it came with 1\.34\.0"
    ):
        resolve("1.33", gates={gate.name: True})
    with pytest.raises(
        ValueError, match="fix 134400 is behind the gate SchedulerAsyncAPICalls, which is set to true"
    ):
        resolve("1.36.3", ["134400"], gates={gate.name: True})


def test_a_gate_puts_its_changes_in():
    assert missing("1.32") - missing("1.32", SchedulerAsyncPreemption=True) == {"async-preemption"}
    assert missing("1.26") - missing("1.26", PodSchedulingReadiness=True) == {"scheduling-gates"}


@pytest.mark.parametrize("release", ["1.29", "1.29.6", "1.30"])
def test_hints_of_some_plugins_are_not_modelled(release):
    """1.29.0 had hints of NodeAffinity and NodeUnschedulable, which 1.29.1 took back, and of NodePorts (122285, 122288)."""
    with pytest.raises(GateProblem, match="only some of the plugins had hints then"):
        resolve(release, gates={"SchedulerQueueingHints": True})


def test_what_is_as_by_default_changes_nothing():
    assert resolve("1.34", gates={"SchedulerAsyncPreemption": True}) == resolve("1.34")
    assert resolve("1.36", gates={"GangScheduling": False, "DynamicResourceAllocation": True}) == resolve(
        "1.36"
    )
    assert resolve("1.9", gates={"PodPriority": True}) == resolve("1.9")


@pytest.mark.parametrize(
    ("release", "name", "on", "problem"),
    [
        ("1.31", "SchedulerAsyncPreemption", True, "1.31.0 has no gate SchedulerAsyncPreemption: it came with 1.32.0"),
        ("1.26", "PreferNominatedNode", True,
         "1.26.0 has no gate PreferNominatedNode: it came with 1.21.0 and was gone in 1.26.0"),
        ("1.34.4", "SchedulerQueueingHints", False,
         "SchedulerQueueingHints is locked to true in 1.34.4 (GA), which upstream refuses to change"),
        ("1.36", "WorkloadAwarePreemption", True,
         "WorkloadAwarePreemption=true is not modelled in 1.36.0: in the model each pod of a group is placed and preempted separately; leave it at false"),
        ("1.31", "SchedulerQueueingHints", True,
         "SchedulerQueueingHints=true is not modelled in 1.31.0: new nodes still had their pre-check then; leave it at false"),
        ("1.35", "OpportunisticBatching", False,
         "OpportunisticBatching=false is not modelled in 1.35.0: it is abstracted, see A-BATCHING in docs/model.md; leave it at true"),
        ("1.8", "PodPriority", True, "PodPriority=true is not modelled in 1.8.0: no change is behind it there; leave it at false"),
    ],
)  # fmt: skip
def test_what_cannot_be_set(release, name, on, problem):
    with pytest.raises(GateProblem) as caught:
        resolve(release, gates={name: on})
    assert str(caught.value) == problem


def test_unknown_gates_and_contradictions():
    with pytest.raises(UnknownName, match="unknown gate `Async`; known: AttachVolumeLimit, "):
        resolve("1.34", gates={"Async": True})
    with pytest.raises(
        ValueError,
        match="fix async-preemption is behind the gate SchedulerAsyncPreemption, which is set to false",
    ):
        resolve("1.34", ["async-preemption"], gates={"SchedulerAsyncPreemption": False})


def test_which_gates_are_on_and_not_modelled():
    assert on_and_unmodelled("1.31") == ()
    assert on_and_unmodelled("1.33") == ()
    assert on_and_unmodelled("1.38.0-beta.0") == ("InPlacePodLevelResourcesVerticalScaling",)
    assert on_and_unmodelled("1.34") == ("SchedulerAsyncAPICalls",)
    assert on_and_unmodelled("1.34.4") == on_and_unmodelled("1.35.8") == ()
    assert on_and_unmodelled("1.36") == on_and_unmodelled("1.37.2") == on_and_unmodelled("1.38.0-beta.0")


def settings() -> list[Any]:
    """Each gate in each version in which it can be set; every run has the last of them, and `make nightly` all."""
    found = []
    for gate in gates().values():
        versions = [
            version
            for version in VERSIONS
            if gate.how == "modelled"
            and (state := gate.at(version))
            and not state.locked
            and not gate.gap(version)
            and (version, gate.name) not in UNMODELLED
        ]
        found += [
            pytest.param(version, gate.name, marks=[] if version == versions[-1] else [pytest.mark.nightly])
            for version in versions
        ]
    return found


@pytest.mark.parametrize(("release", "name"), settings())
def test_every_setting_can_be_traced(release, name):
    made = resolve(release, gates={name: not find_gate(name).is_on(release)})
    assert made.label.startswith(f"{exact(release)} {name}=")
    system = trace_system(build_cluster(race_72124(), made.classes))
    assert {t.part for t in system.transitions} >= {"scheduler", "handlers", "binding", "failure", "queue"}
