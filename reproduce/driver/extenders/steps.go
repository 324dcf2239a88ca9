package podrace

import "fmt"

// How the steps about an extender are forced.

func init() {
	for step, r := range extenderRules() {
		rules[step] = r
	}
}

func extenderRules() map[string]rule {
	return map[string]rule{
		"scheduler.ask_extender":               {do: askExtender("Extender.Filter< P")},
		"scheduler.let_extender_pick":          {do: letExtenderPick},
		"scheduler.ask_extender_about_victims": {do: askExtender("Extender.Preempt< P")},
		"binding.bind_by_extender":             {do: bindByExtender},
		"extender.hear":                        {do: tellExtender},
		"extender.land":                        {do: landExtender},
	}
}

// askExtender: the scheduling cycle calls it, and goes on to where it turns to others again.
func askExtender(call string) func(*player, Step) error {
	return func(p *player, s Step) error {
		if _, fails := s.Args["ok"]; fails && !s.says("ok") {
			defer p.failsAtExtender(s, notReached)()
		}
		if err := p.advance(s, rule{who: isScheduler, ends: points(call), via: points("Queue.NominatedPodsForNode<")}); err != nil {
			return err
		}
		p.world.Stage.Release(p.world.Stage.Find(isScheduler(p, s)))
		return nil
	}
}

// failsAtExtender has the calls about the step's pod fail, until what it gives is called.
func (p *player) failsAtExtender(s Step, how string) (end func()) {
	p.world.extender.fails[s.arg("pod")] = how
	return func() { delete(p.world.extender.fails, s.arg("pod")) }
}

// letExtenderPick: it answers with one node, which the trace chooses.
func letExtenderPick(p *player, s Step) error {
	p.world.extender.picks[s.arg("pod")] = s.arg("node")
	defer delete(p.world.extender.picks, s.arg("pod"))
	return askExtender("Extender.Filter< P")(p, s)
}

func bindByExtender(p *player, s Step) error {
	if answer := s.arg("answer"); answer != "ANSWERED" {
		defer p.failsAtExtender(s, answer)()
	}
	if err := p.advance(s, rule{who: isBinding, ends: points("Extender.Bind< P"), via: points("Framework.RunPreBindPlugins< P")}); err != nil {
		return err
	}
	return p.bindingStands(s)
}

// tellExtender: its informer shows it what has become of a pod.
func tellExtender(p *player, s Step) error {
	p.world.extender.hear(s.arg("managed"))
	return nil
}

// landExtender: it sends the Binding of a call that has timed out. What came of it nobody hears.
func landExtender(p *player, s Step) error {
	x, pod := p.world.extender, s.arg("managed")
	node, is := x.late[pod]
	if !is {
		return fmt.Errorf("the extender has no call to bind %s left", pod)
	}
	delete(x.late, pod)
	if p.world.Store.Bind(pod, node) == nil {
		x.bound(pod, node)
	}
	return nil
}
