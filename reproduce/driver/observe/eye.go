package podrace

import (
	"maps"
	"reflect"
	"slices"
	"strings"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
)

// sight is the real state in the model's words: variables as `podrace explain -o json` names them, and their values.
type sight map[string]any

// eye looks at one world, and notes what it sees.
type eye struct {
	see                  sight
	pods, nodes          []string // in the scenario's order
	groupNames           []string
	keys                 map[string]string  // of the pods, in an informer's store
	versions             *Case              // which knows the versions of nodes and pods
	listed               map[string]*v1.Pod // of the pods that have several versions, what their lister has; nil of one that is gone
	zones, plugins       []string
	counted              []string        // claims whose users are counted
	ports                []string        // host ports that a NodeInfo may list, as the model names them
	spread, permitted    map[string]bool // the pods that have topology constraints, and those about which a Permit plugin is asked
	realQueue, realCache reflect.Value
	scheduler, framework reflect.Value
	memory               *memory
	uids                 func(pod string) types.UID
	interrupted          bool            // a watch was, and a list has followed
	beyond               map[string]bool // the pods of which a watch has delivered an event that the model does not have
}

// observe gives the real state as far as it can be seen, and of what cannot be seen the kinds of variables, each with the reason.
//
// It must be called while nobody moves: it takes no locks, since an actor that is held may hold one.
func observe(w *World) (state map[string]any, unseen []string) {
	e := &eye{see: make(sight, 2*len(w.Case.Initial)), listed: map[string]*v1.Pod{}, memory: &w.memory, uids: w.Store.uid, beyond: w.Store.wentBeyond(), interrupted: w.Store.wasInterrupted()}
	e.learn(w.Case)
	e.realQueue, e.realCache = reflect.ValueOf(w.RealQueue), reflect.ValueOf(w.RealCache)
	if w.Stage.Find(isAmid) != nil {
		e.see[amidMove] = true
	}
	e.scheduler, e.framework = reflect.ValueOf(w.Sched), reflect.ValueOf(w.Waiting)
	e.objects(w.Store, w.Informers.Core().V1().Pods().Informer().GetStore(), w.Informers.Core().V1().Nodes().Informer().GetStore())
	e.underWay(w.Store)
	for _, node := range e.nodes {
		e.see["autoscaler.doomed["+node+"]"] = w.doomed[node]
		e.see["autoscaler.cleared["+node+"]"] = w.cleared[node]
		e.see["drain.draining["+node+"]"] = w.drained[node]
		for _, pod := range e.pods {
			e.see["kubelet.runs["+pod+"]["+node+"]"] = w.runs[pod] == node
		}
	}
	for _, pod := range e.pods {
		e.see["kubelet.rejected["+pod+"]"] = w.rejected[pod]
		e.see["drain.listed["+pod+"]"] = w.listed[pod]
	}
	if w.exited { // of a process that has ended itself nothing is left
		e.see["pod_group_states.panicked"] = true
		return e.visible(w.Case)
	}
	e.extenders(w.extenders)
	e.finalizers(w.Store)
	e.budgets(w.budgets, w.Store, w.Informers.Policy().V1().PodDisruptionBudgets().Informer().GetStore())
	e.queue()
	e.cache()
	e.tree()
	e.generations()
	e.snapshot()
	e.scheduling(&w.cycle, w.answers.victims)
	e.failures(w)
	e.waiting()
	e.preempting()
	e.calls(w)
	e.groups(w)
	e.gates(w.Store)
	if len(w.claims) > 0 {
		claimPart.see(e, w)
	}
	if len(w.storage) > 0 {
		e.storage(w)
		e.limits(w)
	}
	return e.visible(w.Case)
}

// visible is what was seen of the variables that the scenario has.
func (e *eye) visible(c *Case) (state map[string]any, unseen []string) {
	for variable := range e.see {
		name, _ := parts(variable)
		if _, there := c.Initial[variable]; !there && !isExtra(name) && name != "queue.rejected_by" {
			delete(e.see, variable) // the scenario does not need it, such as gates
		}
	}
	if c.unseen == nil {
		c.unseen = unseenOf(c.Initial, e.see)
	}
	return e.see, c.unseen
}

// learn takes from the case which pods, nodes, zones and plugins there are, pods and nodes in the scenario's order.
func (e *eye) learn(c *Case) {
	e.spread, e.permitted, e.keys = map[string]bool{}, map[string]bool{}, map[string]string{}
	for _, pod := range c.Pods {
		id := idOf(pod)
		e.pods = append(e.pods, id)
		e.keys[id] = pod.Namespace + "/" + pod.Name
		e.spread[id] = len(pod.Spec.TopologySpreadConstraints) > 0
		e.permitted[id] = slices.Contains(c.Points[id], "PERMIT")
	}
	for _, node := range c.Nodes {
		e.nodes = append(e.nodes, node.Name)
	}
	e.versions = c
	if c.learned == nil {
		c.learned = learn(c.Initial)
	}
	l := c.learned
	e.groupNames, e.zones, e.plugins, e.ports, e.counted = l.groups, l.zones, l.plugins, l.ports, l.counted
}

// learned is what the variables of a case name.
type learned struct {
	groups, zones, plugins, ports, counted []string
	gates                                  []string // the variables of gates that keepers remove
}

func learn(initial map[string]any) *learned {
	found := &learned{}
	zones, plugins, ports, counted := map[string]bool{}, map[string]bool{}, map[string]bool{}, map[string]bool{}
	for variable := range initial {
		switch name, indices := parts(variable); name {
		case "gate_keepers.open":
			found.gates = append(found.gates, variable)
		case "pod_groups.exists":
			found.groups = append(found.groups, indices[0])
		case "node_tree.zones.member":
			zones[indices[0]] = true
		case "queue.rejected_by":
			plugins[indices[1]] = true
		case "node_infos.port":
			ports[indices[1]] = true
		case "snapshot.used":
			counted[indices[0]] = true
		}
	}
	found.zones, found.plugins, found.ports, found.counted = sorted(zones), sorted(plugins), sorted(ports), sorted(counted)
	return found
}

// split are the parts of a variable.
type split struct {
	name    string
	indices []string
}

// known has the parts of variables.
var known memo[string, split]

// parts are the name of a variable without its indices, and these.
func parts(variable string) (name string, indices []string) {
	of := known.get(variable, partsOf)
	return of.name, of.indices
}

func partsOf(variable string) (found split) {
	for {
		before, rest, more := strings.Cut(variable, "[")
		found.name += before
		if !more {
			found.indices = slices.Clip(found.indices)
			return found
		}
		index, after, _ := strings.Cut(rest, "]")
		found.indices = append(found.indices, index)
		variable = after
	}
}

// kind is the name of a variable with empty indices.
func kind(variable string) string {
	var kept strings.Builder
	depth := 0
	for _, letter := range variable {
		if letter == ']' {
			depth--
		}
		if depth == 0 {
			kept.WriteRune(letter)
		}
		if letter == '[' {
			depth++
		}
	}
	return kept.String()
}

func sorted[V any](set map[string]V) []string {
	return slices.Sorted(maps.Keys(set))
}
