package podrace

import (
	"reflect"
	"strings"
	"testing"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"
)

func TestNamesOfVariables(t *testing.T) {
	for variable, want := range map[string]struct {
		kind, name string
		indices    []string
	}{
		"scheduler.pod":                      {"scheduler.pod", "scheduler.pod", nil},
		"cache.pod[p].node":                  {"cache.pod[].node", "cache.pod.node", []string{"p"}},
		"queue.rejected_by[p][NodeAffinity]": {"queue.rejected_by[][]", "queue.rejected_by", []string{"p", "NodeAffinity"}},
		"node_tree.zones.member[]":           {"node_tree.zones.member[]", "node_tree.zones.member", []string{""}},
	} {
		if got := kind(variable); got != want.kind {
			t.Errorf("kind(%s) = %s, not %s", variable, got, want.kind)
		}
		if name, indices := parts(variable); name != want.name || !reflect.DeepEqual(indices, want.indices) {
			t.Errorf("parts(%s) = %s %v", variable, name, indices)
		}
	}
}

func TestCompare(t *testing.T) {
	for name, c := range map[string]struct {
		expected, real map[string]any
		differ         string
	}{
		"another sub-queue": {
			map[string]any{"queue.sub_queue[p]": "BACKOFF"}, map[string]any{"queue.sub_queue[p]": "UNSCHEDULABLE"}, "queue.sub_queue[p]",
		},
		"a backoff that is over (A-BACKOFF)": {
			map[string]any{"queue.sub_queue[p]": "BACKOFF"}, map[string]any{"queue.sub_queue[p]": "ACTIVE", "queue.past_backoff[p]": true}, "",
		},
		"a backoff that is not over": {
			map[string]any{"queue.sub_queue[p]": "BACKOFF"}, map[string]any{"queue.sub_queue[p]": "ACTIVE", "queue.past_backoff[p]": false}, "queue.sub_queue[p]",
		},
		"an event that a move has still to note (A-MOVES)": {
			map[string]any{"queue.in_flight_events[q][NodeAffinity]": true},
			map[string]any{"queue.in_flight_events[q][NodeAffinity]": false, "queue.amid_move": true}, "",
		},
		"an event that was not noted": {
			map[string]any{"queue.in_flight_events[q][NodeAffinity]": true},
			map[string]any{"queue.in_flight_events[q][NodeAffinity]": false}, "queue.in_flight_events[q][NodeAffinity]",
		},
		"the snapshot between two cycles (A-SNAPSHOT)": {
			map[string]any{"snapshot.live[n]": false, "scheduler.phase": "IDLE"}, map[string]any{"snapshot.live[n]": true}, "",
		},
		"the snapshot of a cycle": {
			map[string]any{"snapshot.live[n]": false, "scheduler.phase": "FILTERING"}, map[string]any{"snapshot.live[n]": true}, "snapshot.live[n]",
		},
		"a plugin that the model does not have": {
			map[string]any{}, map[string]any{"queue.rejected_by[p][VolumeBinding]": true}, "queue.rejected_by[p][VolumeBinding]",
		},
		"a sum that its parts do not make up": {
			map[string]any{}, map[string]any{"node_infos.sums[n]": "[1 0 0], and its 0 pods add up to [0 0 0]"}, "node_infos.sums[n]",
		},
		"pods of which either may be the older one": {
			map[string]any{"clock.older[p][q]": true, "clock.open[p][q]": true}, map[string]any{"clock.older[p][q]": false}, "",
		},
		"a pod that is not the older one": {
			map[string]any{"clock.older[p][q]": true, "clock.open[p][q]": false}, map[string]any{"clock.older[p][q]": false}, "clock.older[p][q]",
		},
		"the last victim, awaited (from 1.35 on)": {
			map[string]any{"async_preemption.phase[p]": "EVICTED", "async_preemption.last[p]": "v"},
			map[string]any{"async_preemption.preempting[p]": true, "async_preemption.awaited[p]": "v"}, "",
		},
		"the last victim, not awaited (up to 1.34)": {
			map[string]any{"async_preemption.phase[p]": "EVICT_LAST"}, map[string]any{"async_preemption.preempting[p]": false}, "",
		},
		"a nomination that an event beyond the model brings back (A-CONDITION)": {
			map[string]any{"nominator.node[p]": nil},
			map[string]any{"nominator.node[p]": "n", "pod_watch.lister[p].nominated": "n", "pod_watch.beyond[p]": true}, "",
		},
		"a pod that is in flight until its failure handler returns": {
			map[string]any{"queue.in_flight[p]": false, "failure.phase[p]": "PATCH"}, map[string]any{"queue.in_flight[p]": true}, "queue.in_flight[p]",
		},
		"a last victim that is noted by its name": {
			map[string]any{"async_preemption.phase[p]": "EVICTED", "async_preemption.last[p]": "v-again"},
			map[string]any{"async_preemption.awaited[p]": "v", "api.name[v-again]": "v"}, "",
		},
		"another last victim": {
			map[string]any{"async_preemption.phase[p]": "EVICTED", "async_preemption.last[p]": "w"},
			map[string]any{"async_preemption.awaited[p]": "v", "api.name[v-again]": "v"}, "async_preemption.awaited[p]",
		},
		"another member of an entry that is held (A-GROUP-ORDER)": {
			map[string]any{"queue.gated[p]": true, "queue.gated[q]": false}, map[string]any{"queue.gated[p]": false, "queue.gated[q]": true}, "",
		},
		"another entry that is held": {
			map[string]any{"queue.gated[p]": true, "queue.gated[q]": false, "clock.older[p][q]": true},
			map[string]any{"queue.gated[p]": false, "queue.gated[q]": true, "clock.older[p][q]": true}, "queue.gated[p], queue.gated[q]",
		},
		"an entry of which nobody is held": {
			map[string]any{"queue.gated[p]": true, "queue.gated[q]": false}, map[string]any{"queue.gated[p]": false, "queue.gated[q]": false}, "queue.gated[p]",
		},
		"an event behind one that the store has": {
			map[string]any{"pod_watch.log.length": 2.0, "pod_watch.listed": 1.0, "pod_watch.log[1].pod": "q", "pod_watch.log[0].pod": "p"},
			map[string]any{"pod_watch.under_way": 1, "pod_watch.under_way[0].pod": "q"}, "",
		},
		"an event more": {
			map[string]any{"pod_watch.log.length": 1.0, "pod_watch.listed": 1.0}, map[string]any{"pod_watch.under_way": 1}, "pod_watch.under_way",
		},
	} {
		var differ []string
		for _, difference := range compare(c.expected, c.real) {
			differ = append(differ, difference.Variable)
		}
		if got := strings.Join(differ, ", "); got != c.differ {
			t.Errorf("%s: %q differs, not %q", name, got, c.differ)
		}
	}
}

