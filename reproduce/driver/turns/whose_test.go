package podrace

import (
	"strings"
	"testing"
	"testing/synctest"
)

// TestWhoseStepItIs: a step lets go goroutines of its own actor, about its own pod, and at least one of them.
func TestWhoseStepItIs(t *testing.T) {
	binds := &actor{role: binding, pod: "p"}
	preempts := &actor{role: preempting, pod: "p"}
	evicts := &actor{role: worker, parent: preempts}
	fails := &actor{role: binding, pod: "p", failed: true}
	schedules := &actor{role: scheduling, pod: "q"}
	others := &actor{role: binding, pod: "q"}
	dispatches := &actor{role: dispatcher}
	calls := &actor{role: calling, pod: "p"}
	handles := &actor{role: podHandler, number: 1}
	step := func(name, actor string) Step {
		return Step{Step: name, Actor: actor, Args: map[string]any{"pod": "p"}, Changes: map[string]any{"api.pod[p].node": "n1"}}
	}
	for name, c := range map[string]struct {
		step  Step
		let   []*actor
		quiet string
		wants string // what the error says; none if it is empty
	}{
		"its own":                              {step("binding.bind", "binding cycle"), []*actor{binds}, "", ""},
		"the pod's preemption as well":         {step("binding.bind", "binding cycle"), []*actor{binds, preempts}, "", "lets go preemption goroutine of p"},
		"that of another pod":                  {step("binding.bind", "binding cycle"), []*actor{others}, "", "lets go binding cycle of q"},
		"an earlier one, which fails":          {step("binding.bind", "binding cycle"), []*actor{binds, fails}, "", "lets go binding cycle of p"},
		"the call that the dispatcher makes":   {step("binding.bind", "binding cycle"), []*actor{binds, dispatches, calls}, "", ""},
		"a call in another step":               {step("binding.pre_bind", "binding cycle"), []*actor{binds, calls}, "", "lets go API call of p"},
		"the scheduler":                        {step("binding.bind", "binding cycle"), []*actor{schedules}, "", "lets go scheduler"},
		"a plugin in the scheduling cycle":     {step("dynamic_resources.unreserve_claim", "binding cycle"), []*actor{schedules}, "", ""},
		"the one that fails":                   {step("failure.wake_others", "failure handler"), []*actor{fails}, "", ""},
		"a later one":                          {step("failure.wake_others", "failure handler"), []*actor{binds}, "", "lets go binding cycle of p"},
		"those that evict":                     {step("async_preemption.evict", "preemption goroutine"), []*actor{preempts, evicts}, "", ""},
		"the binding beside the preemption":    {step("async_preemption.activate", "preemption goroutine"), []*actor{preempts, binds}, "", "lets go binding cycle of p"},
		"the cycle starts a binding":           {step("scheduler.start_binding", "scheduler"), []*actor{schedules, binds}, "", ""},
		"the cycle, and a handler":             {step("scheduler.filter", "scheduler"), []*actor{schedules, handles}, "", "lets go pod handler 1"},
		"nobody":                               {step("scheduler.assume", "scheduler"), nil, "", "lets nobody go"},
		"nobody, and there is a reason":        {step("scheduler.dry_run", "scheduler"), nil, "a node without victims is not looked at", ""},
		"nobody, of those who are elsewhere":   {step("users.delete_pod", "user"), nil, "", ""},
		"whomever, of those who are elsewhere": {step("users.delete_pod", "user"), []*actor{handles}, "", ""},
	} {
		synctest.Test(t, func(t *testing.T) {
			owner := &instance{failing: map[string]*actor{}}
			p := &player{world: &World{Stage: newStage(), instance: owner}}
			end := p.watch(c.step)
			for _, a := range c.let {
				a.owner, a.at, a.gate = owner, &point{call: "Queue.Done"}, make(chan struct{})
				p.world.Stage.standing = append(p.world.Stage.standing, a)
				p.world.Stage.Release(a)
			}
			if c.quiet != "" {
				_ = p.quietly(c.quiet)
			}
			switch err := end(); {
			case err == nil && c.wants != "":
				t.Errorf("%s: no error", name)
			case err != nil && (c.wants == "" || !strings.Contains(err.Error(), c.wants)):
				t.Errorf("%s: %v", name, err)
			}
		})
	}
}
