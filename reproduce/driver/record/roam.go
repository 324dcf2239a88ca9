package podrace

import (
	"fmt"
	"math/rand"
	"slices"
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
// a pod that is deleted ends, or a second passes. The case's seed determines which.
func (p *player) roam() (done []RoamStep) {
	w := p.world
	random := rand.New(rand.NewSource(int64(w.Case.Seed)))
	before := p.seen()
	for len(done) < w.Case.Roam && !w.exited {
		moves := p.moves()
		names := make([]string, 0, len(moves))
		for name := range moves {
			names = append(names, name)
		}
		slices.Sort(names)
		name, do := "a second passes", func() { time.Sleep(time.Second) }
		if len(names) > 0 && random.Intn(pause) > 0 {
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

// moves are what somebody can do now, by what is said of it.
func (p *player) moves() map[string]func() {
	w, all := p.world, map[string]func(){}
	for _, a := range w.Stage.held() {
		where := "calls"
		if a.at.after {
			where = "returns from"
		}
		at := point{call: a.at.call, pod: a.at.pod, node: a.at.node, claim: a.at.claim}.String()
		all[fmt.Sprintf("%s %s %s", a, where, at[:len(a.at.call)]+at[len(a.at.call)+1:])] = func() { w.Stage.Release(a) }
	}
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
