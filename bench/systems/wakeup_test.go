package queue

import (
	"context"
	"testing"
	"time"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/klog/v2"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/metrics"
)

// slowLook is backoffQ to Pop: its first look at the length of it takes long.
type slowLook struct {
	*backoffQueue
	looked func()
}

func (s *slowLook) lenBackoff() int {
	n := s.backoffQueue.lenBackoff()
	if s.looked != nil {
		looked := s.looked
		s.looked = nil
		looked()
	}
	return n
}

// TestLostWakeUp passes as long as a wake-up is lost: Pop looks at activeQ and backoffQ, which are empty; Update moves a pod to backoffQ and
// broadcasts; then Pop begins to wait. Every step is the queue's own; two of them are held up, a queueing hint and the look at backoffQ.
//
// Copy it to pkg/scheduler/backend/queue of kubernetes 1.36, and run `go test -run TestLostWakeUp ./pkg/scheduler/backend/queue`.
func TestLostWakeUp(t *testing.T) {
	metrics.Register()
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	hinting, goOn := make(chan struct{}), make(chan struct{})
	hint := func(_ klog.Logger, _ *v1.Pod, _, _ interface{}) (fwk.QueueingHint, error) {
		close(hinting)
		<-goOn
		return fwk.Queue, nil
	}
	hints := QueueingHintMapPerProfile{"": QueueingHintMap{
		fwk.ClusterEvent{Resource: fwk.WildCard, ActionType: fwk.All}: {{PluginName: "fits", QueueingHintFn: hint}},
	}}
	older := func(a, b fwk.QueuedPodInfo) bool { return a.GetTimestamp().Before(b.GetTimestamp()) }
	q := NewTestQueue(ctx, older, WithQueueingHintMapPerProfile(hints), WithPodInitialBackoffDuration(time.Hour), WithPodMaxBackoffDuration(time.Hour))
	aq := q.activeQ.(*activeQueue)
	if aq.backoffQPopper == nil {
		t.Fatal("SchedulerPopFromBackoffQ is off")
	}
	pod := &v1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "p", Namespace: "ns", UID: "p"}}
	changed := pod.DeepCopy()
	changed.Labels = map[string]string{"a": "b"}
	info := q.newQueuedPodInfo(ctx, pod, "fits")
	info.UnschedulablePlugins = sets.New("fits")
	info.UnschedulableCount = 1
	info.Timestamp = time.Now()
	q.unschedulablePods.addOrUpdate(info, false, "test")

	updated := make(chan struct{})
	go func() {
		q.Update(ctx, pod, changed)
		close(updated)
	}()
	<-hinting
	aq.backoffQPopper = &slowLook{q.backoffQ.(*backoffQueue), func() {
		close(goOn)
		select {
		case <-updated:
			t.Log("Update has broadcast while Pop held the lock of activeQ")
		case <-time.After(3 * time.Second):
			t.Log("Update waits for Pop")
		}
	}}
	popped := make(chan struct{})
	go func() {
		_, _ = q.Pop(klog.FromContext(ctx))
		close(popped)
	}()
	select {
	case <-popped:
		t.Fatal("Pop got the pod: no wake-up was lost")
	case <-time.After(5 * time.Second):
	}
	if n := q.backoffQ.(*backoffQueue).lenBackoff(); n != 1 {
		t.Fatalf("backoffQ has %d pods", n)
	}
	q.activeQ.broadcast()
	select {
	case <-popped:
		t.Log("the next broadcast wakes Pop")
	case <-time.After(5 * time.Second):
		t.Fatal("Pop does not wake")
	}
}
