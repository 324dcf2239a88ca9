package podrace

import (
	"fmt"
	"strings"
)

// Which goroutines a step lets go: those of the actor whose step it is, and at least one of them.

// movesOf says of each actor of the model that is a goroutine of the scheduler's which goroutines its steps let go. All other actors are elsewhere, or timers.
var movesOf = map[string]func(p *player, s Step, a *actor) bool{
	"scheduler": func(p *player, s Step, a *actor) bool {
		works := a.role == worker && a.parent.role == scheduling
		return a.role == scheduling || works || a.role == prioritising || a.role == binding && a.pod == s.arg("pod") // the cycle starts that of the binding
	},
	"binding cycle": func(p *player, s Step, a *actor) bool {
		// With SchedulerAsyncAPICalls, the dispatcher makes the call that binds the pod.
		ofCall := s.Step == "binding.bind" && (a.role == dispatcher || a.role == calling && a.pod == s.arg("pod"))
		ofPlugin := !strings.HasPrefix(s.Step, "binding.") // a plugin is also asked by the scheduling cycle to give back what it has reserved
		return a.role == binding && a.pod == s.arg("pod") && !p.isFailingFor(a, s) || ofPlugin && a.role == scheduling || ofCall
	},
	"failure handler": func(p *player, s Step, a *actor) bool { return p.isFailingFor(a, s) },
	"preemption goroutine": func(p *player, s Step, a *actor) bool {
		works := a.role == worker && a.parent.role == preempting && a.parent.pod == s.arg("pod")
		return a.role == preempting && a.pod == s.arg("pod") || works
	},
	"queue handler": func(p *player, s Step, a *actor) bool { return isQueueHandler(p, s)(a) },
	"cache handler": func(p *player, s Step, a *actor) bool { return isCacheHandler(p, s)(a) },
	"node handler":  func(p *player, s Step, a *actor) bool { return a.role == nodeHandler },
	"API dispatcher": func(p *player, s Step, a *actor) bool {
		return a.role == dispatcher || (a.role == calling || a.role == binding) && a.pod == s.arg("pod") // the cycle that waits for its Binding
	},
	"claim informer": func(p *player, s Step, a *actor) bool { return a.role == claimInformer },
	"assume cache": func(p *player, s Step, a *actor) bool {
		return a.role == claimInformer || a.role == binding || a.role == scheduling
	},
	"volume informer":       func(p *player, s Step, a *actor) bool { return a.role == volumeHandler },
	"volume claim informer": func(p *player, s Step, a *actor) bool { return a.role == claimHandling },
	"volume handler":        func(p *player, s Step, a *actor) bool { return a.role == volumeHandler },
	"volume claim handler":  func(p *player, s Step, a *actor) bool { return a.role == claimHandling },
	"pod group handler":     func(p *player, s Step, a *actor) bool { return a.role == groupHandler },
}

// isFailingFor says whether a goroutine is one that handles a failure of the step's pod, or has handled one.
func (p *player) isFailingFor(a *actor, s Step) bool {
	return a.failed && a.pod == s.arg("pod") || a == p.world.failing[s.arg("pod")]
}

// quietly says why a step lets nobody go.
func (p *player) quietly(why string) error {
	p.quiet = why
	return nil
}

// watch looks who is let go in a step. What it gives is called at the end: it is an error if somebody else was let go, or nobody although the step changes something
// in the model. The real scheduler has not done that, and whoever does it later does it in a step of another.
func (p *player) watch(s Step) (end func() error) {
	mine, known := movesOf[s.Actor]
	if !known {
		return func() error { return nil }
	}
	p.let, p.moved, p.quiet = nil, false, ""
	p.world.Stage.hear(func(a *actor) {
		if mine(p, s, a) {
			p.moved = true
		} else {
			p.let = append(p.let, a.String()+" at "+a.at.String())
		}
	})
	return func() error {
		p.world.Stage.hear(nil)
		switch {
		case len(p.let) > 0:
			return fmt.Errorf("a step of the %s lets go %s", s.Actor, strings.Join(p.let, ", "))
		case !p.moved && p.quiet == "" && len(s.Changes) > 0:
			return fmt.Errorf("the step changes the model, and lets nobody go: %s", p.world.Stage.Where())
		}
		return nil
	}
}
