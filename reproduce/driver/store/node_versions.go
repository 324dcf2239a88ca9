package podrace

import (
	"fmt"
	"slices"

	v1 "k8s.io/api/core/v1"
)

// Versions of a node's object are told apart by metadata.generation, which the scheduler does not look at.

// initial is what the version is called in which a node is created.
const initial = "initial"

// versionsOf are the names of the versions of a node, the initial one first; none if its object does not change.
func (c *Case) versionsOf(node string) []string {
	var later []string
	for name, object := range c.NodeVersions {
		if object.Name == node {
			later = append(later, name)
		}
	}
	if len(later) == 0 {
		return nil
	}
	slices.Sort(later)
	return append([]string{node + "." + initial}, later...)
}

// numberVersions marks each node with its version.
func (c *Case) numberVersions() {
	for _, node := range c.Nodes {
		for i, name := range c.versionsOf(node.Name) {
			if i == 0 {
				node.Generation = 1
			} else {
				c.NodeVersions[name].Generation = int64(i + 1)
			}
		}
	}
}

// version is the name of the version that a node's object has; nil if there is no object, or only one version.
func (c *Case) version(node *v1.Node) any {
	if node == nil || node.Generation == 0 {
		return nil
	}
	return c.versionsOf(node.Name)[node.Generation-1]
}

// updateNode: somebody updates a node's object to a version, or back to the initial one.
func updateNode(p *player, s Step) error { return p.world.updateNode(s.arg("version")) }

func (w *World) updateNode(name string) error {
	c := w.Case
	object := c.NodeVersions[name]
	for _, n := range c.Nodes {
		if n.Name+"."+initial == name {
			object = n
		}
	}
	if object == nil {
		return fmt.Errorf("the case has no version %s", name)
	}
	return w.Store.UpdateNode(object)
}
