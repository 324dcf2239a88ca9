package podrace

import (
	"strconv"
	"sync"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/watch"
)

// event is one of a watch, and what is said of it when it is passed over because the model has no such event.
type event struct {
	watch.Event
	name    string
	beyond  string
	version int
	missed  bool // the watch was interrupted before it

	expired  bool    // no event, but the end of the watch: a list follows
	outcomes []event // what it shows of those that were missed
}

// Store is a small API server for pods and nodes. Its watches deliver an event only on command.
type Store struct {
	mu        sync.Mutex
	version   int
	pods      map[string]*v1.Pod
	finished  map[string]*v1.Pod
	nodes     map[string]*v1.Node
	claims    map[string]runtime.Object            // ResourceClaims
	storage   map[string]map[string]runtime.Object // by kind: volumes and their claims
	log       map[string][]event
	sent      map[string]int // of the log of a kind, how many events the watch has delivered
	watches   map[string]*watch.RaceFreeFakeWatcher
	beyond    map[string]bool // resourceVersions that came of writes which the model does not have
	targets   map[string]bool // those of them that told of a pod that it is a victim: the condition DisruptionTarget is new
	faults    map[string]fault
	created   map[string]int // how many pods of a name there have been
	names     names
	auto      bool                // every event is delivered at once
	rank      map[string]int      // the order in which objects are listed, if not that in which they were created
	holds     bool                // finalizers keep the objects of bound pods
	finalized map[string]bool     // pods that nobody has taken them from
	keeps     bool                // the nomination of a pod outlives its Binding, and may be written after it
	from      map[string]int      // kind -> how many events the next list knows of, if not all
	relisted  bool                // the list has come that follows an expired watch
	listing   map[string]*listing // that list of a kind, while it is not to be answered
	ahead     map[string][]string // by kind, objects of which a list has shown more than one at once: their events are in the informer's store already
	notes     []string
	selects   fields.Selector // which pods their watch has; nil before anybody has asked
}

// fault says what becomes of the next call of its kind about its pod.
type fault string

const (
	failed    fault = "failed"    // nothing is written, and the caller is told so
	lost      fault = "lost"      // it is written, and the reply is lost
	transient fault = "transient" // nothing is written, and it is worth while to try again
)

func newStore() *Store {
	return &Store{
		pods: map[string]*v1.Pod{}, nodes: map[string]*v1.Node{}, claims: map[string]runtime.Object{}, log: map[string][]event{}, sent: map[string]int{},
		watches: map[string]*watch.RaceFreeFakeWatcher{}, beyond: map[string]bool{}, targets: map[string]bool{}, faults: map[string]fault{}, created: map[string]int{},
		storage: map[string]map[string]runtime.Object{volumeKind: {}, volumeClaimKind: {}},
		listing: map[string]*listing{}, ahead: map[string][]string{},
		from: map[string]int{}, rank: map[string]int{}, finalized: map[string]bool{},
	}
}

const (
	podKind   = "pods"
	nodeKind  = "nodes"
	claimKind = "resourceclaims"

	volumeKind      = "persistentvolumes"
	volumeClaimKind = "persistentvolumeclaims"
)

func resource(kind string) schema.GroupResource { return schema.GroupResource{Resource: kind} }

// commit writes an object and appends an event to the watch of its kind. Objects that were given out never change.
func (s *Store) commit(kind string, what watch.EventType, o runtime.Object, beyond string) {
	s.version++
	m := o.(metav1.Object)
	m.SetResourceVersion(strconv.Itoa(s.version))
	switch t := o.(type) {
	case *v1.Pod:
		if what == watch.Deleted {
			delete(s.pods, idOf(t))
		} else {
			s.pods[idOf(t)] = t
		}
	case *v1.Node:
		if what == watch.Deleted {
			delete(s.nodes, t.Name)
		} else {
			s.nodes[t.Name] = t
		}
	case *v1.PersistentVolume, *v1.PersistentVolumeClaim:
		if what == watch.Deleted {
			delete(s.storage[kind], idOf(m))
		} else {
			s.storage[kind][idOf(m)] = o
		}
	default:
		if what == watch.Deleted {
			delete(s.claims, idOf(m))
		} else {
			s.claims[idOf(m)] = o
		}
	}
	if beyond != "" {
		s.beyond[m.GetResourceVersion()] = true
	}
	s.log[kind] = append(s.log[kind], event{Event: watch.Event{Type: what, Object: o}, name: idOf(m), beyond: beyond, version: s.version})
	if s.auto {
		s.deliver(kind)
	}
}
