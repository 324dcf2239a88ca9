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

// pause is how often, in so many moves, a second passes although somebody could move.
const pause = 12

// roam goes on without the model, for as many moves as the case asks for: somebody who is held is let go to its next point, a watch delivers,
// a pod that is deleted ends, a user or a fault acts as often as the case leaves them, or a second passes. The case's seed determines which.
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
	random := rand.New(rand.NewSource(int64(w.Case.Seed)))
	before := p.seen()
	for len(done) < w.Case.Roam && !w.exited {
		moves := p.moves(r, others)
		names := make([]string, 0, len(moves))
		for name := range moves {
			names = append(names, name)
		}
		slices.Sort(names)
		if w.Case.Alone && len(names) == 0 {
			return done
		}
		name, do := "a second passes", func() { time.Sleep(time.Second) }
		if len(names) > 0 && (w.Case.Alone || random.Intn(pause) > 0) {
			name = names[random.Intn(len(names))]
			do = moves[name]
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
func (p *player) moves(r *recorder, others []*actor) map[string]func() {
	w, all := p.world, map[string]func(){}
	spending := func(able []choice, words func(choice) string) {
		for _, c := range able {
			if c.spends != "" {
				all[words(c)] = func() {
					r.free.Left[c.spends]--
					c.act()
				}
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
		all[name] = func() { w.Stage.Release(a) }
		spending(r.goingOn(a), func(c choice) string { return fmt.Sprintf("%s (%s)", name, c.spends) })
	}
	if w.Case.Alone {
		return all
	}
	spending(r.users(), func(c choice) string { return fmt.Sprintf("%s %v (%s)", c.turn.Do, argsOf(c.turn), c.spends) })
	for _, kind := range []string{podKind, nodeKind, claimKind, volumeKind, volumeClaimKind} {
		if w.Store.Undelivered(kind) > 0 {
			all["the watch delivers an event of "+kind] = func() { w.Store.Deliver(kind) }
		}
	}
	for _, pod := range w.Store.terminated(time.Now()) {
		all[pod+" ends and its object is removed"] = func() {
			delete(w.runs, pod)
			_ = w.Store.RemovePod(pod)
		}
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
