"""What is known to have changed between upstream's trees would have been flagged, from the record alone; and refactorings would not.

Each difference is one that a race turned out to depend on. Where the model differed from all trees alike, no comparison of trees can
show it: that fitsRequest ignores resources that a pod does not ask for, and that Permit's rejection parks a pod, was so in 1.29.6 already.
"""

from __future__ import annotations

from functools import cache

import pytest

from podrace.analysis.upstream.drifted import Class, Drift, drifts
from podrace.analysis.upstream.held import hold
from podrace.model.history.trees import read_trees
from podrace.model.history.versions import canonical
from podrace.model.history.versions.gates import gates
from tests.upstream_trees import tree_of

CYCLE, HANDLERS, EXECUTOR = "schedule_one.go", "eventhandlers.go", "framework/preemption/executor.go"
QUEUE, ACTIVE = "backend/queue/scheduling_queue.go", "backend/queue/active_queue.go"
CACHE, RUNTIME = "backend/cache/cache.go", "framework/runtime"
PREEMPTION = "framework/preemption/preemption.go"
DEFAULT_PREEMPTION = "framework/plugins/defaultpreemption/default_preemption.go"
AFFINITY, SPREAD = "framework/plugins/interpodaffinity", "framework/plugins/podtopologyspread"
STORAGE = "../registry/core/pod/storage/storage.go"

