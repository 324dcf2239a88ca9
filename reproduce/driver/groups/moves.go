package podrace

// What the cycle of a group of pods does, where it is not that of a single pod.

// assume: in the cycle of a group the pod is assumed in the snapshot, and Permit is asked in the same breath, about a pod of a gang in a step of its own.
// The scheduler stands there until it goes on to the next member: after the last, what was assumed is taken back.
func assume(p *player, s Step) error {
	if stage := p.expects("pod_group_cycle.stage"); stage == "" || stage == "NONE" {
		return p.advance(s, rule{who: isScheduler, ends: points("Cache.AssumePod< PN")})
	}
	end := points("Framework.RunPermitPlugins< P")
	if p.expects("pod_group_cycle.stage") == "PERMIT" {
		end = points("Framework.RunPermitPlugins> P")
	}
	return p.advance(s, rule{
		who: isScheduler, ends: end,
		via: points("Queue.DeleteNominatedPodIfExists< P", "Framework.RunReservePluginsReserve< P", "Framework.RunPermitPlugins< P"),
	})
}

// fail: the attempt goes to the failure handler. In the cycle of a group that comes in the end; a member for which preemption has found a node counts as
// placed, and one that fits nowhere has no more to do.
func fail(p *player, s Step) error {
	stage := p.expects("pod_group_cycle.stage")
	if stage == "" || stage == "NONE" || p.expects("scheduler.phase") == "FAILING" {
		return p.advance(s, rule{who: isScheduler, ends: points("FailureHandler> P"), via: points("Queue.NominatedPodsForNode<")})
	}
	if p.expects("pod_group_cycle.outcome[%s]", s.arg("pod")) == "PREEMPTS" {
		return assume(p, s)
	}
	return nil
}

// permitGang: the plugin is asked about a pod that is assumed in the cache. In the cycle of a group the binding cycle starts before the scheduler turns to
// the next member.
func permitGang(p *player, s Step) error {
	if err := p.advance(s, rule{who: isScheduler, ends: points("Framework.RunPermitPlugins< P"), via: points("Framework.RunReservePluginsReserve< P", "Queue.Activate<")}); err != nil {
		return err
	}
	if p.expects("binding.phase[%s]", s.arg("pod")) == "NONE" {
		return nil
	}
	p.world.Stage.Release(p.world.Stage.Find(isScheduler(p, s)))
	return p.bindingStands(s)
}
