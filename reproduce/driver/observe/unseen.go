package podrace

import "strings"

// unseenBecause says of variables that cannot be seen why, by what their names begin with. The longest beginning counts.
var unseenBecause = map[string]string{
	"api.":                      "no pod has it in this version",
	"api_dispatcher.":           "what the patch in flight is to write is a local variable of its call; what it has written is compared",
	"async_preemption.":         "a local variable of the preemption goroutine; its calls are compared, and the set of preemptors with the victim awaited last",
	"binding.":                  "a local variable of the binding cycle; its calls are compared",
	"budgets.":                  "what the disruption controller has heard and counted, and what has probes fail, is the trace's: what is written is compared",
	"budgets.ready[]":           "no pod is there",
	"budgets.read_":             "a local variable of preemption; its dry runs are compared",
	"cache.pod[].bound":         "there is no FinishBinding any more",
	"cache.uncounted[]":         "by how much a count is wrong follows from it: which claims count as used is compared",
	"claim_cache.":              "which events wait to be delivered, and that the next was given to the tracker, is compared by their number and by who stands where",
	"claim_controller.":         "what the controller's lister has is the trace's: its writes are",
	"claim_maker.":              "as claim_controller.",
	"claim_tracker.changed[]":   "a number that PreFilter keeps in a local variable",
	"claim_tracker.allocated":   "devices that may go to one claim together are compared one by one",
	"device_taints.":            "when tolerationSeconds are over is for the device taint eviction controller to say",
	"slice_informer.tainted[]":  "the informer has no slice of the device",
	"claim_tracker.sharers[]":   "nobody counts them in this version",
	"csi_nodes.":                "what drivers and the attach/detach controller have written is the trace's: what the informers show is compared",
	"clock.":                    "no two pods wait",
	"failure.":                  "an argument or a local variable of the failure handler; its effects are compared",
	"dynamic_resources.":        "a local variable of the pod's cycles; what they put in flight, write and assume is compared",
	"faults.":                   "how often a fault may still happen is the scenario's",
	"handlers.":                 "where a goroutine stands is forced by the steps, and so compared",
	"node_infos.changed[]":      "A-SNAPSHOT: no snapshot of the model resets it",
	"node_infos.recent.":        "no NodeInfo has changed yet: in which order the objects of the start came, a scenario does not say",
	"node_lifecycle.":           "what the controller has read and plans, and what becomes of kubelets, is the trace's: their writes are compared",
	"node_tree.nodes.after[][]": "no two nodes share a zone: of two zones nobody can say which node came first",
	"node_watch.":               "as pod_watch.: compared by the events that the informer's store has not received",
	"pod_updates.":              "what the cache handler has still to tell is its own; its calls are compared",
	"pod_watch.":                "how far the handlers are follows from their steps; compared are the events that the informer's store has not received",
	"pod_watch.condition[]":     "compared is whether the cached object carries it",
	"pod_watch.seen":            "the object that a handler was given last is not kept; what it did with it is compared",
	"async_preemption.aim_of":   "the candidate of the goroutine is its own; at which nodes it asks for nominations is compared",
	"pod_group_cycle.":          "a local variable of the cycle of a group; its calls are compared",
	"pod_group_states.copied":   "A-SNAPSHOT: the snapshot of the model forgets it at the end of the cycle",
	"pod_group_states.tracked":  "there is no tracker in this version",
	"pod_groups.told[]":         "what the handler of groups is through with; its call is compared",
	"preemption.":               "the dry runs' results are seen between them and the choice only",
	"process.":                  "a Binding under way is the driver's to deliver",
	"queue.gated[]":             "no pod waits",
	"queue.in_flight_events":    "of a pod that waits in the entry of its group nobody consults them",
	"queue.just_moved[]":        "what Pop could meet before a move is over; the queue does not keep it",
	"queue.late_events[][]":     "as queue.just_moved[]",
	"queue.moved":               "no pod was popped yet",
	"queue.moved_since[]":       "a number that the failure handler keeps in a local variable",
	"queue.rejected_by[][]":     "no pod waits: the record of an attempt is its goroutine's own (A-RECORD)",
	"scheduler.":                "a local variable of the scheduling cycle; its effects are compared",
	"scheduler.phase":           "where a goroutine stands is forced by the steps, and so compared",
	"updates.":                  "what the node handler has still to tell is its own; its calls are compared",
	"volume_binding.":           "a local variable of the pod's cycles; what they assume and write is compared",
	"volume_cache.":             "what the queue has still to be told follows from the steps of its handlers",
	"pv_controller.":            "what the controller's lister has is the trace's: its writes are",
	"provisioner.":              "as pv_controller.",
	"snapshot.counted_nodes":    "as cache.uncounted[]",
	"snapshot.used[]":           "these releases do not count",
	"storage_users.":            "how often somebody may still act is the scenario's",
	"gate_keepers.":             "what a keeper has written is in the pod's object",
	"resource_claims.":          "the time of an allocation is in the claim; whether it is too old is for the plugin to say",
	"users.":                    "how often somebody may still act is the scenario's",
}

// unseenOf are the kinds of the model's variables of which nothing is seen, each with the reason. Those of a property are its own business.
func unseenOf(initial map[string]any, seen sight) []string {
	visible, kinds := map[string]bool{}, map[string]bool{}
	for variable := range seen {
		visible[kind(variable)] = true
	}
	for variable := range initial {
		if name := kind(variable); !visible[name] && !isOfProperty(name) && !isAboutItself(variable) {
			kinds[name+": "+reason(name)] = true
		}
	}
	return sorted(kinds)
}

func reason(kind string) string {
	longest := ""
	for beginning := range unseenBecause {
		if strings.HasPrefix(kind, beginning) && len(beginning) > len(longest) {
			longest = beginning
		}
	}
	if longest == "" {
		return "the observer does not know it"
	}
	return unseenBecause[longest]
}

// isAboutItself is whether a variable says how something is ordered with respect to itself: it is never set.
func isAboutItself(variable string) bool {
	_, indices := parts(variable)
	return len(indices) == 2 && indices[0] == indices[1]
}

// isOfProperty is whether a variable belongs to a property, such as S-NOM: those are written in capitals.
func isOfProperty(name string) bool { return name[0] >= 'A' && name[0] <= 'Z' }
