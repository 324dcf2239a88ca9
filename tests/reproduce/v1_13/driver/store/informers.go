package podrace

import (
	coreinformers "k8s.io/client-go/informers/core/v1"
	"k8s.io/client-go/tools/cache"
)

// gatedPods and gatedNodes are informers whose event handlers stand behind a gate, each as a whole. So the store of an informer runs ahead
// of its handlers, each of which takes its next event only when it is let go.
type gatedPods struct {
	coreinformers.PodInformer
	informer *gatedInformer
}

func (p *gatedPods) Informer() cache.SharedIndexInformer { return p.informer }

type gatedNodes struct {
	coreinformers.NodeInformer
	informer *gatedInformer
}

func (n *gatedNodes) Informer() cache.SharedIndexInformer { return n.informer }

type gatedInformer struct {
	cache.SharedIndexInformer
	event    string // what the handling of one of its events counts as a call of
	gate     *gate
	handlers int // how many have been registered
}

func (i *gatedInformer) AddEventHandler(h cache.ResourceEventHandler) {
	i.handlers++
	i.SharedIndexInformer.AddEventHandler(&gatedHandler{h, i.event, i.handlers, i.gate})
}

type gatedHandler struct {
	handler cache.ResourceEventHandler
	event   string
	number  int
	gate    *gate
}

func (h *gatedHandler) handle(object any, do func()) {
	through := h.gate.enter(h.event, handlerNumber(h.number), object)
	do()
	through.leave()
}

func (h *gatedHandler) OnAdd(object any) { h.handle(object, func() { h.handler.OnAdd(object) }) }

func (h *gatedHandler) OnUpdate(old, object any) {
	h.handle(object, func() { h.handler.OnUpdate(old, object) })
}

func (h *gatedHandler) OnDelete(object any) {
	h.handle(object, func() { h.handler.OnDelete(object) })
}
