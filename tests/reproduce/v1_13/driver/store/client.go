package podrace

import (
	"errors"

	"k8s.io/api/core/v1"
	policy "k8s.io/api/policy/v1beta1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/kubernetes"
	corev1 "k8s.io/client-go/kubernetes/typed/core/v1"
	policyv1 "k8s.io/client-go/kubernetes/typed/policy/v1beta1"
)

// client speaks with the cluster. What it does not have itself, it has from the clientset that it embeds, which knows no objects.
type client struct {
	kubernetes.Interface
	cluster *cluster
	gate    *gate
}

func (c *client) CoreV1() corev1.CoreV1Interface {
	return &core{c.Interface.CoreV1(), c}
}

func (c *client) PolicyV1beta1() policyv1.PolicyV1beta1Interface {
	return &policies{c.Interface.PolicyV1beta1(), c}
}

type core struct {
	corev1.CoreV1Interface
	*client
}

func (c *core) Pods(string) corev1.PodInterface { return &podCalls{nil, c.client} }
func (c *core) Nodes() corev1.NodeInterface     { return &nodeCalls{nil, c.client} }

type policies struct {
	policyv1.PolicyV1beta1Interface
	*client
}

func (c *policies) PodDisruptionBudgets(string) policyv1.PodDisruptionBudgetInterface {
	return &budgetCalls{nil, c.client}
}

// errEnded is what a process hears that has ended: it calls nobody any more.
var errEnded = errors.New("the process has ended")

// isDead is whether a process has ended.
func (s *Stage) isDead(i *instance) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return i.dead
}

// podCalls are the calls about pods. Those that are a step of the model by themselves have a gate; the others are made within one.
type podCalls struct {
	corev1.PodInterface
	*client
}

func (c *podCalls) Get(name string, _ metav1.GetOptions) (*v1.Pod, error) {
	through := c.gate.enter("Client.Get", podName(name))
	pod := c.cluster.Pod(name)
	var err error
	if pod == nil {
		err = notFound(pods, name)
	}
	through.leave(pod, err)
	return pod, err
}

func (c *podCalls) Bind(b *v1.Binding) error {
	through := c.gate.enter("Client.Bind", b)
	err := errEnded
	if !c.gate.stage.isDead(c.gate.owner) {
		err = c.cluster.Bind(b)
	}
	through.leave(err)
	return err
}

func (c *podCalls) UpdateStatus(pod *v1.Pod) (*v1.Pod, error) {
	if c.gate.stage.isDead(c.gate.owner) {
		return nil, errEnded
	}
	return c.cluster.UpdateStatus(pod)
}

func (c *podCalls) Delete(name string, _ *metav1.DeleteOptions) error {
	if c.gate.stage.isDead(c.gate.owner) {
		return errEnded
	}
	return c.cluster.Delete(name)
}

func (c *podCalls) List(metav1.ListOptions) (*v1.PodList, error) {
	list := &v1.PodList{}
	for _, object := range c.cluster.List(pods) {
		list.Items = append(list.Items, *object.(*v1.Pod))
	}
	return list, nil
}

func (c *podCalls) Watch(metav1.ListOptions) (watch.Interface, error) {
	return c.cluster.Watch(pods), nil
}

type nodeCalls struct {
	corev1.NodeInterface
	*client
}

func (c *nodeCalls) Get(name string, _ metav1.GetOptions) (*v1.Node, error) {
	through := c.gate.enter("Client.GetNode", name)
	node := c.cluster.Node(name)
	var err error
	if node == nil {
		err = notFound(nodes, name)
	}
	through.leave(node, err)
	return node, err
}

func (c *nodeCalls) List(metav1.ListOptions) (*v1.NodeList, error) {
	list := &v1.NodeList{}
	for _, object := range c.cluster.List(nodes) {
		list.Items = append(list.Items, *object.(*v1.Node))
	}
	return list, nil
}

func (c *nodeCalls) Watch(metav1.ListOptions) (watch.Interface, error) {
	return c.cluster.Watch(nodes), nil
}

type budgetCalls struct {
	policyv1.PodDisruptionBudgetInterface
	*client
}

func (c *budgetCalls) List(metav1.ListOptions) (*policy.PodDisruptionBudgetList, error) {
	list := &policy.PodDisruptionBudgetList{}
	for _, object := range c.cluster.List(budgets) {
		list.Items = append(list.Items, *object.(*policy.PodDisruptionBudget))
	}
	return list, nil
}

func (c *budgetCalls) Watch(metav1.ListOptions) (watch.Interface, error) {
	return c.cluster.Watch(budgets), nil
}
