package podrace

import (
	"encoding/json"
	"fmt"
	"reflect"
	"strconv"
	"sync"
	"time"

	"k8s.io/api/core/v1"
	policy "k8s.io/api/policy/v1beta1"
	"k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/watch"
)

// relisting is how long it may take an informer to list again. It does so after a second.
const relisting = 5 * time.Second

// budget is a disruption budget, in the version that the scheduler reads.
type budget = policy.PodDisruptionBudget

// kind is what a watch is about.
type kind string

const (
	pods    kind = "pods"
	nodes   kind = "nodes"
	budgets kind = "poddisruptionbudgets"
)

// cluster is the API server: its objects, and for each kind the events that the watch has not delivered yet. An event is delivered when
// the player says so.
type cluster struct {
	mu      sync.Mutex
	version int
	objects map[kind]map[string]runtime.Object
	pending map[kind][]watch.Event
	log     map[kind][]watch.Event // all events that there ever were
	watches map[kind]*watch.RaceFreeFakeWatcher
	beyond  map[string]bool           // versions of objects that came of writes which the model does not have
	lists   map[kind][]runtime.Object // what will be listed next, if that is not what there is now
	freely  bool                      // events are delivered as soon as they are there
	orders  map[string]outcome        // what becomes of the next call, by its name and its pod
}

// outcome is what becomes of an API call.
type outcome string

const (
	succeeds outcome = "OK"
	fails    outcome = "FAILED" // nothing is written
	isLost   outcome = "LOST"   // it is written, and the reply never comes
)

func newCluster() *cluster {
	c := &cluster{orders: map[string]outcome{}, watches: map[kind]*watch.RaceFreeFakeWatcher{}}
	c.objects = map[kind]map[string]runtime.Object{pods: {}, nodes: {}, budgets: {}}
	c.beyond, c.log = map[string]bool{}, map[kind][]watch.Event{}
	c.pending, c.lists = map[kind][]watch.Event{}, map[kind][]runtime.Object{}
	return c
}

// order says what becomes of the next call of that name for that pod.
func (c *cluster) order(call, pod string, what outcome) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.orders[call+" "+pod] = what
}

// ordered is asked by the call itself, with the lock held.
func (c *cluster) ordered(call, pod string) outcome {
	key := call + " " + pod
	what := c.orders[key]
	delete(c.orders, key)
	return what
}

var errNoReply = errors.NewTimeoutError("the reply is lost", 1)

var errRefused = errors.NewInternalError(fmt.Errorf("the call fails"))

// put writes an object, and has the watch tell of it.
func (c *cluster) put(k kind, event watch.EventType, object runtime.Object) {
	c.version++
	meta := object.(metav1.Object)
	meta.SetResourceVersion(strconv.Itoa(c.version))
	if event == watch.Deleted {
		delete(c.objects[k], meta.GetName())
	} else {
		c.objects[k][meta.GetName()] = object
	}
	told := watch.Event{Type: event, Object: object.DeepCopyObject()}
	c.pending[k], c.log[k] = append(c.pending[k], told), append(c.log[k], told)
	if c.freely {
		c.flush(k)
	}
}

// flush delivers all events of a kind.
func (c *cluster) flush(k kind) {
	for _, event := range c.pending[k] {
		c.watches[k].Action(event.Type, event.Object)
	}
	c.pending[k] = nil
}

// Free has all events delivered as soon as they are there, from now on.
func (c *cluster) Free() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.freely = true
	for _, k := range []kind{pods, nodes} {
		c.flush(k)
	}
}

// Create writes a new object.
func (c *cluster) Create(k kind, object runtime.Object) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.put(k, watch.Added, object.DeepCopyObject())
}

// Pod gives a pod as the API server has it; nil for none.
func (c *cluster) Pod(name string) *v1.Pod {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.pod(name)
}

