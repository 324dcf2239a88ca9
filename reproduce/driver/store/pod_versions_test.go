package podrace

import (
	"testing"

	v1 "k8s.io/api/core/v1"
	quantity "k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

func requesting(name, node, cpu string) *v1.Pod {
	return &v1.Pod{
		ObjectMeta: metav1.ObjectMeta{Name: name, UID: types.UID(name)},
		Spec: v1.PodSpec{NodeName: node, Containers: []v1.Container{{
			Name: "c", Resources: v1.ResourceRequirements{Requests: v1.ResourceList{"cpu": quantity.MustParse(cpu)}},
		}}},
	}
}

// actuated is what the status of a pod says that its container has; empty if it says nothing.
func actuated(pod *v1.Pod) string {
	if len(pod.Status.ContainerStatuses) == 0 {
		return ""
	}
	given := pod.Status.ContainerStatuses[0]
	if !sameAmounts(given.Resources.Requests, given.AllocatedResources) {
		return "not what is allocated"
	}
	cpu := given.Resources.Requests["cpu"]
	return cpu.String()
}

func TestPodsAreUpdated(t *testing.T) {
	for name, c := range map[string]struct {
		node string
		to   []string
		want string
	}{
		"one that waits":       {"", []string{"1"}, ""},
		"the same amount":      {"n", []string{"2000m"}, ""},
		"it grows":             {"n", []string{"3"}, "2"},
		"it shrinks":           {"n", []string{"1"}, "1"},
		"it grows, and back":   {"n", []string{"3", "2"}, "2"},
		"it shrinks and grows": {"n", []string{"1", "3"}, "1"},
	} {
		s := newStore()
		s.Create(requesting("p", c.node, "2"))
		before := s.Pod("p")
		for i, cpu := range c.to {
			version := requesting("p", "", cpu)
			version.Labels = map[string]string{"at": cpu}
			version.Spec.Tolerations = []v1.Toleration{{Key: cpu}}
			setVersion(version, i+1)
			if err := s.UpdatePod(version); err != nil {
				t.Fatal(err)
			}
		}
		now, last := s.Pod("p"), c.to[len(c.to)-1]
		if got := actuated(now); got != c.want {
			t.Errorf("%s: %q is actuated, not %q", name, got, c.want)
		}
		requests := now.Spec.Containers[0].Resources.Requests["cpu"]
		if podVersion(now) != len(c.to) || now.Labels["at"] != last || now.Spec.Tolerations[0].Key != last || requests.Cmp(quantity.MustParse(last)) != 0 || now.Spec.NodeName != c.node {
			t.Errorf("%s: %v", name, now)
		}
		if podVersion(before) != 0 || before.Labels != nil || before.Status.ContainerStatuses != nil {
			t.Errorf("%s: an object that was given out has changed: %v", name, before)
		}
	}
	if err := newStore().UpdatePod(requesting("p", "", "1")); err == nil {
		t.Error("a pod was updated that is not there")
	}
}

func TestVersionsOfPods(t *testing.T) {
	named := map[string]*v1.Pod{"p.small": requesting("p", "", "1"), "p.large": requesting("p", "", "3"), "q.other": requesting("q", "", "1")}
	c := &Case{Pods: []*v1.Pod{requesting("p", "", "2"), requesting("r", "", "1")}, PodVersions: named}
	c.numberPodVersions()
	c.numberPodVersions() // they keep their numbers
	for name, want := range map[string]int{"p.large": 1, "p.small": 2, "q.other": 1} {
		if got := podVersion(named[name]); got != want {
			t.Errorf("%s has number %d, not %d", name, got, want)
		}
		if got := c.podVersionName(named[name]); got != name {
			t.Errorf("%s is taken for %v", name, got)
		}
	}
	if got := c.podVersionName(c.Pods[0]); got != "p.initial" {
		t.Errorf("the first version is taken for %v", got)
	}
	if got := c.podVersionName(c.Pods[1]); got != nil {
		t.Errorf("a pod with one version has %v", got)
	}
}

func TestAResizeThatIsRefusedLeavesThePodWithWhatItHas(t *testing.T) {
	s := newStore()
	c := &Case{Pods: []*v1.Pod{requesting("p", "", "1")}, PodVersions: map[string]*v1.Pod{"p.large": requesting("p", "", "3")}}
	c.numberPodVersions()
	w := &World{Case: c, Store: s}
	s.Create(requesting("p", "n", "1"))
	if err := w.toVersion("p.large", (*Store).UpdatePod); err != nil {
		t.Fatal(err)
	}
	if asked := countedRequests(s.Pod("p"))[0].Cpu().Value(); asked != 3 {
		t.Errorf("it counts for %d", asked)
	}
	if err := w.toVersion("p.initial", (*Store).RefuseResize); err != nil {
		t.Fatal(err)
	}
	refused := s.Pod("p")
	if asked := countedRequests(refused)[0].Cpu().Value(); asked != 1 || c.podVersionName(refused) != "p.initial" {
		t.Errorf("it counts for %d, as %v", asked, c.podVersionName(refused))
	}
	if err := w.toVersion("p.unknown", (*Store).UpdatePod); err == nil {
		t.Error("a version that there is not is written")
	}
}
