package podrace

import (
	"encoding/json"
	"fmt"
	"slices"
	"sort"
	"strconv"
	"sync"
	"time"

	v1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/strategicpatch"
	"k8s.io/apimachinery/pkg/watch"
)

// event is one of a watch, and what is said of it when it is passed over because the model has no such event.
type event struct {
	watch.Event
	name    string
	beyond  string
	version int
	missed  bool // the watch was interrupted before it

	expired  bool    // no event, but the end of the watch: a list follows
	outcomes []event // what it shows of those that were missed
}

// Store is a small API server for pods and nodes. Its watches deliver an event only on command.
type Store struct {
	mu       sync.Mutex
	version  int
	pods     map[string]*v1.Pod
	finished map[string]*v1.Pod
	nodes    map[string]*v1.Node
	log      map[string][]event
	sent     map[string]int // of the log of a kind, how many events the watch has delivered
	watches  map[string]*watch.RaceFreeFakeWatcher
	beyond   map[string]bool // resourceVersions that came of writes which the model does not have
	targets  map[string]bool // those of them that told of a pod that it is a victim: the condition DisruptionTarget is new
	faults   map[string]fault
	names    names
	auto     bool           // every event is delivered at once
	rank     map[string]int // the order in which objects are listed, if not that in which they were created
	keeps    bool           // the nomination of a pod outlives its Binding, and may be written after it
	from     map[string]int // kind -> how many events the next list knows of, if not all
	relisted bool           // the list has come that follows an expired watch
	listing  *listing       // that list, while it is not to be answered
	ahead    []string       // pods of which a list has shown more than one at once: their events are in the informer's store already
	notes    []string
}

// fault says what becomes of the next call of its kind about its pod.
type fault string

const (
	failed    fault = "failed"    // nothing is written, and the caller is told so
	lost      fault = "lost"      // it is written, and the reply is lost
	transient fault = "transient" // nothing is written, and it is worth while to try again
)

func newStore() *Store {
	return &Store{
		pods: map[string]*v1.Pod{}, nodes: map[string]*v1.Node{}, log: map[string][]event{}, sent: map[string]int{},
		watches: map[string]*watch.RaceFreeFakeWatcher{}, beyond: map[string]bool{}, targets: map[string]bool{}, faults: map[string]fault{},
		from: map[string]int{}, rank: map[string]int{},
	}
}

const (
	podKind  = "pods"
	nodeKind = "nodes"
)

func resource(kind string) schema.GroupResource { return schema.GroupResource{Resource: kind} }

// commit writes an object and appends an event to the watch of its kind. Objects that were given out never change.
func (s *Store) commit(kind string, what watch.EventType, o runtime.Object, beyond string) {
	s.version++
	m := o.(metav1.Object)
	m.SetResourceVersion(strconv.Itoa(s.version))
	switch t := o.(type) {
	case *v1.Pod:
		if what == watch.Deleted {
			delete(s.pods, idOf(t))
		} else {
			s.pods[idOf(t)] = t
		}
	case *v1.Node:
		if what == watch.Deleted {
			delete(s.nodes, t.Name)
		} else {
			s.nodes[t.Name] = t
		}
	}
	if beyond != "" {
		s.beyond[m.GetResourceVersion()] = true
	}
	s.log[kind] = append(s.log[kind], event{Event: watch.Event{Type: what, Object: o}, name: idOf(m), beyond: beyond, version: s.version})
	if s.auto {
		s.deliver(kind)
	}
}

// Create writes a new pod or node.
func (s *Store) Create(o runtime.Object) {
	s.mu.Lock()
	defer s.mu.Unlock()
	kind := podKind
	if _, ok := o.(*v1.Node); ok {
		kind = nodeKind
	}
	s.commit(kind, watch.Added, o.DeepCopyObject(), "")
}

