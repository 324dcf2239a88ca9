package podrace

import "testing"

// TestWhomTheSchedulingCycleStarts: the first point that a goroutine of the scheduling cycle comes to says who it is.
func TestWhomTheSchedulingCycleStarts(t *testing.T) {
	cycle := &actor{role: scheduling, pod: "p"}
	for name, c := range map[string]struct {
		first point
		wants string
	}{
		"binds":     {point{call: "Framework.RunPreBindPlugins", pod: "p"}, "binding cycle of p"},
		"evicts":    {point{call: "PreemptPod", pod: "v"}, "preemption goroutine of p"},
		"puts back": {point{call: "Queue.AddUnschedulableIfNotPresent", pod: "p"}, "requeue goroutine of p"},
	} {
		if is := identifyChild(cycle, nil, c.first).String(); is != c.wants {
			t.Errorf("%s: it is the %s, not the %s", name, is, c.wants)
		}
	}
}
