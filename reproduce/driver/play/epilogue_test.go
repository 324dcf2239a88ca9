package podrace

import (
	"slices"
	"testing"
	"time"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// terminating is a store with a node and a pod, on which nobody works any more since a moment of a test.
func terminating(node string, grace *int64, since time.Time) *Store {
	p := requesting("p", node, "1")
	p.Spec.TerminationGracePeriodSeconds = grace
	p.DeletionTimestamp = &metav1.Time{Time: since}
	s := newStore()
	s.Create(&v1.Node{ObjectMeta: metav1.ObjectMeta{Name: "n"}})
	s.Create(p)
	return s
}

func TestKubeletsTakeTheWholeGracePeriod(t *testing.T) {
	since, five := time.Unix(1000, 0), int64(5)
	for _, each := range []struct {
		node    string
		grace   *int64
		seconds int
		ends    bool
	}{
		{"n", &five, 4, false},
		{"n", &five, 5, true},
		{"n", nil, 29, false}, // DefaultTerminationGracePeriodSeconds
		{"n", nil, 30, true},
		{"gone", &five, 60, false}, // nobody is there to say that its containers have stopped
		{"", &five, 60, false},
	} {
		s := terminating(each.node, each.grace, since)
		over := s.terminated(since.Add(time.Duration(each.seconds) * time.Second))
		if slices.Contains(over, "p") != each.ends {
			t.Errorf("on %q, after %d s of %v: %v", each.node, each.seconds, each.grace, over)
		}
	}
	s := terminating("n", &five, since)
	s.pods["p"].DeletionTimestamp = nil
	if over := s.terminated(since.Add(time.Hour)); len(over) > 0 {
		t.Errorf("nobody has deleted it: %v", over)
	}
}
