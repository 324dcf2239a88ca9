package podrace

import (
	"fmt"
	"slices"
	"strings"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"
)

// objects are those of the API server, and those that listers show.
func (e *eye) objects(store *Store, pods, nodes lister) {
	for pod, name := range e.versions.names {
		e.see[calledAs+"["+pod+"]"] = name
	}
	for _, pod := range e.pods {
		e.see.putObject("api.pod["+pod+"]", store.Pod(pod))
		object, _ := listed[*v1.Pod](pods, e.keys[pod])
		if object != nil && idOf(object) != pod {
			object = nil // another pod has the name
		}
		e.see.putObject("pod_watch.lister["+pod+"]", object)
		if e.versions.isUpdated(pod) {
			e.listed[pod] = object
		}
	}
	for _, node := range e.nodes {
		e.see["api.node_exists["+node+"]"] = store.Node(node) != nil
		e.see["api.node_version["+node+"]"] = e.versions.version(store.Node(node))
		_, there := listed[*v1.Node](nodes, node)
		e.see["node_watch.lister["+node+"]"] = there
	}
}

// lister is an informer's store.
type lister interface {
	GetByKey(key string) (any, bool, error)
}

func listed[T any](from lister, key string) (T, bool) {
	object, there, _ := from.GetByKey(key)
	content, is := object.(T)
	return content, there && is
}

// underWay are the events of the watches that the informers' stores do not have yet, without those that the model does not have.
func (e *eye) underWay(store *Store) {
	pods, nodes := store.underWay(podKind), store.underWay(nodeKind)
	for pod := range e.beyond {
		e.see[writtenBeyond+"["+pod+"]"] = true
	}
	for _, pod := range store.ahead[podKind] {
		e.see[podsAhead+"["+pod+"]"] = true
		if gone, other := e.versions.names[pod]; other {
			e.see[podsAhead+"["+gone+"]"] = true // the store has lost the pod whose name it has
		}
	}
	for _, node := range store.ahead[nodeKind] {
		e.see[nodesAhead+"["+node+"]"] = true
	}
	e.see[podsUnderWay] = len(pods)
	for i, event := range pods {
		at := fmt.Sprintf("%s[%d].", podsUnderWay, i)
		pod, _ := event.Object.(*v1.Pod)
		e.see[at+"pod"] = event.name
		if event.Type == watch.Deleted {
			pod = nil
		}
		e.see.putObject(at+"object", pod)
	}
	e.see[nodesUnderWay] = len(nodes)
	for i, event := range nodes {
		at := fmt.Sprintf("%s[%d].", nodesUnderWay, i)
		e.see[at+"node"] = event.name
		e.see[at+"exists"] = event.Type != watch.Deleted
		e.see[at+"version"] = e.shownVersion(event)
	}
}

// shownVersion is the version of the node that an event shows; of a deletion, the one in which it would be created again.
func (e *eye) shownVersion(shown event) any {
	if versions := e.versions.versionsOf(shown.name); shown.Type == watch.Deleted && len(versions) > 0 {
		return versions[0]
	}
	node, _ := shown.Object.(*v1.Node)
	return e.versions.version(node)
}

// wentBeyond are the names of the pods of which a watch has delivered an event that the model does not have.
func (s *Store) wentBeyond() map[string]bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	names := map[string]bool{}
	for _, event := range s.log[podKind][:s.sent[podKind]] {
		object, is := event.Object.(metav1.Object) // of the end of a watch there is none
		if is && s.beyond[object.GetResourceVersion()] {
			names[event.name] = true
		}
	}
	return names
}

// wasInterrupted is whether a watch has ended, and a list has followed.
func (s *Store) wasInterrupted() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.ContainsFunc([]string{podKind, nodeKind}, func(kind string) bool {
		return slices.ContainsFunc(s.log[kind][:s.sent[kind]], func(e event) bool { return e.expired })
	})
}

// underWay gives the events of a kind that its watch has not delivered, without those that the model does not have.
func (s *Store) underWay(kind string) []event {
	s.mu.Lock()
	defer s.mu.Unlock()
	var left []event
	for _, event := range s.log[kind][s.sent[kind]:] {
		if event.missed { // what came of it is an outcome of the end of the watch; that may have been missed as well
			continue
		}
		if event.beyond == "" && !event.expired {
			left = append(left, event)
		}
		left = append(left, event.outcomes...)
	}
	return left
}

// underWayInModel is what the model has for one of the variables above: events are at the places behind those that the store has.
func underWayInModel(variable string, expected map[string]any) (any, bool) {
	name, indices := parts(variable)
	watched, part, _ := strings.Cut(name, ".under_way")
	stored, _ := number(expected[watched+".listed"])
	if len(indices) == 0 {
		length, known := number(expected[watched+".log.length"])
		return length - stored, known
	}
	var place int
	_, _ = fmt.Sscan(indices[0], &place)
	want, there := expected[fmt.Sprintf("%s.log[%d]%s", watched, place+int(stored), part)]
	return want, there
}
