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

// takeSnapshot is over, too, when the lister has no nodes: then there is no snapshot, and the attempt has failed.
func takeSnapshot(p *player, s Step) error {
	return p.advance(theScheduler, either(after("", "Cache.UpdateNodeNameToInfoMap"), before(s.arg("pod"), "FailureHandler")))
}

// The nominator is read for a node.
var readsNominator = before("", "Queue.WaitingPodsForNode")

func isWorker(a *actor) bool { return a.role == worker }

// listTree is over when everyone over whom nodes are spread has got one, by the tree of nodes as it is now.
func listTree(p *player, _ Step) error {
	if err := p.advance(theScheduler, after("", "Cache.NodeTree")); err != nil {
		return err
	}
	return p.spread()
}

// spread lets the scheduler give out nodes, and everyone who gets one come to where the nominator is read for it.
func (p *player) spread() error {
	if a := p.stage.Find(theScheduler.is); a != nil && (after("", "Cache.NodeTree", "Cache.UpdateNodeNameToInfoMap")(*a.at)) {
		p.stage.Release(a)
		return p.spread()
	}
	late := func(a *actor) bool { return isWorker(a) && a.at.call == "Cache.NodeTree" }
	for a := p.stage.Find(late); a != nil; a = p.stage.Find(late) {
		p.stage.Release(a)
	}
	return nil
}

// work is what one of the goroutines does over which nodes are spread: the filters, or the dry run of a preemption, for one node. It begins
// when the nominator is read for that node, and is over when the goroutine is through, or has turned to another node.
func work(p *player, s Step) error {
	node := s.arg("node")
	is := func(a *actor) bool { return isWorker(a) && a.at.node == node }
	for n := 0; p.stage.Find(is) == nil; n++ {
		a := p.stage.Find(func(a *actor) bool { return a.role == scheduling || isWorker(a) && !readsNominator(*a.at) })
		switch {
		case !p.inSnapshot(node) && (n > 0 || a == nil):
			return nil // it was refused without a look at who is nominated to it
		case a == nil:
			return stuck("nobody looks at %s", node)
		case before("", "NextPod", "FailureHandler", "Cache.AssumePod", "Preemptor.SetNominatedNodeName")(*a.at):
			if !p.inSnapshot(node) {
				return nil
			}
			return stuck("the scheduler has come to %s without looking at %s", a.at, node)
		}
		p.stage.Release(a)
	}
	for a := p.stage.Find(is); a != nil; a = p.stage.Find(is) {
		p.stage.Release(a)
	}
	return nil
}

// inSnapshot is whether the cycle's snapshot has a node.
func (p *player) inSnapshot(name string) bool {
	info := p.instance.snapshot()[name]
	return info != nil && info.Node() != nil
}

func fail(p *player, s Step) error {
	pod := s.arg("pod")
	over := either(after(pod, "FailureHandler"), before("", "Client.GetNode"))
	return p.advanceWithin(theScheduler, over, before("", "NextPod"))
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
