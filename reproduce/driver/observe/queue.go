package podrace

import (
	"fmt"
	"reflect"
	"sort"
	"strings"
	"time"

	v1 "k8s.io/api/core/v1"
)

// queued is the record that the queue has of a waiting pod (QueuedPodInfo), and the entry that it is in: from 1.37 on that may be a whole group.
type queued struct {
	place string
	info  reflect.Value
	pod   *v1.Pod
	entry reflect.Value
	heap  string // of backoffQ, from 1.33 on
}

// recordsInEntry are the records in an entry.
func recordsInEntry(place string, entry reflect.Value) (found []queued) {
	members := membersOf(entry)
	if !field(entry, "QueuedPodInfos").IsValid() && !field(entry, "queuedPodInfos").IsValid() {
		members = []reflect.Value{entry}
	}
	for _, info := range members {
		found = append(found, queued{place: place, info: info, pod: get[*v1.Pod](info, "Pod"), entry: entry})
	}
	return found
}

// shares is whether two records are in one entry.
func (q queued) shares(r queued) bool {
	return inside(q.entry).UnsafeAddr() == inside(r.entry).UnsafeAddr()
}

func (q queued) timestamp() time.Time { return get[time.Time](q.entry, "Timestamp") }

// isGated is whether a PreEnqueue plugin holds the pod back: its name is noted from 1.34 on, before only that there is one.
func (q queued) isGated() bool {
	return get[bool](q.info, "Gated") || get[string](q.info, "GatingPlugin") != ""
}

// isPastBackoff is whether the backoff is over that the last failure brought. Its end is noted from 1.33 on; before, all attempts count.
func (q queued) isPastBackoff(queue reflect.Value) bool {
	if get[int](q.entry, "Attempts") == 0 {
		return true
	}
	if field(q.entry, "BackoffExpiration").IsValid() {
		end := get[time.Time](q.entry, "BackoffExpiration")
		return !end.IsZero() && !end.After(time.Now())
	}
	backoff := get[time.Duration](queue, "podInitialBackoffDuration")
	for range get[int](q.entry, "Attempts") - 1 {
		backoff = min(2*backoff, get[time.Duration](queue, "podMaxBackoffDuration"))
	}
	return !q.timestamp().Add(backoff).After(time.Now())
}

// rejectors are the plugins for which the last attempt did not fit; the model has those that are pending among them.
func (q queued) rejectors() map[string]bool {
	found := keys(field(q.info, "UnschedulablePlugins"))
	for plugin := range keys(field(q.info, "PendingPlugins")) {
		found[plugin] = true
	}
	return found
}

// The heaps of backoffQ: for pods that plugins have rejected, and for those whose attempts have failed with an error. An idle scheduler pops from the first one alone.
const rejectedHeap, failedHeap = "BackoffQ", "ErrorBackoffQ"

// isInItsHeap is whether a pod in backoffQ is in the heap that it belongs to.
func (q queued) isInItsHeap(rejectors map[string]bool) bool {
	return q.heap == "" || (q.heap == failedHeap) == (len(rejectors) == 0)
}

// recordsOf are the records of the real queue, in its three places. A pod that is in two of them at once is there twice.
func recordsOf(queue reflect.Value) []queued {
	var found []queued
	for _, kind := range []string{"pod", "entity"} { // the second from 1.37 on
		backoff := find(queue, kind+rejectedHeap)
		if !backoff.IsValid() {
			continue
		}
		failed := find(queue, kind+failedHeap) // from 1.33 on
		for _, record := range recordsIn(backoff, "BACKOFF") {
			if failed.IsValid() {
				record.heap = rejectedHeap
			}
			found = append(found, record)
		}
		for _, record := range recordsIn(failed, "BACKOFF") {
			record.heap = failedHeap
			found = append(found, record)
		}
	}
	found = append(found, recordsIn(activeHeap(queue), "ACTIVE")...)
	for _, name := range []string{"podInfoMap", "entityInfoMap"} { // the second from 1.37 on
		for _, info := range values(find(queue, name)) {
			found = append(found, recordsInEntry("UNSCHEDULABLE", info)...)
		}
	}
	return found
}

// activeHeap is the heap of activeQ: a field of the queue up to 1.31, then one of a struct of its own.
func activeHeap(queue reflect.Value) reflect.Value {
	active := field(queue, "activeQ")
	if inner := field(active, "queue"); inner.IsValid() {
		return inner
	}
	return active
}

// recordsIn are the records of a heap: a map has them by their keys, or, from 1.37 on, a list in the heap's order.
func recordsIn(heap reflect.Value, place string) []queued {
	var found []queued
	var items []reflect.Value
	for _, item := range values(find(heap, "items")) {
		items = append(items, item)
	}
	if list := find(heap, "queue"); len(items) == 0 && list.IsValid() && list.Type().Elem().Kind() == reflect.Pointer {
		for i := range list.Len() {
			items = append(items, list.Index(i))
		}
	}
	for _, item := range items {
		found = append(found, recordsInEntry(place, field(item, "obj"))...)
	}
	return found
}

// subQueues are the places of the pods that wait.
func subQueues(w *World) map[string]string {
	places := map[string]string{}
	for _, record := range recordsOf(reflect.ValueOf(w.RealQueue)) {
		places[idOf(record.pod)] = record.place
	}
	return places
}