KNOWN = {
    "a waiting pod that is preempted ends with an error": ("1.35.4", "1.36.3", {
        f"{RUNTIME}/waiting_pods_map.go:waitingPod.Preempt": "new",
        f"{PREEMPTION}:NewEvaluator": "changed",
        f"{EXECUTOR}:NewExecutor": "new",
    }),
    "a victim in PreBind is cancelled in memory": ("1.35.4", "1.36.3", {
        f"{RUNTIME}/pods_in_prebind_map.go:podInPreBind.CancelPod": "new",
        f"{RUNTIME}/pods_in_prebind_map.go:podInPreBind.MarkPrebound": "new",
        f"{CYCLE}:Scheduler.bindingCycle": "changed",
    }),
    "the failure handler patches from the lister's object, and knows a recreated pod by its UID": ("1.35.4", "1.36.3", {
        f"{CYCLE}:Scheduler.handleSchedulingFailure": "changed",
    }),
    "hints of affinity and spread see nominated pods and symmetric terms": ("1.35.4", "1.36.3", {
        f"{AFFINITY}/plugin.go:InterPodAffinity.isSchedulableAfterPodChange": "changed",
        f"{SPREAD}/plugin.go:involvedInTopologySpreading": "changed",
    }),
    "what rejected a pod is kept over Pop, and cleared on failure": ("1.35.4", "1.36.3", {
        "framework/types.go:QueuedPodInfo.ClearRejectorPlugins": "new",
        f"{ACTIVE}:activeQueue.unlockedPop": "changed",
    }),
    "FinishBinding and the cleanup of assumed pods are gone": ("1.35.4", "1.36.3", {
        f"{CACHE}:cacheImpl.FinishBinding": "gone",
        f"{CACHE}:cacheImpl.cleanupAssumedPods": "gone",
        f"{CACHE}:cacheImpl.finishBinding": "gone",
    }),
    "PreBind runs in parallel": ("1.35.4", "1.36.3", {
        f"{RUNTIME}/framework.go:frameworkImpl.RunPreBindPlugins": "changed",
    }),
    "preemption moved to Executor": ("1.35.4", "1.36.3", {
        f"{PREEMPTION}:Evaluator.prepareCandidateAsync": "renamed and changed",
        f"{PREEMPTION}:Evaluator.prepareCandidate": "renamed and changed",
        f"{PREEMPTION}:Evaluator.IsPodRunningPreemption": "renamed and changed",
    }),
    "ForgetPod of an unknown pod is no error": ("1.34.4", "1.35.4", {f"{CACHE}:cacheImpl.ForgetPod": "changed"}),
    "one handler for all pods": ("1.34.4", "1.35.4", {
        f"{HANDLERS}:Scheduler.addPod": "new",
        f"{HANDLERS}:Scheduler.handleAssumedPodDeletion": "new",
        f"{HANDLERS}:Scheduler.updatePodInSchedulingQueue": "changed",
        f"{HANDLERS}:Scheduler.addPodToCache": "gone",
    }),
    "Update looks for a pod in flight and in activeQ under one lock": ("1.34.4", "1.35.4", {
        f"{QUEUE}:PriorityQueue.Update": "changed",
        f"{ACTIVE}:activeQueue.addEventsIfPodInFlight": "changed",
    }),
    "activation from backoffQ skips PreEnqueue": ("1.34.4", "1.35.4", {
        f"{QUEUE}:PriorityQueue.activate": "changed",
        f"{QUEUE}:PriorityQueue.moveToActiveQ": "changed",
    }),
    "a preemptor is held back until its last victim is evicted": ("1.34.4", "1.35.4", {
        f"{PREEMPTION}:Evaluator.IsPodRunningPreemption": "changed",
        f"{PREEMPTION}:Evaluator.prepareCandidateAsync": "changed",
    }),
    "batches of equal pods": ("1.34.4", "1.35.4", {
        f"{RUNTIME}/batch.go:OpportunisticBatch.GetNodeHint": "new",
        f"{CYCLE}:Scheduler.schedulePod": "changed",
    }),
    "a preemptor without victims is activated, and is not": ("1.34.0", "1.34.2", {
        f"{PREEMPTION}:Evaluator.prepareCandidateAsync": "changed",
    }),
    "calls of the API server by a dispatcher, and the nomination for expectation": ("1.33.13", "1.34.0", {
        "backend/api_dispatcher/call_queue.go:callQueue.add": "new",
        f"{RUNTIME}/framework.go:frameworkImpl.WillWaitOnPermit": "new",
        f"{CYCLE}:Scheduler.bindingCycle": "changed",
        f"{PREEMPTION}:clearNominatedNodeName": "new",
    }),
    "an update of an assumed pod ends before its nomination is looked at": ("1.32.13", "1.33.6", {
        f"{HANDLERS}:Scheduler.updatePodInSchedulingQueue": "changed",
    }),
    "preemption by a goroutine, and the gate that holds back its preemptor": ("1.31.14", "1.32.2", {
        f"{PREEMPTION}:Evaluator.prepareCandidateAsync": "new",
        f"{DEFAULT_PREEMPTION}:DefaultPreemption.PreEnqueue": "new",
    }),
    "Pop takes the lock of activeQ only, and a skipped pod is done": ("1.31.14", "1.32.2", {
        f"{QUEUE}:PriorityQueue.Pop": "changed",
        f"{ACTIVE}:activeQueue.pop": "new",
        f"{CYCLE}:Scheduler.ScheduleOne": "changed",
    }),
    "the order of victims, backported": ("1.30.4", "1.30.14", {
        f"{DEFAULT_PREEMPTION}:DefaultPreemption.SelectVictimsOnNode": "changed",
    }),
    "the order of victims, backported again": ("1.31.0", "1.31.14", {
        f"{DEFAULT_PREEMPTION}:DefaultPreemption.SelectVictimsOnNode": "changed",
    }),
    "a node without a status cannot be helped by preemption": ("1.31.14", "1.32.2", {
        "framework/interface.go:NodeToStatus.Get": "new",
        f"{DEFAULT_PREEMPTION}:DefaultPreemption.PodEligibleToPreemptOthers": "changed",
    }),
    "Binding writes labels of the node": ("1.32.13", "1.33.6", {f"{STORAGE}:BindingREST.Create": "changed"}),
}  # fmt: skip

