package podrace

import (
	"fmt"
	"hash/fnv"
	"math/rand"
	"reflect"
	"sort"
	"time"

	v1 "k8s.io/api/core/v1"
)

// A free run: no trace says what happens. In each turn one of all things that can happen is chosen at random, and what came of it is
// written down: who moved, and the real state as far as it can be seen. Whether the model can do the same is judged elsewhere.

// Free says what may happen in a free run.
type Free struct {
	Seed  int64          `json:"seed"`
	Turns int            `json:"turns"`
	Left  map[string]int `json:"left"` // how often users and faults may still act, by the scope's names
	PodGC bool           `json:"pod_gc"`
	Keeps bool           `json:"keeps_nominations"` // the nomination of a pod outlives its Binding, and may be written after it
	Pass  float64        `json:"pass"`              // the share of the points at which nobody is held
}

// FreeRun is a free run that is asked for: a case without steps, and how it is chosen.
type FreeRun struct {
	Case *Case `json:"case"`
	Free Free  `json:"free"`
}

// Record is what came of a free run.
type Record struct {
	Format  string `json:"format"`
	Version int    `json:"version"`
	ID      string `json:"id"`
	Release string `json:"release"`
	Seed    int64  `json:"seed"`
	Turns   []Turn `json:"turns"`
	Stopped string `json:"stopped"`
}

// Turn is one thing that was let happen, where actors came to in it, and the visible variables that have changed.
type Turn struct {
	Do       string         `json:"do"`
	Args     map[string]any `json:"args,omitempty"`
	Origin   *Place         `json:"origin,omitempty"`
	Passed   []Place        `json:"passed"`
	Standing []Place        `json:"standing"`
	Seen     map[string]any `json:"seen"`
	Lost     []string       `json:"lost,omitempty"` // variables that cannot be seen any more
}

// Place is an actor at a point.
type Place struct {
	Actor  string `json:"actor"`
	Call   string `json:"call"`
	Of     string `json:"of,omitempty"`
	Number int    `json:"number,omitempty"`
	After  bool   `json:"after,omitempty"`
	Pod    string `json:"pod,omitempty"`
	Node   string `json:"node,omitempty"`
	Beyond bool   `json:"beyond,omitempty"` // the model does not have the event that it is about
}

// placeOf says where an actor is, a worker in the name of whom it works for.
func (r *recorder) placeOf(a *actor, p point) Place {
	for a.role == worker && a.parent != nil {
		a = a.parent
	}
	place := Place{Actor: string(a.role), Call: p.call, Number: a.number, After: p.after, Pod: p.pod, Node: p.node}
	if a.role != scheduling {
		place.Of = a.pod
	}
	if p.call == "PodEvent" && !p.after {
		r.beyond[a] = r.world.Store.IsBeyond(p.version)
	}
	place.Beyond = r.beyond[a]
	return place
}

// recorder runs a free run.
type recorder struct {
	world  *World
	free   Free
	dice   *rand.Rand
	last   map[string]any
	beyond map[*actor]bool      // whether a handler is busy with an event that the model does not have
	waits  map[string]time.Time // since when pods have waited for permission
	record Record
}

// choice is something that can happen next.
type choice struct {
	weight int
	turn   Turn
	spends string // the bound of the scope that it counts against
	act    func()
}

// take takes a free run from the start of a world.
func (c *FreeRun) take() (Record, error) {
	r := &recorder{free: c.Free, dice: rand.New(rand.NewSource(c.Free.Seed)), last: map[string]any{}, beyond: map[*actor]bool{}, waits: map[string]time.Time{}}
	r.record = Record{Format: "podrace-record", Version: 1, ID: c.Case.ID, Release: c.Case.Release, Seed: c.Free.Seed}
	world, err := newWorld(c.Case)
	if err != nil {
		return r.record, err
	}
	defer world.close()
	r.world = world
	world.Store.keeps = c.Free.Keeps
	world.Stage.setPasser(r.passes)
	world.Stage.passages()
	r.finish(Turn{Do: "start"})
	for n := 0; n < c.Free.Turns; n++ {
		time.Sleep(moment)
		settle()
		able := r.choices()
		if len(able) == 0 {
			r.record.Stopped = "nothing more can happen"
			break
		}
		chosen := r.choose(able)
		if chosen.spends != "" {
			r.free.Left[chosen.spends]--
		}
		chosen.act()
		settle()
		r.finish(chosen.turn)
	}
	return r.record, nil
}

// passes is whether nobody is held at a point: of each kind of points all or none, by the run's seed.
func (r *recorder) passes(p point) bool {
	if r.free.Pass == 0 || p.call == "NextPod" && !p.after {
		return false
	}
	h := fnv.New32()
	fmt.Fprint(h, r.free.Seed, p.call, p.after)
	return float64(h.Sum32()%1000) < r.free.Pass*1000
}

