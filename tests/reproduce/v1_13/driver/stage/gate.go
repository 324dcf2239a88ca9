package podrace

import (
	"k8s.io/api/core/v1"
	"k8s.io/client-go/tools/cache"
)

// held are the calls before and after which actors are held: those that change what others can see, or look at what others change.
// All other methods that are wrapped are passed.
var held = map[string]bool{
	"NextPod":        true,
	"FailureHandler": true,
	podEvent:         true,
	nodeEvent:        true,

	"Queue.Add":                          true,
	"Queue.Update":                       true,
	"Queue.Delete":                       true,
	"Queue.AddUnschedulableIfNotPresent": true,
	"Queue.MoveAllToActiveQueue":         true,
	"Queue.AssignedPodAdded":             true,
	"Queue.AssignedPodUpdated":           true,
	"Queue.WaitingPodsForNode":           true,
	"Queue.DeleteNominatedPodIfExists":   true,

	"Cache.AssumePod":               true,
	"Cache.FinishBinding":           true,
	"Cache.ForgetPod":               true,
	"Cache.AddPod":                  true,
	"Cache.UpdatePod":               true,
	"Cache.RemovePod":               true,
	"Cache.IsAssumedPod":            true,
	"Cache.GetPod":                  true,
	"Cache.AddNode":                 true,
	"Cache.UpdateNode":              true,
	"Cache.RemoveNode":              true,
	"Cache.UpdateNodeNameToInfoMap": true,
	"Cache.NodeTree":                true,

	"Preemptor.GetUpdatedPod":           true,
	"Preemptor.SetNominatedNodeName":    true,
	"Preemptor.DeletePod":               true,
	"Preemptor.RemoveNominatedNodeName": true,
	"Condition.Update":                  true,
	"Extender.ProcessPreemption":        true,

	"Client.Get":     true,
	"Client.GetNode": true,
	"Client.Bind":    true,
}

// gate stands in a wrapper: who comes by is held there before and after the call.
type gate struct {
	stage *Stage
	owner *instance
}

// crossing is one call that goes through a gate.
type crossing struct {
	gate  *gate
	about point
}

// enter is called before the call that is wrapped.
func (g *gate) enter(call string, args ...any) crossing {
	if !held[call] {
		return crossing{}
	}
	about := point{call: call}
	for _, arg := range args {
		about.take(arg)
	}
	g.stage.arrive(goroutine(), g.owner, about)
	return crossing{g, about}
}

// leave is called after it. What a call gives names its pod if its arguments did not: Pop has none.
func (p crossing) leave(results ...any) {
	if p.gate == nil {
		return
	}
	p.about.after, p.about.results = true, results
	for _, result := range results {
		p.about.take(result)
	}
	p.gate.stage.arrive(goroutine(), p.gate.owner, p.about)
}

// take notes the pod or the node that an argument is about. Of an update's two objects the second is the newer one, with the same name.
func (p *point) take(arg any) {
	switch a := arg.(type) {
	case *v1.Pod:
		if a != nil && p.pod == "" {
			p.pod, p.version = a.Name, a.ResourceVersion
			if p.node == "" {
				p.node = a.Spec.NodeName
			}
		}
	case *v1.Node:
		if a != nil && p.node == "" {
			p.node = a.Name
		}
	case *v1.Binding:
		if a != nil {
			p.pod, p.node = a.Name, a.Target.Name
		}
	case cache.DeletedFinalStateUnknown:
		p.take(a.Obj)
	case podName:
		p.pod = string(a)
	case handlerNumber:
		p.number = int(a)
	case string: // no method that is wrapped has any other string
		p.node = a
	}
}

// handlerNumber is which of the handlers of an informer it is.
type handlerNumber int

// podName is a string that is the name of a pod.
type podName string
