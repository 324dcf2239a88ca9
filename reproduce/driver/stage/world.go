package podrace

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"reflect"
	"slices"
	"syscall"
	"time"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes/fake"
	"k8s.io/client-go/kubernetes/scheme"
	clientgotesting "k8s.io/client-go/testing"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/tools/events"
	"k8s.io/kubernetes/pkg/scheduler"
	schedulerapi "k8s.io/kubernetes/pkg/scheduler/apis/config"
	"k8s.io/kubernetes/pkg/scheduler/profile"
)

const (
	parallelism = 16 // at least as many as nodes: each node is filtered, and tried for preemption, in a goroutine of its own
	never       = 10000 * time.Hour
	moment      = time.Millisecond
	lead        = 30 * time.Second // from when the queue's timers begin to when the first step's time does
)

func init() {
	signal.Notify(make(chan os.Signal, 1), syscall.SIGUSR2) // the goroutine of os/signal must not be born in a bubble
	utilruntime.ErrorHandlers = nil                         // one of them waits for wall-clock time: a bubble begins in the year 2000
}

// World is a cluster with a real scheduler, in a bubble of fake time.
type World struct {
	Case    *Case
	Stage   *Stage
	Store   *Store
	answers *answers
	budgets *keptBudgets
	doomed  map[string]bool   // nodes that the autoscaler is about to take away
	cleared map[string]bool   // those of them that it has looked at once more
	drained map[string]bool   // those of them whose pods it moves
	listed  map[string]bool   // pods that it is to evict
	foreign map[string]string // pod of another scheduler -> the node that it has found
	before  map[string]bool   // feature gates as they were before the case

	runs      map[string]string // pod -> the node whose kubelet is not done with it
	rejected  map[string]bool   // pods that a kubelet has rejected
	claims    []runtime.Object  // ResourceClaims, also those that are created on the way
	withdrawn map[string]bool   // devices that no driver publishes now
	tainted   map[string]bool   // those that got a taint
	storage   []runtime.Object  // StorageClasses, PersistentVolumes and their claims, as well
	told      map[string]int    // of a kind of these, how many events the scheduler's assume cache has been given
	extenders []*keptExtender
	groups    *podGroups
	decided   *decisions
	listing   map[string]cache.Store // of groups, by kind: what the listers have

	panics    bool // the trace has a scheduler panic next
	exited    bool // a scheduler has ended its process
	*instance      // the one that has the lease
}

// instance is one scheduler process.
type instance struct {
	Sched     *scheduler.Scheduler
	RealQueue queueInterface // behind the wrappers
	RealCache cacheInterface
	Waiting   frameworkInterface
	Informers *gatedInformers
	others    clientgotesting.ObjectTracker // the objects that are the client's own
	tracker   reflect.Value                 // of claims, behind the wrapper
	specials  specials
	shown     func() (map[string]bool, error) // the devices of the ResourceSlices that its informer has, and whether each is tainted
	kept      reflect.Value                   // allocated devices, for a call that has read them
	volumes   reflect.Value                   // the binder of VolumeBinding, as well

	stage   *Stage
	gate    *gate
	cancel  context.CancelFunc
	dead    bool
	cycle   cycle             // what the points have told of the scheduling cycle
	memory  memory            // what was seen of it before
	failing map[string]*actor // pod -> in which goroutine its failure handler runs

	evictsForPopped bool // and not for the pod that preemption has read again by its name; from 1.37 on
}

func (i *instance) isDead() bool {
	i.stage.mu.Lock()
	defer i.stage.mu.Unlock()
	return i.dead
}

