package podrace

import (
	"encoding/json"
	"fmt"
	"maps"
	"runtime/debug"
	"strings"
	"time"
)

// play executes a case in the bubble that it is called in, and says what came of it.
func play(c *Case, report func(*Outcome)) {
	out := &Outcome{ID: c.ID, Verdict: done}
	w, err := newWorld(c)
	if err != nil {
		out.Verdict, out.Why = notThere, err.Error()
		report(out)
		return
	}
	defer w.close()
	defer func() {
		if r := recover(); r != nil {
			out.Verdict, out.Why = crashed, fmt.Sprint(r)
			out.Log = append(out.Log, strings.Split(string(debug.Stack()), "\n")...)
		}
		report(out)
	}()
	p := &player{world: w, model: map[string]any{}, due: time.Now()}
	for k, v := range c.Initial {
		p.model[k] = v
	}
	seen, unseen := observe(w)
	before := told(p.model, seen, nil)
	out.Initial, out.Unseen = before, unseen
	differing := map[string]string{}
	out.Start = news(compare(p.model, seen), differing)
	keeper := newKeeper()
	out.Kept = keeper.look(w)
	w.Stage.Trail()
	for n, s := range c.Steps {
		for k, v := range s.Changes {
			p.model[k] = v
		}
		p.rest = c.Steps[n+1:]
		w.Store.keep(p, s)
		err := p.force(s)
		settle()
		now, _ := observe(w)
		after := told(p.model, now, before)
		step := StepOutcome{Points: w.Stage.Trail(), Real: changed(before, after), Decided: w.decided.take()}
		if !p.waits { // otherwise the scheduler is a step ahead
			step.Differs = news(compare(p.model, now), differing)
		}
		before = after
		step.Keeps = keeper.look(w)
		out.Steps = append(out.Steps, step)
		if err != nil {
			at := n + 1
			out.Verdict, out.At, out.Why = unforced, &at, err.Error()
			break
		}
		if len(step.Differs) > 0 && out.Verdict == done {
			at := n + 1
			out.Verdict, out.At = differs, &at
			out.Why = fmt.Sprintf("%s: model %v, real %v", step.Differs[0].Variable, step.Differs[0].Model, step.Differs[0].Real)
		}
	}
	if c.Roam > 0 && !w.exited {
		out.Sees = p.seen()
		out.Roam = p.roam()
	}
	out.Log = append(append(out.Log, p.notes...), w.Store.notes...)
	if c.Epilogue && !w.exited {
		out.Epilogue = w.epilogue()
	}
}

// keep has the API server treat the nomination of a bound pod as the model's does: releases differ, and the scheduler is what is looked at.
func (s *Store) keep(p *player, step Step) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.keeps = p.expects("api.pod[%s].nominated", step.arg("pod")) != ""
}

// news are the differences that were not there before, or not so.
func news(found []Difference, known map[string]string) []Difference {
	var fresh []Difference
	now := map[string]string{}
	for _, d := range found {
		now[d.Variable] = text(d.Model) + " " + text(d.Real)
		if known[d.Variable] != now[d.Variable] {
			fresh = append(fresh, d)
		}
	}
	clear(known)
	maps.Copy(known, now)
	return fresh
}

func changed(before, after map[string]any) map[string]any {
	r := map[string]any{}
	for k, v := range after {
		if old, ok := before[k]; !ok || !same(old, v) {
			r[k] = v
		}
	}
	return r
}

// same is whether two values are one in JSON. Most are texts, or yes or no.
func same(a, b any) bool {
	switch one := a.(type) {
	case string:
		if other, is := b.(string); is {
			return one == other
		}
	case bool:
		if other, is := b.(bool); is {
			return one == other
		}
	}
	return text(a) == text(b)
}

func text(v any) string {
	b, err := json.Marshal(v)
	if err != nil {
		return fmt.Sprint(v)
	}
	return string(b)
}