func (c *cluster) pod(name string) *v1.Pod {
	if p, there := c.objects[pods][name]; there {
		return p.(*v1.Pod).DeepCopy()
	}
	return nil
}

// Node gives a node as the API server has it; nil for none.
func (c *cluster) Node(name string) *v1.Node {
	c.mu.Lock()
	defer c.mu.Unlock()
	if n, there := c.objects[nodes][name]; there {
		return n.(*v1.Node).DeepCopy()
	}
	return nil
}

func notFound(k kind, name string) error {
	return errors.NewNotFound(schema.GroupResource{Resource: string(k)}, name)
}

func conflict(name, why string) error {
	return errors.NewConflict(schema.GroupResource{Resource: string(pods)}, name, fmt.Errorf("%s", why))
}

// UpdateStatus takes over the status only, and only from an object of the current version; what changes nothing makes no event.
func (c *cluster) UpdateStatus(sent *v1.Pod) (*v1.Pod, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	order := c.ordered("UpdateStatus", sent.Name)
	if order == fails {
		return nil, errRefused
	}
	now := c.pod(sent.Name)
	if now == nil || now.UID != sent.UID {
		return nil, notFound(pods, sent.Name)
	}
	if sent.ResourceVersion != now.ResourceVersion {
		return nil, conflict(sent.Name, "the object has been modified")
	}
	before := now.Status
	now.Status = *sent.Status.DeepCopy()
	if !same(before, now.Status) {
		was := &v1.Pod{Status: before}
		told := isUnschedulable(was) != isUnschedulable(now) || before.NominatedNodeName != now.Status.NominatedNodeName
		c.put(pods, watch.Modified, now)
		c.beyond[now.ResourceVersion] = !told
	}
	if order == isLost {
		return nil, errNoReply
	}
	return now.DeepCopy(), nil
}

// same compares as the API server's storage does: what is written in the same way is the same.
func same(a, b v1.PodStatus) bool {
	x, _ := json.Marshal(a)
	y, _ := json.Marshal(b)
	return reflect.DeepEqual(x, y)
}

// Bind sets the node of a pod that has none and is not being deleted.
func (c *cluster) Bind(b *v1.Binding) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	order := c.ordered("Bind", b.Name)
	if order == fails {
		return errRefused
	}
	now := c.pod(b.Name)
	switch {
	case now == nil:
		return notFound(pods, b.Name)
	case now.DeletionTimestamp != nil:
		return conflict(b.Name, "the pod is being deleted")
	case now.Spec.NodeName != "":
		return conflict(b.Name, "the pod is assigned already")
	}
	now.Spec.NodeName = b.Target.Name
	setScheduled(now)
	c.put(pods, watch.Modified, now)
	if order == isLost {
		return errNoReply
	}
	return nil
}

func setScheduled(p *v1.Pod) {
	is := v1.PodCondition{Type: v1.PodScheduled, Status: v1.ConditionTrue}
	for i, c := range p.Status.Conditions {
		if c.Type == v1.PodScheduled {
			p.Status.Conditions[i] = is
			return
		}
	}
	p.Status.Conditions = append(p.Status.Conditions, is)
}

// Delete removes a pod at once if it has no node or no grace period; otherwise it is terminating from now on.
func (c *cluster) Delete(name string) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.ordered("Delete", name) == fails {
		return errRefused
	}
	now := c.pod(name)
	if now == nil {
		return notFound(pods, name)
	}
	grace := now.Spec.TerminationGracePeriodSeconds
	waits := now.Spec.NodeName == ""
	if waits && len(now.Finalizers) == 0 || !waits && (grace == nil || *grace == 0) {
		c.put(pods, watch.Deleted, now)
		return nil
	}
	if now.DeletionTimestamp == nil {
		now.DeletionTimestamp = &metav1.Time{Time: time.Now()}
		now.DeletionGracePeriodSeconds = grace
		c.put(pods, watch.Modified, now)
	}
	return nil
}