// DeleteNode removes a node; its pods stay.
func (s *Store) DeleteNode(name string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	n := s.nodes[name]
	if n == nil {
		return apierrors.NewNotFound(resource(nodeKind), name)
	}
	s.commit(nodeKind, watch.Deleted, n.DeepCopy(), "")
	return nil
}

// UpdateNode is an UPDATE of a node's object.
func (s *Store) UpdateNode(n *v1.Node) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.nodes[n.Name] == nil {
		return apierrors.NewNotFound(resource(nodeKind), n.Name)
	}
	s.commit(nodeKind, watch.Modified, n.DeepCopy(), "")
	return nil
}

// holder is the pod that has a name: one that is there, or else one that has finished.
func (s *Store) holder(name string) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, p := range s.pods {
		if p.Name == name {
			return idOf(p)
		}
	}
	for _, p := range s.finished {
		if p.Name == name {
			return idOf(p)
		}
	}
	return name
}

// mustBe says that the UID is no other's than that of who has the name.
func (s *Store) mustBe(holder, uid string) error {
	if s.Pod(holder) == nil || holder == uid {
		return nil
	}
	return apierrors.NewConflict(resource(podKind), s.names.of(holder), fmt.Errorf("precondition failed: UID in precondition: %v, UID in object meta: %v", uid, holder))
}

// DeletePod is a DELETE of a pod: one that runs and has a grace period is terminating from now on, and so is a pending one that has
// finalizers; any other is gone.
func (s *Store) DeletePod(name string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	p := s.pods[name]
	if p == nil && s.finished[name] != nil {
		delete(s.finished, name) // at once, and no watch that selects by phase tells of it
		return nil
	}
	if p == nil {
		return apierrors.NewNotFound(resource(podKind), name)
	}
	grace, pending := p.Spec.TerminationGracePeriodSeconds, p.Spec.NodeName == ""
	if !pending && (grace == nil || *grace > 0) || pending && len(p.Finalizers) > 0 {
		if p.DeletionTimestamp == nil {
			q, now := p.DeepCopy(), metav1.Now()
			q.DeletionTimestamp, q.DeletionGracePeriodSeconds = &now, grace
			s.commit(podKind, watch.Modified, q, "")
		}
		return nil
	}
	s.commit(podKind, watch.Deleted, p.DeepCopy(), "")
	return nil
}

// wasDeleted says whether the pod was there, and is gone.
func (s *Store) wasDeleted(pod string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.ContainsFunc(s.log[podKind], func(e event) bool { return e.name == pod && e.Type == watch.Deleted })
}

// RemovePod takes a pod away, as a kubelet does whose containers have stopped.
func (s *Store) RemovePod(name string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	p := s.pods[name]
	if p == nil {
		return apierrors.NewNotFound(resource(podKind), name)
	}
	s.commit(podKind, watch.Deleted, p.DeepCopy(), "")
	return nil
}

// FinishPod has a pod succeed: the scheduler's watch, which selects by phase, tells of a deletion, and the object stays.
func (s *Store) FinishPod(name string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	p := s.pods[name]
	if p == nil {
		return apierrors.NewNotFound(resource(podKind), name)
	}
	s.commit(podKind, watch.Deleted, p.DeepCopy(), "")
	if s.finished == nil {
		s.finished = map[string]*v1.Pod{}
	}
	q := p.DeepCopy()
	q.Status.Phase = v1.PodSucceeded
	s.finished[name] = q
	return nil
}

// OpenGates takes the scheduling gates of a pod away.
func (s *Store) OpenGates(name string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	p := s.pods[name]
	if p == nil {
		return apierrors.NewNotFound(resource(podKind), name)
	}
	q := p.DeepCopy()
	q.Spec.SchedulingGates = nil
	s.commit(podKind, watch.Modified, q, "")
	return nil
}

