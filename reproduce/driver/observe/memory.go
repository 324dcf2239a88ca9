package podrace

import (
	"cmp"
	"reflect"

	"k8s.io/apimachinery/pkg/types"
)

// waiting is the map of pods that wait for permission, with the signal that their binding cycle has still to read.
func (e *eye) waiting() {
	for _, pod := range e.pods {
		e.see["waiting.signal["+pod+"]"] = "NONE"
	}
	for pod, entry := range values(find(find(e.framework, "waitingPods"), "pods")) {
		e.see["waiting.signal["+pod+"]"] = signalOf(field(entry, "s"))
	}
}

// signalOf looks into a channel of one place: what is there is taken out, and put back. Nobody else moves meanwhile.
func signalOf(channel reflect.Value) string {
	status, there := channel.TryRecv()
	if !there {
		return "AWAITED"
	}
	channel.Send(status)
	call := func(name string) reflect.Value { return status.MethodByName(name).Call(nil)[0] }
	switch {
	case call("IsSuccess").Bool():
		return "ALLOWED"
	case call("Plugin").String() == "DefaultPreemption":
		return "PREEMPTED"
	}
	return "REFUSED"
}

// preempting is which preemptors wait for their goroutine, and for which victim as the last one (from 1.35 on).
func (e *eye) preempting() {
	holder := preemptionOf(e.framework)
	if !holder.IsValid() {
		return
	}
	running := keys(find(holder, "preempting"))
	last := find(holder, "lastVictimsPendingPreemption")
	leaders, parents := e.versions.leaders(), e.versions.parents()
	for _, object := range e.versions.Pods {
		pod := idOf(object)
		uid := e.uids(pod)
		if e.isOfEntry(pod) && leaders[pod] == pod {
			uid = types.UID(cmp.Or(parents[groupOf(object)], groupOf(object)))
		}
		e.see[preemptors+"["+pod+"]"] = running[plainID(string(uid))]
		if last.IsValid() {
			victim := last.MapIndex(reflect.ValueOf(uid))
			e.see[awaitedLast+"["+pod+"]"] = orNil(get[string](victim, "name"))
		}
	}
}

// preemptionOf is what notes the preemptors: up to 1.35 the plugin's Evaluator, then an Executor; the zero Value before 1.32, which has none.
func preemptionOf(framework reflect.Value) reflect.Value {
	plugins := field(framework, "postFilterPlugins")
	for i := range lengthOf(plugins) {
		for _, name := range []string{"Executor", "Evaluator"} {
			if holder := field(plugins.Index(i), name); find(holder, "preempting").IsValid() {
				return holder
			}
		}
	}
	return reflect.Value{}
}
