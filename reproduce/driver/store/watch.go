package podrace

import (
	"fmt"
	"slices"
	"sort"
	"strconv"
	"time"

	v1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
)

// What informers are told: lists, and the events of watches, each when it is due.

// Undelivered is how many events of a kind the watch has not delivered.
func (s *Store) Undelivered(kind string) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.log[kind]) - s.sent[kind]
}

// Deliver lets the watch of a kind deliver its next event, and those before it that the model does not have. It gives the name of what the
// event is about; none if there is no event.
func (s *Store) Deliver(kind string) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	for s.sent[kind] < len(s.log[kind]) {
		e := s.deliver(kind)
		if e.expired && !e.missed {
			if name := s.relist(kind, e); name != "" {
				return name
			}
			continue // what was missed has come to nothing
		}
		if e.beyond == "" && !e.missed {
			return e.name
		}
	}
	return ""
}

// relist answers the list that follows an expired watch. It shows the outcome of all events that were missed at once. The informer lets some
// time pass before it lists; where that has not passed yet, it is waited for.
func (s *Store) relist(kind string, e event) string {
	s.relisted = false
	s.mu.Unlock()
	settle()
	s.mu.Lock()
	for n := 0; n < 50 && !s.relisted; n++ {
		s.mu.Unlock()
		time.Sleep(100 * time.Millisecond)
		settle()
		s.mu.Lock()
	}
	if len(e.outcomes) == 0 {
		return ""
	}
	for _, o := range e.outcomes[1:] {
		s.ahead[kind] = append(s.ahead[kind], o.name)
	}
	return e.outcomes[0].name
}

// IsAhead says whether the outcome of a missed event has come with that of another.
func (s *Store) IsAhead(kind, name string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	n := slices.Index(s.ahead[kind], name)
	if n >= 0 {
		s.ahead[kind] = slices.Delete(s.ahead[kind], n, n+1)
	}
	return n >= 0
}

// Took notes that a handler has been given the outcome of an object: the model's store has it by now, and those before it.
func (s *Store) Took(kind, name string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if n := slices.Index(s.ahead[kind], name); n >= 0 {
		s.ahead[kind] = s.ahead[kind][n+1:]
	}
}

func (s *Store) deliver(kind string) event {
	e := s.log[kind][s.sent[kind]]
	s.sent[kind]++
	w := s.watches[kind]
	switch {
	case e.expired && !e.missed:
		s.letList(kind, false)
	case w == nil || e.missed:
	default:
		if e.beyond != "" {
			s.notes = append(s.notes, fmt.Sprintf("passed over: an event of %s with %s", e.name, e.beyond))
		}
		w.Action(e.Type, e.Object.DeepCopyObject())
	}
	return e
}

// DeliverOne lets the watch of a kind deliver its next event, and no other. It says whether there was one.
func (s *Store) DeliverOne(kind string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.sent[kind] == len(s.log[kind]) || s.log[kind][s.sent[kind]].expired {
		return false
	}
	s.deliver(kind)
	return true
}

// IsTarget says whether a version of a pod came of the write that it is a victim, in the status that the model does not tell apart.
func (s *Store) IsTarget(version string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.targets[version]
}

// unchanged stands for the version of an object that an informer tells of again, because it was listed once more.
const unchanged = "unchanged"

// IsBeyond says whether a version of an object came of a write that the model does not have.
func (s *Store) IsBeyond(version string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.beyond[version] || version == unchanged
}

// Pod is a pod as the API server has it; nil if it has none.
func (s *Store) Pod(name string) *v1.Pod {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.pods[name]
}

// object is a pod that is there, or has finished; nil if it is neither.
func (s *Store) object(pod string) *v1.Pod {
	s.mu.Lock()
	defer s.mu.Unlock()
	if p := s.pods[pod]; p != nil {
		return p
	}
	return s.finished[pod]
}

// Node is a node as the API server has it; nil if it has none.
func (s *Store) Node(name string) *v1.Node {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.nodes[name]
}

// Fail has the next call of this kind about this pod come to grief.
func (s *Store) Fail(call, pod string, how fault) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.faults[call+" "+s.names.of(pod)] = how
}

func (s *Store) takeFault(call, pod string) fault {
	s.mu.Lock()
	defer s.mu.Unlock()
	of := call + " " + s.names.of(pod)
	how := s.faults[of]
	delete(s.faults, of)
	return how
}

