package podrace

import (
	"fmt"
	"reflect"
	"time"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// What a test expects, and what it says where that is not so.

const soon = time.Minute

// ExpectPossible expects all moves to be made, and these variables of podrace's model to have these values then: names and values in turn.
func (c *Moves) ExpectPossible(end ...any) {
	c.t.Helper()
	for n := 0; n+1 < len(end); n += 2 {
		c.script.Initial[end[n].(string)] = nil
	}
	w := c.play()
	if c.ended {
		c.t.Errorf("kube-scheduler does not make all of these moves, in this order")
		return
	}
	state := w.seen()
	for n := 0; n+1 < len(end); n += 2 {
		if seen, there := state[end[n].(string)]; !there {
			c.t.Errorf("%v cannot be seen in this version, and was to be %v", end[n], end[n+1])
		} else if !same(end[n+1], seen) {
			c.t.Errorf("%v is %v, and was to be %v", end[n], seen, end[n+1])
		}
	}
}

// ExpectBoundSoon lets everybody go their way, and expects the pod to be bound within a minute: the backoff is ten seconds at most.
func (c *Moves) ExpectBoundSoon(pod string) {
	c.t.Helper()
	w := c.play()
	w.setFree()
	after, ok := w.until(11*time.Minute, func() bool { p := w.Store.Pod(pod); return p != nil && p.Spec.NodeName != "" })
	switch {
	case !ok:
		c.t.Errorf("%s is not bound, although it fits: %v later it waits in %s", pod, after, w.place(pod))
	case after > soon:
		c.t.Errorf("%s was bound to %s only after %v, although it fitted all the time: nothing woke it but the periodic flush", pod, w.Store.Pod(pod).Spec.NodeName, after)
	}
}

// ExpectPlacedBefore expects a pod to be assumed or bound before another, which would take its room.
func (c *Moves) ExpectPlacedBefore(pod, other string) {
	c.t.Helper()
	w := c.play()
	if w.placedOn(pod) == "" && w.placedOn(other) == "" { // the run has ended early: whoever is first now
		w.setFree()
		w.until(11*time.Minute, func() bool { return w.placedOn(pod) != "" || w.placedOn(other) != "" })
	}
	if w.placedOn(pod) != "" {
		return
	}
	taken := "nobody has taken its room"
	if node := w.placedOn(other); node != "" {
		taken = other + " has taken the room on " + node
	}
	w.setFree()
	after, ok := w.until(11*time.Minute, func() bool { return w.placedOn(pod) != "" })
	end := fmt.Sprintf("waits in %s %v later", w.place(pod), after)
	if ok {
		end = fmt.Sprintf("was placed %v later", after)
	}
	if p := w.Store.Pod(other); p == nil || p.DeletionTimestamp != nil {
		end += fmt.Sprintf("; %s was evicted meanwhile", other)
	}
	c.t.Errorf("%s, and %s, which was to have it, %s", taken, pod, end)
}

// placedOn is the node on which the pod is assumed or bound.
func (w *World) placedOn(pod string) string {
	if p := w.Store.Pod(pod); p != nil && p.Spec.NodeName != "" {
		return p.Spec.NodeName
	}
	return w.assumedOn(pod)
}

// ExpectNotQueued expects the pod not to be in any of the queue's parts.
func (c *Moves) ExpectNotQueued(pod string) {
	c.t.Helper()
	w := c.play()
	place := w.place(pod)
	if place == "NONE" {
		return
	}
	w.setFree()
	after, ok := w.until(11*time.Minute, func() bool { return w.place(pod) == "NONE" })
	left := fmt.Sprintf("left it only after %v", after)
	if !ok {
		left = fmt.Sprintf("is still there %v later", after)
	}
	c.t.Errorf("%s is in the scheduling queue (%s), although it is gone, and %s", pod, place, left)
}

// ExpectQueued expects a pod that waits to be bound to be in some part of the queue under its own UID.
func (c *Moves) ExpectQueued(pod string) {
	c.t.Helper()
	w := c.play()
	p := w.Store.Pod(pod)
	if p == nil || p.Spec.NodeName != "" || w.place(pod) != "NONE" || w.is("queue.in_flight", pod) || w.assumedOn(pod) != "" {
		return
	}
	c.t.Errorf("%s waits to be bound, and is in no part of the scheduling queue: no event and no flush will find it", pod)
}

// ExpectInOnePlace expects a pod that is assumed, or in its binding cycle, to be neither queued nor in a scheduling cycle as well.
func (c *Moves) ExpectInOnePlace(pod string) {
	c.t.Helper()
	w := c.play()
	binding := w.Stage.Find(func(a *actor) bool { return a.role == binding && a.pod == pod && !a.failed })
	again := w.Stage.Find(func(a *actor) bool {
		return a.role == scheduling && a.pod == pod && (a.at.call != "NextPod" || a.at.after)
	})
	if place := w.place(pod); place != "NONE" && (binding != nil || w.is("queue.in_flight", pod) || w.assumedOn(pod) != "") {
		c.t.Errorf("%s is in the scheduling queue (%s) while it is being scheduled or bound", pod, place)
	} else if binding != nil && again != nil {
		c.t.Errorf("%s is being scheduled once more while it is being bound to %s", pod, w.assumedOn(pod))
	}
}

// ExpectNotAssumed lets everybody go their way but for the Binding of the pod, which is gone, and expects the cache not to keep room for it.
func (c *Moves) ExpectNotAssumed(pod string) {
	c.t.Helper()
	w := c.play()
	node := w.assumedOn(pod)
	isBind := func(a *actor) bool { return a.at.call == "Client.Bind" && !a.at.after && a.at.pod == pod }
	w.freeAllBut(isBind)
	if w.assumedOn(pod) == "" {
		return
	}
	newcomer := c.needing(node, pod)
	w.Store.Create(newcomer)
	scheduled := func() bool { p := w.Store.Pod(idOf(newcomer)); return p != nil && p.Spec.NodeName != "" }
	w.until(time.Minute, func() bool { w.freeAllBut(isBind); return scheduled() })
	waits := "a pod that needs all that is free there is bound nevertheless"
	if !scheduled() {
		lasts := "Bind call"
		if w.Stage.Find(isBind) == nil { // the pod waits for permission
			lasts = "binding cycle"
		}
		waits = "a pod that needs this room has waited for a minute, and waits as long as the " + lasts + " of " + pod + " lasts"
		w.setFree()
		if after, ok := w.until(11*time.Minute, scheduled); ok {
			waits += fmt.Sprintf("; it was bound %v after that", after)
		}
	}
	c.t.Errorf("%s is gone, and its deletion has been handled, but the cache keeps its room on %s: %s", pod, node, waits)
}

// needing is a pod that needs all that would be free on a node if a pod were not there.
func (c *Moves) needing(node, without string) *v1.Pod {
	free := v1.ResourceList{}
	for _, n := range c.script.Nodes {
		if n.Name == node {
			free = n.Status.Allocatable.DeepCopy()
		}
	}
	delete(free, v1.ResourcePods)
	w := c.world
	for _, p := range c.script.Pods {
		now := w.Store.Pod(idOf(p))
		if idOf(p) == without || now == nil || w.placedOn(idOf(p)) != node {
			continue
		}
		for name, amount := range now.Spec.Containers[0].Resources.Requests {
			left := free[name]
			left.Sub(amount)
			free[name] = left
		}
	}
	return &v1.Pod{
		ObjectMeta: metav1.ObjectMeta{Name: "newcomer", Namespace: metav1.NamespaceDefault, UID: "newcomer"},
		Spec: v1.PodSpec{
			SchedulerName: v1.DefaultSchedulerName, Priority: new(int32),
			Containers: []v1.Container{{Name: "c", Image: "none", Resources: v1.ResourceRequirements{Requests: free}}},
		},
	}
}

// freeAllBut lets everybody go their way who does not come to stand where the question is answered yes.
func (w *World) freeAllBut(stays func(*actor) bool) {
	for n := 0; n < 10000; n++ {
		for _, kind := range []string{podKind, nodeKind} {
			for w.Store.Undelivered(kind) > 0 {
				w.Store.Deliver(kind)
			}
		}
		a := w.Stage.Find(func(a *actor) bool { return !stays(a) })
		if a == nil {
			return
		}
		w.Stage.Release(a)
	}
}

// ExpectQueuedAsKnown expects the queue's object of the pod to be the API server's, as far as scheduling is concerned.
func (c *Moves) ExpectQueuedAsKnown(pod string) {
	c.t.Helper()
	w := c.play()
	known := w.Store.Pod(pod)
	for _, record := range recordsOf(reflect.ValueOf(w.RealQueue)) {
		queued := record.pod
		if idOf(queued) == pod && known != nil && projection(queued) != projection(known) {
			c.t.Errorf("%s is queued as of version %s, the API server has version %s, and no event is left that would tell the queue", pod, queued.ResourceVersion, known.ResourceVersion)
		}
	}
}

// ExpectNotUnschedulable expects the pod, which is bound, to have no condition that says that it could not be scheduled.
func (c *Moves) ExpectNotUnschedulable(pod string) {
	c.t.Helper()
	w := c.play()
	if p := w.Store.Pod(pod); p != nil && p.Spec.NodeName != "" && unschedulableSays(p) {
		c.t.Errorf("%s runs on %s, and its condition says that it is unschedulable", pod, p.Spec.NodeName)
	}
}

// ExpectNothingSaidOf expects that nothing of the pod's status says that it was tried: no condition, and no nomination.
func (c *Moves) ExpectNothingSaidOf(pod string) {
	c.t.Helper()
	w := c.play()
	p := w.Store.Pod(pod)
	if p == nil || p.Spec.NodeName != "" {
		return
	}
	if unschedulableSays(p) {
		c.t.Errorf("%s says that it is unschedulable, although nobody has tried it: it has the name of a pod that is gone", pod)
	}
	if node := p.Status.NominatedNodeName; node != "" {
		c.t.Errorf("%s is nominated to %s, although nobody has tried it: it has the name of a pod that is gone", pod, node)
	}
}

// ExpectNotDeleted expects that nobody has deleted the pod.
func (c *Moves) ExpectNotDeleted(pod string) {
	c.t.Helper()
	w := c.play()
	if w.Store.wasDeleted(pod) {
		c.t.Errorf("%s was deleted, although it never was on a node and nobody has decided to evict it: it has the name of a pod that is gone", pod)
	}
}

// ExpectNotNominated expects the nominator not to have the pod.
func (c *Moves) ExpectNotNominated(pod string) {
	c.t.Helper()
	w := c.play()
	node := w.nominatedTo(pod)
	if node == "" {
		return
	}
	w.setFree()
	after, ok := w.until(11*time.Minute, func() bool { return w.nominatedTo(pod) == "" })
	left := fmt.Sprintf("for %v", after)
	if !ok {
		left = fmt.Sprintf("and is still %v later", after)
	}
	c.t.Errorf("%s is gone, and its deletion has been handled, but it is nominated to %s %s", pod, node, left)
}

// nominatedTo is the node to which the nominator has the pod nominated.
func (w *World) nominatedTo(pod string) string {
	node, _ := w.seen()["nominator.node["+pod+"]"].(string)
	return node
}

// until lets fake time pass until something is so, and says how long it took, to the second.
func (w *World) until(most time.Duration, is func() bool) (time.Duration, bool) {
	began := time.Now()
	for time.Since(began) < most {
		settle()
		w.endTerminating()
		if is() {
			return time.Since(began).Round(time.Second), true
		}
		time.Sleep(100 * time.Millisecond)
	}
	return most, false
}

// place is the part of the scheduling queue that has the pod; NONE if it is not queued.
func (w *World) place(pod string) string {
	settle()
	return fmt.Sprint(w.seen()["queue.sub_queue["+pod+"]"])
}

func (w *World) is(variable, pod string) bool {
	return fmt.Sprint(w.seen()[variable+"["+pod+"]"]) == "true"
}

// assumedOn is the node on which the cache assumes the pod.
func (w *World) assumedOn(pod string) string {
	settle()
	state := w.seen()
	if fmt.Sprint(state["cache.pod["+pod+"].assumed"]) != "true" {
		return ""
	}
	return fmt.Sprint(state["cache.pod["+pod+"].node"])
}

// seen is the state of the scheduler, by the names that podrace's model has for it.
func (w *World) seen() map[string]any {
	settle()
	state, _ := observe(w)
	return state
}
