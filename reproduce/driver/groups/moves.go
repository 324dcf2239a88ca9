package podrace

import "fmt"

// What the cycle of a group of pods does, where it is not that of a single pod.

// assume: in the cycle of a group the pod is assumed in the snapshot, and Permit is asked in the same breath, about a pod of a gang in a step of its own.
// The scheduler stands there until it goes on to the next member: after the last, what was assumed is taken back.
func assume(p *player, s Step) error {
	if stage := p.expects("pod_group_cycle.stage"); stage == "" || stage == "NONE" {
		return p.advance(s, rule{who: isScheduler, ends: points("Cache.AssumePod< PN")})
	}
	end := points("Framework.RunPermitPlugins< P")
	switch {
	case p.hasEntries():
		end = points("Framework.RunPlacementFeasiblePlugins<")
	case p.expects("scheduler.phase") == "RESERVE": // claims of devices are reserved first
		end = points("Framework.RunReservePluginsReserve> P")
	case p.expects("pod_group_cycle.stage") == "PERMIT":
		end = points("Framework.RunPermitPlugins> P")
	}
	err := p.advance(s, rule{
		who: isScheduler, ends: end,
		via: points("Queue.NominatedPodsForNode<", "Queue.DeleteNominatedPodIfExists< P", "Framework.RunReservePluginsReserve< P", "Framework.RunPermitPlugins< P"),
	})
	if err != nil {
		return err
	}
	return p.toNextGroup(s)
}

// fail: the attempt goes to the failure handler. In the cycle of a group that comes in the end; a member for which preemption has found a node counts as
// placed, and one that fits nowhere has no more to do.
func fail(p *player, s Step) error {
	stage := p.expects("pod_group_cycle.stage")
	if stage == "" || stage == "NONE" || p.expects("scheduler.phase") == "FAILING" {
		return p.advance(s, rule{who: isScheduler, ends: points("FailureHandler> P"), via: points("Queue.NominatedPodsForNode<")})
	}
	if p.expects("pod_group_cycle.outcome[%s]", s.arg("pod")) == "PREEMPTS" || p.hasEntries() && p.expects("pod_group_cycle.status") != "ERROR" {
		return assume(p, s)
	}
	return p.quietly("a member that fits nowhere has no more to do")
}

// hasEntries is whether a group is one entry of the queue, as from 1.37 on: then its cycle counts the members that have a place, and does not ask Permit about them.
func (p *player) hasEntries() bool {
	_, there := p.model["pod_group_cycle.finishing"]
	return there
}

// isFinishing is whether the cycle of a group is through with its members, and the queue has still to be told.
func isFinishing(state map[string]any) bool { return state["pod_group_cycle.finishing"] == true }

// lookAtGroup: the snapshot is taken. Where the cycle counts, it does so before the first member, and so after the look which of them need no scheduling.
func lookAtGroup(p *player, s Step) error {
	r := rule{who: isScheduler, ends: points("Cache.UpdateSnapshot<", "NextPod>"), via: points("Cache.IsAssumedPod<", "Queue.Done<")}
	if p.hasEntries() {
		r.ends = points("Framework.RunPlacementFeasiblePlugins<", "Queue.AddAttemptedPodGroupIfNeeded>")
		r.via = append(r.via, points("Cache.UpdateSnapshot<")...)
	}
	if p.world.Case.Gates["TopologyAwareWorkloadScheduling"] {
		r.via = append(r.via, points("Framework.RunPlacementGeneratePlugins<")...)
		if stage := p.expects("pod_group_cycle.stage"); p.looksForPlacements() || stage == "SUBMIT" || stage == "PREEMPT" { // the last two: there is none, or nobody is tried in it
			r.ends = points("Framework.RunPlacementGeneratePlugins<")
		}
	}
	if err := p.advance(s, r); err != nil {
		return err
	}
	return p.toNextGroup(s)
}

