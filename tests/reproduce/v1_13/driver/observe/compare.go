package podrace

import (
	"fmt"
	"strings"
)

// observer compares the real state with the model's after each step.
type observer struct {
	world *world
	model sight // what the model has after the last step
	last  sight // what was really there

	relisted bool // an informer has listed, or will
}

func newObserver(w *world, c *Case) *observer {
	model := sight{}
	for variable, value := range c.Initial {
		model[variable] = value
	}
	return &observer{world: w, model: model}
}

// first is what there is at the start, and what of it differs.
func (o *observer) first() (map[string]any, []Difference) {
	o.last = o.world.see()
	return o.visible(o.last), o.differences(o.last)
}

// after is what has really changed in a step, and what differs now.
func (o *observer) after(s Step) (map[string]any, []Difference) {
	for variable, value := range s.Changes {
		o.model[variable] = value
	}
	now := o.world.see()
	changed := sight{}
	for variable, value := range now {
		if o.last[variable] != value {
			changed[variable] = value
		}
	}
	o.last = now
	return o.visible(changed), o.differences(now)
}

// visible are the variables that the model has, too.
func (o *observer) visible(s sight) map[string]any {
	found := map[string]any{}
	for variable, value := range s {
		if _, there := o.model[variable]; there {
			found[variable] = value
		}
	}
	return found
}

// differences are the variables of which the model and the real scheduler say different things.
func (o *observer) differences(now sight) []Difference {
	found := []Difference{}
	for _, variable := range sorted(now) {
		model, there := o.model[variable]
		if there && o.isComparable(variable) && model != now[variable] {
			found = append(found, Difference{variable, model, now[variable]})
		}
	}
	return found
}

// isComparable is whether the model keeps a variable at that moment: between two cycles it has none of what belongs to one. That nodes came
// before the first pod was popped is a move request that nobody has asked for.
func (o *observer) isComparable(variable string) bool {
	if variable == "queue.moved" && !o.world.instance.cycle.hasPopped {
		return false
	}
	if o.relisted && strings.HasPrefix(variable, "pod_watch.lister[") {
		// The real store has all of a list at once, the model's each pod when its event is handled.
		return text(o.model["pod_watch.log.length"]) == "0"
	}
	phase := o.model["scheduler.phase"]
	switch {
	case strings.HasPrefix(variable, "snapshot."):
		return phase != "IDLE" && phase != "POPPED" && o.world.instance.cycle.hasSnapshot
	case strings.HasPrefix(variable, "scheduler."):
		return phase != "IDLE"
	}
	return true
}

// unseen are the kinds of variables of the model that cannot be seen here.
func (o *observer) unseen() []string {
	kinds := map[string]bool{}
	for variable := range o.model {
		if _, there := o.last[variable]; !there {
			kinds[kindOf(variable)] = true
		}
	}
	return sorted(kinds)
}

// kindOf is the name of a variable without its indices.
func kindOf(variable string) string {
	var b strings.Builder
	depth := 0
	for _, r := range variable {
		switch {
		case r == '[':
			depth++
		case r == ']':
			depth--
		case depth == 0:
			b.WriteRune(r)
		}
	}
	return b.String()
}

func text(value any) string { return fmt.Sprint(value) }
