package podrace

import (
	"fmt"
	"strings"
	"sync"
)

// point is a place where an actor of the real scheduler can be held: before or after a call, and what the call is about.
type point struct {
	call      string // as the interface and the method are called: "Queue.Add"
	after     bool
	pod, node string
	claim     string // of devices
	group     string // of pods
	byName    bool   // the pod is told by its name only
	version   string // of the object that an event handler is given: its resourceVersion
	number    int    // of an event handler: which one on its informer
	results   []any  // of the call, once it is over
}

func (p point) String() string {
	mark := ">"
	if p.after {
		mark = "<"
	}
	if p.claim != "" {
		return p.call + mark + " " + p.claim
	}
	return strings.TrimRight(strings.Join([]string{p.call + mark, p.pod, p.node}, " "), " ")
}

// actor is a goroutine of the real scheduler in the role that it has in the model.
type actor struct {
	role   role
	pod    string // of a binding cycle or a preemption its pod; of the scheduling cycle the pod that it popped last
	forPod string // of the scheduling cycle: the pod that it preempts for, which it has read again by its name
	number int    // of a handler: which one on its informer
	parent *actor // of a worker: whom it works for
	owner  *instance
	failed bool   // of a binding cycle: its failure is being handled
	queues bool   // it is within a call of the queue
	at     *point // where it stands; nil while it moves, waits for something else, or has ended
	gate   chan struct{}
}

func (a *actor) String() string {
	if a.role == worker {
		return "worker of " + a.parent.String()
	}
	name := string(a.role)
	if a.number > 0 {
		name += fmt.Sprintf(" %d", a.number)
	}
	if a.pod != "" && a.role != scheduling {
		name += " of " + a.pod
	}
	return name
}

// Stage holds actors at points until they are let go.
type Stage struct {
	mu       sync.Mutex
	holding  bool
	actors   map[int64]*actor // by goroutine
	standing []*actor
	trail    []string         // where actors were held since Trail was last asked
	passer   func(point) bool // at which points nobody is held, if it is set
	passed   []passage
	notes    []string
	hears    func(*actor) // is told of everybody who is let go, if it is set
}

func newStage() *Stage {
	return &Stage{actors: map[int64]*actor{}}
}

// Hold says whether arriving actors are held from now on; otherwise those that are held are let go.
func (s *Stage) Hold(holding bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.holding = holding
	if !holding {
		s.free(func(*actor) bool { return true })
	}
}

// abandon lets everybody go who belongs to a process that has ended.
func (s *Stage) abandon(i *instance) {
	s.mu.Lock()
	defer s.mu.Unlock()
	i.dead = true
	s.free(func(a *actor) bool { return a.owner == i })
}

func (s *Stage) free(whom func(*actor) bool) {
	stir()
	var left []*actor
	for _, a := range s.standing {
		if !whom(a) {
			left = append(left, a)
			continue
		}
		a.at = nil
		close(a.gate)
	}
	s.standing = left
}

// arrive is called by the actors themselves: it returns when they may go on. `id` is the number of the goroutine.
func (s *Stage) arrive(id int64, i *instance, p point) {
	s.mu.Lock()
	a := s.actors[id]
	s.mu.Unlock()
	if a == nil {
		created := creator()
		s.mu.Lock()
		a = s.identify(i, p, created)
		s.actors[id] = a
		s.mu.Unlock()
	}
	s.mu.Lock()
	p.claim = i.claimOf(a, p)
	if a.role == nobody || i.dead || i.cycle.passes(a, p) {
		s.mu.Unlock()
		return
	}
	a.note(p)
	if a.role == scheduling || a.role == worker && a.parent.role == scheduling {
		i.cycle.hear(p)
	}
	if s.passer != nil {
		s.passed = append(s.passed, passage{a, p})
	}
	if !s.holding || s.passer != nil && s.passer(p) {
		s.mu.Unlock()
		return
	}
	c := make(chan struct{})
	a.at, a.gate = &p, c
	s.standing = append(s.standing, a)
	s.trail = append(s.trail, p.String())
	s.mu.Unlock()
	<-c
}

// Find waits until nobody moves, and gives the first actor standing at a point for whom the question is answered yes.
func (s *Stage) Find(is func(*actor) bool) *actor {
	settle()
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, a := range s.standing {
		if !a.owner.dead && is(a) {
			return a
		}
	}
	return nil
}

// Release lets an actor go on from where it stands, and waits until nobody moves.
func (s *Stage) Release(a *actor) {
	stir()
	s.mu.Lock()
	for i, b := range s.standing {
		if a == b {
			s.standing = append(s.standing[:i], s.standing[i+1:]...)
			if s.hears != nil {
				s.hears(a)
			}
			a.at = nil
			close(a.gate)
			break
		}
	}
	s.mu.Unlock()
	settle()
}

// hear has a function told of everybody who is let go, before it moves; nil for none.
func (s *Stage) hear(tell func(*actor)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.hears = tell
}

// Where says who stands where.
func (s *Stage) Where() string {
	settle()
	s.mu.Lock()
	defer s.mu.Unlock()
	var all []string
	for _, a := range s.standing {
		if !a.owner.dead {
			all = append(all, a.String()+" at "+a.at.String())
		}
	}
	if all == nil {
		return "nobody is held"
	}
	return strings.Join(all, ", ")
}

// Trail gives the points at which actors were held since it was last asked.
func (s *Stage) Trail() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	t := s.trail
	s.trail = nil
	return t
}
