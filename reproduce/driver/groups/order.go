package podrace

import (
	"reflect"
	"strings"
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

// leaders gives for each pod of a group that is an entry of the queue the first one, under whose name the model has the goroutine of the group.
func (c *Case) leaders() map[string]string {
	first, found := map[string]string{}, map[string]string{}
	for _, pod := range c.Pods {
		group := groupOf(pod)
		if _, there := c.Initial["queue.pending["+idOf(pod)+"]"]; group == "" || !there {
			continue
		}
		if first[group] == "" {
			first[group] = idOf(pod)
		}
		found[idOf(pod)] = first[group]
	}
	return found
}

// groupOf is the name of the group that a pod belongs to, in versions in which pods do.
func groupOf(pod *v1.Pod) string {
	name, _ := as[*string](path(pod, "Spec", "SchedulingGroup", "PodGroupName"))
	if name == nil {
		return ""
	}
	return *name
}

// order has the cycle of a group try members of one priority as the case has them: upstream goes by the time at which each came to activeQ first, and nothing else
// but a metric does.
func (g *gate) order(call string, results []any) {
	if strings.HasPrefix(call, "Framework.RunPlacement") && len(results) > 0 {
		g.orderPlacements(reflect.ValueOf(results[0]))
	}
	if call != "NextPod" && call != "Queue.PopSpecificPod" {
		return
	}
	for _, result := range results {
		g.orderMembers(reflect.ValueOf(result))
		at := path(result, "InitialAttemptTimestamp")
		if rank, is := g.grouped[about("", []any{result}).pod]; is && at.IsValid() {
			moment := time.Unix(int64(rank), 0)
			at.Set(reflect.ValueOf(&moment))
		}
	}
}

// orderMembers does the same for an entry of the queue that is a whole group (from 1.37 on): upstream goes by attempts, then by time.
func (g *gate) orderMembers(entry reflect.Value) {
	for _, list := range listsOf(entry) {
		members, swap := list.Interface(), reflect.Swapper(list.Interface())
		for n := range list.Len() { // few
			for k := n; k > 0 && g.rankOf(members, k) < g.rankOf(members, k-1); k-- {
				swap(k, k-1)
			}
		}
	}
}

func (g *gate) rankOf(members any, n int) int {
	return g.grouped[about("", []any{reflect.ValueOf(members).Index(n).Interface()}).pod]
}

// listsOf are the lists of members in an entry of the queue that is a group of pods; none of any other.
func listsOf(entry reflect.Value) (lists []reflect.Value) {
	for _, name := range []string{"QueuedPodInfos", "queuedPodInfos"} { // the latter from 1.38 on
		for _, list := range values(field(entry, name)) {
			lists = append(lists, list)
		}
	}
	return lists
}

// membersOf are the records of the members in such an entry.
func membersOf(entry reflect.Value) (members []reflect.Value) {
	for _, list := range listsOf(entry) {
		for n := range list.Len() {
			members = append(members, list.Index(n))
		}
	}
	return members
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
