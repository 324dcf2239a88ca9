package podrace

import "strings"

// role is what a goroutine does in the model.
type role string

const (
	nobody      role = ""
	scheduling  role = "scheduler"
	binding     role = "binding cycle"
	requeueing  role = "requeue goroutine"
	podHandler  role = "pod handler"
	nodeHandler role = "node handler"
	worker      role = "worker"
)

// The handling of one event by an event handler counts as a call of these names.
const (
	podEvent  = "PodEvent"
	nodeEvent = "NodeEvent"
)

// identify says who a goroutine is, by who started it and by the first point that it comes to.
func (s *Stage) identify(i *instance, p point, c creation) *actor {
	parent := s.actors[c.by]
	if strings.HasSuffix(c.function, "ParallelizeUntil") {
		if parent == nil || parent.role == nobody {
			return &actor{role: nobody, owner: i}
		}
		return &actor{role: worker, parent: parent, owner: i}
	}
	switch {
	case p.call == "NextPod":
		return &actor{role: scheduling, owner: i}
	case p.call == podEvent:
		return &actor{role: podHandler, number: p.number, owner: i}
	case p.call == nodeEvent:
		return &actor{role: nodeHandler, number: p.number, owner: i}
	case p.call == "Client.Bind" && parent != nil && parent.role == scheduling:
		return &actor{role: binding, pod: p.pod, owner: i}
	case p.call == "Client.Get" && parent != nil: // started by the failure handler of a scheduling or a binding cycle
		return &actor{role: requeueing, pod: p.pod, owner: i}
	}
	return &actor{role: nobody, owner: i}
}

// note keeps what later points are understood by.
func (a *actor) note(p point) {
	if a.role == scheduling && p.call == "NextPod" && p.after && p.pod != "" {
		a.pod = p.pod
	}
	if p.call == "FailureHandler" && !p.after {
		a.owner.failing[p.pod] = a
	}
}
