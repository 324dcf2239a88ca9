package podrace

import (
	"fmt"
	"slices"
	"sort"
	"strings"
)

// asExpected is the value of what the observer holds against itself, such as a sum against its parts, when it is as it should be.
const asExpected = "as expected"

// What is seen and no variable of the model's. Some of it the model has in other words (see wanted), the rest is for the omissions.
const (
	backoffHeap   = "queue.heap"                  // in which heap of backoffQ a pod is, if it does not belong there
	activeOrder   = "queue.order"                 // whether the heap of activeQ orders pods as the model does
	pastBackoff   = "queue.past_backoff"          // whether a waiting pod's backoff is over
	amidMove      = "queue.amid_move"             // a goroutine stands amid a move of parked pods
	cachedTarget  = "cache.target"                // whether the cached object says that the pod is a victim
	sums          = "node_infos.sums"             // what a NodeInfo counts, against the pods that it holds
	preemptors    = "async_preemption.preempting" // whether a pod is among those whose preemption runs
	awaitedLast   = "async_preemption.awaited"    // the victim that PreEnqueue looks at
	podsUnderWay  = "pod_watch.under_way"         // events that the informer's store has not received
	writtenBeyond = "pod_watch.beyond"            // whether an event of the pod was delivered that the model does not have
	podsAhead     = "pod_watch.ahead"             // whether the store has a pod as a list shows it that the model stores one by one
	nodesUnderWay = "node_watch.under_way"
	nodesAhead    = "node_watch.ahead"
	takenDevices  = "claim_tracker.taken" // of devices that may go to one claim together, which are taken
	calledAs      = "api.name"            // the name of a pod that takes the name of another
)

var extras = []string{activeOrder, backoffHeap, pastBackoff, amidMove, cachedTarget, sums, preemptors, awaitedLast, podsUnderWay, nodesUnderWay, writtenBeyond, podsAhead, nodesAhead, takenDevices, calledAs}

// isExtra is whether a name is one of these.
func isExtra(name string) bool {
	for _, extra := range extras {
		if rest, begins := strings.CutPrefix(name, extra); begins && (rest == "" || rest[0] == '.') {
			return true
		}
	}
	return false
}

// compare holds the real state against the model's after the same step, variable by variable, in the order of their names.
//
// What the model leaves out on purpose is not a difference: see the omissions.
func compare(expected, real map[string]any) []Difference {
	var found []Difference
	for variable, seen := range real {
		want, there := wanted(variable, expected, real)
		if !there || same(want, seen) {
			continue
		}
		if difference := (Difference{variable, want, seen}); abstracted(difference, expected, real) == "" {
			found = append(found, difference)
		}
	}
	sort.Slice(found, func(i, j int) bool { return found[i].Variable < found[j].Variable })
	return found
}

// wanted is the value that a variable should have. Some that are seen the model has in other words, and some it has only if they can differ:
// then there is nothing to compare.
func wanted(variable string, expected, real map[string]any) (any, bool) {
	name, indices := parts(variable)
	switch {
	case name == activeOrder || name == backoffHeap || name == sums:
		return asExpected, true
	case name == preemptors:
		return runsPreemption(expected, real, indices[0]), true
	case name == takenDevices:
		return isTaken(expected, indices[0]), true
	case name == cachedTarget:
		told, there := expected[toldOfTarget+"["+indices[0]+"]"]
		return told == "TOLD", there
	case name == awaitedLast:
		victim := awaitedVictim(expected, indices[0])
		if name, other := real[fmt.Sprintf("%s[%v]", calledAs, victim)]; other {
			victim = name // it is noted by its name
		}
		return victim, true
	case strings.HasPrefix(name, podsUnderWay) || strings.HasPrefix(name, nodesUnderWay):
		return underWayInModel(variable, expected)
	case name == "clock.older" && expected[strings.Replace(variable, "older", "open", 1)] == true:
		return nil, false // either may be the older one
	case name == "queue.rejected_by":
		if _, there := expected[variable]; !there {
			return false, true // a plugin that the model does not have rejects nobody
		}
	}
	want, there := expected[variable]
	if name == "scheduler.verdict" && real[variable] == "REJECTED" && (want == "CANDIDATE" || want == "NO_CANDIDATE") {
		want = "REJECTED" // before the dry run said more
	}
	if found := real[variable]; name == "scheduler.verdict" && want == "ERROR" && (found == "REJECTED" || found == "NO_CANDIDATE") {
		want = found // of the dry runs only the candidates are seen
	}
	return want, there
}

// isTaken is whether the events have shown the model's tracker of claims that a device is allocated, alone or with others.
func isTaken(expected map[string]any, device string) bool {
	for variable, allocated := range expected {
		if name, indices := parts(variable); name == "claim_tracker.allocated" && allocated == true && slices.Contains(strings.Split(indices[0], "+"), device) {
			return true
		}
	}
	return false
}

// number is a number of any type: in JSON there is one only.
func number(value any) (float64, bool) {
	switch n := value.(type) {
	case int:
		return float64(n), true
	case int64:
		return float64(n), true
	case float64:
		return n, true
	}
	return 0, false
}

// word is a value of the model's as text.
func word(state map[string]any, variable string) string { return fmt.Sprint(state[variable]) }

// told is what is said to be real after a step: the variables of the model's that are seen. What an omission explains is as the model has
// it, and so is what was seen before and cannot be seen any more, since nothing speaks against it.
func told(expected, real, before map[string]any) map[string]any {
	found := map[string]any{}
	for variable, seen := range real {
		name, _ := parts(variable)
		if isExtra(name) {
			continue
		}
		if want, there := wanted(variable, expected, real); there && !same(want, seen) && abstracted(Difference{variable, want, seen}, expected, real) == "" {
			found[variable] = seen
		} else if model, there := expected[variable]; there {
			found[variable] = model
		}
	}
	for variable := range before {
		if _, seen := real[variable]; !seen {
			found[variable] = expected[variable]
		}
	}
	return found
}
