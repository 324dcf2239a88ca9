package podrace

import (
	"testing"

	v1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"
)

// again is a pod that takes the name of another.
func again(name string) *v1.Pod {
	p := requesting(name+"-again", "", "1")
	p.Name = name
	return p
}

func recreated() (*Case, *Store) {
	c := &Case{Pods: []*v1.Pod{requesting("p", "n", "1"), again("p")}}
	c.nameThem()
	s := newStore()
	s.names = c.names
	return c, s
}

func TestPointsAreAboutPods(t *testing.T) {
	c, _ := recreated()
	step := Step{Args: map[string]any{"pod": "p-again"}}
	for name, k := range map[string]struct {
		pattern string
		at      point
		fits    bool
	}{
		"by the UID":                 {"Queue.Add< P", point{call: "Queue.Add", pod: "p-again"}, true},
		"another of its name":        {"Queue.Add< P", point{call: "Queue.Add", pod: "p"}, false},
		"any of its name":            {"Queue.Add< S", point{call: "Queue.Add", pod: "p"}, true},
		"a call that goes by names":  {"Client.Patch< P", point{call: "Client.Patch", pod: "p", byName: true}, true},
		"such a call for another":    {"Client.Patch< P", point{call: "Client.Patch", pod: "q", byName: true}, false},
		"a call that says nobody":    {"NextPod> P", point{call: "NextPod"}, true},
		"a call that has found none": {"NextPod< P", point{call: "NextPod", after: true}, false},
	} {
		if got := parse(k.pattern).fits(&k.at, step, c); got != k.fits {
			t.Errorf("%s: %v", name, got)
		}
	}
}

func TestWhoHasAName(t *testing.T) {
	c, s := recreated()
	s.Create(c.Pods[0])
	if got := s.holder("p"); got != "p" {
		t.Errorf("%s has the name", got)
	}
	if err := s.DeletePod("p-again"); !apierrors.IsNotFound(err) {
		t.Errorf("a pod was deleted that is not there: %v", err)
	}
	if err := s.FinishPod("p"); err != nil || s.holder("p") != "p" {
		t.Errorf("a pod that has finished has its name still: %v, %s", err, s.holder("p"))
	}
	s.Create(c.Pods[1])
	if got := s.holder("p"); got != "p-again" || s.Pod("p") != nil {
		t.Errorf("%s has the name, and p is %v", got, s.Pod("p"))
	}
}

func TestAPodThatHasEndedIsOnTheWatchOnlyIfThatDoesNotSelectByPhase(t *testing.T) {
	for by, wants := range map[string]watch.EventType{
		"": watch.Modified,
		"status.phase!=Succeeded,status.phase!=Failed": watch.Deleted,
	} {
		s := newStore()
		s.Create(requesting("p", "n", "1"))
		if err := s.selectPods(by); err != nil {
			t.Fatal(err)
		}
		if err := s.FinishPod("p"); err != nil {
			t.Fatal(err)
		}
		if log := s.log[podKind]; len(log) != 2 || log[1].Type != wants {
			t.Errorf("%q: %v", by, log)
		}
	}
}

// outcomes are those of a list, as the watch tells them.
func outcomes(s *Store) (found []string) {
	for _, e := range s.log[podKind][len(s.log[podKind])-1].outcomes {
		found = append(found, string(e.Type)+" "+e.name)
	}
	return found
}

func TestWritesThatComeTooLate(t *testing.T) {
	s := newStore()
	s.Create(requesting("p", "n", "1"))
	patch := []byte(`{"status":{"phase":"Running"},"spec":{"nodeName":"m"}}`)
	for _, want := range []int{2, 2} { // what changes nothing has no event
		p, err := s.Patch("p", types.StrategicMergePatchType, patch)
		if err != nil || len(s.log[podKind]) != want || p.Spec.NodeName != "n" {
			t.Errorf("%v: %d events, on %s", err, len(s.log[podKind]), p.Spec.NodeName)
		}
	}
	if err := s.FinishPod("p"); err != nil {
		t.Fatal(err)
	}
	if err := s.Bind("p", "n"); !apierrors.IsConflict(err) {
		t.Errorf("a pod that has finished is bound: %v", err)
	}
	if s.object("p") == nil {
		t.Error("it is there still")
	}
}

