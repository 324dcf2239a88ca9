package podrace

import (
	"reflect"

	v1 "k8s.io/api/core/v1"
	extenderv1 "k8s.io/kube-scheduler/extender/v1"
)

// cycle is what the points tell of the scheduling cycle that runs.
type cycle struct {
	pod        string
	copy       *v1.Pod // its object, as the queue gave it
	host       string
	verdicts   map[string]string // by node
	preFilter  string            // that of PreFilter, if it rejects the pod: it is every node's
	nominee    string
	searched   bool // the dry runs are over, and the choice has still to be made
	postFilter bool // it is over: the nominee is known
	awaits     bool // devices have binding conditions: what reads claims in a binding cycle waits for these
	reads      bool // nothing was filtered yet: what reads claims now is PreFilter
	erred      bool // Filter has failed on a node, which does not count for where the next search begins
}

// beforePreFilter are the calls after which PreFilter may come: that of the snapshot and, in the cycle of a group, the last one about the member before.
var beforePreFilter = map[string]bool{"Cache.UpdateSnapshot": true, "Framework.RunPermitPlugins": true, "Framework.RunPostFilterPlugins": true}

// passes is whether an actor is not to be held at a point: who reads claims where the model's does not, and a group whose status has changed, which wakes nobody.
func (c *cycle) passes(a *actor, p point) bool {
	return a.role == groupHandler && p.group == "" && p.call != amid || c.readsElsewhere(a, p)
}

// hear notes what a point tells; the actor that has come to it is the scheduling goroutine, or works for it.
func (c *cycle) hear(p point) {
	c.reads = beforePreFilter[p.call] && p.after || c.reads && isRead(p)
	switch {
	case p.call == "NextPod" && !p.after:
		*c = cycle{awaits: c.awaits, erred: c.erred}
	case p.call == "NextPod":
		*c = cycle{awaits: c.awaits, erred: c.erred, pod: p.pod, copy: podIn(p.results), verdicts: map[string]string{}}
	case p.call == "Extender.ProcessPreemption":
		c.searched = !p.after
	case p.call == "Extender.Filter" && p.after && len(p.results) > 1:
		verdict := "REJECTED"
		if p.results[2].(bool) {
			verdict = "UNRESOLVABLE"
		}
		for node := range p.results[1].(extenderv1.FailedNodesMap) {
			c.verdicts[node] = verdict
		}
	case c.pod == "" || !p.after || len(p.results) == 0:
	case p.call == "Framework.RunPreFilterPlugins":
		c.preFilter = preFilterVerdict(p.results)
	case p.call == "Framework.RunFilterPluginsWithNominatedPods":
		c.verdicts[p.node] = verdictOf(p.results[0])
		c.erred = c.erred || c.verdicts[p.node] == "ERROR"
	case p.call == "Cache.AssumePod" && p.results[0] == nil:
		c.host = p.node
	case p.call == "Framework.RunPostFilterPlugins":
		c.postFilter = true
		c.nominee = get[string](find(reflect.ValueOf(p.results[0]), "NominatingInfo"), "NominatedNodeName")
	}
}

// preFilterVerdict is what PreFilter says of the pod; nothing if it lets it pass.
func preFilterVerdict(results []any) string {
	for _, result := range results {
		if _, is := result.(interface{ IsRejected() bool }); is {
			if verdict := verdictOf(result); verdict != "FEASIBLE" {
				return verdict
			}
		}
	}
	return ""
}

// verdictOf is the model's word for what the filters say of a node.
func verdictOf(status any) string {
	codes := []string{"FEASIBLE", "ERROR", "REJECTED", "UNRESOLVABLE"} // as framework.Code counts them
	code := int(reflect.ValueOf(status).MethodByName("Code").Call(nil)[0].Int())
	if code < len(codes) {
		return codes[code]
	}
	return "ERROR"
}

// scheduling is what is known of the cycle that runs.
func (e *eye) scheduling(c *cycle, victims map[string]*extenderv1.Victims) {
	e.see["scheduler.pod"] = orNil(c.pod)
	e.see["scheduler.copy.version"] = podVersion(c.copy)
	e.see["scheduler.host"] = orNil(c.host)
	for _, node := range e.nodes {
		e.see["scheduler.verdict["+node+"]"] = "UNTRIED"
		if verdict, tried := c.verdicts[node]; tried {
			e.see["scheduler.verdict["+node+"]"] = verdict
		} else if c.preFilter != "" {
			e.see["scheduler.verdict["+node+"]"] = c.preFilter
		}
	}
	if c.searched {
		e.dryRuns(victims)
	}
	if start := find(e.scheduler, "nextStartNodeIndex"); start.IsValid() && !c.erred {
		e.see["sampling.start"] = start.Int()
	}
	if c.postFilter || c.pod == "" {
		e.see["scheduler.nominee"] = orNil(c.nominee)
	}
}

// dryRuns is what they have found: the candidates among the nodes, and whom preemption would evict from each.
func (e *eye) dryRuns(victims map[string]*extenderv1.Victims) {
	evicted := map[string]bool{}
	for _, node := range e.nodes {
		found, candidate := victims[node]
		if candidate {
			e.see["scheduler.verdict["+node+"]"] = "CANDIDATE"
			for _, pod := range found.Pods {
				evicted[idOf(pod)] = true
			}
		} else if e.see["scheduler.verdict["+node+"]"] == "REJECTED" {
			e.see["scheduler.verdict["+node+"]"] = "NO_CANDIDATE"
		}
	}
	for _, pod := range e.pods {
		e.see["preemption.victim["+pod+"]"] = evicted[pod]
	}
}