// newWorld starts a scheduler on the cluster of a case. When it returns, everybody stands at the first point.
func newWorld(c *Case) (_ *World, err error) {
	w := &World{
		Case: c, Stage: newStage(), Store: newStore(), answers: newAnswers(c.Points), decided: newDecisions(c.Points), budgets: newBudgets(c),
		withdrawn: setOf(c.AbsentDevices), tainted: map[string]bool{},
		doomed: map[string]bool{}, cleared: map[string]bool{}, drained: map[string]bool{}, listed: map[string]bool{}, foreign: map[string]string{}, runs: map[string]string{}, rejected: map[string]bool{},
	}
	for _, pod := range c.Pods {
		if pod.Spec.NodeName != "" {
			w.runs[idOf(pod)] = pod.Spec.NodeName
		}
	}
	w.mayEnd()
	w.extenders = newExtenders(w)
	c.nameThem()
	w.Store.names = c.names
	w.Store.holdBound(c)
	c.numberVersions()
	c.numberPodVersions()
	for _, n := range c.Nodes {
		if !contains(c.AbsentNodes, n.Name) {
			w.Store.Create(n)
		}
	}
	for _, p := range w.initialPods() {
		w.Store.Create(p)
	}
	if err := w.createClaims(); err != nil {
		return nil, err
	}
	if err := w.createStorage(); err != nil {
		return nil, err
	}
	if w.groups, err = newPodGroups(c); err != nil {
		return nil, err
	}
	ran := time.Now().Add(lead / 2).Truncate(time.Second)
	if err := w.setGates(); err != nil {
		return nil, err
	}
	if err := w.start(ran); err != nil {
		w.resetGates()
		return nil, err
	}
	for n, p := range c.Pods {
		w.Store.rank[idOf(p)] = n
	}
	for n, o := range c.Nodes {
		w.Store.rank[idOf(o)] = n
	}
	time.Sleep(time.Until(ran.Add(lead)))
	settle()
	return w, nil
}

// createClaims creates the claims that are there at the start.
func (w *World) createClaims() error {
	if len(w.Case.Claims) > 0 && claimPart.gate == nil {
		return errors.New("this version has no resource.k8s.io/v1")
	}
	claims, err := decoded(w.Case.Claims)
	for _, o := range claims {
		if !contains(w.Case.AbsentClaims, idOf(o.(metav1.Object))) {
			w.Store.Create(o)
		}
	}
	w.claims = claims
	return err
}

// createStorage creates the volumes and the claims of volumes that are there at the start.
func (w *World) createStorage() (err error) {
	w.storage, err = decoded(w.Case.Storage)
	for _, o := range w.storage {
		if kind, _, _ := storageKind(o); kind != "" && !contains(w.Case.AbsentStorage, idOf(o.(metav1.Object))) {
			w.Store.Create(o)
		}
	}
	return err
}

// initialPods are the pods that are there at the start: those that wait come last, in the order of the case.
func (w *World) initialPods() (pods []*v1.Pod) {
	byID := map[string]*v1.Pod{}
	for _, p := range w.Case.Pods {
		byID[idOf(p)] = p
		if !contains(w.Case.AbsentPods, idOf(p)) && !contains(w.Case.Order, idOf(p)) {
			pods = append(pods, p)
		}
	}
	for _, name := range w.Case.Order {
		if p := byID[name]; p != nil {
			pods = append(pods, p)
		}
	}
	return pods
}

func setOf(names []string) map[string]bool {
	found := map[string]bool{}
	for _, name := range names {
		found[name] = true
	}
	return found
}

func contains(names []string, name string) bool {
	for _, n := range names {
		if n == name {
			return true
		}
	}
	return false
}

