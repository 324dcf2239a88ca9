package podrace

import (
	"testing"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

func finalized(looked bool) *Store {
	p := requesting("p", "n", "1")
	p.Finalizers = []string{"example.com/cleanup"}
	c := &Case{Initial: map[string]any{}}
	c.Pods = append(c.Pods, p)
	if looked {
		c.Initial["api.lingers[p]"] = false
	}
	s := newStore()
	s.holdBound(c)
	s.Create(p)
	return s
}

func TestFinalizersKeepABoundPod(t *testing.T) {
	s := finalized(true)
	if err := s.DeletePod("p"); err != nil || s.Pod("p").DeletionTimestamp == nil {
		t.Fatalf("a DELETE without grace only marks a pod that has finalizers: %v", err)
	}
	if err := s.RemovePod("p"); err != nil || s.Pod("p") != nil || !s.lingers("p") {
		t.Fatalf("its kubelet is done with it, and its object lingers: %v", err)
	}
	if s.holder("p") != "p" || s.finished["p"] == nil {
		t.Error("it has its name still")
	}
	if err := s.TakeFinalizers("p"); err != nil || s.finished["p"] != nil || s.hasFinalizers("p") {
		t.Errorf("it is gone: %v", err)
	}
}

func TestFinalizersTakenBeforeTheDeletion(t *testing.T) {
	s := finalized(true)
	if err := s.TakeFinalizers("p"); err != nil || s.Pod("p") == nil || s.hasFinalizers("p") {
		t.Fatalf("it runs on, without finalizers: %v", err)
	}
	s.Pod("p").DeletionTimestamp = &metav1.Time{}
	if err := s.RemovePod("p"); err != nil || s.finished["p"] != nil {
		t.Errorf("nothing keeps its object: %v", err)
	}
}

func TestFinalizersOfAPodThatIsNotThere(t *testing.T) {
	p := requesting("p", "", "1")
	p.Finalizers = []string{"example.com/cleanup"}
	s := newStore()
	s.holdBound(&Case{Pods: []*v1.Pod{p}, Initial: map[string]any{"api.lingers[p]": false}})
	if !s.hasFinalizers("p") {
		t.Fatal("it is to be created with them")
	}
	s.Create(p)
	if err := s.RemovePod("p"); err != nil || s.Pod("p") != nil || !s.hasFinalizers("p") {
		t.Errorf("they were taken from a pending pod, of which the model says no more: %v", err)
	}
}

func TestWhereNobodyLooksAtFinalizers(t *testing.T) {
	s := finalized(false)
	if err := s.RemovePod("p"); err != nil || s.lingers("p") || s.finished["p"] != nil {
		t.Errorf("it is gone: %v", err)
	}
}
