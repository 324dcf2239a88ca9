package podrace

import (
	"cmp"
	"fmt"
)

// takeEvent: an event handler takes its next event, which is delivered if it is not in the informer's store yet. What the handler's filter hides
// is passed, and so are events that the model does not have.
func takeEvent(who func(*player, Step) func(*actor) bool, kind string, ends, via []pattern) func(*player, Step) error {
	return func(p *player, s Step) error {
		r := rule{who: who, ends: ends, via: via}
		is, taken := who(p, s), false
		for n := 0; n < farthest; n++ {
			a := p.world.Stage.Find(is)
			switch {
			case a == nil:
				if p.world.Store.Undelivered(kind) == 0 {
					return fmt.Errorf("the handler has no event, and the watch has none: %s", p.world.Stage.Where())
				}
				p.world.Store.Deliver(kind)
				continue
			case isEvent(a.at) && !a.at.after && p.world.Store.IsBeyond(a.at.version):
				p.passBy(is)
				continue
			case isAmid(a):
				if p.mover != nil {
					return errAmid
				}
			case p.over(a.at, ends, s, n > 0):
				p.world.Store.Took(kind, cmp.Or(s.whose(), s.arg("node")))
				return p.concludeEvent(s, is)
			case !a.at.after && !p.allowed(a.at, r, s):
				if taken {
					return fmt.Errorf("%s is about to call %s, and not to come to %s", a, a.at, describe(ends))
				}
				p.note("beyond the model: %s calls %s", a, a.at)
			}
			taken = taken || isEvent(a.at) && !a.at.after
			p.world.Stage.Release(a)
		}
		return fmt.Errorf("%s does not come to %s", s.Actor, describe(ends))
	}
}

// handleForQueue: AddPodGroupMember is called for every new pod, and is a step of its own for pods of groups only.
func handleForQueue(p *player, s Step) error {
	ends, via := points("Cache.IsAssumedPod< P", "Queue.Add< P", "Queue.Delete< P"), points("Cache.AddPodGroupMember< P")
	if p.expects("handlers.adding[%s]", s.whose()) != "MOVE" {
		ends, via = append(ends, via...), nil
	}
	return takeEvent(isQueueHandler, podKind, ends, via)(p, s)
}

func isEvent(at *point) bool { return at.call == podEvent || at.call == nodeEvent }

// passBy lets a handler come past an event that the model does not have: it sees to it, unless handlers are not given those.
func (p *player) passBy(is func(*actor) bool) {
	p.world.Informers.skips.Store(p.world.Case.Drops)
	p.passOver(is)
}

// passOver lets a handler see to its next event.
func (p *player) passOver(is func(*actor) bool) {
	for n := 0; n < farthest; n++ {
		a := p.world.Stage.Find(is)
		if a == nil {
			return
		}
		through := isEvent(a.at) && a.at.after
		p.world.Stage.Release(a)
		if through {
			return
		}
	}
}

// learnOfCondition: the cache's handler is told that a pod is a victim, before it is told of the deletion.
func learnOfCondition(p *player, s Step) error {
	is := isCacheHandler(p, s)
	for n := 0; n < farthest; n++ {
		a := p.world.Stage.Find(is)
		switch {
		case a == nil:
			if !p.world.Store.DeliverOne(podKind) {
				return fmt.Errorf("the handler has no event, and the watch has none: %s", p.world.Stage.Where())
			}
		case !isEvent(a.at):
			return fmt.Errorf("%s is about to call %s, and not through with its event", a, a.at)
		case a.at.after:
			p.world.Stage.Release(a)
		case p.world.Store.IsTarget(a.at.version) && a.at.pod == s.arg("pod"):
			return p.advance(s, rule{who: isCacheHandler, ends: points("PodEvent< P"), via: append(points("Cache.UpdatePod< P"), movesOfPods...)})
		case p.world.Store.IsBeyond(a.at.version):
			p.passBy(is)
		case a.at.pod == s.arg("pod"):
			return fmt.Errorf("the handler's next event of %s is not that of the condition", a.at.pod)
		default:
			p.world.Stage.Release(a) // its filter hides it
		}
	}
	return fmt.Errorf("%s does not come to the condition of %s", s.Actor, s.arg("pod"))
}