func TestAListHidesThatAPodIsGoneWhoseNameAnotherHas(t *testing.T) {
	for name, k := range map[string]struct {
		recreated bool
		want      string
	}{
		"its name is free": {false, "DELETED p"},
		"another has it":   {true, "ADDED p-again"},
	} {
		c, s := recreated()
		s.Create(c.Pods[0])
		s.Deliver(podKind)
		if err := s.RemovePod("p"); err != nil {
			t.Fatal(err)
		}
		if k.recreated {
			s.Create(c.Pods[1])
		}
		s.Expire(podKind, []string{"p", "p-again"})
		if got := outcomes(s); len(got) != 1 || got[0] != k.want {
			t.Errorf("%s: %v", name, got)
		}
	}
}

func TestBudgetsAreKept(t *testing.T) {
	web := map[string]string{"app": "web"}
	c := &Case{Budgets: []budget{{
		ObjectMeta: metav1.ObjectMeta{Name: "b", UID: "b"},
		Spec:       policyv1.PodDisruptionBudgetSpec{Selector: &metav1.LabelSelector{MatchLabels: web}},
		Status:     policyv1.PodDisruptionBudgetStatus{DisruptionsAllowed: 1},
	}}}
	s := newStore()
	for _, name := range []string{"v", "w"} {
		p := requesting(name, "n", "1")
		p.Labels = web
		c.Pods = append(c.Pods, p)
		s.Create(p)
	}
	p := &player{world: &World{Case: c, Store: s, budgets: newBudgets(c)}}
	status := &p.world.budgets.objects[0].Status
	of := func(pod string) Step { return Step{Args: map[string]any{"pod": pod, "budget": "b"}} }
	if err := evictByAPI(p, of("v")); err != nil || status.DisruptionsAllowed != 0 || len(status.DisruptedPods) != 1 {
		t.Errorf("the first eviction: %v, %v", err, status)
	}
	if err := evictByAPI(p, of("w")); err == nil {
		t.Error("the budget pays twice")
	}
	if err := countAnew(p, of("")); err != nil || status.DisruptionsAllowed != 0 || len(status.DisruptedPods) != 1 {
		t.Errorf("before the deletion: %v, %v", err, status)
	}
	if err := finishEviction(p, of("v")); err != nil || s.Pod("v").DeletionTimestamp == nil {
		t.Errorf("the deletion: %v, %v", err, s.Pod("v"))
	}
	if err := countAnew(p, of("")); err != nil || status.DisruptionsAllowed != 0 || len(status.DisruptedPods) != 0 {
		t.Errorf("after the deletion: %v, %v", err, status)
	}
	if p.world.budgets.shown["b"].Status.DisruptionsAllowed != 1 {
		t.Error("the scheduler's informer has the new status")
	}
}

func TestAPodThatIsCreatedAgainHasAUIDOfItsOwn(t *testing.T) {
	s := newStore()
	pod := &v1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "p", UID: "p"}, Spec: v1.PodSpec{NodeName: "n"}}
	s.Create(pod)
	if first := s.Pod("p"); first.UID != "p" || first.Spec.NodeName != "n" {
		t.Errorf("the first is %s on %q", first.UID, first.Spec.NodeName)
	}
	if err := s.RemovePod("p"); err != nil {
		t.Fatal(err)
	}
	s.Create(pod)
	again := s.Pod("p")
	if again.UID == "p" || again.UID != s.uid("p") || idOf(again) != "p" || again.Spec.NodeName != "" {
		t.Errorf("the second is %s on %q, and the store says %s", again.UID, again.Spec.NodeName, s.uid("p"))
	}
	if err := s.mustBe("p", "p"); err == nil {
		t.Error("a call for the first is made for the second")
	}
	if err := s.mustBe("p", string(again.UID)); err != nil {
		t.Error(err)
	}
}
