package podrace

import (
	"k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// world is a cluster and the scheduler that works in it.
type world struct {
	stage    *Stage
	cluster  *cluster
	answers  *answers
	instance *instance

	podOf  map[string]*v1.Pod // all of the scenario, also those that are created later
	nodeOf map[string]*v1.Node
}

// newWorld brings a cluster to where the case begins: the nodes and the pods that run are in the scheduler's cache, the pods that wait are
// in its queue in the order of the case, and the scheduler is about to take the first.
func newWorld(c *Case) (*world, error) {
	w := &world{
		stage: newStage(), cluster: newCluster(), answers: newAnswers(c.Scored), podOf: map[string]*v1.Pod{}, nodeOf: map[string]*v1.Node{},
	}
	w.fill(c)
	instance, err := w.start()
	if err != nil {
		return nil, err
	}
	w.instance = instance
	instance.run()
	for _, name := range w.waiting(c) {
		w.cluster.Create(pods, w.podOf[name])
		w.cluster.Deliver(pods)
		settle()
	}
	w.stage.Hold(true)
	instance.schedule()
	settle()
	return w, nil
}

// fill writes what is there before the scheduler starts.
func (w *world) fill(c *Case) {
	for n := range c.Budgets {
		w.cluster.Create(budgets, &c.Budgets[n])
	}
	for _, n := range c.Nodes {
		w.nodeOf[n.Name] = oldNode(n)
		if !contains(c.AbsentNodes, n.Name) {
			w.cluster.Create(nodes, w.nodeOf[n.Name])
		}
	}
	for _, p := range c.Pods {
		w.podOf[p.Name] = oldPod(p)
		if p.Spec.NodeName != "" && !contains(c.AbsentPods, p.Name) {
			w.cluster.Create(pods, w.podOf[p.Name])
		}
	}
}

// waiting are the pods that wait at the start, in order.
func (w *world) waiting(c *Case) []string {
	names := append([]string{}, c.Order...)
	for _, p := range c.Pods {
		if p.Spec.NodeName == "" && !contains(c.AbsentPods, p.Name) && !contains(names, p.Name) {
			names = append(names, p.Name)
		}
	}
	return names
}

// restart ends the process, and starts another on the same cluster. Its handlers have been given the lists already, or are held before them.
func (w *world) restart(handled bool) error {
	w.end()
	next, err := w.start()
	if err != nil {
		return err
	}
	w.instance = next
	w.stage.Hold(!handled)
	next.run()
	w.stage.Hold(true)
	next.schedule()
	settle()
	return nil
}

// end stops the process. Whoever was held goes on and is not listened to any more.
func (w *world) end() {
	stir()
	close(w.instance.stop)
	w.stage.abandon(w.instance)
	settle()
}

const (
	zoneLabel    = "topology.kubernetes.io/zone"
	oldZoneLabel = "failure-domain.beta.kubernetes.io/zone"
)

// oldNode is a node as it was in 1.13: the zone had another label, and a node that does not say that it is ready was not.
func oldNode(n *v1.Node) *v1.Node {
	n = n.DeepCopy()
	if zone, there := n.Labels[zoneLabel]; there {
		n.Labels[oldZoneLabel] = zone
	}
	if len(n.Status.Conditions) == 0 {
		n.Status.Conditions = []v1.NodeCondition{{Type: v1.NodeReady, Status: v1.ConditionTrue}}
	}
	return n
}

// oldPod is a pod as the API server completed it.
func oldPod(p *v1.Pod) *v1.Pod {
	p = p.DeepCopy()
	if p.Spec.SchedulerName == "" {
		p.Spec.SchedulerName = v1.DefaultSchedulerName
	}
	if p.Namespace == "" {
		p.Namespace = metav1.NamespaceDefault
	}
	return p
}
