package podrace

import (
	"container/list"
	"reflect"
	"strings"

	v1 "k8s.io/api/core/v1"
	"k8s.io/klog/v2"
)

// inFlight is which pods are in flight, and what the events since their Pop are worth to each plugin.
//
// Upstream keeps the events, and asks the hints of the plugins that rejected the pod once it comes back; the model asks each when the event
// comes. So the list is asked here as isPodWorthRequeuing would, once for each plugin as if that one had rejected the pod, and of a pod that is
// updated in the run about the object that its lister had when the event came (A-HINT-OBJECT). Of one that is gone there, which nobody will requeue, the model
// asks about the first version.
func (e *eye) inFlight() {
	elements := values(find(e.realQueue, "inFlightPods"))
	for _, pod := range e.pods {
		element, there := elements[pod]
		e.see["queue.in_flight["+pod+"]"] = there
		for _, plugin := range e.plugins {
			if e.isOfEntry(pod) || !e.canReject(plugin, pod) || plugin == permitPlugin && len(e.beyond) > 0 {
				continue // a plugin for which every event counts hears of those that the model does not have (A-CONDITION, A-DISRUPTION)
			}
			worth := false
			if there {
				worth = e.isRetried(element.Interface().(*list.Element), realPlugin(plugin))
			}
			e.see["queue.in_flight_events["+pod+"]["+plugin+"]"] = worth
		}
		for _, node := range e.nodes {
			e.see["queue.shrunk["+pod+" on "+node+"]"] = there && e.isRetriedOn(node, element.Interface().(*list.Element))
		}
	}
}

// nominatedTo is a pod as its object would be, were it nominated to the node. The model asks for the nomination when the pod comes back.
func nominatedTo(node string) func(*v1.Pod) *v1.Pod {
	return func(pod *v1.Pod) *v1.Pod {
		if pod.Status.NominatedNodeName == node {
			return pod
		}
		nominated := pod.DeepCopy()
		nominated.Status.NominatedNodeName = node
		return nominated
	}
}

// canReject is whether it can ever matter what an event is worth to a plugin: the model passes over events that it can tell matter to none.
func (e *eye) canReject(plugin, pod string) bool {
	switch plugin {
	case "PodTopologySpread":
		return e.spread[pod]
	case permitPlugin:
		return e.permitted[pod]
	}
	return true
}

// isRetried is whether an event behind a pod's own element of the list would have the pod tried again, were it nominated to no node.
func (e *eye) isRetried(popped *list.Element, plugin string) bool {
	return e.isAnyEvent(popped, func(pod *v1.Pod, event, happened reflect.Value) bool {
		return e.counts(plugin, nominatedTo("")(pod), event, happened)
	})
}

// isRetriedOn is whether an event would have the pod tried again if it were nominated to the node, and not if it were to none.
func (e *eye) isRetriedOn(node string, popped *list.Element) bool {
	const plugin = "NodeResourcesFit"
	return e.isAnyEvent(popped, func(pod *v1.Pod, event, happened reflect.Value) bool {
		return e.counts(plugin, nominatedTo(node)(pod), event, happened) && !e.counts(plugin, nominatedTo("")(pod), event, happened)
	})
}

// isAnyEvent is whether this is so of an event behind a pod's own element of the list, with the object of the pod that is asked about.
func (e *eye) isAnyEvent(popped *list.Element, is func(pod *v1.Pod, event, happened reflect.Value) bool) bool {
	pod := popped.Value.(*v1.Pod)
	now, updated := e.listed[idOf(pod)]
	if updated && now == nil {
		now = e.versions.asCreated(pod)
	}
	for element := popped.Next(); element != nil; element = element.Next() {
		happened := inside(reflect.ValueOf(element.Value))
		if updated {
			pod = e.memory.askedAbout(element, now)
		}
		if event := field(happened, "event"); event.IsValid() && is(pod, event, happened) {
			return true
		}
	}
	return false
}

func (e *eye) counts(plugin string, pod *v1.Pod, event, happened reflect.Value) bool {
	before, after := field(happened, "oldObj"), field(happened, "newObj")
	if isWildcard(event) {
		// With a pod it is meant for that pod alone, as Activate records it.
		about, is := after.Interface().(*v1.Pod)
		return after.IsNil() || is && about.UID == pod.UID
	}
	profile := find(e.realQueue, "queueingHintMap").MapIndex(reflect.ValueOf(pod.Spec.SchedulerName))
	if !profile.IsValid() {
		return false
	}
	for each := profile.MapRange(); each.Next(); {
		if !matches(each.Key(), event) {
			continue
		}
		for i := range each.Value().Len() {
			function := inside(each.Value().Index(i))
			if get[string](function, "PluginName") == plugin && says(field(function, "QueueingHintFn"), pod, before, after) {
				return true
			}
		}
	}
	return false
}

// says is whether a hint is to queue the pod again; an error counts as yes.
func says(hint reflect.Value, pod *v1.Pod, before, after reflect.Value) bool {
	answer := hint.Call([]reflect.Value{reflect.ValueOf(klog.Background()), reflect.ValueOf(pod), before, after})
	const skip = 0 // framework.QueueSkip
	return len(answer) == 2 && !answer[1].IsNil() || answer[0].Int() != skip
}

func isWildcard(event reflect.Value) bool { return field(event, "Resource").String() == "*" }

// matches is MatchClusterEvents, which was a method up to 1.33.
func matches(registered, event reflect.Value) bool {
	if match := registered.MethodByName("Match"); match.IsValid() {
		return match.Call([]reflect.Value{event})[0].Bool()
	}
	asked, came := field(registered, "Resource").String(), field(event, "Resource").String()
	actions, action := field(registered, "ActionType").Int(), field(event, "ActionType").Int()
	resource := asked == came || asked == "*" || asked == "Pod" && strings.HasSuffix(came, "Pod")
	return isWildcard(registered) || resource && actions&action != 0 && action <= actions
}