// Bind is a Binding: it sets the node and PodScheduled=True, and clears the nomination.
func (s *Store) Bind(pod, node string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	p, name := s.pods[pod], s.names.of(pod)
	switch {
	case p == nil:
		return apierrors.NewNotFound(resource(podKind), name)
	case p.Spec.NodeName != "":
		return apierrors.NewConflict(resource("pods/binding"), name, fmt.Errorf("pod %s is already assigned to node %q", name, p.Spec.NodeName))
	case p.DeletionTimestamp != nil:
		return apierrors.NewConflict(resource("pods/binding"), name, fmt.Errorf("pod %s is being deleted, cannot be assigned to a host", name))
	case len(p.Spec.SchedulingGates) > 0:
		return apierrors.NewConflict(resource("pods/binding"), name, fmt.Errorf("pod %s has non-empty .spec.schedulingGates", name))
	}
	q := p.DeepCopy()
	q.Spec.NodeName = node
	if !s.keeps {
		q.Status.NominatedNodeName = ""
	}
	var conditions []v1.PodCondition
	for _, c := range q.Status.Conditions {
		if c.Type != v1.PodScheduled {
			conditions = append(conditions, c)
		}
	}
	q.Status.Conditions = append(conditions, v1.PodCondition{Type: v1.PodScheduled, Status: v1.ConditionTrue})
	s.commit(podKind, watch.Modified, q, "")
	return nil
}

// Patch is a PATCH of a pod's status.
func (s *Store) Patch(pod string, kind types.PatchType, patch []byte) (*v1.Pod, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	p, name := s.pods[pod], s.names.of(pod)
	if p == nil && s.finished[pod] != nil {
		return s.finished[pod].DeepCopy(), nil // its condition is nobody's business
	}
	if p == nil {
		return nil, apierrors.NewNotFound(resource(podKind), name)
	}
	if kind != types.StrategicMergePatchType {
		return nil, apierrors.NewBadRequest("unexpected kind of patch " + string(kind))
	}
	old, err := json.Marshal(p)
	if err != nil {
		return nil, err
	}
	merged, err := strategicpatch.StrategicMergePatch(old, patch, v1.Pod{})
	if err != nil {
		return nil, err
	}
	q := &v1.Pod{}
	if err := json.Unmarshal(merged, q); err != nil {
		return nil, err
	}
	if nominated := q.Status.NominatedNodeName; !s.keeps && p.Spec.NodeName != "" && nominated != "" && nominated != p.Status.NominatedNodeName {
		return nil, apierrors.NewInvalid(schema.GroupKind{Kind: "Pod"}, name, nil) // ValidatePodStatusUpdate
	}
	beyond := ""
	if projection(p) == projection(q) {
		beyond = "a status that the model does not tell apart"
	}
	s.commit(podKind, watch.Modified, q, beyond)
	if beyond != "" && isTarget(q) && !isTarget(p) {
		s.targets[q.ResourceVersion] = true
	}
	return q, nil
}

// isTarget is whether a pod carries the condition that it is a victim.
func isTarget(p *v1.Pod) bool {
	return p != nil && slices.ContainsFunc(p.Status.Conditions, func(c v1.PodCondition) bool { return c.Type == v1.DisruptionTarget })
}

// projection is what the model knows of a pod.
func projection(p *v1.Pod) string {
	return fmt.Sprint(p.Spec.NodeName, "|", p.Status.NominatedNodeName, "|", unschedulableSays(p), p.DeletionTimestamp != nil, len(p.Spec.SchedulingGates) > 0, "|", podVersion(p))
}

// unschedulableSays is whether the pod's condition says that it could not be scheduled.
func unschedulableSays(p *v1.Pod) bool {
	for _, c := range p.Status.Conditions {
		if c.Type == v1.PodScheduled {
			return c.Status == v1.ConditionFalse && c.Reason == v1.PodReasonUnschedulable
		}
	}
	return false
}

// Undelivered is how many events of a kind the watch has not delivered.
func (s *Store) Undelivered(kind string) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.log[kind]) - s.sent[kind]
}