// permitGang: the plugin is asked about a pod that is assumed in the cache. In 1.35 the plugin may panic over a pod that is gone.
func permitGang(p *player, s Step) error {
	if p.expects("pod_group_states.panicked") == "true" {
		return p.panicsOver(s)
	}
	if err := p.advance(s, rule{who: isScheduler, ends: points("Framework.RunPermitPlugins< P"), via: points("Framework.RunReservePluginsReserve< P", "Queue.Activate<")}); err != nil {
		return err
	}
	return launch(p, s)
}

func (p *player) panicsOver(s Step) error {
	if err := p.advance(s, rule{who: isScheduler, ends: points("Framework.RunPermitPlugins> P"), via: points("Framework.RunReservePluginsReserve< P")}); err != nil {
		return err
	}
	p.world.panics = true
	p.world.Stage.Release(p.world.Stage.Find(isScheduler(p, s)))
	p.world.panics = false
	if !p.world.exited {
		return fmt.Errorf("the scheduler does not panic: %s", p.world.Stage.Where())
	}
	return nil
}

// popMember: the members are taken out of the queue in the order of the trace.
func popMember(p *player, s Step) error {
	if err := p.advance(s, rule{who: isScheduler, ends: points("Queue.PopSpecificPod>")}); err != nil {
		return err
	}
	for _, pod := range p.world.Case.Pods {
		if idOf(pod) == s.arg("other") {
			p.world.gate.instead = &identity{pod.Name, p.world.Store.uid(idOf(pod))}
		}
	}
	p.world.Stage.Release(p.world.Stage.Find(isScheduler(p, s)))
	return nil
}

// revert: what was assumed in the snapshot is taken back. A member whose claims were unreserved already may have no nomination that comes back.
func revert(p *player, s Step) error {
	if p.expects("pod_group_cycle.copy_of[%s].nominated", s.arg("other")) == "" {
		return p.quietly("there is no nomination that comes back")
	}
	if err := p.advance(s, rule{who: isScheduler, ends: points("Queue.AddNominatedPod< O"), via: betweenGroups}); err != nil {
		return err
	}
	if p.expects("pod_group_cycle.wanted[%s]", s.arg("other")) == "true" { // the trial of a tree ends with groups without pods: its group was assumed again for them, and that is taken back next
		return p.advance(s, rule{who: isScheduler, ends: points("Queue.AddNominatedPod>"), via: betweenGroups})
	}
	return p.toNextGroup(s)
}

// preemptGroup: the potential victims leave the snapshot, and the members are counted anew. Where the group does not preempt, its result is submitted next.
func preemptGroup(p *player, s Step) error {
	if p.expects("pod_group_cycle.again") != "true" {
		return p.quietly("the group does not preempt")
	}
	if p.looksForPlacements() {
		return p.advance(s, rule{who: isScheduler, ends: points("Framework.RunPlacementGeneratePlugins<")})
	}
	if len(p.world.Case.parents()) > 0 {
		return p.triedAgain(s)
	}
	return p.advance(s, rule{who: isScheduler, ends: points("Framework.RunPlacementFeasiblePlugins<"), via: points("Framework.RunPlacementGeneratePlugins<")})
}

// beginForGroup: the goroutine asks who is nominated to each node that a member is to get; up to 1.37, to one node called `cluster`.
func beginForGroup(p *player, s Step) error {
	nodes := map[string]bool{}
	for pod, first := range p.world.Case.leaders() {
		if first == s.arg("pod") {
			nodes[p.expects("async_preemption.aim_of[%s]", pod)] = true
		}
	}
	delete(nodes, "")
	for range max(1, len(nodes)) {
		if err := p.advance(s, rule{who: isPreempting, ends: points("Queue.NominatedPodsForNode<")}); err != nil {
			return err
		}
	}
	return nil
}

// createGroup: nobody is told yet.
func createGroup(p *player, s Step) error {
	p.world.groups.created[s.arg("group")] = true
	return nil
}

func storeGroup(p *player, s Step) error {
	stir()
	err := p.world.groups.show(p.world.others, s.arg("group"))
	settle()
	return err
}

func isGroupHandler(*player, Step) func(*actor) bool {
	return func(a *actor) bool { return a.role == groupHandler }
}
