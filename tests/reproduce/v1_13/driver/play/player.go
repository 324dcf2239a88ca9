package podrace

import (
	"fmt"
	"time"
)

// player forces the steps of a case on the real scheduler.
type player struct {
	*world
	c    *Case
	now  int // the number of the step, from 0
	log  []string
	seen *observer
}

// stuck is why a step cannot be forced.
func stuck(format string, args ...any) error { return fmt.Errorf(format, args...) }

// play executes a case.
func play(c *Case) (out Outcome) {
	out = Outcome{ID: c.ID, Verdict: done, Steps: []StepOutcome{}, Log: []string{}}
	w, err := newWorld(c)
	if err != nil {
		out.Verdict, out.Why = crashed, err.Error()
		return out
	}
	p := &player{world: w, c: c, seen: newObserver(w, c)}
	defer func() {
		p.end()
		w.stage.Hold(false)
		out.Log = append(out.Log, p.log...)
	}()
	w.stage.Trail()
	out.Initial, out.Start = p.seen.first()
	out.Unseen = p.seen.unseen()
	for n, step := range c.Steps {
		p.now = n
		force, known := table[step.Step]
		if !known {
			out.Verdict, out.Why = notThere, fmt.Sprintf("1.13.0 has nothing that stands for %s", step.Step)
		} else if err := force(p, step); err != nil {
			out.Verdict, out.Why = unforced, err.Error()+"; "+w.stage.Where()
		}
		if out.Why != "" {
			at := n + 1
			out.At = &at
			return out
		}
		result := StepOutcome{Points: w.stage.Trail()}
		result.Real, result.Differs = p.seen.after(step)
		if len(result.Differs) > 0 {
			out.Verdict = differs
		}
		out.Steps = append(out.Steps, result)
	}
	if c.Epilogue {
		out.Epilogue = w.epilogue()
	}
	return out
}

// patience is how long an actor that has to wait for a timer is waited for.
const patience = 3 * time.Second

// find waits for somebody to stand on the stage.
func (p *player) find(is func(*actor) bool) *actor {
	for begun := time.Now(); ; time.Sleep(5 * time.Millisecond) {
		if a := p.stage.Find(is); a != nil || time.Since(begun) > patience {
			return a
		}
		stir() // a timer may have moved somebody
	}
}

// whom tells one actor from the others, and what it is called when it cannot be found.
type whom struct {
	name string
	is   func(*actor) bool
}

var theScheduler = whom{"the scheduler", func(a *actor) bool { return a.role == scheduling }}

func goroutineOf(r role, pod string) whom {
	return whom{fmt.Sprintf("the %s of %s", r, pod), func(a *actor) bool { return a.role == r && a.pod == pod }}
}

func handler(r role, number int) whom {
	return whom{fmt.Sprintf("%s %d", r, number), func(a *actor) bool { return a.role == r && a.number == number }}
}

// advance lets an actor go on from point to point until it stands where the step is over. It neither fails nor begins another cycle.
func (p *player) advance(who whom, over func(point) bool) error {
	return p.advanceWithin(who, over, before("", "NextPod", "FailureHandler"))
}

// advanceWithin is the same, but not beyond where the limit is.
func (p *player) advanceWithin(who whom, over, limit func(point) bool) error {
	for {
		a := p.find(who.is)
		if a == nil {
			return stuck("%s does not come to any point", who.name)
		}
		p.stage.Release(a)
		at := p.find(who.is)
		if at == nil {
			return stuck("%s goes on, and comes to no further point", who.name)
		}
		if over(*at.at) {
			return nil
		}
		if limit(*at.at) {
			return stuck("%s has come to %s", who.name, at.at)
		}
	}
}

// at is being at one of some calls, before or after them, about a pod (any, if it is empty).
func after(pod string, calls ...string) func(point) bool {
	return func(q point) bool { return q.after && contains(calls, q.call) && (pod == "" || q.pod == pod) }
}

func before(pod string, calls ...string) func(point) bool {
	return func(q point) bool { return !q.after && contains(calls, q.call) && (pod == "" || q.pod == pod) }
}

// deliver has a handler go on until it stands where the step is over; whenever it waits for an event, the watch delivers the next one. What
// it does for an event that the model does not have is passed over.
func (p *player) deliver(k kind, who whom, over func(point) bool) error {
	a := p.stage.Find(who.is)
	for {
		switch {
		case a != nil && p.isBeyond(a.at):
			p.passOver(who, a)
		case a != nil:
			p.stage.Release(a)
		default:
			if _, some := p.cluster.Deliver(k); !some {
				return stuck("%s has no event left to come to it", who.name)
			}
		}
		if a = p.stage.Find(who.is); a != nil && over(*a.at) {
			return nil
		}
	}
}

// isBeyond is whether a handler is about to begin with an event that the model does not have.
func (p *player) isBeyond(at *point) bool {
	return at.call == podEvent && !at.after && p.cluster.IsBeyond(at.version)
}

// passOver lets a handler finish with its event.
func (p *player) passOver(who whom, a *actor) {
	p.note("passed over: an event of %s with a status that the model does not tell apart", a.at.pod)
	for a != nil && !after("", podEvent)(*a.at) {
		p.stage.Release(a)
		a = p.stage.Find(who.is)
	}
}

func (p *player) note(format string, args ...any) {
	p.log = append(p.log, fmt.Sprintf("step %d: ", p.now+1)+fmt.Sprintf(format, args...))
}

// expects is a number that the model has after the step.
func (p *player) expects(variable string) int {
	value, changed := p.c.Steps[p.now].Changes[variable]
	if !changed {
		value = p.seen.model[variable]
	}
	n, _ := value.(float64)
	return int(n)
}

// next is an argument of the next step of that name for that pod; empty if the case has none.
func (p *player) next(step, pod, argument string) string {
	for _, s := range p.c.Steps[p.now:] {
		if s.Step == step && s.arg("pod") == pod {
			return s.arg(argument)
		}
	}
	return ""
}
