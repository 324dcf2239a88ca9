package podrace

import "time"

// What the binding cycle and the failure handler do, move by move.

// bindingStands lets the binding goroutine come to where the model has it after the step.
func (p *player) bindingStands(s Step) error {
	r := rule{who: isBinding, via: bindingVia}
	switch phase := p.expects("binding.phase[%s]", s.arg("pod")); phase {
	case "ANNOUNCE":
		r.ends = points("Framework.RunPreBindPreFlights> P")
	case "WAIT_ON_PERMIT":
		r.ends = points("Framework.WaitOnPermit> P")
	case "PRE_BIND", "PRE_BIND_CANCELLED":
		r.ends = points("Framework.RunPreBindPlugins> P")
	case "EXTENDER_BIND":
		r.ends = points("Extender.Bind> P")
	case "BIND":
		r.ends = points("Client.Bind> P", "Cache.BindPod> P")
	case "FORGET":
		r.ends = givesBack
	case "NONE", "":
		return runOut(isBinding)(p, s)
	default:
		return nil
	}
	return p.advance(s, r)
}

// bindsAgain: BindPod posts the Binding once more after a while, which grows from 10 to 250 milliseconds.
func (p *player) bindsAgain(s Step) error {
	if a := p.world.Stage.Find(isBinding(p, s)); a != nil && a.at.call == "Client.Bind" && a.at.after {
		p.world.Stage.Release(a)
		for range 60 {
			settle()
			if a.at != nil && a.at.call == "Client.Bind" && !a.at.after {
				return nil
			}
			time.Sleep(5 * time.Millisecond)
		}
	}
	return p.bindingStands(s)
}

// finish: up to 1.35 the cache is told that a binding is over, whether it was made or failed.
func finish(p *player, s Step) error {
	if err := p.advance(s, rule{who: isBinding, ends: points("Cache.FinishBinding< P")}); err != nil {
		return err
	}
	if p.expects("binding.phase[%s]", s.arg("pod")) == "NONE" {
		return runOut(isBinding)(p, s)
	}
	return nil
}

// runOut lets the goroutine whose step it is go to its end. The pod may have others under way: its preemption goes on beside its binding, and a later binding cycle beside the failure of an
// earlier one.
func runOut(who func(*player, Step) func(*actor) bool) func(*player, Step) error {
	return func(p *player, s Step) error {
		if a := p.world.Stage.Find(who(p, s)); a == nil || !a.at.after {
			return nil
		}
		return p.advance(s, rule{who: who, gone: true, via: points("Queue.Done< P", "Queue.Activate<")})
	}
}

func announce(p *player, s Step) error {
	defer p.failing(s.Step == "binding.fail_to_announce", s.arg("pod"), "Client.Patch")()
	bindingVia := append(points("Client.Patch< P", "Queue.PatchPodStatus< P"), bindingVia...)
	r := rule{who: isBinding, via: bindingVia, ends: points("Framework.WaitOnPermit> P")}
	if err := p.advance(s, r); err != nil {
		return err
	}
	return p.bindingStands(s)
}

func failPreFlight(p *player, s Step) error {
	p.world.answers.preFlight[s.arg("pod")] = true
	defer delete(p.world.answers.preFlight, s.arg("pod"))
	return p.advance(s, rule{who: isBinding, ends: givesBack, via: bindingVia})
}

// foreseePreBind has the PreBind plugins of a pod fail if they do so next in the trace: where a plugin before them is not held at its end, they are through
// before their step comes.
func (p *player) foreseePreBind(pod string) {
	for _, t := range p.rest {
		if t.arg("pod") == pod && (t.Step == "binding.pre_bind" || t.Step == "scheduler.pop") {
			p.world.answers.preBind[pod] = t.Step == "binding.pre_bind" && !t.says("ok")
			return
		}
	}
}

func preBind(p *player, s Step) error {
	p.world.answers.preBind[s.arg("pod")] = !s.says("ok")
	defer delete(p.world.answers.preBind, s.arg("pod"))
	return p.bindingStands(s)
}

func bind(p *player, s Step) error {
	pod := s.arg("pod")
	switch s.arg("reply") {
	case "FAILED":
		p.world.Store.Fail("Client.Bind", pod, failed)
	case "LOST":
		p.world.Store.Fail("Client.Bind", pod, lost)
	case "TRANSIENT":
		p.world.Store.Fail("Client.Bind", pod, transient)
	}
	if p.world.dispatches() {
		return p.sendBinding(s)
	}
	r := rule{who: isBinding, ends: points("Client.Bind< P"), via: points("Framework.RunPreBindPlugins< P")}
	if err := p.advance(s, r); err != nil {
		return err
	}
	if s.arg("reply") == "TRANSIENT" {
		return p.bindsAgain(s)
	}
	if p.expects("binding.phase[%s]", pod) == "NONE" {
		return p.bindingStands(s)
	}
	return nil
}

// leaveToNamesake: where the lister shows another pod under the name, the handler is through, and Done is all that is left.
func leaveToNamesake(p *player, s Step) error {
	a := p.world.Stage.Find(isFailing(p, s))
	if a != nil && a.at.call == "Queue.Done" && !a.at.after && p.expects("queue.in_flight[%s]", s.arg("pod")) == "false" {
		p.world.Stage.Release(a)
	}
	return nil
}

// patch: the handler writes the condition, or finds that there is nothing to write, and its goroutine comes to what follows.
func patch(p *player, s Step) error {
	defer p.failing(s.Step == "failure.lose_patch", s.arg("pod"), "Client.Patch")()
	r := rule{
		who: isFailing, via: points("Client.Patch< P", "Queue.PatchPodStatus< P", "Queue.Done< P"), gone: true,
		ends: points("NextPod>", "Queue.MoveAllToActiveOrBackoffQueue>", "FailureHandler>", "Cache.AssumePod>", "Queue.AddAttemptedPodGroupIfNeeded>"), // the last three in the cycle of a group
	}
	return p.advance(s, r)
}