// Remove takes an object away, whatever it is doing.
func (c *cluster) Remove(k kind, name string) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	object, there := c.objects[k][name]
	if !there {
		return notFound(k, name)
	}
	c.put(k, watch.Deleted, object.DeepCopyObject())
	return nil
}

// Heartbeat has a node's kubelet report that nothing has changed. The event comes before those that wait for delivery.
func (c *cluster) Heartbeat(name string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	now, there := c.objects[nodes][name].(*v1.Node)
	if !there {
		return
	}
	c.version++
	now.ResourceVersion = strconv.Itoa(c.version)
	for i := range now.Status.Conditions {
		now.Status.Conditions[i].LastHeartbeatTime = metav1.Now()
	}
	c.pending[nodes] = append([]watch.Event{{Type: watch.Modified, Object: now.DeepCopy()}}, c.pending[nodes]...)
}

// List gives all objects of a kind; what was written before needs no event any more.
func (c *cluster) List(k kind) []runtime.Object {
	c.mu.Lock()
	defer c.mu.Unlock()
	if known, is := c.lists[k]; is {
		delete(c.lists, k)
		return known
	}
	c.pending[k] = nil
	return c.all(k)
}

func (c *cluster) all(k kind) []runtime.Object {
	all := make([]runtime.Object, 0, len(c.objects[k]))
	for _, name := range sorted(c.objects[k]) {
		all = append(all, c.objects[k][name].DeepCopyObject())
	}
	return all
}

// Watch is what the informer of a kind listens to from now on.
func (c *cluster) Watch(k kind) watch.Interface {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.watches[k] = watch.NewRaceFreeFake()
	return c.watches[k]
}

// Watched is whether an informer of that kind listens.
func (c *cluster) Watched(k kind) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.watches[k] != nil
}

// Deliver gives the next event of a kind to the informer; none if all are delivered.
func (c *cluster) Deliver(k kind) (watch.Event, bool) {
	c.mu.Lock()
	if len(c.pending[k]) == 0 {
		c.mu.Unlock()
		return watch.Event{}, false
	}
	event, out := c.pending[k][0], c.watches[k]
	c.pending[k] = c.pending[k][1:]
	if event.Type == watch.Error {
		c.watches[k] = nil
	}
	c.mu.Unlock()
	stir()
	out.Action(event.Type, event.Object)
	for begun := time.Now(); !c.Watched(k) && time.Since(begun) < relisting; time.Sleep(10 * time.Millisecond) {
		stir()
	}
	return event, true
}

// IsBeyond is whether a version of an object came of a write that the model does not have.
func (c *cluster) IsBeyond(version string) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.beyond[version]
}

// Interrupt ends the watch of a kind: what it has not delivered is lost, and the informer will list what there is now.
func (c *cluster) Interrupt(k kind) {
	c.mu.Lock()
	defer c.mu.Unlock()
	gone := errors.NewGone("too old resource version")
	c.pending[k] = []watch.Event{{Type: watch.Error, Object: &gone.ErrStatus}}
	c.lists[k] = c.all(k)
}

// StandBy has the next list of a kind know all events but the last so many of those that the model has; the watch after it tells these.
func (c *cluster) StandBy(k kind, unknown int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	end := len(c.log[k])
	for ; end > 0 && unknown > 0; end-- {
		if !c.beyond[versionOf(c.log[k][end-1].Object)] {
			unknown--
		}
	}
	known := map[string]runtime.Object{}
	for _, event := range c.log[k][:end] {
		if delete(known, nameOf(event.Object)); event.Type != watch.Deleted {
			known[nameOf(event.Object)] = event.Object
		}
	}
	c.lists[k] = nil
	for _, name := range sorted(known) {
		c.lists[k] = append(c.lists[k], known[name].DeepCopyObject())
	}
	c.pending[k] = append([]watch.Event{}, c.log[k][end:]...)
}