// start starts a scheduler process on what the store has; it begins to schedule then, or as soon as its handlers have had all.
func (w *World) start(then time.Time) error {
	ctx, cancel := context.WithCancel(context.Background())
	i := &instance{cancel: cancel, stage: w.Stage, failing: map[string]*actor{}}
	g := &gate{stage: w.Stage, owner: i, grouped: w.Case.grouped(), leaders: w.Case.leaders(), claimed: len(w.claims)+len(w.storage) > 0, panics: &w.panics}
	i.gate = g
	i.specials.learn(w.claims)
	w.instance = i

	objects := make([]runtime.Object, 0, len(w.budgets.objects))
	for _, b := range w.budgets.shown {
		objects = append(objects, b.DeepCopy())
	}
	devices, err := decoded(w.Case.Devices)
	if err != nil {
		return err
	}
	if claimPart.admit != nil {
		claimPart.admit(devices)
		devices = claimPart.published(w, devices)
	}
	services, err := decoded(w.Case.Services)
	if err != nil {
		return err
	}
	objects = slices.Concat(objects, w.groups.present(), devices, services)
	for _, n := range w.Case.Namespaces {
		objects = append(objects, n)
	}
	for _, o := range w.storage {
		if kind, _, _ := storageKind(o); kind == "" {
			objects = append(objects, o)
		}
	}
	own := fake.NewSimpleClientset(objects...)
	i.others = own.Tracker()
	clientset := &client{own, w.Store, g}
	w.budgets.clients = clientset.Interface
	i.Informers = &gatedInformers{SharedInformerFactory: informerFactory(clientset), gate: g, handlers: map[string]int{}}
	for _, b := range w.Case.Budgets {
		i.Informers.budgets = append(i.Informers.budgets, b.Name)
	}
	i.Informers.passes = w.Store.IsBeyond
	i.Informers.drops = func(version string) bool {
		return w.Case.Drops && w.Store.IsBeyond(version) && !(w.Case.tellsOfTargets() && w.Store.IsTarget(version))
	}
	options, err := w.options()
	if err != nil {
		return err
	}
	sched, err := scheduler.New(ctx, clientset, i.Informers, nil, recorders(), options...)
	if err != nil {
		return err
	}
	i.Sched, i.RealQueue, i.RealCache = sched, sched.SchedulingQueue, sched.Cache
	i.askGatesFirst()
	w.decided.listen(i)
	if err := i.wrap(g, w.answers); err != nil {
		return err
	}
	g.managed = len(g.grouped) > 0 && managerOf(sched).IsValid()
	if w.listing, err = w.groups.storesOf(i.Informers); err != nil {
		return err
	}
	if err := i.connect(w.extenders, g); err != nil {
		return err
	}
	if len(w.storage) > 0 {
		if err := i.gateVolumes(g, w.answers); err != nil {
			return err
		}
	}
	w.Stage.Hold(false)
	i.Informers.starting.Store(true)
	if len(w.claims) > 0 {
		if err := claimPart.gate(ctx, w, g); err != nil {
			return err
		}
	}
	i.Informers.Start(ctx.Done())
	i.Informers.WaitForCacheSync(ctx.Done())
	if err := sched.WaitForHandlersSync(ctx); err != nil {
		return err
	}
	settle()
	i.Informers.starting.Store(false)
	w.told = map[string]int{volumeKind: w.Store.delivered(volumeKind), volumeClaimKind: w.Store.delivered(volumeClaimKind)}
	w.Stage.Hold(true)
	time.Sleep(time.Until(then))
	go sched.Run(ctx)
	settle()
	return nil
}

// informerFactory is NewInformerFactory, which is also given a name for metrics from 1.37 on: none here.
func informerFactory(clientset *client) informers.SharedInformerFactory {
	made := reflect.ValueOf(scheduler.NewInformerFactory)
	arguments := []reflect.Value{reflect.ValueOf(clientset), reflect.ValueOf(never)}
	for i := len(arguments); i < made.Type().NumIn(); i++ {
		arguments = append(arguments, reflect.Zero(made.Type().In(i)))
	}
	return made.Call(arguments)[0].Interface().(informers.SharedInformerFactory)
}

// wrap puts gates where the scheduler calls its parts.
func (i *instance) wrap(g *gate, a *answers) error {
	sched := i.Sched
	queue := &gatedQueue{i.RealQueue, g}
	sched.SchedulingQueue = queue
	sched.Cache = &gatedCache{i.RealCache, g}
	if own := path(sched, "algorithm", "cache"); own.IsValid() { // from 1.38 on the algorithm has a pointer of its own
		own.Set(reflect.ValueOf(sched.Cache))
	}
	for _, name := range []string{"NextPod", "FailureHandler"} {
		f := path(sched, name)
		if !f.IsValid() {
			f = path(sched, "NextEntity") // NextPod from 1.37 on
			i.evictsForPopped = true
		}
		f.Set(around(f, func(in []any) func([]any) {
			c := g.enter(name, in...)
			return func(out []any) { c.leave(out...) }
		}))
	}
	if err := i.gateDispatcher(g); err != nil {
		return err
	}
	for name, f := range sched.Profiles {
		i.Waiting = f
		if err := i.gateCacher(f); err != nil {
			return err
		}
		for _, part := range []string{"PodNominator", "PodActivator"} {
			v := path(f, part)
			if !v.IsValid() {
				if part == "PodActivator" {
					continue // plugins activate pods since 1.32
				}
				return fmt.Errorf("frameworkImpl has no field %s", part)
			}
			v.Set(reflect.ValueOf(queue))
		}
		extenders := path(f, "extenders")
		if !extenders.IsValid() {
			return fmt.Errorf("frameworkImpl has no field extenders")
		}
		extenders.Set(reflect.Append(extenders, reflect.ValueOf(&caseExtender{a, g})))
		if err := gatePreemption(f, g); err != nil {
			return err
		}
		sched.Profiles[name] = &gatedFramework{f, g}
	}
	return nil
}

