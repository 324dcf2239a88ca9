package podrace

import "testing"

// TestWhomTheSchedulingCycleStarts: the first point that a goroutine of the scheduling cycle comes to says who it is.
func TestWhomTheSchedulingCycleStarts(t *testing.T) {
	scheduler := &instance{gate: &gate{leaders: map[string]string{"b": "a"}}}
	for name, c := range map[string]struct {
		pod   string
		first point
		wants string
	}{
		"binds":              {"p", point{call: "Framework.RunPreBindPlugins", pod: "p"}, "binding cycle of p"},
		"evicts":             {"p", point{call: "PreemptPod", pod: "v"}, "preemption goroutine of p"},
		"evicts for a group": {"b", point{call: "PreemptPod", pod: "v"}, "preemption goroutine of a"},
		"puts back":          {"p", point{call: "Queue.AddUnschedulableIfNotPresent", pod: "p"}, "requeue goroutine of p"},
	} {
		if is := identifyChild(&actor{role: scheduling, pod: c.pod}, scheduler, c.first).String(); is != c.wants {
			t.Errorf("%s: it is the %s, not the %s", name, is, c.wants)
		}
	}
}
