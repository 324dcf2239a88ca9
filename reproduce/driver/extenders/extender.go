package podrace

import (
	"fmt"
	"slices"
	"time"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	extenderv1 "k8s.io/kube-scheduler/extender/v1"
	schedulerapi "k8s.io/kubernetes/pkg/scheduler/apis/config"
)

// The extenders of a case: each counts on which node which pod has how much of a resource, by what it was told, and answers by that count, or by a list of nodes. The scheduler calls them by upstream's own HTTPExtender.

const (
	extenderURL = "http://extender.podrace.io/%d"

	notesFiltered, notesHeard = "filtered", "heard" // when it begins to count a pod; the third way is when it binds it
)

// keptExtender is an extender, which outlives processes of the scheduler.
type keptExtender struct {
	world   *World
	spec    *extenderSpec
	address string
	counted map[string]string // pod -> the node on which it counts the pod
	late    map[string]string // pod -> the node of a call to bind it that has timed out, and that the extender is still at
	picks   map[string]string // pod -> the node that it is to answer with, where it answers with one
	fails   map[string]string // pod -> what becomes of the next call about it, if the trace has it fail
}

func newExtenders(w *World) (all []*keptExtender) {
	for n := range w.Case.Extenders {
		x := &keptExtender{w, &w.Case.Extenders[n], fmt.Sprintf(extenderURL, n), map[string]string{}, map[string]string{}, map[string]string{}, map[string]string{}}
		for _, pod := range w.Case.Pods {
			if x.counts(pod) && pod.Spec.NodeName != "" && !contains(w.Case.AbsentPods, idOf(pod)) {
				x.counted[idOf(pod)] = pod.Spec.NodeName
			}
		}
		all = append(all, x)
	}
	return all
}

// configuration is what kube-scheduler is told of it.
func (x *keptExtender) configuration() schedulerapi.Extender {
	c := schedulerapi.Extender{
		URLPrefix: x.address, Weight: x.spec.Weight * scoreScale, NodeCacheCapable: true, Ignorable: x.spec.Ignorable, HTTPTimeout: metav1.Duration{Duration: 10000 * time.Hour},
	}
	if x.spec.Resource != "" {
		c.ManagedResources = []schedulerapi.ExtenderManagedResource{{Name: x.spec.Resource, IgnoredByScheduler: x.spec.Ignored}}
	}
	for verb, field := range map[string]*string{"filter": &c.FilterVerb, "bind": &c.BindVerb, "preempt": &c.PreemptVerb, "prioritize": &c.PrioritizeVerb} {
		if slices.Contains(x.spec.Verbs, verb) {
			*field = verb
		}
	}
	return c
}

// counts is whether a pod asks for the resource of which it keeps count.
func (x *keptExtender) counts(pod *v1.Pod) bool { return x.spec.Resource != "" && x.asked(pod) > 0 }

func (x *keptExtender) asked(pod *v1.Pod) int64 {
	amount := int64(0)
	for _, container := range pod.Spec.Containers {
		request := container.Resources.Requests[v1.ResourceName(x.spec.Resource)]
		amount += request.Value()
	}
	return amount
}

// hasRoom is whether, by its own count, a node has room for a pod once others are gone.
func (x *keptExtender) hasRoom(pod, node string, gone map[string]bool) bool {
	if x.spec.Nodes != nil && !slices.Contains(x.spec.Nodes, node) {
		return false
	}
	used, room := int64(0), int64(0)
	for _, other := range x.world.Case.Pods {
		if id := idOf(other); id == pod || x.counted[id] == node && !gone[id] {
			used += x.asked(other)
		}
	}
	for _, n := range x.world.Case.Nodes {
		if n.Name == node {
			has := n.Status.Allocatable[v1.ResourceName(x.spec.Resource)]
			room = has.Value()
		}
	}
	return used <= room
}

// hear has its informer show it what has become of a pod: bound, gone, or finished. What it noted of one that waits stays.
func (x *keptExtender) hear(pod string) {
	switch now := x.world.Store.Pod(pod); {
	case now == nil:
		delete(x.counted, pod)
	case now.Spec.NodeName != "":
		x.counted[pod] = now.Spec.NodeName
	}
}

// bound has it note a pod that it has bound itself.
func (x *keptExtender) bound(pod, node string) {
	if x.spec.Resource != "" && x.spec.Counts != notesHeard {
		x.counted[pod] = node
	}
}

// catchUp: once everybody goes its own way, the extender hears all before it answers.
func (x *keptExtender) catchUp() {
	if x.world.Store.isFree() {
		for _, pod := range x.world.Case.Pods {
			if x.counts(pod) {
				x.hear(idOf(pod))
			}
		}
	}
}

// filter says which nodes a pod may go to.
func (x *keptExtender) filter(pod string, nodes []string) (passed []string, failed extenderv1.FailedNodesMap) {
	x.catchUp()
	passed, failed = []string{}, extenderv1.FailedNodesMap{}
	for _, node := range nodes {
		if x.hasRoom(pod, node, nil) {
			passed = append(passed, node)
		} else {
			failed[node] = "the extender has no room left there"
		}
	}
	if x.spec.Counts != notesFiltered {
		return passed, failed
	}
	delete(x.counted, pod)
	if pick := x.picks[pod]; len(passed) > 0 {
		if !slices.Contains(passed, pick) {
			pick = passed[0]
		}
		for _, node := range passed {
			if node != pick {
				failed[node] = "the extender has chosen another"
			}
		}
		passed, x.counted[pod] = []string{pick}, pick
	}
	return passed, failed
}

// keep says on which nodes it would have room for a pod without the victims there.
func (x *keptExtender) keep(pod string, victims map[string]*extenderv1.MetaVictims) map[string]*extenderv1.MetaVictims {
	x.catchUp()
	kept := map[string]*extenderv1.MetaVictims{}
	for node, found := range victims {
		gone := map[string]bool{}
		for _, victim := range found.Pods {
			gone[plainID(victim.UID)] = true
		}
		if x.hasRoom(pod, node, gone) {
			kept[node] = found
		}
	}
	return kept
}

// bind sends the Binding, if it has room.
func (x *keptExtender) bind(pod, node string) (refused string) {
	x.catchUp()
	if !x.hasRoom(pod, node, nil) {
		return "the extender has no room left on " + node
	}
	if err := x.world.Store.Bind(pod, node); err != nil {
		return err.Error()
	}
	x.bound(pod, node)
	return ""
}

// isFree is whether events come at once, and everybody goes its own way.
func (s *Store) isFree() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.auto
}

// extenders are what each counts, and what it is still at.
func (e *eye) extenders(all []*keptExtender) {
	for _, x := range all {
		for _, pod := range e.pods {
			managed := pod
			if len(all) > 1 {
				managed += ofExtender + x.spec.Name
			}
			e.see["extender.counted["+managed+"]"] = orNil(x.counted[pod])
			e.see["extender.late["+managed+"]"] = orNil(x.late[pod])
		}
	}
}
