package podrace

import (
	"reflect"
	"time"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
)

// In which order the cycle of a group takes its members out of the queue, and tries them.

// grouped are the pods that belong to groups, numbered as the case has them.
func (c *Case) grouped() map[string]int {
	found := map[string]int{}
	for n, pod := range c.Pods {
		if _, is := c.Initial["pod_group_states.known["+idOf(pod)+"]"]; is {
			found[idOf(pod)] = n
		}
	}
	return found
}

// order has the cycle of a group try members of one priority as the case has them: upstream goes by the time at which each came to activeQ first, and nothing else
// but a metric does.
func (g *gate) order(call string, results []any) {
	if call != "NextPod" && call != "Queue.PopSpecificPod" {
		return
	}
	for _, result := range results {
		at := path(result, "InitialAttemptTimestamp")
		if rank, is := g.grouped[about("", []any{result}).pod]; is && at.IsValid() {
			moment := time.Unix(int64(rank), 0)
			at.Set(reflect.ValueOf(&moment))
		}
	}
}

// identity is what the queue knows a pod by.
type identity struct {
	name string
	uid  types.UID
}

// whom is the pod that PopSpecificPod takes. Upstream asks for all members of the group in the order of a Go map, and the trace has its own.
func (g *gate) whom(asked *v1.Pod) *v1.Pod {
	if g.instead == nil {
		return asked
	}
	taken := asked.DeepCopy()
	taken.Name, taken.UID = g.instead.name, g.instead.uid
	g.instead = nil
	return taken
}
