package podrace

import (
	"cmp"
	"encoding/json"
	"reflect"
	"slices"
	"strings"
	"time"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
)

// In which order the cycle of a group takes its members out of the queue, and tries them.

// grouped are the pods that belong to groups, numbered as the case has them, one group after the other.
func (c *Case) grouped() map[string]int {
	found, ranks := map[string]int{}, map[string]int{}
	for n, group := range c.groupsInOrder() {
		ranks[group.Name] = n
	}
	for n, pod := range c.Pods {
		if _, is := c.Initial["pod_group_states.known["+idOf(pod)+"]"]; is {
			found[idOf(pod)] = ranks[groupOf(pod)]*len(c.Pods) + n
		}
	}
	return found
}

// groupInCase is a group and its parent, which few groups have.
type groupInCase struct{ Name, Parent string }

// groupsInOrder are the groups of the case, whatever their kinds.
func (c *Case) groupsInOrder() (found []groupInCase) {
	for _, kinds := range c.Groups {
		var said struct {
			Metadata struct{ Name string }
			Spec     struct{ ParentCompositePodGroupName string }
		}
		if len(kinds) > 0 && json.Unmarshal(kinds[0], &said) == nil {
			found = append(found, groupInCase{said.Metadata.Name, said.Spec.ParentCompositePodGroupName})
		}
	}
	return found
}

// parents gives for each group in a tree its parent; none of others.
func (c *Case) parents() map[string]string {
	found := map[string]string{}
	for _, group := range c.groupsInOrder() {
		if group.Parent != "" {
			found[group.Name] = group.Parent
		}
	}
	return found
}

// leaders gives for each pod of a group that is an entry of the queue the first one, under whose name the model has the goroutine of the group.
func (c *Case) leaders() map[string]string {
	first, found := map[string]string{}, map[string]string{}
	parents, ranks := c.parents(), c.grouped()
	entry := func(pod *v1.Pod) string { return cmp.Or(parents[groupOf(pod)], groupOf(pod)) }
	pods := slices.Clone(c.Pods)
	slices.SortStableFunc(pods, func(a, b *v1.Pod) int { return ranks[idOf(a)] - ranks[idOf(b)] })
	for _, pod := range pods {
		group := entry(pod)
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
		all := inside(field(entry, name))
		if !all.IsValid() || all.Kind() != reflect.Map {
			continue
		}
		for each := all.MapRange(); each.Next(); { // by group, of which a tree has several
			lists = append(lists, each.Value())
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

// first is the pod under whose name the model has what a call returns: that of the call, or if it returns an entry of several groups the first one of all.
func (g *gate) first(pod string, results []any) string {
	for _, result := range results {
		for _, member := range membersOf(reflect.ValueOf(result)) {
			if other := get[*v1.Pod](member, "Pod"); other != nil && g.grouped[idOf(other)] < g.grouped[pod] {
				pod = idOf(other)
			}
		}
	}
	return pod
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