func (e *eye) queue() {
	waiting := map[string][]queued{}
	for _, record := range recordsOf(e.realQueue) {
		pod := idOf(record.pod)
		if others := waiting[pod]; len(others) > 0 && others[0].shares(record) {
			e.see["queue.twice["+pod+"]"] = true
			continue
		}
		waiting[pod] = append(waiting[pod], record)
		e.see["queue.twice["+pod+"]"] = false
	}
	e.entries(waiting)
	for _, pod := range e.pods {
		var places []string
		for _, record := range waiting[pod] {
			places = append(places, record.place)
		}
		sort.Strings(places)
		if len(places) == 0 {
			e.see["queue.sub_queue["+pod+"]"] = "NONE"
			e.see.putCopy("queue.copy["+pod+"]", e.aside(pod))
			continue
		}
		e.see["queue.sub_queue["+pod+"]"] = strings.Join(places, " and ")
		record := waiting[pod][0]
		e.see.putCopy("queue.copy["+pod+"]", record.pod)
		e.see["queue.gated["+pod+"]"] = record.isGated()
		e.see[pastBackoff+"["+pod+"]"] = record.isPastBackoff(e.realQueue)
		rejectors := record.rejectors()
		if inside(record.info).UnsafeAddr() == inside(record.entry).UnsafeAddr() && !record.isInItsHeap(rejectors) {
			e.see[backoffHeap+"["+pod+"]"] = "in " + record.heap
		}
		for _, plugin := range e.plugins {
			e.see["queue.rejected_by["+pod+"]["+plugin+"]"] = rejectors[realPlugin(plugin)]
			delete(rejectors, realPlugin(plugin))
		}
		for plugin := range rejectors {
			e.see["queue.rejected_by["+pod+"]["+plugin+"]"] = true
		}
	}
	e.ages(waiting)
	e.moves()
	e.inFlight()
	e.nominator()
}

// ages compares the timestamps of pods that wait: those of any others are set anew when they come back.
func (e *eye) ages(waiting map[string][]queued) {
	for i, pod := range e.pods {
		for _, other := range e.pods[i+1:] {
			if len(waiting[pod]) > 0 && len(waiting[other]) > 0 && !waiting[pod][0].shares(waiting[other][0]) {
				older := waiting[pod][0].timestamp().Before(waiting[other][0].timestamp())
				e.see["clock.older["+pod+"]["+other+"]"] = older
			}
		}
	}
	e.see[activeOrder] = asExpected
	heap := activeHeap(e.realQueue)
	less := find(heap, "lessFunc")
	active := recordsIn(heap, "ACTIVE")
	for _, a := range active {
		for _, b := range active {
			precedes := less.Call([]reflect.Value{a.entry, b.entry})[0].Bool()
			if !a.shares(b) && precedes != isBefore(a, b) {
				e.see[activeOrder] = fmt.Sprintf("%s before %s: %v", idOf(a.pod), idOf(b.pod), precedes)
			}
		}
	}
}

// moves is whether a move request came since the last Pop, by the numbers that are compared up to 1.31. The nodes that are there at the start
// have made some before the first Pop (A-CYCLES: the model begins without).
func (e *eye) moves() {
	cycle, moved := find(e.realQueue, "schedulingCycle"), find(e.realQueue, "moveRequestCycle")
	if cycle.IsValid() && moved.IsValid() && cycle.Int() > 0 {
		e.see["queue.moved"] = moved.Int() >= cycle.Int()
	}
}

// isBefore is the order that the model gives activeQ: higher priority first, then the older timestamp.
func isBefore(a, b queued) bool {
	if p, q := priority(a.pod), priority(b.pod); p != q {
		return p > q
	}
	return a.timestamp().Before(b.timestamp())
}

func priority(pod *v1.Pod) int32 {
	if pod.Spec.Priority == nil {
		return 0
	}
	return *pod.Spec.Priority
}

// nominator is who is nominated where, in memory. Both of its maps say it; if they contradict each other, both are told.
func (e *eye) nominator() {
	nodes := values(find(e.realQueue, "nominatedPodToNode"))
	lists := values(find(e.realQueue, "nominatedPods"))
	for _, pod := range e.pods {
		var node string
		if at, there := nodes[pod]; there {
			node = at.String()
		}
		var listed []string
		carries := false
		for at, refs := range lists {
			for i := range refs.Len() {
				ref := refs.Index(i)
				if uidOf(ref) == pod && at != "" {
					listed = append(listed, at)
					object := get[*v1.Pod](ref, "Pod")
					carries = object != nil && object.Status.NominatedNodeName != ""
				}
			}
		}
		e.see["nominator.node["+pod+"]"] = orNil(node)
		if strings.Join(listed, ",") != node {
			e.see["nominator.node["+pod+"]"] = fmt.Sprintf("%q, listed under %q", node, listed)
		}
		if e.nominatorKeepsObjects() {
			e.see["nominator.carries["+pod+"]"] = carries
		}
	}
}

// nominatorKeepsObjects is whether the nominator has the objects of its pods, as up to 1.30, or their names only.
func (e *eye) nominatorKeepsObjects() bool {
	lists := find(e.realQueue, "nominatedPods")
	return lists.IsValid() && lists.Type().Elem().Elem().Kind() == reflect.Pointer
}

// uidOf is the UID in an entry of the nominator: an object, or a reference whose fields were exported in 1.31.
func uidOf(ref reflect.Value) string {
	if object := get[*v1.Pod](ref, "Pod"); object != nil {
		return idOf(object)
	}
	for _, name := range []string{"uid", "UID"} {
		if uid := field(ref, name); uid.IsValid() {
			return plainID(uid.String())
		}
	}
	return ""
}