REFACTORED = {
    "types moved to k8s.io/kube-scheduler/framework, log lines": ("1.34.4", "1.35.4", {
        f"{QUEUE}:PriorityQueue.movePodsToActiveOrBackoffQueue": "changed",
        f"{QUEUE}:PriorityQueue.runPreEnqueuePlugin": "changed",
        "backend/queue/nominator.go:nominator.addNominatedPodUnlocked": "changed",
        "backend/queue/nominator.go:nominator.UpdateNominatedPod": "changed",
        f"{PREEMPTION}:Evaluator.Preempt": "changed",
        f"{PREEMPTION}:Evaluator.findCandidates": "changed",
        f"{RUNTIME}/framework.go:addGENominatedPods": "changed",
        f"{RUNTIME}/framework.go:frameworkImpl.RunPostFilterPlugins": "changed",
        f"{CYCLE}:Scheduler.bindingCycle": "changed",
    }),
    "renamed, moved": ("1.34.4", "1.35.4", {"backend/queue/nominator.go:nominator.AddNominatedPod": "renamed"}),
    "moved to executor.go": ("1.35.4", "1.36.3", {f"{PREEMPTION}:clearNominatedNodeName": "moved"}),
}  # fmt: skip

GATES = {
    ("1.34.0", "1.34.2"): {"SchedulerAsyncAPICalls"},
    ("1.34.4", "1.35.4"): {
        "NominatedNodeNameForExpectation", "ClearingNominatedNodeNameAfterBinding", "OpportunisticBatching",
        "InPlacePodVerticalScaling",
    },
    ("1.35.4", "1.36.3"): {"NodeDeclaredFeatures", "DRAExtendedResource"},
    ("1.32.13", "1.33.6"): {"SchedulerAsyncPreemption", "SchedulerPopFromBackoffQ"},
    ("1.31.14", "1.32.2"): {"SchedulerQueueingHints"},
}  # fmt: skip


CLAIMS, VOLUMES = "framework/plugins/dynamicresources", "framework/plugins/volumebinding"
GANGS, ASSUMED = (
    "framework/plugins/gangscheduling",
    "staging/component-helpers/storage/volume/assumecache/assume_cache.go",
)

IN_1_38 = {
    "Q1, Q2": {f"{QUEUE}:PriorityQueue.AddUnschedulablePodIfNotPresent": "changed"},
    "Q3": {
        f"{QUEUE}:PriorityQueue.collectEntitiesToEvaluate": "changed",
        f"{QUEUE}:PriorityQueue.runPreQueueingHintPlugins": "changed",
        f"{CLAIMS}/dynamicresources.go:DynamicResources.preQueueingHint": "changed",
    },
    "P1": {f"{EXECUTOR}:Executor.prepareCandidateAsync": "changed", f"{EXECUTOR}:NewExecutor": "changed"},
    "P2": {f"{PREEMPTION}:Evaluator.DryRunPreemption": "changed", f"{PREEMPTION}:Evaluator.callExtenders": "changed"},
    "P3": {"framework/preemption/util.go:FilterVictimsWithPDBViolation": "changed"},
    "P4": {"util/utils.go:GetPodStartTime": "changed"},
    "P5": {"framework/plugins/noderesources/fit.go:Fit.isSchedulableAfterNodeChange": "changed"},
    "D1": {
        f"{CLAIMS}/dynamicresources.go:DynamicResources.Unreserve": "changed",
        f"{CLAIMS}/extendeddynamicresources.go:DynamicResources.unreserveExtendedResourceClaim": "changed",
    },
    "D2": {f"{CLAIMS}/dynamicresources.go:DynamicResources.bindClaim": "changed"},
    "D3": {
        f"{CLAIMS}/allocateddevices.go:allocatedDevices.addDevices": "changed",
        f"{CLAIMS}/allocateddevices.go:allocatedDevices.getCapacities": "new",
        f"{CLAIMS}/dra_manager.go:claimTracker.GatherAllocatedState": "changed",
    },
    "V1": {
        f"{VOLUMES}/passive_assume_cache.go:passiveAssumeCache.Assume": "renamed and changed",
        f"{ASSUMED}:AssumeCache.AssumeWritten": "new",
    },
    "I1": {f"{AFFINITY}/plugin.go:InterPodAffinity.isSchedulableAfterAssignedPodChange": "changed"},
    "I2": {f"{SPREAD}/common.go:countPodsMatchSelector": "changed"},
    "B1": {f"{STORAGE}:BindingREST.Create": "changed", "../registry/core/pod/storage/eviction.go:EvictionREST.Create": "changed"},
    "W1": {f"{RUNTIME}/waiting_pods_map.go:waitingPod.stopWithStatus": "changed"},
    "S1": {f"{CYCLE}:Scheduler.assumeAndReserve": "gone", "algorithm.go:SchedulingAlgorithm.AssumeAndReserveInCache": "new"},
    "G1": {f"{GANGS}/gangscheduling.go:GangScheduling.Permit": "gone"},
    "G2": {
        f"{GANGS}/hierarchy_tracker.go:HierarchyTracker.DeletePod": "new",
        f"{HANDLERS}:Scheduler.handleAssumedPodDeletion": "changed",
    },
    "claims of pods that have ended (no part of the facts)": {
        "../controller/resourceclaim/controller.go:Controller.syncPod": "changed",
    },
}  # fmt: skip
"""What is known to differ between 1.37.2 and 1.38.0-beta.0."""


