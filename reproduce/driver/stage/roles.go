package podrace

import "strings"

// role is what a goroutine does in the model.
type role string

const (
	nobody        role = ""
	scheduling    role = "scheduler"
	binding       role = "binding cycle"
	prioritising  role = "question about scores"
	preempting    role = "preemption goroutine"
	requeuing     role = "requeue goroutine"
	podHandler    role = "pod handler"
	nodeHandler   role = "node handler"
	claimInformer role = "claim informer"
	worker        role = "worker"
	volumeHandler role = "volume handler"
	claimHandling role = "volume claim handler"
	dispatcher    role = "API dispatcher"
	calling       role = "API call"
	groupHandler  role = "pod group handler"
)

// The handling of one event by an event handler counts as a call of these names.
const (
	podEvent   = "PodEvent"
	nodeEvent  = "NodeEvent"
	claimEvent = "ClaimEvent"

	volumeEvent      = "VolumeEvent"
	volumeClaimEvent = "VolumeClaimEvent"
)

// handlersOf are the roles of those who handle events of volumes and their claims.
var handlersOf = map[string]role{volumeEvent: volumeHandler, volumeClaimEvent: claimHandling}

// identify says who a goroutine is, by who started it and by the first point that it comes to. No names of upstream's functions are
// needed but the one that spreads work over goroutines, so that this outlasts releases.
func (s *Stage) identify(i *instance, p point, c creation) *actor {
	parent := s.actors[c.by]
	if strings.HasSuffix(c.function, "ParallelizeUntil") {
		if parent == nil || parent.role == nobody {
			return &actor{role: nobody, owner: i}
		}
		return &actor{role: worker, parent: parent, owner: i}
	}
	switch {
	case p.call == "Dispatcher.Pop":
		return &actor{role: dispatcher, owner: i}
	case parent != nil && parent.role == dispatcher:
		return &actor{role: calling, pod: p.pod, owner: i}
	case p.call == "NextPod":
		return &actor{role: scheduling, owner: i}
	case p.call == podEvent:
		return &actor{role: podHandler, number: p.number, owner: i}
	case p.call == nodeEvent:
		return &actor{role: nodeHandler, number: p.number, owner: i}
	case handlersOf[p.call] != "":
		return &actor{role: handlersOf[p.call], number: p.number, owner: i}
	case p.call == claimEvent:
		return &actor{role: claimInformer, owner: i}
	case p.group != "":
		return &actor{role: groupHandler, owner: i}
	case parent != nil && parent.role == scheduling:
		return identifyChild(parent, i, p)
	}
	return &actor{role: nobody, owner: i}
}

// identifyChild tells apart what the scheduling cycle starts: the binding cycle of an assumed pod, which calls the framework first, the
// question to an extender how it scores the nodes, a goroutine that puts a pod back, which no release has that can be built, but a
// change may have, and the goroutine that evicts for a preemptor.
func identifyChild(parent *actor, i *instance, p point) *actor {
	if p.call == "Extender.Prioritize" {
		return &actor{role: prioritising, pod: p.pod, owner: i}
	}
	if strings.HasPrefix(p.call, "Framework.") {
		return &actor{role: binding, pod: p.pod, owner: i}
	}
	if p.call == "Queue.AddUnschedulableIfNotPresent" {
		return &actor{role: requeuing, pod: p.pod, owner: i}
	}
	if leader := i.gate.leaders[parent.pod]; leader != "" {
		return &actor{role: preempting, pod: leader, owner: i}
	}
	if parent.forPod != "" {
		return &actor{role: preempting, pod: parent.forPod, owner: i}
	}
	return &actor{role: preempting, pod: parent.pod, owner: i}
}

// note keeps what later points are understood by.
func (a *actor) note(p point) {
	if a.role == scheduling && p.call == "NextPod" && p.after && p.pod != "" {
		a.pod, a.forPod = p.pod, ""
	}
	if a.role == scheduling && p.call == "Framework.RunPostFilterPlugins" && !p.after { // the cycle of a group preempts for one member after the other
		a.pod, a.forPod = p.pod, ""
	}
	if a.role == scheduling && p.call == "Extender.ProcessPreemption" && !a.owner.evictsForPopped { // another pod can have the name since the Pop
		a.forPod = p.pod
	}
	if strings.HasPrefix(p.call, "Queue.") {
		a.queues = !p.after
	}
	if p.call == "FailureHandler" && !p.after {
		a.owner.failing[p.pod] = a
	} else if a.role == binding && a.owner.failing[a.pod] == a {
		a.failed = true
	}
}
