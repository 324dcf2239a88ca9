package podrace

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// What the model leaves out on purpose, as far as it shows in the state: one omission each, with the name of its row in docs/model.md.

// permitPlugin is the model's name for the Permit plugin out of tree.
const permitPlugin = "PermitPlugin"

// realPlugin is the name that a plugin of the model's has in the driver: a Permit plugin is the driver's own.
func realPlugin(plugin string) string {
	if plugin == permitPlugin {
		return pluginName
	}
	return plugin
}

type omission struct {
	row     string
	applies func(d Difference, expected, real map[string]any) bool
}

var omissions = []omission{
	// The model's cycle is over with its last effect; its goroutine has still to come back for the next pod.
	{"phases", func(d Difference, expected, _ map[string]any) bool {
		return strings.HasPrefix(d.Variable, "scheduler.") && word(expected, "scheduler.phase") == "IDLE"
	}},
	// In the cycle of a group the model turns to one member after the other; what upstream has of each is in local variables, and their calls are compared.
	{"phases", func(d Difference, expected, _ map[string]any) bool {
		return strings.HasPrefix(d.Variable, "scheduler.") && inGroupCycle(expected)
	}},
	// Between the last filter and the pod that is assumed in the snapshot of its group's cycle nobody can be held, and nobody else looks at it.
	{"phases", func(d Difference, expected, _ map[string]any) bool {
		name, _ := parts(d.Variable)
		return name == "snapshot.pod.node" && d.Model == nil && inGroupCycle(expected) && word(expected, "scheduler.phase") != "FILTERING"
	}},
	// The nominated node is tried first; if it does not fit there, the model tries it again among all.
	{"phases", func(d Difference, expected, _ map[string]any) bool {
		name, indices := parts(d.Variable)
		return name == "scheduler.verdict" && d.Model == "UNTRIED" && indices[0] == word(expected, "scheduler.copy.nominated")
	}},
	// A node without anybody to evict is through before the others are; the model has a dry run of it, at any time among theirs.
	{"phases", func(d Difference, expected, _ map[string]any) bool {
		name, _ := parts(d.Variable)
		return name == "scheduler.verdict" && d.Model == "REJECTED" && d.Real == "NO_CANDIDATE" && word(expected, "scheduler.phase") == "DRY_RUN"
	}},
	// The snapshot of the model is cleared at the end of a cycle; upstream keeps it, and copies next time what has changed.
	{"A-SNAPSHOT", func(d Difference, expected, _ map[string]any) bool {
		return strings.HasPrefix(d.Variable, "snapshot.") && !hasSnapshot(expected)
	}},
	// A NodeInfo without Node object is not copied: the pods on it are in the model's snapshot on a node that is not, which no filter looks at.
	{"A-SNAPSHOT", func(d Difference, expected, _ map[string]any) bool {
		name, indices := parts(d.Variable)
		if name != "snapshot.pod.node" && name != "snapshot.pod.terminating" && name != "snapshot.carries" && name != "snapshot.version" {
			return false
		}
		node, on := expected["snapshot.pod["+indices[0]+"].node"].(string)
		return on && expected["snapshot.live["+node+"]"] == false && (name != "snapshot.pod.node" || d.Real == nil)
	}},
	// A pod that comes back after its backoff passes through backoffQ in the model, which it may leave at once.
	{"A-BACKOFF", func(d Difference, _, real map[string]any) bool {
		name, indices := parts(d.Variable)
		return name == "queue.sub_queue" && d.Model == "BACKOFF" && d.Real == "ACTIVE" && real[pastBackoff+"["+indices[0]+"]"] == true
	}},
	// A write that the model does not have makes an event: its Update takes the nomination from the object, and queues a pod that is unknown.
	{"A-CONDITION", func(d Difference, _, real map[string]any) bool {
		name, indices := parts(d.Variable)
		if indices == nil || real[writtenBeyond+"["+indices[0]+"]"] != true {
			return false
		}
		learned := name == "nominator.node" && d.Real != nil && d.Real == real["pod_watch.lister["+indices[0]+"].nominated"]
		return learned || name == "queue.sub_queue" && d.Model == "NONE" && d.Real == "ACTIVE"
	}},
	// For a pod that an extender rejected any event counts, that of such a write as well.
	{"A-CONDITION", func(d Difference, _, real map[string]any) bool {
		name, indices := parts(d.Variable)
		return name == "queue.in_flight_events" && indices[1] == "Extender" && d.Real == true && anyBeyond(real)
	}},
	// A move notes its event when it has moved the pods. A goroutine that asks for the event takes the queue's lock first, and waits until the move is over.
	{"A-MOVES", func(d Difference, _, real map[string]any) bool {
		name, _ := parts(d.Variable)
		return name == "queue.in_flight_events" && d.Real == false && real[amidMove] == true
	}},
	// A list after an interruption fills the store at once, as far as anybody can hold it; the model stores one object after the other.
	{"A-RELIST", func(d Difference, _, real map[string]any) bool {
		for underWay, ahead := range map[string]string{podsUnderWay: podsAhead, nodesUnderWay: nodesAhead} {
			if strings.HasPrefix(d.Variable, underWay) {
				return slices.ContainsFunc(slices.Collect(maps.Keys(real)), func(v string) bool { return strings.HasPrefix(v, ahead) })
			}
		}
		name, indices := parts(d.Variable)
		watched, part, _ := strings.Cut(name, ".")
		return strings.HasPrefix(part, "lister") && real[fmt.Sprintf("%s.ahead[%s]", watched, indices[0])] == true
	}},
	// A gate that the preemption plugin closes is a phase of its goroutine in the model; upstream notes the plugin as one that rejected the pod.
	{"A-PRE-ENQUEUE", func(d Difference, _, _ map[string]any) bool {
		name, indices := parts(d.Variable)
		return name == "queue.rejected_by" && indices[1] == "DefaultPreemption" && d.Real == true
	}},
	// Reserve assumes what is to be written for all claims of the pod in one call, in which nobody can be held.
	{"A-VOLUME-READS", func(d Difference, expected, _ map[string]any) bool {
		name, _ := parts(d.Variable)
		return strings.HasPrefix(name, "volume_cache.assumed_") && word(expected, "scheduler.phase") == "RESERVE" && hasOpenClaim(expected)
	}},
	// Hints of DynamicResources ask whether the claims of the pod are there; the model asks that when the pod comes back.
	{"A-CLAIM-LIVES", func(d Difference, expected, _ map[string]any) bool {
		name, indices := parts(d.Variable)
		return name == "queue.in_flight_events" && indices[1] == "DynamicResources" && d.Real == false && lacksClaims(expected, indices[0])
	}},
	// So it notes of a pod of a gang that was held back until the last of them came, as all are at the start; Pop forgets it.
	{"A-PRE-ENQUEUE", func(d Difference, _, real map[string]any) bool {
		name, indices := parts(d.Variable)
		return name == "queue.rejected_by" && indices[1] == "GangScheduling" && d.Real == true && real["queue.sub_queue["+indices[0]+"]"] == "ACTIVE"
	}},
	// Of the members of an entry PreEnqueue holds the first that lacks others: upstream begins with the one that was tried more often, the model with the first of the scenario.
	{"A-GROUP-ORDER", func(d Difference, expected, real map[string]any) bool {
		name, indices := parts(d.Variable)
		if name != "queue.gated" && (name != "queue.rejected_by" || indices[1] != "GangScheduling") {
			return false
		}
		return slices.ContainsFunc(slices.Collect(maps.Keys(real)), func(variable string) bool {
			of, other := parts(variable)
			if of != "queue.gated" || !shareEntry(real, indices[0], other[0]) {
				return false
			}
			instead := strings.Replace(d.Variable, "["+indices[0]+"]", "["+other[0]+"]", 1)
			return real[instead] == d.Model && expected[instead] == d.Real
		})
	}},
}