// Deliver lets the watch of a kind deliver its next event, and those before it that the model does not have. It gives the name of what the
// event is about; none if there is no event.
func (s *Store) Deliver(kind string) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	for s.sent[kind] < len(s.log[kind]) {
		e := s.deliver(kind)
		if e.expired && !e.missed {
			if name := s.relist(e); name != "" {
				return name
			}
			continue // what was missed has come to nothing
		}
		if e.beyond == "" && !e.missed {
			return e.name
		}
	}
	return ""
}

// relist answers the list that follows an expired watch. It shows the outcome of all events that were missed at once. The informer lets some
// time pass before it lists; where that has not passed yet, it is waited for.
func (s *Store) relist(e event) string {
	s.relisted = false
	s.mu.Unlock()
	settle()
	s.mu.Lock()
	for n := 0; n < 50 && !s.relisted; n++ {
		s.mu.Unlock()
		time.Sleep(100 * time.Millisecond)
		settle()
		s.mu.Lock()
	}
	if len(e.outcomes) == 0 {
		return ""
	}
	for _, o := range e.outcomes[1:] {
		s.ahead = append(s.ahead, o.name)
	}
	return e.outcomes[0].name
}

// IsAhead says whether the outcome of a missed event has come with that of another.
func (s *Store) IsAhead(pod string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	for n, name := range s.ahead {
		if name == pod {
			s.ahead = append(s.ahead[:n], s.ahead[n+1:]...)
			return true
		}
	}
	return false
}

// Took notes that a handler has been given the pod's outcome: the model's store has it by now, and those before it.
func (s *Store) Took(pod string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if n := slices.Index(s.ahead, pod); n >= 0 {
		s.ahead = s.ahead[n+1:]
	}
}

func (s *Store) deliver(kind string) event {
	e := s.log[kind][s.sent[kind]]
	s.sent[kind]++
	w := s.watches[kind]
	switch {
	case e.expired && !e.missed:
		s.letList(false)
	case w == nil || e.missed:
	default:
		if e.beyond != "" {
			s.notes = append(s.notes, fmt.Sprintf("passed over: an event of %s with %s", e.name, e.beyond))
		}
		w.Action(e.Type, e.Object.DeepCopyObject())
	}
	return e
}

// DeliverOne lets the watch of a kind deliver its next event, and no other. It says whether there was one.
func (s *Store) DeliverOne(kind string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.sent[kind] == len(s.log[kind]) || s.log[kind][s.sent[kind]].expired {
		return false
	}
	s.deliver(kind)
	return true
}

// IsTarget says whether a version of a pod came of the write that it is a victim, in the status that the model does not tell apart.
func (s *Store) IsTarget(version string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.targets[version]
}

// unchanged stands for the version of an object that an informer tells of again, because it was listed once more.
const unchanged = "unchanged"

// IsBeyond says whether a version of an object came of a write that the model does not have.
func (s *Store) IsBeyond(version string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.beyond[version] || version == unchanged
}

// Pod is a pod as the API server has it; nil if it has none.
func (s *Store) Pod(name string) *v1.Pod {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.pods[name]
}

// Node is a node as the API server has it; nil if it has none.
func (s *Store) Node(name string) *v1.Node {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.nodes[name]
}

// Fail has the next call of this kind about this pod come to grief.
func (s *Store) Fail(call, pod string, how fault) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.faults[call+" "+s.names.of(pod)] = how
}

func (s *Store) takeFault(call, pod string) fault {
	s.mu.Lock()
	defer s.mu.Unlock()
	of := call + " " + s.names.of(pod)
	how := s.faults[of]
	delete(s.faults, of)
	return how
}

