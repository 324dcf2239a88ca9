package podrace

import "fmt"

// What the dispatcher of API calls does, move by move. A call is told by its pod's UID, also where it goes by the name.

func isDispatcher(a *actor) bool { return a.role == dispatcher }

func isCalling(p *player, s Step) func(*actor) bool {
	return func(a *actor) bool { return a.role == calling && a.pod == s.arg("pod") }
}

// takeCall: the dispatcher takes the call of the step's pod from its queue. It takes the one that waits for longest.
func (p *player) takeCall(s Step) error {
	a := p.world.Stage.Find(isDispatcher)
	if a == nil {
		return fmt.Errorf("the dispatcher has no call to take: %s", p.world.Stage.Where())
	}
	if next := p.world.waitingCalls(); len(next) == 0 || next[0] != s.arg("pod") {
		return fmt.Errorf("the dispatcher takes calls in their order, which is %v", next)
	}
	p.world.Stage.Release(a)
	return nil
}

// executeCall: the patch leaves the queue, and what it writes is made up; if that is nothing, the call is over.
func executeCall(p *player, s Step) error {
	if err := p.takeCall(s); err != nil {
		return err
	}
	return p.advance(s, rule{who: isCalling, ends: points("Client.Patch>", "Call.Execute< P")})
}

func sendPatch(p *player, s Step) error {
	defer p.failing(s.Step == "api_dispatcher.lose_patch", s.arg("pod"), "Client.Patch")()
	return p.advance(s, rule{who: isCalling, ends: points("Call.Execute< P"), via: points("Client.Patch<")})
}

// queueBinding: the binding cycle gives its Binding to the dispatcher, and waits.
func queueBinding(p *player, s Step) error {
	r := rule{who: isBinding, ends: points("Cache.BindPod< P"), via: bindingVia}
	if err := p.advance(s, r); err != nil {
		return err
	}
	p.world.Stage.Release(p.world.Stage.Find(isBinding(p, s)))
	return nil
}

// sendBinding: the dispatcher takes the Binding from its queue and posts it. Nothing can take its place in between.
func (p *player) sendBinding(s Step) error {
	if err := p.takeCall(s); err != nil {
		return err
	}
	return p.advance(s, rule{who: isCalling, ends: points("Call.Execute< P"), via: points("Client.Bind< P")})
}

// finalizeCall: the call leaves the map. If it was a Binding, the binding cycle hears of it, and goes on.
func finalizeCall(p *player, s Step) error {
	if err := p.advance(s, rule{who: isCalling, gone: true}); err != nil {
		return err
	}
	phase, bound := s.Changes["binding.phase["+s.arg("pod")+"]"]
	if !bound {
		return nil
	}
	if phase != "NONE" {
		return p.bindingStands(s)
	}
	return p.advance(s, rule{who: isBinding, gone: true, via: points("Queue.Done< P", "Queue.Activate<")})
}