func TestFieldsAreFoundWhereverTheyLie(t *testing.T) {
	type inner struct{ wanted map[string]int }
	type outer struct {
		other any
		part  any
	}
	root := &outer{part: &inner{map[string]int{"a": 1}}}
	if got := keys(find(reflect.ValueOf(root), "wanted")); !got["a"] {
		t.Errorf("found %v", got)
	}
	if find(reflect.ValueOf(root), "missing").IsValid() {
		t.Error("a field was found that is not there")
	}
}

func TestWhatCannotBeSeenAnyMoreIsToldAsTheModelHasIt(t *testing.T) {
	expected := map[string]any{"queue.gated[p]": false, "snapshot.live[n]": false, "cache.live[n]": true, "scheduler.phase": "IDLE"}
	real := map[string]any{"snapshot.live[n]": true, "cache.live[n]": false, "queue.order": asExpected}
	got := told(expected, real, map[string]any{"queue.gated[p]": true})
	want := map[string]any{"queue.gated[p]": false, "snapshot.live[n]": false, "cache.live[n]": false}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("told %v, not %v", got, want)
	}
}

func TestANodeThatIsGoneHasNoVersionAndItsDeletionShowsTheFirst(t *testing.T) {
	node := func(generation int64) *v1.Node {
		return &v1.Node{ObjectMeta: metav1.ObjectMeta{Name: "n", Generation: generation}}
	}
	e := eye{versions: &Case{NodeVersions: map[string]*v1.Node{"n.larger": node(0)}}}
	if got := e.versions.version(nil); got != nil {
		t.Errorf("a node that is gone has the version %v", got)
	}
	for kind, want := range map[watch.EventType]string{watch.Modified: "n.larger", watch.Deleted: "n.initial"} {
		if got := e.shownVersion(event{Event: watch.Event{Type: kind, Object: node(2)}, name: "n"}); got != want {
			t.Errorf("%s shows %v, not %s", kind, got, want)
		}
	}
}