// list gives all objects of a kind, and the version that a watch is to go on from. A list that follows an expired watch finds what there
// was when it expired, and one of a standby what the standby has been shown.
func (s *Store) list(kind string) ([]runtime.Object, string, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for kind == podKind && s.listing != nil {
		l := s.listing
		s.mu.Unlock()
		<-l.answered
		s.mu.Lock()
		if l.ended {
			return nil, "", apierrors.NewServiceUnavailable("the process has ended")
		}
	}
	end := len(s.log[kind])
	if from, ok := s.from[kind]; ok {
		end = from
		delete(s.from, kind)
	} else if n := s.sent[kind]; n > 0 && s.log[kind][n-1].expired {
		end = n
		s.relisted = true
	}
	s.sent[kind] = end
	objects, version := s.asOf(kind, end)
	return objects, version, nil
}

// listing is a list that is held up.
type listing struct {
	answered chan struct{}
	ended    bool // whoever lists has ended
}

// letList lets the list go on that follows an expired watch, if there is one.
func (s *Store) letList(ended bool) {
	if s.listing != nil {
		s.listing.ended = ended
		close(s.listing.answered)
		s.listing = nil
	}
}

// asOf gives the objects of a kind after so many events.
func (s *Store) asOf(kind string, events int) (objects []runtime.Object, version string) {
	byName := map[string]runtime.Object{}
	version = "0"
	var names []string
	for _, e := range s.log[kind][:events] {
		version = strconv.Itoa(e.version)
		if e.expired {
			continue
		}
		if _, known := byName[e.name]; !known {
			names = append(names, e.name)
		}
		byName[e.name] = e.Object
		if e.Type == watch.Deleted {
			byName[e.name] = nil
		}
	}
	sort.SliceStable(names, func(i, j int) bool { return s.rank[names[i]] < s.rank[names[j]] })
	for _, name := range names {
		if o := byName[name]; o != nil {
			objects = append(objects, o.DeepCopyObject())
		}
	}
	return objects, version
}

// Expire interrupts the watch of a kind: what it has not delivered is seen only by its outcome, in the list that follows, which is answered
// when the first outcome is due. The outcomes are told in the order of `names`.
func (s *Store) Expire(kind string, names []string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	last := map[string]event{}
	for n := s.sent[kind]; n < len(s.log[kind]); n++ {
		s.log[kind][n].missed = true
		last[s.log[kind][n].name] = s.log[kind][n]
	}
	shown := map[string]*v1.Pod{}
	objects, _ := s.asOf(kind, s.sent[kind])
	for _, o := range objects {
		shown[idOf(o.(metav1.Object))], _ = o.(*v1.Pod)
	}
	var outcomes []event
	for _, name := range names {
		e, missed := last[name]
		old, known := shown[name]
		switch now, _ := e.Object.(*v1.Pod); {
		case !missed || !known && e.Type == watch.Deleted:
		case e.Type == watch.Deleted && s.isTaken(now):
			// the list shows another pod under the name
		case known && e.Type != watch.Deleted && now != nil && projection(old) == projection(now):
			s.beyond[now.ResourceVersion] = true // it has come to nothing
		default:
			if now != nil {
				delete(s.beyond, now.ResourceVersion) // whatever its last write was, there is one that the model has
			}
			outcomes = append(outcomes, e)
		}
	}
	s.version++
	s.log[kind] = append(s.log[kind], event{expired: true, outcomes: outcomes, version: s.version})
	if s.listing != nil || s.watches[kind] == nil {
		return // the informer is to list already
	}
	status := apierrors.NewResourceExpired("too old resource version").Status()
	s.watches[kind].Action(watch.Error, &status)
	s.watches[kind] = nil
	s.listing = &listing{answered: make(chan struct{})}
}

// isTaken says whether another pod has the name of one that is gone.
func (s *Store) isTaken(gone *v1.Pod) bool {
	for _, p := range s.pods {
		if gone != nil && p.Name == gone.Name {
			return true
		}
	}
	return false
}

func (s *Store) watch(kind string) watch.Interface {
	s.mu.Lock()
	defer s.mu.Unlock()
	w := watch.NewRaceFreeFake()
	s.watches[kind] = w
	return w
}
