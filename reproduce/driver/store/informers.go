package podrace

import (
	"sync/atomic"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/informers/core"
	corev1 "k8s.io/client-go/informers/core/v1"
	"k8s.io/client-go/tools/cache"
)

// gatedInformers is an informer factory with whose pod and node informers event handlers are registered as a whole behind a gate. So the
// store of an informer runs ahead of its handlers, each of which takes its next event only when it is let go.
type gatedInformers struct {
	informers.SharedInformerFactory
	gate     *gate
	handlers map[string]int            // how many have been registered
	starting atomic.Bool               // the initial list is being handled
	drops    func(version string) bool // events that handlers are not given
	skips    atomic.Bool               // nor the one before which a handler stands
	passes   func(version string) bool // events of claims that are given without a stop
	passing  bool                      // what is registered now is held at no gate
	budgets  []string                  // their names, in the scenario's order
	passive  bool                      // the assume caches of volumes read the informers' stores, as from 1.35 on
}

func (f *gatedInformers) Core() core.Interface {
	return &gatedCore{f.SharedInformerFactory.Core(), f}
}

type gatedCore struct {
	core.Interface
	factory *gatedInformers
}

func (c *gatedCore) V1() corev1.Interface { return &gatedCoreV1{c.Interface.V1(), c.factory} }

type gatedCoreV1 struct {
	corev1.Interface
	factory *gatedInformers
}

func (c *gatedCoreV1) Pods() realPodInformer {
	return &gatedPodInformer{c.Interface.Pods(), c.factory}
}

func (c *gatedCoreV1) Nodes() realNodeInformer {
	return &gatedNodeInformer{c.Interface.Nodes(), c.factory}
}

type gatedPodInformer struct {
	realPodInformer
	factory *gatedInformers
}

func (i *gatedPodInformer) Informer() cache.SharedIndexInformer {
	return &gatedInformer{i.realPodInformer.Informer(), podEvent, i.factory}
}

type gatedNodeInformer struct {
	realNodeInformer
	factory *gatedInformers
}

func (i *gatedNodeInformer) Informer() cache.SharedIndexInformer {
	return &gatedInformer{i.realNodeInformer.Informer(), nodeEvent, i.factory}
}

type gatedInformer struct {
	cache.SharedIndexInformer
	event   string
	factory *gatedInformers
}

func (i *gatedInformer) AddEventHandler(h cache.ResourceEventHandler) (cache.ResourceEventHandlerRegistration, error) {
	return i.SharedIndexInformer.AddEventHandler(i.behindGate(h))
}

func (i *gatedInformer) behindGate(h cache.ResourceEventHandler) cache.ResourceEventHandler {
	if i.factory.passing {
		return h
	}
	i.factory.handlers[i.event]++
	return &gatedHandler{h, i.event, i.factory.handlers[i.event], i.factory}
}

// gatedHandler is an event handler that stops before and after each event.
type gatedHandler struct {
	handler cache.ResourceEventHandler
	event   string
	number  int
	factory *gatedInformers
}

// handle: `written` is the version of the write that an update tells of; what is added or gone is never that of a write which the model
// does not have.
func (h *gatedHandler) handle(o any, written string, do func()) {
	if h.passesStorage(false) {
		do()
		return
	}
	if h.factory.starting.Load() && h.event != claimEvent {
		time.Sleep(time.Millisecond) // no two pods have the same timestamp in the queue
	}
	if h.factory.drops(written) {
		return
	}
	if h.event == claimEvent && h.factory.passes(written) {
		do()
		return
	}
	c := call{by: goroutine(), gate: h.factory.gate, point: about(h.event, []any{o})}
	c.point.version, c.point.number = written, h.number
	c.gate.stage.arrive(c.by, c.gate.owner, c.point)
	if !h.factory.skips.Swap(false) {
		do()
	}
	c.leave()
}

func (h *gatedHandler) OnAdd(o any, initial bool) {
	h.handle(o, "", func() { h.handler.OnAdd(o, initial) })
}

func (h *gatedHandler) OnUpdate(old, o any) {
	written := versionOf(o)
	if versionOf(old) == written {
		written = unchanged
	}
	h.handle(o, written, func() { h.handler.OnUpdate(old, o) })
}

func (h *gatedHandler) OnDelete(o any) {
	if h.passesStorage(true) {
		h.handler.OnDelete(o)
		return
	}
	h.handle(o, "", func() { h.handler.OnDelete(o) })
}

func versionOf(o any) string {
	if m, ok := o.(metav1.Object); ok {
		return m.GetResourceVersion()
	}
	return ""
}
