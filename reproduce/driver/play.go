package podrace

import (
	"encoding/json"
	"fmt"
	"sort"
	"time"
)

// play executes a case in the bubble that it is called in, and says what came of it.
func play(c *Case, report func(*Outcome)) {
	out := &Outcome{ID: c.ID, Verdict: done, Unseen: unseen}
	w, err := newWorld(c)
	if err != nil {
		out.Verdict, out.Why = notThere, err.Error()
		report(out)
		return
	}
	defer w.close()
	defer func() { report(out) }()
	p := &player{world: w, model: map[string]any{}, due: time.Now()}
	for k, v := range c.Initial {
		p.model[k] = v
	}
	seen := observe(w)
	out.Initial = seen
	differing := map[string]string{}
	out.Start = compare(p.model, seen, differing)
	w.Stage.Trail()
	for n, s := range c.Steps {
		for k, v := range s.Changes {
			p.model[k] = v
		}
		p.rest = c.Steps[n+1:]
		w.Store.keep(p, s)
		err := p.force(s)
		settle()
		now := observe(w)
		step := StepOutcome{Points: w.Stage.Trail(), Real: changed(seen, now), Differs: compare(p.model, now, differing)}
		seen = now
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
	out.Log = append(append(out.Log, p.notes...), w.Store.notes...)
	if c.Epilogue {
		out.Epilogue = w.epilogue()
	}
}

// keep has the API server treat a Binding's nomination as the model's does: releases differ, and the scheduler is what is looked at.
func (s *Store) keep(p *player, step Step) {
	if step.Step == "binding.bind" || step.Step == "users.bind_pod" || step.Step == "process.land" {
		s.mu.Lock()
		s.keeps = p.expects("api.pod[%s].nominated", step.arg("pod")) != ""
		s.mu.Unlock()
	}
}

// compare gives the variables whose values differ, but not those that differed as much before.
func compare(model, real map[string]any, known map[string]string) []Difference {
	var found []Difference
	for _, k := range sorted(real) {
		want, ok := model[k]
		if !ok || same(want, real[k]) {
			delete(known, k)
			continue
		}
		d := text(want) + " " + text(real[k])
		if known[k] != d {
			known[k] = d
			found = append(found, Difference{k, want, real[k]})
		}
	}
	return found
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

func same(a, b any) bool { return text(a) == text(b) }

func text(v any) string {
	b, err := json.Marshal(v)
	if err != nil {
		return fmt.Sprint(v)
	}
	return string(b)
}

func sorted(m map[string]any) []string {
	keys := make([]string, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	sort.Strings(keys)
	return keys
}

// epilogue lets everything go its way, and says after some times where the pods are, and when they were bound.
func (w *World) epilogue() map[string]any {
	w.Store.mu.Lock()
	w.Store.auto = true
	for _, kind := range []string{podKind, nodeKind} {
		for w.Store.sent[kind] < len(w.Store.log[kind]) {
			w.Store.deliver(kind)
		}
	}
	w.Store.mu.Unlock()
	w.Stage.Hold(false)
	result, bound := map[string]any{}, map[string]any{}
	began := time.Now()
	for second := 0; second <= 660; second++ {
		time.Sleep(time.Second)
		settle()
		state := observe(w)
		places := map[string]any{}
		for _, p := range w.Case.Pods {
			q := w.Store.Pod(p.Name)
			if q != nil && q.Spec.NodeName != "" && p.Spec.NodeName == "" && bound[p.Name] == nil {
				bound[p.Name] = time.Since(began).Seconds()
			}
			if v := state["queue.sub_queue["+p.Name+"]"]; v != nil && v != "NONE" {
				places[p.Name] = v
			}
		}
		switch second + 1 {
		case 1, 10, 60, 330, 660:
			result[fmt.Sprintf("%ds", second+1)] = places
		}
	}
	result["bound"] = bound
	return result
}
