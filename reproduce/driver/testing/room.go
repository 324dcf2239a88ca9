package podrace

import (
	"fmt"
	"strings"

	v1 "k8s.io/api/core/v1"
	quantities "k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/watch"
)

// What a test expects of the room on nodes: amounts, the number of pods, and host ports. It is what podrace's S-CAP and S-PORT say.

// ExpectNoNodeOverfull expects no node to have pods, bound or assumed, that request more than it can allocate, are more than it takes, or have one host port.
func (c *Moves) ExpectNoNodeOverfull() {
	c.t.Helper()
	w := c.play()
	for _, n := range c.script.Nodes {
		var pods []*v1.Pod
		for _, p := range c.script.Pods {
			now := w.Store.Pod(idOf(p))
			if (now == nil || now.Spec.NodeName != n.Name) && w.assumedOn(idOf(p)) != n.Name {
				continue
			}
			if now == nil {
				now = p
			}
			pods = append(pods, w.Store.asBound(now))
		}
		if what := c.tooMuch(n, pods); what != "" {
			c.t.Error(what)
		}
		for i, p := range pods {
			for _, other := range pods[:i] {
				if port := sharedPort(other, p); port != nil {
					c.t.Errorf("%s and %s are on %s, and both have the host port %d", idOf(other), idOf(p), n.Name, port.HostPort)
				}
			}
		}
	}
}

// tooMuch is what the node has too little of for the pods, as it was at first; nothing if they have room in any of the versions of its object.
func (c *Moves) tooMuch(n *v1.Node, pods []*v1.Pod) string {
	found := missingFor(n, pods)
	for _, updated := range c.script.NodeVersions {
		if updated.Name == n.Name && missingFor(updated, pods) == "" {
			return ""
		}
	}
	return found
}

// missingFor is what the node has too little of for the pods; nothing if they have room.
func missingFor(n *v1.Node, pods []*v1.Pod) string {
	requested := v1.ResourceList{v1.ResourcePods: *quantities.NewQuantity(int64(len(pods)), quantities.DecimalSI)}
	var names []string
	for _, p := range pods {
		names = append(names, idOf(p))
		for name, amount := range p.Spec.Containers[0].Resources.Requests {
			sum := requested[name]
			sum.Add(amount)
			requested[name] = sum
		}
	}
	var found []string
	for name, amount := range requested {
		if room, said := n.Status.Allocatable[name]; amount.Cmp(room) > 0 && (said || name != v1.ResourcePods) {
			found = append(found, fmt.Sprintf("%s of %s has %s allocatable, but %s is requested for %s", name, n.Name, room.String(), amount.String(), strings.Join(names, ", ")))
		}
	}
	if len(found) == 0 {
		return ""
	}
	least := found[0] // a map has no order
	for _, what := range found {
		least = min(least, what)
	}
	return least
}

// asBound is the pod with requests no larger than those with which it was bound: that it has grown since is nobody's mistake.
func (s *Store) asBound(now *v1.Pod) *v1.Pod {
	s.mu.Lock()
	defer s.mu.Unlock()
	var bound *v1.Pod
	for _, e := range s.log[podKind] {
		p, is := e.Object.(*v1.Pod)
		switch {
		case !is || e.name != idOf(now):
		case p.Spec.NodeName == "" || e.Type == watch.Deleted:
			bound = nil
		case bound == nil:
			bound = p
		}
	}
	if bound == nil || now.Spec.NodeName == "" {
		return now
	}
	least := now.DeepCopy()
	requests := least.Spec.Containers[0].Resources.Requests
	for name, amount := range bound.Spec.Containers[0].Resources.Requests {
		if asked, is := requests[name]; is && amount.Cmp(asked) < 0 {
			requests[name] = amount
		}
	}
	return least
}

// ExpectPortsOfItsOwn expects the pod to be on no node on which another pod that has not ended has one of its host ports.
func (c *Moves) ExpectPortsOfItsOwn(pod string) {
	c.t.Helper()
	w := c.play()
	now := w.Store.Pod(pod)
	if now == nil || now.Spec.NodeName == "" {
		return
	}
	for _, other := range c.script.Pods {
		there := w.Store.Pod(idOf(other))
		if idOf(other) == pod || there == nil || there.Spec.NodeName != now.Spec.NodeName {
			continue
		}
		if port := sharedPort(now, there); port != nil {
			c.t.Errorf("%s is bound to %s, where %s has the host port %d, too: the kubelet can only reject it", pod, now.Spec.NodeName, idOf(other), port.HostPort)
		}
	}
}

// sharedPort is a host port that no node has for both pods: one of all addresses is in everybody's way (HostPortInfo.CheckConflict).
func sharedPort(one, other *v1.Pod) *v1.ContainerPort {
	for _, own := range hostPorts(one) {
		for _, port := range hostPorts(other) {
			ofAll := own.HostIP == allAddresses || port.HostIP == allAddresses
			if own.Protocol == port.Protocol && own.HostPort == port.HostPort && (own.HostIP == port.HostIP || ofAll) {
				return &own
			}
		}
	}
	return nil
}

const allAddresses = "0.0.0.0"

// hostPorts are the host ports of a pod: address, protocol and number, as the scheduler takes them where the pod does not say them.
func hostPorts(p *v1.Pod) (found []v1.ContainerPort) {
	for _, container := range p.Spec.Containers {
		for _, port := range container.Ports {
			if port.HostPort == 0 {
				continue
			}
			taken := v1.ContainerPort{HostIP: port.HostIP, Protocol: port.Protocol, HostPort: port.HostPort}
			if taken.HostIP == "" {
				taken.HostIP = allAddresses
			}
			if taken.Protocol == "" {
				taken.Protocol = v1.ProtocolTCP
			}
			found = append(found, taken)
		}
	}
	return found
}