// finish looks at the state, and writes the turn down.
func (r *recorder) finish(t Turn) {
	t.Passed, t.Standing, t.Seen = []Place{}, []Place{}, map[string]any{}
	for _, p := range r.world.Stage.passages() {
		t.Passed = append(t.Passed, r.placeOf(p.actor, p.point))
	}
	for _, a := range r.world.Stage.held() {
		t.Standing = append(t.Standing, r.placeOf(a, *a.at))
	}
	now, _ := observe(r.world)
	for name, value := range now {
		before, known := r.last[name]
		if !known || !reflect.DeepEqual(before, value) {
			t.Seen[name] = value
		}
	}
	for name := range r.last {
		if _, there := now[name]; !there {
			t.Lost = append(t.Lost, name)
		}
	}
	sort.Strings(t.Lost)
	r.last = now
	r.record.Turns = append(r.record.Turns, t)
}

func (r *recorder) choose(able []choice) choice {
	total := 0
	for _, c := range able {
		total += c.weight
	}
	n := r.dice.Intn(total)
	for _, c := range able {
		if n < c.weight {
			return c
		}
		n -= c.weight
	}
	panic("unreachable")
}

// choices are all things that can happen next. If nobody can move and no event is to come, only waiting is left.
func (r *recorder) choices() []choice {
	var able []choice
	for _, a := range r.world.Stage.held() {
		able = append(able, r.goingOn(a)...)
	}
	for _, kind := range []string{podKind, nodeKind} {
		if r.world.Store.Undelivered(kind) > 0 {
			able = append(able, choice{weight: 8, turn: Turn{Do: "deliver", Args: map[string]any{"kind": kind}},
				act: func() { r.world.Store.Deliver(kind) }})
		}
	}
	able = append(able, r.signals()...)
	able = append(able, r.users()...)
	for i, wait := range []time.Duration{1100 * time.Millisecond, 11 * time.Second, 6 * time.Minute} {
		if r.tires(wait) {
			continue
		}
		able = append(able, choice{weight: 1 + i%2, turn: Turn{Do: "wait", Args: map[string]any{"ms": wait.Milliseconds()}},
			act: func() { time.Sleep(wait) }})
	}
	return able
}

// goingOn is what can become of an actor that is let go: where it asks a plugin or writes to the API server, there are several answers.
func (r *recorder) goingOn(a *actor) []choice {
	at := *a.at
	origin := r.placeOf(a, at)
	one := func(weight int, spends string, prepare func()) choice {
		return choice{weight, Turn{Do: "go", Origin: &origin}, spends, func() {
			if prepare != nil {
				prepare()
			}
			r.world.Stage.Release(a)
		}}
	}
	able := []choice{one(24, "", func() { r.answer(at.pod) })}
	if at.after {
		return able
	}
	faulty := func(bound string, how fault) {
		if r.free.Left[bound] > 0 {
			able = append(able, one(4, bound, func() { r.world.Store.Fail(at.call, at.pod, how) }))
		}
	}
	set := func(bound string, table map[string]bool, points string) {
		if r.free.Left[bound] > 0 && contains(r.world.Case.Points[at.pod], points) {
			able = append(able, one(4, bound, func() { table[at.pod] = true }))
		}
	}
	answers := r.world.answers
	switch at.call {
	case "Client.Bind":
		faulty("bind_failures", failed)
		faulty("bind_failures", transient)
		faulty("lost_replies", lost)
	case "Client.Delete":
		faulty("write_failures", failed)
	case "Client.Patch":
		if origin.Actor != string(preempting) {
			faulty("status_failures", failed)
		}
	case "Framework.RunReservePluginsReserve":
		set("plugin_errors", answers.reserve, "RESERVE")
	case "Framework.RunPreBindPlugins":
		set("plugin_errors", answers.preBind, "PRE_BIND")
	case "Framework.RunPreBindPreFlights":
		set("plugin_errors", answers.preFlight, "PRE_BIND")
	case "Framework.RunPermitPlugins":
		if contains(r.world.Case.Points[at.pod], "PERMIT") {
			able = append(able, one(12, "", func() { answers.permit[at.pod] = "WAIT" }))
			if r.free.Left["permit_rejections"] > 0 {
				able = append(able, one(6, "permit_rejections", func() { answers.permit[at.pod] = "REJECT" }))
			}
		}
	}
	return able
}

// answer sets what plugins say of a pod where nothing else is chosen: no errors, and any node may win.
func (r *recorder) answer(pod string) {
	answers := r.world.answers
	delete(answers.reserve, pod)
	delete(answers.preBind, pod)
	delete(answers.preFlight, pod)
	delete(answers.permit, pod)
	for _, p := range r.world.Case.Pods {
		if len(r.world.Case.Nodes) > 0 {
			answers.host[idOf(p)] = r.world.Case.Nodes[r.dice.Intn(len(r.world.Case.Nodes))].Name
		}
	}
}

