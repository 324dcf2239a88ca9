package podrace

// nowhere limits nothing.
func nowhere(point) bool { return false }

func pop(p *player, s Step) error {
	if err := p.advanceWithin(theScheduler, after("", "NextPod"), nowhere); err != nil {
		return err
	}
	pod := s.arg("pod")
	if got := p.find(theScheduler.is).at.pod; got != pod {
		return stuck("the queue gives %s, not %s", got, pod)
	}
	p.answers.host[pod] = p.next("scheduler.assume", pod, "node")
	return nil
}

// skip drops a pod that is being deleted: the cycle is over at once.
func skip(p *player, _ Step) error {
	return p.advanceWithin(theScheduler, before("", "NextPod"), nowhere)
}

func takeSnapshot(p *player, _ Step) error {
	return p.advance(theScheduler, after("", "Cache.UpdateNodeNameToInfoMap"))
}

func listTree(p *player, _ Step) error {
	return p.advance(theScheduler, after("", "Cache.NodeTree"))
}

// work is what one of the goroutines does over which nodes are spread: the filters, or the dry run of a preemption, for one node. It begins
// when the nominator is read for that node, and is over when the goroutine is through, or has turned to another node.
func work(p *player, s Step) error {
	node := s.arg("node")
	begins := before("", "Queue.WaitingPodsForNode")
	is := func(a *actor) bool { return a.role == worker && a.at.node == node }
	for p.stage.Find(is) == nil {
		a := p.stage.Find(func(a *actor) bool {
			return a.role == scheduling || a.role == worker && !begins(*a.at)
		})
		if a == nil {
			return stuck("nobody looks at %s", node)
		}
		if before("", "NextPod", "FailureHandler", "Cache.AssumePod", "Preemptor.SetNominatedNodeName")(*a.at) {
			return stuck("the scheduler has come to %s without looking at %s", a.at, node)
		}
		p.stage.Release(a)
	}
	for a := p.stage.Find(is); a != nil; a = p.stage.Find(is) {
		p.stage.Release(a)
	}
	return nil
}

func fail(p *player, s Step) error {
	pod := s.arg("pod")
	return p.advance(theScheduler, either(after(pod, "FailureHandler"), before("", "Client.GetNode")))
}

func either(a, b func(point) bool) func(point) bool {
	return func(q point) bool { return a(q) || b(q) }
}

// reread is over when the preemptor was read, and the new snapshot is there by which preemption goes.
func reread(p *player, s Step) error {
	if err := p.advance(theScheduler, after(s.arg("pod"), "Preemptor.GetUpdatedPod")); err != nil {
		return err
	}
	read := p.find(theScheduler.is).at
	if len(read.results) == 2 && read.results[1] != nil {
		return nil
	}
	return p.advance(theScheduler, after("", "Cache.UpdateNodeNameToInfoMap"))
}

func choose(p *player, s Step) error {
	pod, node := s.arg("pod"), s.arg("node")
	p.answers.candidate[pod] = node
	if err := p.advance(theScheduler, after("", "Queue.WaitingPodsForNode")); err != nil {
		return err
	}
	if got := p.find(theScheduler.is).at.node; got != node {
		return stuck("preemption chooses %s, not %s", got, node)
	}
	return nil
}

func writeNomination(p *player, s Step) error {
	pod := s.arg("pod")
	if !s.says("ok") {
		p.cluster.order("UpdateStatus", pod, fails)
	}
	return p.advance(theScheduler, after(pod, "Preemptor.SetNominatedNodeName"))
}

func evict(p *player, s Step) error {
	victim := s.arg("victim")
	if !s.says("ok") {
		p.cluster.order("Delete", victim, fails)
	}
	return p.advanceWithin(theScheduler, after(victim, "Preemptor.DeletePod"), either(before("", "NextPod"), after("", "Preemptor.DeletePod")))
}

func clearNomination(what outcome, argument string) func(*player, Step) error {
	return func(p *player, s Step) error {
		pod := s.arg(argument)
		if what == fails {
			p.cluster.order("UpdateStatus", pod, fails)
		}
		return p.advance(theScheduler, after(pod, "Preemptor.RemoveNominatedNodeName"))
	}
}

func assume(p *player, s Step) error {
	pod, node := s.arg("pod"), s.arg("node")
	if err := p.advance(theScheduler, after(pod, "Cache.AssumePod")); err != nil {
		return err
	}
	if got := p.find(theScheduler.is).at.node; got != node {
		return stuck("%s wins, not %s", got, node)
	}
	return nil
}

// startBinding is over when the scheduling cycle is, and its binding cycle is about to post the Binding.
func startBinding(p *player, _ Step) error {
	return p.advanceWithin(theScheduler, before("", "NextPod"), nowhere)
}