@pytest.mark.parametrize("what", IN_1_38)
def test_is_to_be_read_of_a_pre_release(what: str) -> None:
    found = between("1.37.2", "1.38.0-beta.0")
    assert {place: found[place].what for place in IN_1_38[what]} == IN_1_38[what]
    assert all(found[place].is_to_be_read and found[place].is_followed for place in IN_1_38[what])


def test_a_getter_of_one_line_is_told_by_its_name_alone() -> None:
    held = hold(tree_of("1.38.0-beta.0"), None, "1.37.2", update=False)
    found = {drift.place: drift for drift in held.drifted}
    assert found["framework/preemption/executor.go:podExecutorPreemptor.GetNamespace"].what == "gone"
    assert found["framework/preemption/types.go:candidate.NumPodGroupDisruptions"].what == "gone"
    moved = found["schedule_one_podgroup.go:makePodGroupAssignments"]
    assert (moved.what, moved.reading) == ("moved", Class.CANNOT_MATTER)  # with the new name of a type


@cache
def between(old: str, new: str) -> dict[str, Drift]:
    trees = read_trees().by_version
    return {drift.place: drift for drift in drifts(trees[old], trees[new])}


@pytest.mark.parametrize("what", KNOWN)
def test_is_to_be_read(what: str) -> None:
    old, new, places = KNOWN[what]
    found = between(old, new)
    assert {place: found[place].what for place in places} == places
    assert [place for place in places if found[place].reading is not Class.READ_THIS] == []
    assert [place for place in places if not found[place].is_followed] == []


@pytest.mark.parametrize("what", REFACTORED)
def test_cannot_matter(what: str) -> None:
    old, new, places = REFACTORED[what]
    found = between(old, new)
    assert {place: found[place].what for place in places} == places
    assert {found[place].reading for place in places} == {Class.CANNOT_MATTER}


@pytest.mark.parametrize(("old", "new"), GATES)
def test_gates_are_flagged(old: str, new: str) -> None:
    """From the table, which another test holds against the trees."""
    before, after = canonical(old), canonical(new)
    assert before is not None
    assert after is not None
    changed = {name for name, gate in gates().items() if gate.at(before) != gate.at(after)}
    assert GATES[old, new] <= changed


@pytest.mark.ci
@pytest.mark.parametrize(("old", "new"), GATES)
def test_the_real_trees_say_the_same(old: str, new: str) -> None:
    held = hold(tree_of(new), None, old, update=False)
    assert GATES[old, new] <= {gate.name for gate in held.gates}
    seen = {drift.place: drift for drift in held.drifted}
    recorded = between(old, new)
    assert seen.keys() == recorded.keys()
    relieved = [p for p in seen if seen[p] != recorded[p]]
    assert all(seen[place].reading is Class.CANNOT_MATTER for place in relieved)
    assert len(relieved) < 11
