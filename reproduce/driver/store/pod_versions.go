package podrace

import (
	"fmt"
	"maps"
	"slices"
	"strconv"

	v1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	quantity "k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/watch"
)

// Versions of a pod's object are told apart by an annotation, which the scheduler does not look at. It is the number that the model has for the
// version; an object without it is as the pod was created. (metadata.generation would not do: the scheduler writes it into conditions.)
const versionMark = "podrace.io/version"

// podVersion is the number of the version that a pod's object has.
func podVersion(pod *v1.Pod) int {
	if pod == nil {
		return 0
	}
	number, _ := strconv.Atoi(pod.Annotations[versionMark])
	return number
}

// isUpdated is whether a pod of the case has more than one version.
func (c *Case) isUpdated(pod string) bool {
	for _, object := range c.PodVersions {
		if idOf(object) == pod {
			return true
		}
	}
	return false
}

// asCreated is a pod's object in its first version.
func (c *Case) asCreated(pod *v1.Pod) *v1.Pod {
	found := pod.DeepCopy()
	for _, object := range c.Pods {
		if idOf(object) == idOf(pod) {
			becomes(found, object)
		}
	}
	return found
}

// podVersionName is the name of the version that a pod's object has; nil if there is no object, or only one version.
func (c *Case) podVersionName(pod *v1.Pod) any {
	if pod == nil || !c.isUpdated(idOf(pod)) {
		return nil
	}
	number := podVersion(pod)
	if number == 0 {
		return string(pod.UID) + "." + initial
	}
	for name, object := range c.PodVersions {
		if object.UID == pod.UID && podVersion(object) == number {
			return name
		}
	}
	return fmt.Sprintf("%s in an unknown version %d", idOf(pod), number)
}

// numberPodVersions marks the versions that have no number yet, as those of Go tests, in the order of their names.
func (c *Case) numberPodVersions() {
	next := map[string]int{}
	for _, name := range slices.Sorted(maps.Keys(c.PodVersions)) {
		object := c.PodVersions[name]
		next[idOf(object)]++
		if podVersion(object) == 0 {
			setVersion(object, next[idOf(object)])
		}
	}
}

func setVersion(pod *v1.Pod, number int) {
	if number == 0 {
		delete(pod.Annotations, versionMark)
		return
	}
	if pod.Annotations == nil {
		pod.Annotations = map[string]string{}
	}
	pod.Annotations[versionMark] = strconv.Itoa(number)
}

// updatePod: somebody updates a pod's object to a version, or back to the initial one.
func updatePod(p *player, s Step) error {
	return p.world.toVersion(s.arg("version"), (*Store).UpdatePod)
}

// toVersion has a version of a pod written.
func (w *World) toVersion(name string, write func(*Store, *v1.Pod) error) error {
	object := w.Case.PodVersions[name]
	for _, pod := range w.Case.Pods {
		if string(pod.UID)+"."+initial == name {
			object = pod
		}
	}
	if object == nil {
		return fmt.Errorf("the case has no version %s", name)
	}
	return write(w.Store, object)
}

// UpdatePod is an UPDATE of a pod's object: it gets the labels, the tolerations and the requests of another one. The requests of a pod on a node
// count as what its kubelet has given it at most: it follows where a pod shrinks, and has not followed yet where one grows.
func (s *Store) UpdatePod(version *v1.Pod) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	p := s.pods[idOf(version)]
	if p == nil {
		return apierrors.NewNotFound(resource(podKind), version.Name)
	}
	q := p.DeepCopy()
	becomes(q, version)
	s.commit(podKind, watch.Modified, q, "")
	return nil
}

// becomes makes a pod's object a version.
func becomes(q, version *v1.Pod) {
	wanted := version.DeepCopy()
	q.Labels, q.Spec.Tolerations = wanted.Labels, wanted.Spec.Tolerations
	if len(q.Spec.SchedulingGates) > 0 || q.Spec.NodeName == "" {
		q.Spec.NodeSelector, q.Spec.Affinity = wanted.Spec.NodeSelector, wanted.Spec.Affinity
	}
	setVersion(q, podVersion(version))
	q.Status.Conditions = slices.DeleteFunc(q.Status.Conditions, func(c v1.PodCondition) bool { return c.Type == resizePending })
	for i := range q.Spec.Containers {
		requests := wanted.Spec.Containers[i].Resources.Requests
		if q.Spec.NodeName != "" && !sameAmounts(requests, q.Spec.Containers[i].Resources.Requests) {
			actuate(q, q.Spec.Containers[i], requests)
		}
		q.Spec.Containers[i].Resources.Requests = requests
	}
}