// signals are what Permit plugins can say of pods that wait.
func (r *recorder) signals() (able []choice) {
	for _, pod := range r.world.Case.Pods {
		waiting := r.world.Waiting.GetWaitingPod(r.world.Store.uid(idOf(pod)))
		if waiting == nil {
			continue
		}
		args := map[string]any{"pod": idOf(pod)}
		able = append(able, choice{6, Turn{Do: "waiting.permit", Args: args}, "", func() { waiting.Allow(pluginName) }})
		if r.free.Left["permit_rejections"] > 0 {
			able = append(able, choice{3, Turn{Do: "waiting.refuse", Args: args}, "permit_rejections",
				func() { waiting.Reject(pluginName, "the free run has it so") }})
		}
	}
	return able
}

// users are what users, kubelets and the garbage collector can do.
func (r *recorder) users() (able []choice) {
	store := r.world.Store
	add := func(weight int, step, bound string, args map[string]any, act func()) {
		if bound == "" || r.free.Left[bound] > 0 {
			able = append(able, choice{weight, Turn{Do: step, Args: args}, bound, act})
		}
	}
	for _, pod := range r.world.Case.Pods {
		name, args := idOf(pod), map[string]any{"pod": idOf(pod)}
		now := store.Pod(name)
		if now == nil {
			if contains(r.world.Case.AbsentPods, name) && r.free.Left["created "+name] == 0 {
				add(3, "users.create_pod", "pod_creations", args, func() {
					r.free.Left["created "+name] = 1
					store.Create(pod)
				})
			}
			continue
		}
		if r.isBeingEvicted(name) {
			continue
		}
		if now.DeletionTimestamp == nil {
			add(2, "users.delete_pod", "pod_deletions", args, func() { must(store.DeletePod(name)) })
		}
		if len(now.Spec.SchedulingGates) > 0 {
			add(2, "users.remove_gates", "", args, func() { must(store.OpenGates(name)) })
		}
		if now.Spec.NodeName == "" && now.DeletionTimestamp == nil && len(now.Spec.SchedulingGates) == 0 {
			for _, node := range r.world.Case.Nodes {
				if store.Node(node.Name) != nil {
					to := map[string]any{"pod": name, "node": node.Name}
					add(1, "users.bind_pod", "external_binds", to, func() { must(store.Bind(name, node.Name)) })
				}
			}
		}
		able = append(able, r.ends(now, args)...)
	}
	for _, node := range r.world.Case.Nodes {
		name, args := node.Name, map[string]any{"node": node.Name}
		if now := store.Node(name); now != nil {
			for _, version := range r.world.Case.versionsOf(name) {
				if version != r.world.Case.version(now) {
					to := map[string]any{"version": version}
					add(2, "users.update_node", "node_updates", to, func() { must(r.world.updateNode(version)) })
				}
			}
			add(2, "users.delete_node", "node_deletions", args, func() { must(store.DeleteNode(name)) })
		} else {
			add(2, "users.create_node", "node_creations", args, func() { store.Create(node) })
		}
	}
	if r.handlersIdle() {
		add(1, "process.restart", "restarts", nil, func() { must(r.world.restart()) })
	}
	return able
}

// handlersIdle is whether no event handler is amid an event: what it did in memory would be lost with it, as if it had not begun.
func (r *recorder) handlersIdle() bool {
	for _, a := range r.world.Stage.held() {
		if (a.role == podHandler || a.role == nodeHandler) && a.at.call != podEvent && a.at.call != nodeEvent {
			return false
		}
	}
	return true
}

// ends are how a pod can end that is bound: by its kubelet, or because its node is gone; or that waits: when its finalizers are removed.
func (r *recorder) ends(pod *v1.Pod, args map[string]any) []choice {
	remove := func() { must(r.world.Store.RemovePod(idOf(pod))) }
	switch {
	case pod.Spec.NodeName == "":
		if pod.DeletionTimestamp != nil && len(pod.Finalizers) > 0 {
			return []choice{{4, Turn{Do: "finalizer_owners.release", Args: args}, "", remove}}
		}
	case r.world.Store.Node(pod.Spec.NodeName) != nil:
		if pod.DeletionTimestamp != nil {
			return []choice{{4, Turn{Do: "kubelet.finish_termination", Args: args}, "", remove}}
		}
	case r.free.PodGC:
		return []choice{{2, Turn{Do: "pod_gc.collect", Args: args}, "", remove}}
	}
	return nil
}

func must(err error) {
	if err != nil {
		panic(err)
	}
}
