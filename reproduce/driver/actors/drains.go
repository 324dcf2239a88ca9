package podrace

import "fmt"

// An autoscaler that takes away nodes which are not empty: it has their pods evicted first. That they have places elsewhere is its own simulation, and so the trace's.

// findMovable: it decides on a node that is not empty.
func findMovable(p *player, s Step) error {
	node := s.arg("node")
	if p.world.Store.Node(node) == nil || p.world.Store.looksEmpty(node) {
		return fmt.Errorf("%s is empty, or gone", node)
	}
	p.world.doomed[node], p.world.drained[node] = true, true
	return nil
}

// listToEvict: after its taint it lists the pods that are bound to the node: those it evicts.
func (w *World) listToEvict(node string) {
	for _, pod := range w.Case.Pods {
		if now := w.Store.Pod(idOf(pod)); now != nil && now.Spec.NodeName == node && !isOfDaemonSet(now) && w.Store.runs(idOf(pod)) {
			w.listed[idOf(pod)] = true
		}
	}
}

// evictFromNode: it asks the eviction subresource, which refuses where the budget of the pod allows nothing.
func evictFromNode(p *player, s Step) error {
	pod := s.arg("pod")
	now := p.world.Store.Pod(pod)
	if now == nil || !p.world.Store.runs(pod) || !p.world.drained[now.Spec.NodeName] || !p.world.cleared[now.Spec.NodeName] {
		return fmt.Errorf("%s does not run on a node that is drained", pod)
	}
	delete(p.world.listed, pod)
	found := p.world.protecting(pod)
	if len(found) == 0 {
		return p.world.Store.DeletePod(pod)
	}
	if len(found) != 1 || found[0].Status.DisruptionsAllowed <= 0 {
		return fmt.Errorf("the eviction of %s is refused", pod)
	}
	p.world.payFor(pod, found[0])
	return nil
}

// missEvicted: it finds that a pod of its list is gone, or about to be.
func missEvicted(p *player, s Step) error {
	if pod := s.arg("pod"); !p.world.listed[pod] || p.world.Store.runs(pod) {
		return fmt.Errorf("%s is on no list, or runs", pod)
	}
	delete(p.world.listed, s.arg("pod"))
	return nil
}

// giveUp: evictions have been refused for too long, and its taint goes.
func giveUp(p *player, s Step) error {
	node := s.arg("node")
	if !p.world.drained[node] {
		return fmt.Errorf("%s is not drained", node)
	}
	return p.letStay(node)
}

// letStay: the node is not taken away after all. The taint goes, if it has one.
func (p *player) letStay(node string) error {
	p.forgetDrain(node)
	delete(p.world.doomed, node)
	delete(p.world.cleared, node)
	if p.world.Case.tainting(node) && p.world.Store.Node(node) != nil {
		return p.world.updateNode(node + "." + initial)
	}
	return nil
}

// forgetDrain: a drain is over.
func (p *player) forgetDrain(node string) {
	delete(p.world.drained, node)
	for pod := range p.world.listed {
		if now := p.world.Store.Pod(pod); now != nil && now.Spec.NodeName == node {
			delete(p.world.listed, pod)
		}
	}
}