// goOn: a handler goes on with the event that it has.
func goOn(who func(*player, Step) func(*actor) bool, ends []pattern) func(*player, Step) error {
	return func(p *player, s Step) error {
		if err := p.advance(s, rule{who: who, ends: ends, via: points("Cache.GetPod<", "Framework.RejectWaitingPod<")}); err != nil {
			return err
		}
		return p.concludeEvent(s, who(p, s))
	}
}

// wakeForPod: the handler moves parked pods, or not at all; of several kinds of change in one update it tells one by one.
func wakeForPod(p *player, s Step) error {
	if p.expects("pod_updates.kind") != "" {
		return p.advance(s, rule{who: isCacheHandler, ends: movesOfPods})
	}
	return p.advance(s, rule{who: isCacheHandler, ends: points("PodEvent<", "Queue.Delete> P", "Queue.Add> P"), via: movesOfPods})
}

// concludeEvent lets a handler that is through with its event, by the model, go to the end of it. What it calls on the way is beyond the
// model, unless it is the other half of the event.
func (p *player) concludeEvent(s Step, is func(*actor) bool) error {
	busy := []string{"handlers.queue_busy", "handlers.queue_removal", "handlers.queue_waking", "handlers.adding[" + s.whose() + "]"}
	switch {
	case s.whose() == "":
		busy = []string{"handlers.node_busy"}
	case s.Step == "handlers.handle_for_cache" || s.Step == "handlers.handle_swap_for_cache":
		busy = []string{"handlers.cache_busy"}
	}
	for _, variable := range busy {
		if v := p.expects("%s", variable); v != "" && v != "false" && v != "NONE" {
			return p.readOn(is)
		}
	}
	for n := 0; n < farthest; n++ {
		a := p.world.Stage.Find(is)
		if a == nil || isEvent(a.at) {
			return nil
		}
		if isAmid(a) && p.mover != nil {
			return errAmid
		}
		if !a.at.after && !isAmid(a) && !p.isOnTheWay(a.at, s) {
			return nil
		}
		p.world.Stage.Release(a)
	}
	return nil
}

// isOnTheWay says whether a call belongs to what the model has done with the event already: a pod is read that was looked for, one is
// rejected that cannot wait for permission, and a node goes about which nobody wants to hear.
func (p *player) isOnTheWay(at *point, s Step) bool {
	switch at.call {
	case "Cache.GetPod":
		return true
	case "Framework.RejectWaitingPod":
		return !contains(p.world.Case.Points[at.pod], "PERMIT")
	case "Cache.RemoveNode":
		return s.Step == "handlers.handle_node"
	}
	return false
}

// readOn lets a handler that has looked whether a pod is assumed fetch it as well, unless that is the model's next step.
func (p *player) readOn(is func(*actor) bool) error {
	if p.expects("handlers.queue_removal") == "FETCH" {
		return nil
	}
	for {
		a := p.world.Stage.Find(is)
		if a == nil || a.at.call != "Cache.IsAssumedPod" && a.at.call != "Cache.GetPod" || !a.at.after {
			return nil
		}
		if a.at.call == "Cache.IsAssumedPod" && fmt.Sprint(a.at.results[0]) == "false" || a.at.call == "Cache.GetPod" {
			return nil
		}
		p.world.Stage.Release(a)
		b := p.world.Stage.Find(is)
		if b == nil || b.at.call != "Cache.GetPod" {
			return nil
		}
		p.world.Stage.Release(b)
	}
}

// toldOfTarget is the model's variable for what the cache's handler knows of the condition DisruptionTarget of a pod.
const toldOfTarget = "pod_watch.condition"

// tellsOfTargets is whether the model has the event of that condition in this version.
func (c *Case) tellsOfTargets() bool {
	for variable := range c.Initial {
		if name, _ := parts(variable); name == toldOfTarget {
			return true
		}
	}
	return false
}
