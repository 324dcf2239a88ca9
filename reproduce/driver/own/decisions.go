package podrace

import (
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
	"sync"
	"time"

	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/queuesort"
)

// decision is an answer of a plugin of the user's that the model knows nothing of.
type decision struct {
	Plugin string `json:"plugin"`
	Point  string `json:"point"`
	Answer string `json:"answer"`
	Why    string `json:"why,omitempty"` // the plugin's own words
	Pod    string `json:"pod,omitempty"`
	Node   string `json:"node,omitempty"`
}

// decisions notes the answers of the user's plugins that are more than "go on".
type decisions struct {
	points map[string][]string // where plugins have work for a pod, in the model, too
	mu     sync.Mutex
	found  []decision
	scores map[string]map[string]int64 // plugin and pod -> node -> score
}

func newDecisions(points map[string][]string) *decisions {
	return &decisions{points: points, scores: map[string]map[string]int64{}}
}

// take gives the decisions since it was last asked.
func (d *decisions) take() []decision {
	d.mu.Lock()
	defer d.mu.Unlock()
	found := d.found
	d.found = nil
	return found
}

// listen puts classes that note answers around the user's plugins.
func (d *decisions) listen(i *instance) {
	mine := own.plugins()
	if len(mine) == 0 {
		return
	}
	isMine := func(o any) bool {
		named, is := o.(plugin)
		return is && mine[named.Name()] != nil
	}
	for _, f := range i.Sched.Profiles {
		for list, around := range noted {
			plugins := path(f, list)
			for n := range lengthOf(plugins) {
				if o := plugins.Index(n).Interface(); isMine(o) {
					plugins.Index(n).Set(reflect.ValueOf(around(o, d)))
				}
			}
		}
		if sorts := path(f, "queueSortPlugins"); lengthOf(sorts) == 1 && isMine(sorts.Index(0).Interface()) {
			d.listenToOrder(i, sorts.Index(0).Interface().(plugin).Name())
		}
	}
	for each := path(i.RealQueue, "preEnqueuePluginMap").MapRange(); each.Next(); {
		switch plugins := each.Value(); plugins.Kind() {
		case reflect.Map:
			for _, name := range plugins.MapKeys() {
				if o := plugins.MapIndex(name).Interface(); isMine(o) {
					plugins.SetMapIndex(name, reflect.ValueOf(noted["preEnqueuePlugins"](o, d)))
				}
			}
		case reflect.Slice:
			for n := range plugins.Len() {
				if o := plugins.Index(n).Interface(); isMine(o) {
					plugins.Index(n).Set(reflect.ValueOf(noted["preEnqueuePlugins"](o, d)))
				}
			}
		}
	}
}

// listenToOrder notes where the queue puts a pod first that upstream's order has second.
func (d *decisions) listenToOrder(i *instance, name string) {
	less := path(i.RealQueue, "activeQ", "queue", "data", "lessFunc")
	if !less.IsValid() {
		less = path(i.RealQueue, "activeQ", "queue", "lessFunc") // from 1.37 on
	}
	upstream := reflect.ValueOf(&queuesort.PrioritySort{}).MethodByName("Less")
	if !less.IsValid() || !less.Type().In(0).AssignableTo(upstream.Type().In(0)) {
		return // then what the order decides is told as a difference
	}
	before := func(a, b any) bool {
		return upstream.Call([]reflect.Value{reflect.ValueOf(a), reflect.ValueOf(b)})[0].Bool()
	}
	less.Set(around(less, func(in []any) func([]any) {
		return func(out []any) {
			first, second := in[0], in[1]
			if !out[0].(bool) {
				first, second = second, first
			}
			if a, b := podIn([]any{first}), podIn([]any{second}); a != nil && b != nil && before(second, first) {
				d.add(decision{Plugin: name, Point: "QueueSort", Answer: "other order", Why: fmt.Sprintf("%s before %s", idOf(a), idOf(b)), Pod: idOf(a)})
			}
		}
	}))
}

// note takes in an answer of a plugin.
func (d *decisions) note(plugin, point string, args, results []any) {
	pod, node := subject(args)
	given := pick[*status](results)
	found := decision{Plugin: plugin, Point: point, Answer: given.Code().String(), Why: given.Message(), Node: node}
	if pod != nil {
		found.Pod = idOf(pod)
	}
	code := given.Code()
	passes := code == success || code == skip
	switch point {
	case "PreFilter":
		if named := path(pick[any](results), "NodeNames"); passes && named.IsValid() && named.Len() > 0 {
			passes, found.Answer, found.Why = false, "some nodes only", inOrder(named)
		}
	case "PostFilter":
		passes = code == unschedulable || strings.HasPrefix(code.String(), "Unschedulable")
	case "PreBindPreFlight":
		passes = code == skip || code == success && slices.Contains(d.points[found.Pod], "PRE_BIND")
	case "Bind":
		passes = code == skip
	case "Permit":
		if code == wait {
			found.Why = "for " + pick[time.Duration](results).String()
		}
	case "Score":
		if passes {
			found.Answer, found.Why, found.Node = "prefers a node", d.unequal(plugin+" "+found.Pod, node, pick[int64](results)), ""
			passes = found.Why == ""
		}
	}
	if !passes {
		d.add(found)
	}
}

// unequal takes in a score, and gives those of all nodes of this pod if they are not equal.
func (d *decisions) unequal(of, node string, score int64) string {
	d.mu.Lock()
	defer d.mu.Unlock()
	if _, again := d.scores[of][node]; again || d.scores[of] == nil {
		d.scores[of] = map[string]int64{}
	}
	d.scores[of][node] = score
	var told []string
	differ := false
	for _, name := range slices.Sorted(maps.Keys(d.scores[of])) {
		told = append(told, fmt.Sprintf("%s %d", name, d.scores[of][name]))
		differ = differ || d.scores[of][name] != score
	}
	if !differ {
		return ""
	}
	return strings.Join(told, ", ")
}

func (d *decisions) add(found decision) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if !slices.Contains(d.found, found) {
		d.found = append(d.found, found)
	}
}

func inOrder(set reflect.Value) string {
	var names []string
	for _, name := range set.MapKeys() {
		names = append(names, name.String())
	}
	slices.Sort(names)
	return strings.Join(names, ", ")
}
