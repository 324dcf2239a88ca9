package podrace

import (
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// A pod is known by its UID here, which is the model's name for it: of two pods that have one name one after the other each is itself. What goes by
// names goes by them as well: calls of the API server, but for the UID that a Binding carries, informers' stores, and the victim that a preemptor
// waits for.

// idOf is the model's name of a pod or a node.
func idOf(o metav1.Object) string { return plainID(string(o.GetUID())) }

// nextUID marks the UID of a pod that the model gives a name again which was another's that nobody remembers (model/language/systems/remembering.py): a pod that is
// created is new, whatever it is called, and the scheduler knows pods by their UIDs.
const nextUID = "#"

// plainID is the model's name in a UID.
func plainID(uid string) string {
	name, _, _ := strings.Cut(uid, nextUID)
	return name
}

// names are the names of the pods that do not have the model's.
type names map[string]string

// of is the name of a pod; what is a name already stays as it is.
func (n names) of(pod string) string {
	if name, other := n[pod]; other {
		return name
	}
	return pod
}

// namesOf are the model's names of the nodes of the case, or of its pods.
func (c *Case) namesOf(kind string) (all []string) {
	if kind == nodeKind {
		for _, node := range c.Nodes {
			all = append(all, idOf(node))
		}
		return all
	}
	for _, pod := range c.Pods {
		all = append(all, idOf(pod))
	}
	return all
}

// nameThem learns the names of the pods of the case, and has its steps know them.
func (c *Case) nameThem() {
	c.names = names{}
	for _, pod := range c.Pods {
		if idOf(pod) != pod.Name {
			c.names[idOf(pod)] = pod.Name
		}
	}
}

// isAbout says whether a point is about a pod; a call that goes by the name is about whoever has it.
func (c *Case) isAbout(p *point, pod string) bool {
	return p.pod == pod || p.byName && p.pod == c.names.of(pod)
}
