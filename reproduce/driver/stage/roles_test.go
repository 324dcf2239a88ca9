package podrace

import "testing"

// TestWhomTheSchedulingCycleStarts: the first point that a goroutine of the scheduling cycle comes to says who it is.
func TestWhomTheSchedulingCycleStarts(t *testing.T) {
	scheduler := &instance{gate: &gate{leaders: map[string]string{"b": "a"}}}
	for name, c := range map[string]struct {
		pod    string
		forPod string
		first  point
		wants  string
	}{
		"binds":              {"p", "", point{call: "Framework.RunPreBindPlugins", pod: "p"}, "binding cycle of p"},
		"evicts":             {"p", "", point{call: "PreemptPod", pod: "v"}, "preemption goroutine of p"},
		"evicts for another": {"p", "q", point{call: "PreemptPod", pod: "v"}, "preemption goroutine of q"},
		"evicts for a group": {"b", "", point{call: "PreemptPod", pod: "v"}, "preemption goroutine of a"},
		"puts back":          {"p", "", point{call: "Queue.AddUnschedulableIfNotPresent", pod: "p"}, "requeue goroutine of p"},
	} {
		if is := identifyChild(&actor{role: scheduling, pod: c.pod, forPod: c.forPod}, scheduler, c.first).String(); is != c.wants {
			t.Errorf("%s: it is the %s, not the %s", name, is, c.wants)
		}
	}
}

// TestForWhomPreemptionEvicts: up to 1.36 for the pod that it has read again by the name of the popped one.
func TestForWhomPreemptionEvicts(t *testing.T) {
	for popped, wants := range map[bool]string{false: "preemption goroutine of q", true: "preemption goroutine of p"} {
		owner := &instance{gate: &gate{}, evictsForPopped: popped}
		scheduler := &actor{role: scheduling, owner: owner}
		scheduler.note(point{call: "NextPod", pod: "p", after: true})
		scheduler.note(point{call: "Extender.ProcessPreemption", pod: "q"})
		if is := identifyChild(scheduler, owner, point{call: "PreemptPod", pod: "v"}).String(); is != wants {
			t.Errorf("evicts for the popped pod: %v: it is the %s, not the %s", popped, is, wants)
		}
	}
}
