package podrace

import (
	"encoding/json"
	"fmt"
	"maps"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	v1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
)

// Cluster is what a test begins with.
type Cluster struct {
	Nodes   []*v1.Node
	Pods    []*v1.Pod // with a node: they run there; without one: they wait in the scheduling queue
	Budgets []policyv1.PodDisruptionBudget
	Groups  []group // of pods

	NodeVersions       map[string]*v1.Node // what the objects of nodes are updated to, such as "n1.cordoned"
	PodVersions        map[string]*v1.Pod  // what the objects of pods are updated to, such as "p.larger"
	CreatedLater       []string            // pods that are not there at the start
	NodesCreatedLater  []string            // nodes that are not there at the start
	GroupsCreatedLater []string            // groups that are not there at the start
	Order              []string            // in which the pods that wait come to the queue
	Plugins            map[string][]string // pod -> where a plugin out of tree has work for it, such as PRE_BIND
	Gates              map[string]bool     // feature gates that are not as this version has them
	NoBackoff          bool                // podInitialBackoffSeconds and podMaxBackoffSeconds are 0
	Model              map[string]any      // what podrace's model has at the start of the variables that LeadsTo changes, and that say which pods are of groups
}

// group is a group of pods in the kinds of several releases; the first that this version knows is taken.
type group = []json.RawMessage

// Moves are what the actors of a cluster do, one after the other. They are made when the test comes to what it expects.
type Moves struct {
	t      *testing.T
	script *Case
	lines  []string // where in the test each move is
	world  *World
	wait   time.Duration
	model  map[string]any // what is known of podrace's model
	ended  bool           // at a move that the code does not make
}

// run runs a test in a bubble of fake time.
func run(t *testing.T, cluster Cluster, test func(*Moves)) {
	t.Helper()
	setGates(t, cluster.Gates)
	defer watchdog(60, hangs(t.Name()))()
	synctest.Test(t, func(t *testing.T) {
		c := &Moves{t: t, model: cluster.Model, script: &Case{
			ID: t.Name(), Nodes: cluster.Nodes, Pods: cluster.Pods, Budgets: cluster.Budgets, AbsentNodes: cluster.NodesCreatedLater, NodeVersions: cluster.NodeVersions,
			PodVersions: cluster.PodVersions,
			Groups:      cluster.Groups, AbsentGroups: cluster.GroupsCreatedLater,
			AbsentPods: cluster.CreatedLater, Order: cluster.order(), Points: cluster.Plugins, Gates: cluster.Gates,
		}}
		backoff := !cluster.NoBackoff
		c.script.Backoff = &backoff
		c.script.Initial = map[string]any{} // which variables of podrace's model are looked at
		maps.Copy(c.script.Initial, cluster.Model)
		for _, p := range cluster.Pods {
			for _, variable := range []string{"queue.sub_queue[%s]", "queue.in_flight[%s]", "cache.pod[%s].node", "cache.pod[%s].assumed", "nominator.node[%s]"} {
				c.script.Initial[fmt.Sprintf(variable, idOf(p))] = nil
			}
			if p.Spec.SchedulerName == "" {
				p.Spec.SchedulerName = v1.DefaultSchedulerName
			}
			if p.Spec.Priority == nil {
				p.Spec.Priority = new(int32)
			}
		}
		test(c)
		if c.world == nil {
			t.Fatal("the test expects nothing")
		}
		c.world.close()
	})
}

func setGates(t *testing.T, gates map[string]bool) {
	for gate, on := range gates {
		t.Setenv("KUBE_FEATURE_"+gate, fmt.Sprint(on))
	}
}

func (c Cluster) order() []string {
	if c.Order != nil {
		return c.Order
	}
	var waiting []string
	for _, p := range c.Pods {
		if p.Spec.NodeName == "" && !contains(c.CreatedLater, idOf(p)) {
			waiting = append(waiting, idOf(p))
		}
	}
	return waiting
}

// fromJSON is an object for which there is no wrapper.
func fromJSON[T any](text string) *T {
	o := new(T)
	if err := json.Unmarshal([]byte(text), o); err != nil {
		panic(err)
	}
	return o
}

// Wait lets fake time pass before the next move.
func (c *Moves) Wait(d time.Duration) { c.wait += d }

func (c *Moves) move(name string, arguments ...any) {
	s := Step{Step: name, Actor: "the actor", Args: map[string]any{}, WaitMS: int(c.wait / time.Millisecond)}
	for n := 0; n+1 < len(arguments); n += 2 {
		s.Args[arguments[n].(string)] = arguments[n+1]
	}
	c.wait = 0
	c.script.Steps = append(c.script.Steps, s)
	c.lines = append(c.lines, caller())
}

// LeadsTo says what podrace's model has after the last move, where the driver goes by it: names of variables and values in turn.
func (c *Moves) LeadsTo(values ...any) {
	last := &c.script.Steps[len(c.script.Steps)-1]
	last.Changes = map[string]any{}
	for n := 0; n+1 < len(values); n += 2 {
		last.Changes[values[n].(string)] = values[n+1]
	}
}

// caller is the line of the test that is being run.
func caller() string {
	for n := 1; ; n++ {
		_, file, line, ok := runtime.Caller(n)
		if !ok || strings.HasSuffix(file, "_test.go") {
			return fmt.Sprintf("%s:%d", filepath.Base(file), line)
		}
	}
}

// play makes the moves. One that the code does not make any more ends the run: the rest of the test is left out, and what is expected must hold.
func (c *Moves) play() *World {
	c.t.Helper()
	if c.world != nil {
		return c.world
	}
	w, err := newWorld(c.script)
	if err != nil {
		c.t.Fatal(err)
	}
	c.world = w
	p := &player{world: w, model: map[string]any{}, due: time.Now()}
	maps.Copy(p.model, c.model)
	for n, s := range c.script.Steps {
		for variable, value := range foreseen(c.script, n) {
			if _, said := c.model[variable]; !said {
				p.model[variable] = value
			}
		}
		maps.Copy(p.model, s.Changes)
		p.rest = c.script.Steps[n+1:]
		w.Store.keep(p, s)
		if err := p.force(s); err != nil {
			c.t.Logf("%s: this does not happen any more, so the run ends here: %v", c.lines[n], err)
			c.ended = true
			break
		}
	}
	settle()
	return w
}
