package podrace

import "fmt"

// What the scheduling cycle does, move by move.

// pop: the scheduler comes back to the queue, if it is not there yet, and takes the next pod.
func pop(p *player, s Step) error {
	if p.waits {
		return p.wokenInPop(s)
	}
	if err := p.comeBack(s); err != nil {
		return err
	}
	drops := p.expects("scheduler.pod") == ""
	return p.advance(s, rule{who: isScheduler, ends: points("NextPod< P"), gone: drops})
}

// comeBack has the scheduler come back to the queue, if it is not there yet.
func (p *player) comeBack(s Step) error {
	if a := p.world.Stage.Find(isScheduler(p, s)); a != nil && a.at.after && a.at.call != "NextPod" {
		return p.advance(s, rule{who: isScheduler, ends: points("NextPod>"), via: points("Queue.Done<")})
	}
	return nil
}

// waitInPop has the scheduler call Pop although no pod is there.
func (p *player) waitInPop(s Step) error {
	if err := p.comeBack(s); err != nil {
		return err
	}
	a := p.world.Stage.Find(isScheduler(p, s))
	if a == nil || a.at.call != "NextPod" || a.at.after {
		return fmt.Errorf("the scheduler does not come to Pop: %s", p.world.Stage.Where())
	}
	p.world.Stage.Release(a)
	if a := p.world.Stage.Find(isScheduler(p, s)); a != nil {
		return fmt.Errorf("Pop does not wait although no pod is there: %s", a.at)
	}
	p.waits = true
	return nil
}

// wokenInPop: the step before has woken the Pop that waited.
func (p *player) wokenInPop(s Step) error {
	p.waits = false
	a := p.world.Stage.Find(isScheduler(p, s))
	if a == nil {
		return fmt.Errorf("Pop still waits although a pod is there")
	}
	if a.at.call != "NextPod" || !a.at.after || a.at.pod != s.arg("pod") {
		return fmt.Errorf("the scheduler is at %s, and has not popped %s", a.at, s.arg("pod"))
	}
	p.moved = true
	return nil
}

// filter: each node is filtered in a goroutine of its own, which is let go to its end.
func filter(p *player, s Step) error {
	is := isWorkerOnNode(p, s)
	if a := p.world.Stage.Find(isScheduler(p, s)); a != nil {
		if !a.at.after {
			return fmt.Errorf("%s is about to call %s, and filters no node", a, a.at)
		}
		p.world.Stage.Release(a)
	}
	if p.world.Stage.Find(is) == nil {
		return fmt.Errorf("node %s is not filtered: %s", s.arg("node"), p.world.Stage.Where())
	}
	if after := p.winner(s); after != "" {
		p.world.answers.host[s.arg("pod")] = after
	}
	r := rule{who: isWorkerOnNode, ends: points("Framework.RunFilterPluginsWithNominatedPods< PN"), via: points("Queue.NominatedPodsForNode< N")}
	if err := p.advance(s, r); err != nil {
		return err
	}
	p.world.Stage.Release(p.world.Stage.Find(is))
	return nil
}

// winner is the node on which the trace assumes the pod next.
func (p *player) winner(s Step) string {
	for _, t := range p.rest {
		if t.Step == "scheduler.assume" && t.arg("pod") == s.arg("pod") {
			return t.arg("node")
		}
	}
	return ""
}

// launch lets the cycle go to its end and the binding goroutine come to where the model has it, if no plugin has work before that. The binding cycle of an earlier attempt may still go on.
func launch(p *player, s Step) error {
	next := cycleEnds
	if stage := p.expects("pod_group_cycle.stage"); (stage == "SUBMIT" || stage == "PICK") && p.expects("scheduler.phase") == "POD_GROUP" {
		next = points("Cache.AssumePod>", "FailureHandler>") // about the next member of the group
	} else if isFinishing(p.model) {
		next = points("Queue.AddAttemptedPodGroupIfNeeded>")
	} else if p.expects("scheduler.phase") != "IDLE" {
		return nil
	}
	r := rule{
		who: isScheduler, ends: next,
		via: points("Framework.RunReservePluginsReserve< P", "Framework.RunPermitPlugins< P", "Queue.DeleteNominatedPodIfExists< P"),
	}
	if err := p.advance(s, r); err != nil {
		return err
	}
	return p.bindingStands(s)
}

