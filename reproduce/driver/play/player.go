package podrace

import (
	"errors"
	"fmt"
	"strings"
	"time"
)

const farthest = 60 // points on the way of one step, at most

// player executes a case on a world.
type player struct {
	world *World
	model map[string]any // the model's state after the step that is being forced
	rest  []Step         // the steps that follow
	due   time.Time      // the moment of the step
	notes []string

	let   []string // of those who were let go in the step: whose step it is not
	moved bool     // somebody whose step it is was let go, or stands where the step ends
	quiet string   // why the step lets nobody go

	mover *Step // whose move is held amid it
	waits bool  // the scheduler waits in Pop
}

// armAmid has the move of a step held amid it, where the build allows for that and the trace has a Pop there.
var armAmid = func(*player, Step) {}

// amid is the point at which the goroutine that moves parked pods, or puts one back, is held amid the call.
const amid = "Queue.Amid"

func isAmid(a *actor) bool { return a.at.call == amid }

// errAmid: the actor of the step is held amid its move. For now the step is over; what is left of it is done after the Pop.
var errAmid = errors.New("held amid a move")

func (p *player) note(format string, args ...any) {
	p.notes = append(p.notes, fmt.Sprintf(format, args...))
}

// expects is the value that the model has after the step, as text; "None" for none.
func (p *player) expects(format string, args ...any) string {
	v, ok := p.model[fmt.Sprintf(format, args...)]
	if !ok || v == nil {
		return ""
	}
	return fmt.Sprint(v)
}

// force has the real scheduler do a step of the model.
func (p *player) force(s Step) error {
	if s.Waiting { // before time passes: a flush is the queue's own
		if err := p.waitInPop(s); err != nil {
			return err
		}
	}
	armAmid(p, s)
	p.due = p.due.Add(moment + time.Duration(s.WaitMS)*time.Millisecond)
	time.Sleep(max(moment, time.Until(p.due))) // a step that takes time itself does not shift those after it
	settle()
	r, ok := rules[s.Step]
	if !ok {
		return fmt.Errorf("no rule says how to force %s", s.Step)
	}
	p.notePicks(s)
	end := p.watch(s)
	if err := p.follow(s, r); errors.Is(err, errAmid) {
		p.moved = true
	} else if err != nil {
		end()
		return err
	}
	return end()
}

// follow does what the rule of a step says.
func (p *player) follow(s Step, r rule) error {
	if r.do != nil {
		return r.do(p, s)
	}
	if err := p.advance(s, r); err != nil {
		return err
	}
	if r.settle != nil {
		return r.settle(p, s)
	}
	return nil
}

// advance lets an actor go from point to point until it stands where the step is over.
func (p *player) advance(s Step, r rule) error {
	is := r.who(p, s)
	for n := 0; n < farthest; n++ {
		a := p.world.Stage.Find(is)
		if a == nil {
			if r.gone {
				return nil
			}
			if n == 0 {
				return fmt.Errorf("whoever is to move stands nowhere: %s", p.world.Stage.Where())
			}
			return fmt.Errorf("%s ended or waits before it comes to %s: %s", s.Actor, describe(r.ends), p.world.Stage.Where())
		}
		if isAmid(a) && p.mover != nil {
			return errAmid
		}
		if isAmid(a) {
			p.world.Stage.Release(a)
			continue
		}
		if p.over(a.at, r.ends, s, n > 0) {
			p.moved = true
			return nil
		}
		if !a.at.after && !p.allowed(a.at, r, s) {
			return fmt.Errorf("%s is about to call %s, and not to come to %s", a, a.at, describe(r.ends))
		}
		p.world.Stage.Release(a)
	}
	return fmt.Errorf("%s does not come to %s", s.Actor, describe(r.ends))
}

// over says whether the actor stands at an end of the step. After a call it must have come there in this step, before a call it may have stood.
func (p *player) over(at *point, ends []pattern, s Step, moved bool) bool {
	for _, e := range ends {
		if e.ends(at, s, p.world.Case) && (moved || !e.after) {
			return true
		}
	}
	return false
}

func (p *player) allowed(at *point, r rule, s Step) bool {
	for _, list := range [][]pattern{r.ends, r.via} {
		for _, t := range list {
			if t.after && t.fits(at, s, p.world.Case) {
				return true
			}
		}
	}
	return isEvent(at)
}

func describe(ends []pattern) string {
	var r []string
	for _, e := range ends {
		mark := ">"
		if e.after {
			mark = "<"
		}
		r = append(r, e.call+mark)
	}
	return strings.Join(r, " or ")
}
