package podrace

import (
	"reflect"

	v1 "k8s.io/api/core/v1"
)

// calls are what the dispatcher of API calls has for each pod, if there is a dispatcher.
func (e *eye) calls(w *World) {
	queue := w.callQueue()
	if !queue.IsValid() {
		return
	}
	queued, flying := values(field(queue, "apiCalls")), keys(field(queue, "inFlightEntities"))
	for _, pod := range e.pods {
		e.call("api_dispatcher.call["+pod+"].", queued[pod])
		e.see["api_dispatcher.stage["+pod+"]"] = w.stageOf(pod, queued[pod].IsValid(), flying[pod])
		executing := get[bool](inside(field(queued[pod], "APICall")), "executing")
		e.see["api_dispatcher.superseded["+pod+"]"] = flying[pod] && !executing
	}
}

// stageOf is the model's word for how far a pod's call is.
func (w *World) stageOf(pod string, queued, flying bool) string {
	switch {
	case flying && w.Stage.anybody(func(a *actor) bool { return a.role == calling && a.pod == pod && a.at.call != "Call.Execute" }):
		return "SENT"
	case flying:
		return "ANSWERED"
	case queued:
		return "QUEUED"
	}
	return "NONE"
}

// anybody says whether somebody stands at a point for whom the question is answered yes. Nobody may move meanwhile.
func (s *Stage) anybody(is func(*actor) bool) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, a := range s.standing {
		if !a.owner.dead && is(a) {
			return true
		}
	}
	return false
}

// call is one that the queue has. The status that it was made from counts until it is executed.
func (e *eye) call(name string, queued reflect.Value) {
	e.see[name+"kind"], e.see[name+"patch.condition"] = "NONE", "UNSAID"
	e.see[name+"patch.overrides"], e.see[name+"patch.node"] = false, nil
	e.see[name+"nominated"], e.see[name+"failed"] = nil, false
	if !queued.IsValid() {
		return
	}
	gated := inside(field(queued, "APICall"))
	patch := inside(field(gated, "APICall"))
	status := get[*v1.PodStatus](patch, "podStatus")
	if status == nil {
		e.see[name+"kind"] = "BINDING"
		return
	}
	e.see[name+"kind"] = "PATCH"
	conditions := get[[]*v1.PodCondition](patch, "newConditions") // from 1.37 on
	if one := get[*v1.PodCondition](patch, "newCondition"); one != nil {
		conditions = append(conditions, one)
	}
	for _, condition := range conditions {
		e.see[name+"patch.condition"] = "ERROR"
		if condition.Reason == v1.PodReasonUnschedulable {
			e.see[name+"patch.condition"] = "UNSCHEDULABLE"
		}
	}
	info := field(patch, "nominatingInfo")
	if mode := field(info, "NominatingMode"); mode.IsValid() && mode.Int() > 0 { // ModeOverride
		e.see[name+"patch.overrides"] = true
		e.see[name+"patch.node"] = orNil(get[string](info, "NominatedNodeName"))
	}
	if !get[bool](gated, "executing") {
		e.see[name+"nominated"], e.see[name+"failed"] = orNil(status.NominatedNodeName), unschedulableSays(&v1.Pod{Status: *status})
	}
}
