package podrace

import (
	"fmt"
	"reflect"
	"sync"
)

// The dispatcher of API calls, from 1.34 on, where SchedulerAsyncAPICalls is set: it stops before it takes a call from its queue, and each call stops
// before and after it is executed.

// callQueue is the queue of the dispatcher; the zero Value if there is none.
func (i *instance) callQueue() reflect.Value {
	d := path(i.Sched, "APIDispatcher")
	if !d.IsValid() || d.IsNil() {
		return reflect.Value{}
	}
	return inside(field(d, "callQueue"))
}

// dispatches is whether the scheduler has a dispatcher.
func (i *instance) dispatches() bool { return i.callQueue().IsValid() }

func (i *instance) gateDispatcher(g *gate) error {
	queue := i.callQueue()
	if !queue.IsValid() {
		return nil
	}
	for _, part := range []any{i.RealQueue, i.RealCache} {
		v := path(part, "apiDispatcher")
		if !v.IsValid() {
			return fmt.Errorf("%T has no field apiDispatcher", part)
		}
		v.Set(reflect.ValueOf(dispatching(v.Interface(), g)))
	}
	cond, lock := get[*sync.Cond](queue, "cond"), field(queue, "lock")
	if cond == nil || !lock.IsValid() {
		return fmt.Errorf("the queue of API calls has no cond, or no lock")
	}
	cond.L = &turnstile{Locker: lock.Addr().Interface().(sync.Locker), cond: cond, queue: queue, gate: g}
	return nil
}

// gateCacher has the framework's way to the dispatcher go by the gated queue and the gated cache.
func (i *instance) gateCacher(f frameworkInterface) error {
	if !i.dispatches() {
		return nil
	}
	for name, part := range map[string]any{"schedulingQueue": i.Sched.SchedulingQueue, "cache": i.Sched.Cache} {
		v := path(f, "apiCacher", name)
		if !v.IsValid() {
			return fmt.Errorf("the cacher of API calls has no field %s", name)
		}
		v.Set(reflect.ValueOf(part))
	}
	return nil
}

// turnstile is the lock that the dispatcher lets go while it waits for a call, and takes again when there is one. It is held before that: the
// call is in the queue then, and others may still be merged with it. One call comes through at a time: the others are put aside until the dispatcher
// waits again, which is where it could have been held as well, had it been slower.
type turnstile struct {
	sync.Locker
	cond  *sync.Cond
	queue reflect.Value
	gate  *gate
	aside []reflect.Value
}

func (t *turnstile) Lock() {
	t.gate.enter("Dispatcher.Pop")
	t.Locker.Lock()
	waiting := drained(t.queue)
	for n, call := range waiting {
		if n == 0 {
			write(t.queue, call)
		} else {
			t.aside = append(t.aside, call)
		}
	}
}

func (t *turnstile) Unlock() {
	// Those that came meanwhile are behind those that were put aside.
	since := drained(t.queue)
	again := append(t.aside, since...)
	for _, call := range again {
		write(t.queue, call)
	}
	t.aside = nil
	t.Locker.Unlock()
	if len(again) > 0 {
		t.cond.Broadcast() // the dispatcher is among those that wait by now
	}
}

// ring is the order in which calls wait: the UIDs of their objects.
func ring(queue reflect.Value) reflect.Value { return field(queue, "callsQueue").Addr() }

func drained(queue reflect.Value) (all []reflect.Value) {
	read := ring(queue).MethodByName("ReadOne")
	for {
		out := read.Call(nil)
		if !out[1].Bool() {
			return all
		}
		all = append(all, out[0])
	}
}

func write(queue, call reflect.Value) {
	ring(queue).MethodByName("WriteOne").Call([]reflect.Value{call})
}

// waitingCalls are the pods whose calls wait in the queue, in their order. Nobody may move meanwhile.
func (i *instance) waitingCalls() (pods []string) {
	queue := i.callQueue()
	calls := drained(queue)
	for _, call := range calls {
		pods = append(pods, call.String())
		write(queue, call)
	}
	return pods
}
