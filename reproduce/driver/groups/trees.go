package podrace

// Groups of groups (from 1.38 on): the groups of a tree are tried one after the other, and what one has got is assumed again for those that follow.

// betweenGroups is what the cycle does before it tries the next group.
var betweenGroups = points("Framework.RunPlacementFeasiblePlugins<", "Framework.RunPlacementGeneratePlugins<", "Queue.DeleteNominatedPodIfExists<", "Framework.RunReservePluginsReserve<")

// toNextGroup: if another group of the tree is tried next, the step is over where its members have been counted.
func (p *player) toNextGroup(s Step) error {
	parents := p.world.Case.parents()
	if len(parents) == 0 || p.expects("pod_group_cycle.stage") != "TRY" {
		return nil
	}
	group := p.world.Case.groupOfPod(p.expects("scheduler.pod"))
	if parents[group] == "" {
		return nil
	}
	for range farthest {
		a := p.world.Stage.Find(isScheduler(p, s))
		if a != nil && a.at.after && a.at.call == "Framework.RunPlacementFeasiblePlugins" && a.at.group == group {
			return nil
		}
		if err := p.advance(s, rule{who: isScheduler, ends: points("Framework.RunPlacementFeasiblePlugins>"), via: betweenGroups}); err != nil {
			return err
		}
		if err := p.advance(s, rule{who: isScheduler, ends: points("Framework.RunPlacementFeasiblePlugins<")}); err != nil {
			return err
		}
	}
	return nil
}

// triedAgain: groups without pods, which the trial ends with, are passed until the root is tried again.
func (p *player) triedAgain(s Step) error {
	parents := p.world.Case.parents()
	for range farthest {
		if err := p.advance(s, rule{who: isScheduler, ends: points("Framework.RunPlacementGeneratePlugins<"), via: betweenGroups}); err != nil {
			return err
		}
		if parents[p.world.Stage.Find(isScheduler(p, s)).at.group] == "" {
			break
		}
	}
	return p.toNextGroup(s)
}

// groupOfPod is the name of the group that a pod of the case belongs to.
func (c *Case) groupOfPod(name string) string {
	for _, pod := range c.Pods {
		if idOf(pod) == name {
			return groupOf(pod)
		}
	}
	return ""
}

// pickGroup: upstream submits the results of groups in the order of a map; the trace's is known to the gate.
func pickGroup(p *player, _ Step) error {
	return p.quietly("which group is submitted next is a map's order")
}

// notePicks has the results of the groups of a tree submitted in the order of the trace, which the cycle asks for once, and maybe before the first is picked.
func (p *player) notePicks(s Step) {
	if s.Step != "pod_group_cycle.take_snapshot" {
		return
	}
	p.world.gate.picked = nil
	for _, t := range p.rest {
		switch t.Step {
		case "pod_group_cycle.pick":
			p.world.gate.picked = append(p.world.gate.picked, t.arg("group"))
		case "pod_group_cycle.finish":
			return
		}
	}
}

// PodraceOrder is the order in which the copy of upstream's sources submits the results of groups (reproduce/modules/held.py).
func (f *gatedFramework) PodraceOrder() []string { return f.gate.picked }