// shareEntry is whether two pods are in one entry of the queue: of others it is seen which is the older one.
func shareEntry(real map[string]any, pod, other string) bool {
	_, before := real["clock.older["+pod+"]["+other+"]"]
	_, after := real["clock.older["+other+"]["+pod+"]"]
	return pod != other && !before && !after
}

// abstracted is the row that explains a difference; none if it is one that counts.
func abstracted(d Difference, expected, real map[string]any) string {
	for _, o := range omissions {
		if o.applies(d, expected, real) {
			return o.row
		}
	}
	return ""
}

// hasOpenClaim is whether the model's cycle has not yet assumed what it means to for some claim of its pod.
func hasOpenClaim(expected map[string]any) bool {
	for variable, stage := range expected {
		if name, indices := parts(variable); name == "volume_binding.stage" && stage == "OPEN" && strings.HasSuffix(indices[0], " of "+word(expected, "scheduler.pod")) {
			return true
		}
	}
	return false
}

// anyBeyond is whether an event of some pod was delivered that the model does not have.
func anyBeyond(real map[string]any) bool {
	for variable, seen := range real {
		if name, _ := parts(variable); name == writtenBeyond && seen == true {
			return true
		}
	}
	return false
}

// hasSnapshot is whether the model's cycle works on a snapshot: it has taken one, and is not over. That of a group takes back what was assumed in it before
// it submits the result, and looks at it no more.
func hasSnapshot(expected map[string]any) bool {
	phase := word(expected, "scheduler.phase")
	stage := word(expected, "pod_group_cycle.stage")
	return phase != "IDLE" && phase != "POPPED" && stage != "REVERT" && stage != "GATHER" && stage != "POP" && stage != "SNAPSHOT" && stage != "SUBMIT" && stage != "PREEMPT" && stage != "REPRIEVE" && stage != "PICK" && stage != "PLACE" && stage != "WEIGH" && !isFinishing(expected)
}

// inGroupCycle is whether the cycle of a group runs.
func inGroupCycle(expected map[string]any) bool {
	stage, there := expected["pod_group_cycle.stage"]
	return there && stage != "NONE" || isFinishing(expected)
}

// runsPreemption is whether the goroutine of a preemptor keeps it in the set of those whose preemption runs. Up to 1.34 it leaves the set before
// it evicts the last victim; where it stays until then, it notes which victim that is.
func runsPreemption(expected, real map[string]any, pod string) bool {
	switch word(expected, "async_preemption.phase["+pod+"]") {
	case "BEGIN", "CLEAR", "EVICT", "LEAVE":
		return true
	case "EVICT_LAST", "EVICTED":
		_, awaits := real[awaitedLast+"["+pod+"]"]
		return awaits
	}
	return false
}

// awaitedVictim is the victim that PreEnqueue looks at: that which is evicted last, once the others are.
func awaitedVictim(expected map[string]any, pod string) any {
	switch word(expected, "async_preemption.phase["+pod+"]") {
	case "EVICT_LAST", "EVICTED":
		return expected["async_preemption.last["+pod+"]"]
	}
	return nil
}

// lacksClaims is whether the assume cache lacks one of the pod's claims, or has it as one that is being deleted.
func lacksClaims(expected map[string]any, pod string) bool {
	for variable := range expected {
		if name, indices := parts(variable); name == "dynamic_resources.stage" {
			claim, of, _ := strings.Cut(indices[0], " of ")
			life, known := number(expected["claim_cache.latest["+claim+"].life"])
			if of == pod && known && life != 0 {
				return true
			}
		}
	}
	return false
}
