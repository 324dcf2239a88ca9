package podrace

import (
	"fmt"
	"maps"
	"math/rand"
	"slices"
	"strings"
	"time"
)

// RoamStep is a move of the real code's own: what was let go, and what is seen otherwise than before.
type RoamStep struct {
	Move string         `json:"move"`
	Real map[string]any `json:"real"`
}

// pause is how often, in so many moves, a second passes although somebody could move, and turning how often the first in rank becomes the last.
const (
	pause   = 12
	turning = 16
)

// A move is what somebody can do.
type move struct {
	who string
	do  func()
}

// clock is who lets a second pass.
const clock = "the clock"

// ranks are those who can move, the first in rank first. Somebody new has any rank.
type ranks []string

// first are the moves, of these by their names, of who is first in rank; none if that is the clock, which then becomes the last.
func (r *ranks) first(random *rand.Rand, moves map[string]move) (found []string) {
	able := map[string]bool{clock: true}
	for _, m := range moves {
		able[m.who] = true
	}
	for _, who := range slices.Sorted(maps.Keys(able)) {
		if !slices.Contains(*r, who) {
			*r = slices.Insert(*r, random.Intn(len(*r)+1), who)
		}
	}
	if random.Intn(turning) == 0 {
		r.turn(able)
	}
	who := (*r)[slices.IndexFunc(*r, func(who string) bool { return able[who] })]
	if who == clock {
		r.turn(able)
	}
	for _, name := range slices.Sorted(maps.Keys(moves)) {
		if moves[name].who == who {
			found = append(found, name)
		}
	}
	return found
}

// turn makes the first of those who are able the last.
func (r *ranks) turn(able map[string]bool) {
	at := slices.IndexFunc(*r, func(who string) bool { return able[who] })
	who := (*r)[at]
	*r = append(slices.Delete(*r, at, at+1), who)
}

// roam goes on without the model, for as many moves as the case asks for: somebody who is held is let go to its next point, a watch delivers,
// a pod that is deleted ends, Permit allows a pod that waits for it, a user or a fault acts as often as the case leaves them, or a second passes.
// The case's seed determines which. What the steps had Permit reject is over.
// Ranked, it is the first in rank who moves, so that others stay where they are for long.
// Where only one actor moves, and those whom it starts, it ends when none of them is held any more.
func (p *player) roam() (done []RoamStep) {
	w := p.world
	r := &recorder{world: w, free: Free{Left: maps.Clone(w.Case.Left)}, beyond: map[*actor]bool{}}
	var others []*actor
	if w.Case.Alone {
		held := w.Stage.held()
		slices.SortFunc(held, func(a, b *actor) int { return strings.Compare(a.String(), b.String()) })
		if w.Case.Seed >= len(held) {
			return done
		}
		others = slices.Delete(held, w.Case.Seed, w.Case.Seed+1)
	}
	maps.DeleteFunc(w.answers.permit, func(_, answer string) bool { return answer == "REJECT" })
	random := rand.New(rand.NewSource(int64(w.Case.Seed)))
	before := p.seen()
	var ranked ranks
	for len(done) < w.Case.Roam && !w.exited {
		moves := p.moves(r, others)
		names := slices.Sorted(maps.Keys(moves))
		if w.Case.Alone && len(names) == 0 {
			return done
		}
		if w.Case.Ranked {
			names = ranked.first(random, moves)
		}
		name, do := "a second passes", func() { time.Sleep(time.Second) }
		if len(names) > 0 && (w.Case.Alone || w.Case.Ranked || random.Intn(pause) > 0) {
			name = names[random.Intn(len(names))]
			do = moves[name].do
		}
		do()
		settle()
		after := p.seen()
		done = append(done, RoamStep{name, changed(before, after)})
		before = after
	}
	return done
}

// seen is all that can be seen now.
func (p *player) seen() map[string]any {
	settle()
	now, _ := observe(p.world)
	all := map[string]any{}
	for name, value := range now {
		if kind, _ := parts(name); !isExtra(kind) {
			all[name] = value
		}
	}
	return all
}

// moves are what somebody can do now but these others, by what is said of it; `r` knows what is left to users and faults.
func (p *player) moves(r *recorder, others []*actor) map[string]move {
	w, all := p.world, map[string]move{}
	spending := func(who string, able []choice, words func(choice) string) {
		for _, c := range able {
			if c.spends != "" {
				all[words(c)] = move{who, func() {
					r.free.Left[c.spends]--
					c.act()
				}}
			}
		}
	}
	for _, a := range w.Stage.held() {
		if slices.Contains(others, a) {
			continue
		}
		where := "calls"
		if a.at.after {
			where = "returns from"
		}
		at := point{call: a.at.call, pod: a.at.pod, node: a.at.node, claim: a.at.claim}.String()
		name := fmt.Sprintf("%s %s %s", a, where, at[:len(a.at.call)]+at[len(a.at.call)+1:])
		all[name] = move{a.String(), func() { w.Stage.Release(a) }}
		spending(a.String(), r.goingOn(a), func(c choice) string { return fmt.Sprintf("%s (%s)", name, c.spends) })
	}
	if w.Case.Alone {
		return all
	}
	spending("users", r.users(), func(c choice) string { return fmt.Sprintf("%s %v (%s)", c.turn.Do, argsOf(c.turn), c.spends) })
	for _, kind := range []string{podKind, nodeKind, claimKind, volumeKind, volumeClaimKind} {
		if w.Store.Undelivered(kind) > 0 {
			all["the watch delivers an event of "+kind] = move{kind, func() { w.Store.Deliver(kind) }}
		}
	}
	for pod, allow := range w.permits() {
		all["Permit allows "+pod] = move{"Permit", allow}
	}
	for _, pod := range w.Store.terminated(time.Now()) {
		all[pod+" ends and its object is removed"] = move{pod, func() {
			delete(w.runs, pod)
			_ = w.Store.RemovePod(pod)
		}}
	}
	return all
}

// argsOf are the arguments of a turn, in the order of their names.
func argsOf(t Turn) (found []string) {
	for _, name := range slices.Sorted(maps.Keys(t.Args)) {
		found = append(found, fmt.Sprint(t.Args[name]))
	}
	return found
}
