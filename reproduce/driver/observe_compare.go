package podrace

import (
	"fmt"
	"sort"
	"strings"
)

// asExpected is the value of what the observer holds against itself, such as a sum against its parts, when it is as it should be.
const asExpected = "as expected"

// activeOrder is whether the heap of activeQ orders pods as the model does.
const activeOrder = "queue.order"

// compare holds the real state against the model's after the same step, variable by variable, in the order of their names.
//
// What the model leaves out on purpose is not a difference: see the rules.
func compare(expected, real map[string]any) []Difference {
	var found []Difference
	for variable, seen := range real {
		want, there := wanted(variable, expected, real)
		if !there || same(want, seen) {
			continue
		}
		difference := Difference{variable, want, seen}
		if abstracted(difference, expected, real) == "" {
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
	switch name {
	case activeOrder, "node_infos.sums":
		return asExpected, true
	case "async_preemption.preempting":
		return isPreempting(expected, real, indices[0]), true
	case "async_preemption.awaited":
		return awaitedVictim(expected, indices[0]), true
	case "pod_watch.under_way", "pod_watch.under_way.pod", "node_watch.under_way", "node_watch.under_way.node", "node_watch.under_way.exists":
		return underWayInModel(variable, expected)
	case "queue.rejected_by":
		if _, there := expected[variable]; !there {
			return false, true // a plugin that the model does not have rejects nobody
		}
	}
	if strings.HasPrefix(name, "pod_watch.under_way.object.") {
		return underWayInModel(variable, expected)
	}
	want, there := expected[variable]
	if name == "scheduler.verdict" && (want == "CANDIDATE" || want == "NO_CANDIDATE") {
		want = "REJECTED" // before the dry run said more
	}
	return want, there
}

// same is whether two values are equal; numbers come from JSON in one type only.
func same(a, b any) bool {
	if x, is := number(a); is {
		y, also := number(b)
		return also && x == y
	}
	return a == b
}

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