func reserve(p *player, s Step) error {
	p.world.answers.reserve[s.arg("pod")] = !s.says("ok")
	err := p.advance(s, rule{who: isScheduler, ends: points("Framework.RunReservePluginsReserve< P")})
	delete(p.world.answers.reserve, s.arg("pod"))
	if err != nil {
		return err
	}
	if stage := p.expects("pod_group_cycle.stage"); s.says("ok") && (stage == "TRY" || stage == "REVERT") { // the member is of no gang, and placed on trial
		return p.advance(s, rule{who: isScheduler, ends: points("Framework.RunPermitPlugins< P")})
	}
	return launch(p, s)
}

func permit(p *player, s Step) error {
	p.world.answers.permit[s.arg("pod")] = s.arg("answer")
	r := rule{who: isScheduler, ends: points("Framework.RunPermitPlugins< P"), via: points("Framework.RunReservePluginsReserve< P")}
	if err := p.advance(s, r); err != nil {
		return err
	}
	return launch(p, s)
}

// reread: preemption begins. What it reads has no point of its own: it is over when the dry runs stand at their first point, or when
// preemption has ended.
func reread(p *player, s Step) error {
	a := p.world.Stage.Find(isScheduler(p, s))
	begins := a != nil && a.at.call == "Framework.RunPostFilterPlugins" && !a.at.after
	if goesOn := a != nil && isOfClaims(a.at.call) && a.at.after; !begins && !goesOn { // the PostFilter of DynamicResources comes before it
		return fmt.Errorf("the scheduler is not about to preempt: %s", p.world.Stage.Where())
	}
	for _, t := range p.rest {
		if t.Step == "scheduler.choose_candidate" && t.arg("pod") == s.arg("pod") {
			p.world.answers.candidate[s.arg("pod")] = t.arg("node")
			break
		}
	}
	p.world.Stage.Release(a)
	settle()
	for _, node := range p.world.Case.Nodes {
		if p.expects("scheduler.verdict[%s]", node.Name) == "NO_CANDIDATE" {
			// The model knows already what comes of it, as on all other nodes for a preemptor that is bound by now.
			if err := tryNode(p, isTrying(node.Name)); err != nil {
				return err
			}
		}
	}
	return nil
}

// dryRun lets the goroutine that tries one node go to its end. A node without victims is not looked at.
func dryRun(p *player, s Step) error { return tryNode(p, isWorkerOnNode(p, s)) }

func tryNode(p *player, is func(*actor) bool) error {
	for n := 0; n < farthest; n++ {
		a := p.world.Stage.Find(is)
		if a == nil {
			return p.quietly("a node without victims is not looked at")
		}
		if a.at.call != "Queue.NominatedPodsForNode" {
			return fmt.Errorf("%s is at %s, which is no dry run", a, a.at)
		}
		p.world.Stage.Release(a)
	}
	return fmt.Errorf("a dry run does not end: %s", p.world.Stage.Where())
}

func choose(p *player, s Step) error {
	pod, node := s.arg("pod"), s.arg("node")
	a := p.world.Stage.Find(isScheduler(p, s))
	if a == nil || a.at.call != "Extender.ProcessPreemption" || a.at.after {
		return fmt.Errorf("preemption has no candidates to choose from: %s", p.world.Stage.Where())
	}
	if !contains(p.world.answers.candidates, node) {
		return fmt.Errorf("%s is no candidate, but %v", node, p.world.answers.candidates)
	}
	p.world.answers.candidate[pod], p.world.answers.rivals[pod] = node, s.Rivals
	p.world.Stage.Release(a)
	if a := p.world.Stage.Find(isScheduler(p, s)); a != nil && a.at.call == "Extender.ProcessPreemption" {
		p.world.Stage.Release(a)
	}
	return nil
}