// list gives all objects of a kind, and the version that a watch is to go on from. A list that follows an expired watch finds what there
// was when it expired, and one of a standby what the standby has been shown.
func (s *Store) list(kind string) ([]runtime.Object, string, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for s.listing[kind] != nil {
		l := s.listing[kind]
		s.mu.Unlock()
		<-l.answered
		s.mu.Lock()
		if l.ended {
			return nil, "", apierrors.NewServiceUnavailable("the process has ended")
		}
	}
	end := len(s.log[kind])
	if from, ok := s.from[kind]; ok {
		end = from
		delete(s.from, kind)
	} else if n := s.sent[kind]; n > 0 && s.log[kind][n-1].expired {
		end = n
		s.relisted = true
	}
	s.sent[kind] = end
	objects, version := s.asOf(kind, end)
	return objects, version, nil
}

// listing is a list that is held up.
type listing struct {
	answered chan struct{}
	ended    bool // whoever lists has ended
}

// letList lets the list go on that follows an expired watch, if there is one.
func (s *Store) letList(kind string, ended bool) {
	if l := s.listing[kind]; l != nil {
		l.ended = ended
		close(l.answered)
		delete(s.listing, kind)
	}
}

// asOf gives the objects of a kind after so many events.
func (s *Store) asOf(kind string, events int) (objects []runtime.Object, version string) {
	byName := map[string]runtime.Object{}
	version = "0"
	var names []string
	for _, e := range s.log[kind][:events] {
		version = strconv.Itoa(e.version)
		if e.expired {
			continue
		}
		if _, known := byName[e.name]; !known {
			names = append(names, e.name)
		}
		byName[e.name] = e.Object
		if e.Type == watch.Deleted {
			byName[e.name] = nil
		}
	}
	sort.SliceStable(names, func(i, j int) bool { return s.rank[names[i]] < s.rank[names[j]] })
	for _, name := range names {
		if o := byName[name]; o != nil {
			objects = append(objects, o.DeepCopyObject())
		}
	}
	return objects, version
}

// Expire interrupts the watch of a kind: what it has not delivered is seen only by its outcome, in the list that follows, which is answered
// when the first outcome is due. The outcomes are told in the order of `names`.
func (s *Store) Expire(kind string, names []string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	last := map[string]event{}
	for n := s.sent[kind]; n < len(s.log[kind]); n++ {
		s.log[kind][n].missed = true
		last[s.log[kind][n].name] = s.log[kind][n]
	}
	shown := map[string]runtime.Object{}
	objects, _ := s.asOf(kind, s.sent[kind])
	for _, o := range objects {
		shown[idOf(o.(metav1.Object))] = o
	}
	var outcomes []event
	for _, name := range names {
		e, missed := last[name]
		old, known := shown[name]
		switch {
		case !missed || !known && e.Type == watch.Deleted:
		case e.Type == watch.Deleted && s.isTaken(e.Object):
			// the list shows another pod under the name
		case known && e.Type != watch.Deleted && shows(old) == shows(e.Object):
			s.beyond[versionOf(e.Object)] = true // it has come to nothing
		default:
			delete(s.beyond, versionOf(e.Object)) // whatever its last write was, there is one that the model has
			outcomes = append(outcomes, e)
		}
	}
	s.version++
	s.log[kind] = append(s.log[kind], event{expired: true, outcomes: outcomes, version: s.version})
	if s.listing[kind] != nil || s.watches[kind] == nil {
		return // the informer is to list already
	}
	status := apierrors.NewResourceExpired("too old resource version").Status()
	s.watches[kind].Action(watch.Error, &status)
	s.watches[kind] = nil
	s.listing[kind] = &listing{answered: make(chan struct{})}
}

// shows is what the model has of an object: of a node its version.
func shows(o runtime.Object) string {
	switch t := o.(type) {
	case *v1.Pod:
		return projection(t)
	case *v1.Node:
		return strconv.FormatInt(t.Generation, 10)
	}
	return ""
}

// isTaken says whether another pod has the name of one that is gone.
func (s *Store) isTaken(o runtime.Object) bool {
	gone, isPod := o.(*v1.Pod)
	for _, p := range s.pods {
		if isPod && p.Name == gone.Name {
			return true
		}
	}
	return false
}

func (s *Store) watch(kind string) watch.Interface {
	s.mu.Lock()
	defer s.mu.Unlock()
	w := watch.NewRaceFreeFake()
	s.watches[kind] = w
	return w
}