// RefuseResize is an UPDATE of a pod's status: the resize is infeasible, and the pod is given what it was, that of a version.
func (s *Store) RefuseResize(version *v1.Pod) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	p := s.pods[idOf(version)]
	if p == nil {
		return apierrors.NewNotFound(resource(podKind), version.Name)
	}
	q := p.DeepCopy()
	setVersion(q, podVersion(version))
	q.Status.Conditions = append(q.Status.Conditions, v1.PodCondition{Type: resizePending, Status: v1.ConditionTrue, Reason: infeasible})
	q.Status.ContainerStatuses = nil
	for _, container := range version.Spec.Containers {
		given := container.Resources.Requests
		q.Status.ContainerStatuses = append(q.Status.ContainerStatuses, v1.ContainerStatus{
			Name: container.Name, Resources: &v1.ResourceRequirements{Requests: given.DeepCopy()}, AllocatedResources: given.DeepCopy(),
		})
	}
	s.commit(podKind, watch.Modified, q, "")
	return nil
}

// What a pod's status says of a resize for which its node is too small (v1.PodResizePending and v1.PodReasonInfeasible, from 1.33 on).
const resizePending, infeasible = "PodResizePending", "Infeasible"

// isInfeasible is whether it says so.
func isInfeasible(pod *v1.Pod) bool {
	return slices.ContainsFunc(pod.Status.Conditions, func(c v1.PodCondition) bool { return c.Type == resizePending && c.Reason == infeasible })
}

// countedRequests are what a pod counts for: what it asks for, or what it was given where the rest is infeasible.
func countedRequests(pod *v1.Pod) (all []v1.ResourceList) {
	for _, container := range pod.Spec.Containers {
		all = append(all, container.Resources.Requests)
	}
	if isInfeasible(pod) {
		all = nil
		for _, status := range pod.Status.ContainerStatuses {
			all = append(all, status.AllocatedResources)
		}
	}
	return all
}

func sameAmounts(a, b v1.ResourceList) bool {
	return maps.EqualFunc(a, b, func(x, y quantity.Quantity) bool { return x.Cmp(y) == 0 })
}

// actuate has the status of a container say that it is given what it was, but for what it does not ask for any more.
func actuate(pod *v1.Pod, container v1.Container, requests v1.ResourceList) {
	at := slices.IndexFunc(pod.Status.ContainerStatuses, func(c v1.ContainerStatus) bool { return c.Name == container.Name })
	if at < 0 {
		at = len(pod.Status.ContainerStatuses)
		pod.Status.ContainerStatuses = append(pod.Status.ContainerStatuses, v1.ContainerStatus{Name: container.Name})
	}
	status := &pod.Status.ContainerStatuses[at]
	had := container.Resources.Requests
	if status.Resources != nil {
		had = status.Resources.Requests
	}
	given := v1.ResourceList{}
	for name, amount := range requests {
		if before, had := had[name]; had {
			if before.Cmp(amount) < 0 {
				amount = before
			}
			given[name] = amount.DeepCopy()
		}
	}
	status.Resources = &v1.ResourceRequirements{Requests: given}
	status.AllocatedResources = given.DeepCopy()
}

// failures are the versions of the objects with which failure handlers are about to requeue their pods.
func (e *eye) failures(w *World) {
	for pod, a := range w.failing {
		if a.at != nil && a.at.call == "Queue.AddUnschedulableIfNotPresent" && !a.at.after && a.at.pod == pod {
			e.see["failure.copy["+pod+"].version"] = w.Store.versionOf(pod, a.at.version)
		}
	}
}

// versionOf is the version of a pod in the object with this resourceVersion.
func (s *Store) versionOf(pod, resourceVersion string) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, e := range s.log[podKind] {
		if object, is := e.Object.(*v1.Pod); is && idOf(object) == pod && object.ResourceVersion == resourceVersion {
			return podVersion(object)
		}
	}
	return 0
}
