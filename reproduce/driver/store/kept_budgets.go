package podrace

import (
	"context"
	"fmt"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/client-go/kubernetes"
)

// keptBudgets are the disruption budgets at the API server, where the eviction subresource takes from them and the disruption controller counts
// anew. The scheduler's informer gets them on command.
type keptBudgets struct {
	objects  []*budget
	shown    map[string]*budget // what the scheduler's informer has; a list of another process may be as old
	desired  map[string]int     // how many pods each wants to run
	evicting map[string]bool
	unready  map[string]bool      // of these, pods that were not ready
	pending  map[string]bool      // of these, pods that had not been started
	probes   bool                 // whether pods count only if they are ready
	phases   bool                 // whether they are Pending until they are started
	written  map[string]int       // how often the status of each was
	counts   map[string]count     // what the disruption controller is about to write
	clients  kubernetes.Interface // of the process that runs
}

// count is what the disruption controller has counted, and how often the status that it has read had been written.
type count struct {
	allowed int
	healthy int
	paid    []string
	read    int
}

func newBudgets(c *Case) *keptBudgets {
	k := &keptBudgets{
		shown: map[string]*budget{}, desired: map[string]int{}, evicting: map[string]bool{}, unready: map[string]bool{}, pending: map[string]bool{}, written: map[string]int{}, counts: map[string]count{},
	}
	for n := range c.Budgets {
		b := c.Budgets[n].DeepCopy()
		k.objects = append(k.objects, b)
		k.shown[idOf(b)] = b.DeepCopy()
		_, k.probes = c.Initial["budgets.said_healthy["+idOf(b)+"]"]
		for _, p := range c.Pods {
			if _, has := c.Initial["budgets.started["+idOf(p)+"]"]; has {
				k.phases = true
			}
		}
		running := 0
		for _, p := range c.Pods {
			_, paid := b.Status.DisruptedPods[p.Name]
			ready := !k.probes || podReadiness(p) == v1.ConditionTrue
			if protects(b, p) && !paid && ready && p.Spec.NodeName != "" && !contains(c.AbsentPods, idOf(p)) {
				running++
			}
		}
		k.desired[idOf(b)] = running - int(b.Status.DisruptionsAllowed)
		if least := b.Spec.MinAvailable; least != nil {
			k.desired[idOf(b)] = least.IntValue()
		}
		b.Status.CurrentHealthy = int32(running)
	}
	return k
}

func protects(b *budget, p *v1.Pod) bool {
	selector, err := metav1.LabelSelectorAsSelector(b.Spec.Selector)
	return err == nil && b.Namespace == p.Namespace && selector.Matches(labels.Set(p.Labels))
}

func (k *keptBudgets) named(name string) *budget {
	for _, b := range k.objects {
		if idOf(b) == name {
			return b
		}
	}
	return nil
}

// runs says whether a pod is on a node, and nobody has deleted it.
func (s *Store) runs(pod string) bool {
	p := s.Pod(pod)
	return p != nil && p.Spec.NodeName != "" && p.DeletionTimestamp == nil
}

// hasEnded says whether a pod has succeeded or failed, and its object is there still.
func (s *Store) hasEnded(pod string) bool {
	return s.finished[pod] != nil
}

// evictByAPI: the eviction subresource takes a disruption from the budget of a pod (checkAndDecrement); the deletion follows. One that has ended asks no budget since 1.13 (canIgnorePDB).
func evictByAPI(p *player, s Step) error {
	pod := s.arg("pod")
	if p.world.Store.hasEnded(pod) {
		p.world.budgets.evicting[pod] = true
		return nil
	}
	if !p.world.Store.runs(pod) {
		return fmt.Errorf("%s does not run", pod)
	}
	found := p.world.protecting(pod)
	if len(found) == 1 && p.world.spares(found[0], pod) {
		p.world.budgets.evicting[pod], p.world.budgets.unready[pod], p.world.budgets.pending[pod] = true, true, p.world.isPending(pod)
		return nil
	}
	if len(found) != 1 || found[0].Status.DisruptionsAllowed <= 0 {
		return fmt.Errorf("the eviction of %s is refused", pod)
	}
	p.world.payFor(pod, found[0])
	return nil
}

// protecting are the budgets of a pod that is there.
func (w *World) protecting(pod string) (found []*budget) {
	for _, b := range w.budgets.objects {
		if protects(b, w.Store.Pod(pod)) {
			found = append(found, b)
		}
	}
	return found
}

// payFor has a budget that allows a disruption pay for the eviction of a pod.
func (w *World) payFor(pod string, b *budget) {
	b.Status.DisruptionsAllowed--
	if b.Status.DisruptedPods == nil {
		b.Status.DisruptedPods = map[string]metav1.Time{}
	}
	b.Status.DisruptedPods[w.Case.names.of(pod)] = metav1.Now()
	w.budgets.evicting[pod] = true
	w.budgets.written[idOf(b)]++
}

