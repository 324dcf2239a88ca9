package podrace

import (
	"fmt"
	"strings"
)

// How the steps about an extender are forced.

func init() {
	for step, r := range extenderRules() {
		rules[step] = r
	}
}

func extenderRules() map[string]rule {
	return map[string]rule{
		"scheduler.ask_extender":               {do: askExtender("Extender.Filter< PE")},
		"scheduler.let_extender_pick":          {do: letExtenderPick("")},
		"scheduler.miss_extenders_pick":        {do: letExtenderPick(timedOut)},
		"scheduler.ask_for_scores":             {do: askForScores},
		"scheduler.ask_extender_about_victims": {do: askExtender("Extender.Preempt< PE")},
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

// ofExtender stands between a pod and the extender that is asked about it, where there are several.
const ofExtender = " of "

// named is the extender of a step, and the pod that it is about.
func (p *player) named(s Step) (*keptExtender, string) {
	pod, name := s.arg("pod"), s.arg("extender")
	if managed := s.arg("managed"); managed != "" {
		pod, name, _ = strings.Cut(managed, ofExtender)
	}
	for _, x := range p.world.extenders {
		if x.spec.Name == name {
			return x, pod
		}
	}
	return p.world.extenders[0], pod
}

// failsAtExtender has the calls about the step's pod fail, until what it gives is called.
func (p *player) failsAtExtender(s Step, how string) (end func()) {
	x, pod := p.named(s)
	x.fails[pod] = how
	return func() { delete(x.fails, pod) }
}

// letExtenderPick: it answers with one node, which the trace chooses, or would, if its answer did not come too late.
func letExtenderPick(fails string) func(*player, Step) error {
	return func(p *player, s Step) error {
		x, pod := p.named(s)
		x.picks[pod] = s.arg("node")
		defer delete(x.picks, pod)
		if fails != "" {
			defer p.failsAtExtender(s, fails)()
		}
		return askExtender("Extender.Filter< PE")(p, s)
	}
}

// askForScores: a goroutine for each extender asks for its scores, all at once, and the cycle goes on when the last one is through.
func askForScores(p *player, s Step) error {
	if !s.says("ok") {
		defer p.failsAtExtender(s, notReached)()
	}
	is := func(a *actor) bool { return a.role == prioritising && a.at.node == s.arg("extender") }
	if err := p.advance(s, rule{who: func(*player, Step) func(*actor) bool { return is }, ends: points("Extender.Prioritize< PE")}); err != nil {
		return err
	}
	p.world.Stage.Release(p.world.Stage.Find(is))
	return nil
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
	x, pod := p.named(s)
	x.hear(pod)
	return nil
}

// landExtender: it sends the Binding of a call that has timed out. What came of it nobody hears.
func landExtender(p *player, s Step) error {
	x, pod := p.named(s)
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
