package podrace

import "fmt"

// What preemption does once it has chosen a node: evictions, and nominations that are cleared.

func failToClear(who func(*player, Step) func(*actor) bool, whose string) func(*player, Step) error {
	return func(p *player, s Step) error {
		pod := s.arg(whose)
		defer p.failing(true, pod, "Client.Patch")()
		end := pattern{call: "Client.Patch", after: true}
		if err := p.advance(s, rule{who: who, ends: []pattern{end}, via: points("Queue.NominatedPodsForNode<")}); err != nil {
			return err
		}
		return nil
	}
}

// evictionCalls are those of an eviction: the PATCH of the victim's condition, unless it is known to have it, and the DELETE.
var evictionCalls = []string{"Client.Patch", "Client.Delete"}

var evictVia = points("Handle.GetWaitingPod< V", "Client.Patch< V", "Client.Delete< V")

// evict: one of the victims that are evicted in parallel.
func evict(p *player, s Step) error {
	if a := p.world.Stage.Find(isPreempting(p, s)); a != nil && a.at.after {
		p.world.Stage.Release(a)
	}
	defer p.failing(!s.says("ok"), s.arg("victim"), evictionCalls...)()
	return p.advance(s, rule{who: isEvicting, ends: points("PreemptPod< V"), via: evictVia})
}

// failing has these calls about a pod fail, until what it gives is called: a step that makes none of them leaves nothing to those that follow.
func (p *player) failing(fails bool, pod string, calls ...string) (end func()) {
	if !fails {
		return func() {}
	}
	for _, call := range calls {
		p.world.Store.Fail(call, pod, failed)
	}
	return func() {
		for _, call := range calls {
			p.world.Store.takeFault(call, pod)
		}
	}
}

// evictInCycle: the scheduling cycle itself waits until its victims are evicted, in parallel. Where one cannot be, the calls for the others
// are cancelled.
func evictInCycle(p *player, s Step) error {
	fails := s.Step == "scheduler.evict" && !s.says("ok")
	defer p.failing(fails, s.arg("victim"), evictionCalls...)()
	if nominee, known := p.model["scheduler.nominee"]; known && nominee == nil && s.Step == "scheduler.evict" {
		fails = true // the victim is gone, and that is an error
	}
	if p.world.Stage.Find(isEvicting(p, s)) == nil {
		return fmt.Errorf("nobody is about to evict %s: %s", s.arg("victim"), p.world.Stage.Where())
	}
	if err := p.advance(s, rule{who: isEvicting, gone: true, via: append(points("PreemptPod< V"), evictVia...)}); err != nil {
		return err
	}
	if fails {
		p.dismiss(func(a *actor) bool { return a.role == worker && a.parent.role == scheduling })
	}
	return nil
}

// dismiss lets workers go to their end whose calls are cancelled, or over.
func (p *player) dismiss(is func(*actor) bool) {
	for n := 0; n < farthest; n++ {
		a := p.world.Stage.Find(is)
		if a == nil {
			return
		}
		p.world.Stage.Release(a)
	}
}

// leave: those that evicted in parallel end, and the last victim is next.
func leave(p *player, s Step) error {
	p.dismiss(func(a *actor) bool {
		return a.role == worker && a.parent.role == preempting && a.parent.pod == s.arg("pod")
	})
	return p.advance(s, rule{who: isPreempting, ends: points("PreemptPod>", "Queue.Activate>"), gone: true})
}

func evictLast(p *player, s Step) error {
	defer p.failing(s.Step == "async_preemption.evict_last" && !s.says("ok"), s.arg("victim"), evictionCalls...)()
	if err := p.advance(s, rule{who: isPreempting, ends: points("PreemptPod< V"), via: evictVia}); err != nil {
		return err
	}
	if p.expects("async_preemption.phase[%s]", s.arg("pod")) == "EVICTED" {
		return nil
	}
	return p.advance(s, rule{who: isPreempting, ends: points("Queue.Activate>"), gone: true})
}