// reservePlugin is the plugin of that name; nil if there is none.
func (i *instance) reservePlugin(name string) any {
	plugins := path(i.Waiting, "reservePlugins")
	for n := range lengthOf(plugins) {
		plugin := plugins.Index(n).Interface()
		if named, is := plugin.(interface{ Name() string }); is && named.Name() == name {
			return plugin
		}
	}
	return nil
}

// gatePreemption gates the function that evicts one victim, wherever the version has it. Before 1.32 there is none: then the look whether
// the victim waits for permission is gated, with which an eviction begins.
func gatePreemption(f frameworkInterface, g *gate) error {
	plugins := path(f, "postFilterPlugins")
	if !plugins.IsValid() {
		return fmt.Errorf("frameworkImpl has no field postFilterPlugins")
	}
	for n := 0; n < plugins.Len(); n++ {
		gated := false
		for _, holder := range []string{"Executor", "Evaluator"} {
			evict := path(plugins.Index(n).Interface(), holder, "PreemptPod")
			if !evict.IsValid() {
				continue
			}
			evict.Set(around(evict, func(in []any) func([]any) {
				var victim *v1.Pod // the last pod among the arguments
				for _, a := range in {
					if p, ok := a.(*v1.Pod); ok {
						victim = p
					}
				}
				c := g.enter("PreemptPod", victim)
				return func(out []any) { c.leave(out...) }
			}))
			gated = true
			break
		}
		if h := path(plugins.Index(n).Interface(), "Evaluator", "Handler"); h.IsValid() && !gated {
			h.Set(reflect.ValueOf(&gatedHandle{h.Interface().(handle), g}))
		}
	}
	return nil
}

// decoded are objects of whatever kinds this version has; one that it does not have is an error.
func decoded(written []json.RawMessage) (objects []runtime.Object, err error) {
	for _, text := range written {
		o, _, err := scheme.Codecs.UniversalDeserializer().Decode(text, nil, nil)
		if err != nil {
			return nil, err
		}
		objects = append(objects, o)
	}
	return objects, nil
}

func (w *World) options() ([]scheduler.Option, error) {
	p, err := own.profile()
	if err != nil {
		return nil, err
	}
	registry := own.registryOf(w.instance)
	registry[pluginName] = func(context.Context, runtime.Object, handle) (plugin, error) { return &casePlugin{w.answers}, nil }
	p.Plugins.MultiPoint.Enabled = append(p.Plugins.MultiPoint.Enabled, schedulerapi.Plugin{Name: pluginName, Weight: 1})
	if err := w.Case.setScores(p); err != nil {
		return nil, err
	}
	options := []scheduler.Option{
		scheduler.WithProfiles(*p),
		scheduler.WithParallelism(parallelism),
		scheduler.WithFrameworkOutOfTreeRegistry(registry),
	}
	var extenders []schedulerapi.Extender
	for _, x := range w.extenders {
		extenders = append(extenders, x.configuration())
	}
	options = append(options, scheduler.WithExtenders(extenders...))
	if w.Case.Backoff != nil && !*w.Case.Backoff {
		options = append(options, scheduler.WithPodInitialBackoffSeconds(0), scheduler.WithPodMaxBackoffSeconds(0))
	}
	return options, nil
}

// recorders makes the factory of event recorders, whose result has changed its type.
func recorders() profile.RecorderFactory {
	t := reflect.TypeOf(profile.RecorderFactory(nil))
	return reflect.MakeFunc(t, func([]reflect.Value) []reflect.Value {
		return []reflect.Value{reflect.ValueOf(&events.FakeRecorder{}).Convert(t.Out(0))}
	}).Interface().(profile.RecorderFactory)
}

// close ends everybody.
func (w *World) close() {
	defer w.resetGates()
	w.end(w.instance)
	w.Stage.Hold(false)
	time.Sleep(time.Minute)
	settle()
}

// end ends a process. What it has under way goes on without effect.
func (w *World) end(i *instance) {
	i.cancel()
	w.Stage.abandon(i)
	settle()
	w.Store.mu.Lock()
	w.Store.letList(podKind, true)
	w.Store.letList(nodeKind, true)
	w.Store.mu.Unlock()
	for _, p := range w.Case.Pods {
		if waiting := i.Waiting.GetWaitingPod(w.Store.uid(idOf(p))); waiting != nil {
			waiting.Reject(pluginName, "the end")
		}
	}
	settle()
}
