package podrace

import (
	"bytes"
	"runtime"
	"strconv"
	"strings"
)

// role is what a goroutine does in the model.
type role string

const (
	nobody      role = ""
	scheduling  role = "scheduler"
	binding     role = "binding cycle"
	preempting  role = "preemption goroutine"
	podHandler  role = "pod handler"
	nodeHandler role = "node handler"
	worker      role = "worker"
)

// The handling of one event by an event handler counts as a call of these names.
const (
	podEvent  = "PodEvent"
	nodeEvent = "NodeEvent"
)

// goroutine is the number of the goroutine that asks. The runtime tells it only in the first line of a stack.
func goroutine() int64 {
	var buffer [64]byte
	line := buffer[:runtime.Stack(buffer[:], false)]
	line = bytes.TrimPrefix(line, []byte("goroutine "))
	if i := bytes.IndexByte(line, ' '); i >= 0 {
		line = line[:i]
	}
	id, _ := strconv.ParseInt(string(line), 10, 64)
	return id
}

// creation is where a goroutine was started, and by which one.
type creation struct {
	function string
	by       int64
}

// creator says who started the goroutine that asks: the last two lines of its stack.
func creator() creation {
	buffer := make([]byte, 1<<16)
	stack := string(buffer[:runtime.Stack(buffer, false)])
	i := strings.LastIndex(stack, "created by ")
	if i < 0 {
		return creation{}
	}
	line, _, _ := strings.Cut(stack[i+len("created by "):], "\n")
	function, by, _ := strings.Cut(line, " in goroutine ")
	id, _ := strconv.ParseInt(strings.TrimSpace(by), 10, 64)
	return creation{function, id}
}

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
	case p.call == "NextPod":
		return &actor{role: scheduling, owner: i}
	case p.call == podEvent:
		return &actor{role: podHandler, number: p.number, owner: i}
	case p.call == nodeEvent:
		return &actor{role: nodeHandler, number: p.number, owner: i}
	case parent != nil && parent.role == scheduling:
		return identifyChild(parent, i, p)
	}
	return &actor{role: nobody, owner: i}
}

// identifyChild tells apart what the scheduling cycle starts: the binding cycle of an assumed pod, which calls the framework first, and the
// goroutine that evicts for a preemptor.
func identifyChild(parent *actor, i *instance, p point) *actor {
	if strings.HasPrefix(p.call, "Framework.") {
		return &actor{role: binding, pod: p.pod, owner: i}
	}
	return &actor{role: preempting, pod: parent.pod, owner: i}
}

// note keeps what later points are understood by.
func (a *actor) note(p point) {
	if a.role == scheduling && p.call == "NextPod" && p.after && p.pod != "" {
		a.pod = p.pod
	}
	if p.call == "FailureHandler" && !p.after {
		a.owner.failing[p.pod] = a
	} else if a.role == binding && a.owner.failing[a.pod] == a {
		a.failed = true
	}
}