// finishEviction: the deletion that follows, by name: it hits whoever has the name now. Of a pod that was not ready the resourceVersion is a precondition: it must not have become ready since, nor have been started.
func finishEviction(p *player, s Step) error {
	pod := s.arg("pod")
	unready, pending := p.world.budgets.unready[pod], p.world.budgets.pending[pod]
	delete(p.world.budgets.evicting, pod)
	delete(p.world.budgets.unready, pod)
	delete(p.world.budgets.pending, pod)
	if unready {
		if begun := pending && !p.world.isPending(pod); p.world.Store.runs(pod) && !p.world.isReady(pod) && !begun {
			return p.world.Store.DeletePod(pod)
		}
		return nil
	}
	holder := p.world.Store.holder(p.world.Case.names.of(pod))
	if p.world.Store.hasEnded(pod) {
		return p.world.Store.DeletePod(pod)
	}
	if q := p.world.Store.Pod(holder); p.world.Store.runs(pod) || holder != pod && q != nil && q.DeletionTimestamp == nil {
		return p.world.Store.DeletePod(holder)
	}
	return nil
}

// countAnew: the disruption controller sets the status of a budget to what its count says.
func countAnew(p *player, s Step) error {
	b := p.world.budgets.named(s.arg("budget"))
	healthy := 0
	paid := map[string]metav1.Time{}
	for _, pod := range p.world.Case.Pods {
		if !protects(b, pod) {
			continue
		}
		now := p.world.Store.Pod(idOf(pod))
		when, pays := b.Status.DisruptedPods[pod.Name]
		switch {
		case pays && now != nil && now.DeletionTimestamp == nil:
			paid[pod.Name] = when
		case p.world.Store.runs(idOf(pod)) && p.world.isReady(idOf(pod)):
			healthy++
		}
	}
	b.Status.DisruptedPods, b.Status.CurrentHealthy = paid, int32(healthy)
	b.Status.DisruptionsAllowed = int32(max(0, healthy-p.world.budgets.desired[idOf(b)]))
	return nil
}

// countByView: a disruption controller with a view of its own has counted: what, is the trace's, as its view is. The status that it has read is the API server's.
func countByView(p *player, s Step) error {
	name := s.arg("budget")
	made := count{allowed: p.number("budgets.counted[" + name + "]"), healthy: p.number("budgets.counted_healthy[" + name + "]"), read: p.world.budgets.written[name]}
	for _, pod := range p.world.Case.Pods {
		if p.expects("budgets.counted_disrupted[%s][%s]", name, idOf(pod)) == "true" {
			made.paid = append(made.paid, idOf(pod))
		}
	}
	p.world.budgets.counts[name] = made
	return nil
}

// writeStatus: it writes what it has counted. The API server refuses that where the status was written since.
func writeStatus(p *player, s Step) error {
	name, k := s.arg("budget"), p.world.budgets
	made, counted := k.counts[name]
	delete(k.counts, name)
	switch {
	case !counted:
		return fmt.Errorf("the disruption controller has not counted the pods of %s", name)
	case made.read != k.written[name]:
		return nil // a conflict of versions
	}
	status := &k.named(name).Status
	before := status.DisruptedPods
	status.DisruptionsAllowed, status.CurrentHealthy, status.DisruptedPods = int32(made.allowed), int32(made.healthy), map[string]metav1.Time{}
	for _, pod := range made.paid {
		status.DisruptedPods[p.world.Case.names.of(pod)] = before[p.world.Case.names.of(pod)]
	}
	k.written[name]++
	return nil
}

// storeBudget: the scheduler's informer gets the status of a budget.
func storeBudget(p *player, s Step) error {
	b := p.world.budgets.named(s.arg("budget")).DeepCopy()
	_, err := p.world.budgets.clients.PolicyV1().PodDisruptionBudgets(b.Namespace).UpdateStatus(context.Background(), b, metav1.UpdateOptions{})
	settle()
	p.world.budgets.shown[idOf(b)] = b.DeepCopy()
	return err
}

// budgets are those at the API server, and those that the scheduler's lister shows.
func (e *eye) budgets(k *keptBudgets, store *Store, informed lister) {
	for _, b := range k.objects {
		name := idOf(b)
		e.putBudget("budgets.", name, b)
		e.see["budgets.said_healthy["+name+"]"] = int(b.Status.CurrentHealthy)
		if shown, there := listed[*budget](informed, b.Namespace+"/"+b.Name); there {
			e.putBudget("budgets.listed_", name, shown)
		}
	}
	for _, pod := range e.pods {
		e.see["budgets.evicting["+pod+"]"] = k.evicting[pod]
		e.see["budgets.unready["+pod+"]"] = k.unready[pod]
		e.see["budgets.unstarted["+pod+"]"] = k.pending[pod]
		if now := store.Pod(pod); now != nil {
			e.see["budgets.ready["+pod+"]"] = podReadiness(now) == v1.ConditionTrue
			e.see["budgets.started["+pod+"]"] = now.Status.Phase == v1.PodRunning
		}
	}
}

func (e *eye) putBudget(where, name string, b *budget) {
	e.see[where+"allowed["+name+"]"] = int(b.Status.DisruptionsAllowed)
	for _, pod := range e.pods {
		_, paid := b.Status.DisruptedPods[e.versions.names.of(pod)]
		e.see[where+"disrupted["+name+"]["+pod+"]"] = paid
	}
}
