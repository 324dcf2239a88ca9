package podrace

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	v1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	resourceapi "k8s.io/api/resource/v1"
	quantity "k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/kubernetes/pkg/scheduler/util"
)

// The calls, and the situations in which they are made.

var background = context.Background()

var scripts = []script{
	{podKind, bindings}, {podKind, bindingsByUID}, {podKind, bindingsOfEndedPods}, {podKind, statuses}, {podKind, statusesOfBoundPods}, {podKind, patchesByUID},
	{podKind, deletions}, {podKind, deletionsOfBoundPods}, {podKind, finalizersOfPods}, {podKind, reads}, {podKind, sequences}, {podKind, updates},
	{nodeKind, nodes}, {claimKind, claims}, {claimKind, reservations}, {claimKind, claimsThatGo}, {claimKind, claimsOfOneName}, {claimKind, createdClaims},
	{volumeKind, volumes}, {volumeClaimKind, volumeClaims}, {podKind, evictions}, {podKind, evictionsWithoutBudget}, {groupKind, groups},
}

func named(name string) metav1.ObjectMeta { return metav1.ObjectMeta{Name: name, UID: types.UID(name)} }

func amount(cpu string) v1.ResourceList { return v1.ResourceList{"cpu": quantity.MustParse(cpu)} }

func sample(kind, name string) runtime.Object {
	modes := []v1.PersistentVolumeAccessMode{v1.ReadWriteOnce}
	class := "c"
	switch kind {
	case podKind:
		return pod(name, "")
	case nodeKind:
		return &v1.Node{ObjectMeta: named(name)}
	case volumeKind:
		return &v1.PersistentVolume{ObjectMeta: named(name), Spec: v1.PersistentVolumeSpec{
			Capacity: v1.ResourceList{"storage": quantity.MustParse("1Gi")}, AccessModes: modes, StorageClassName: class,
			PersistentVolumeSource: v1.PersistentVolumeSource{CSI: &v1.CSIPersistentVolumeSource{Driver: "d.example.com", VolumeHandle: name}},
		}}
	case groupKind:
		return podGroup(name)
	case volumeClaimKind:
		return &v1.PersistentVolumeClaim{ObjectMeta: named(name), Spec: v1.PersistentVolumeClaimSpec{
			AccessModes: modes, StorageClassName: &class, Resources: v1.VolumeResourceRequirements{Requests: v1.ResourceList{"storage": quantity.MustParse("1Gi")}},
		}}
	}
	return &resourceapi.ResourceClaim{ObjectMeta: named(name), Spec: resourceapi.ResourceClaimSpec{Devices: resourceapi.DeviceClaim{
		Requests: []resourceapi.DeviceRequest{{Name: "r", Exactly: &resourceapi.ExactDeviceRequest{DeviceClassName: class, AllocationMode: resourceapi.DeviceAllocationModeExactCount, Count: 1}}},
	}}}
}

const hold = "example.com/hold"

// pod is one on a node, or pending; `with` are said of it as well.
func pod(name, node string, with ...func(*v1.Pod)) *v1.Pod {
	grace := int64(30)
	p := &v1.Pod{ObjectMeta: named(name), Spec: v1.PodSpec{
		NodeName: node, TerminationGracePeriodSeconds: &grace,
		Containers: []v1.Container{{Name: "c", Image: "i", Resources: v1.ResourceRequirements{Requests: amount("1")}}},
	}}
	for _, is := range with {
		is(p)
	}
	return p
}

func isNominated(p *v1.Pod) { p.Status = v1.PodStatus{Phase: v1.PodPending, NominatedNodeName: "m"} }
func isGated(p *v1.Pod)     { p.Spec.SchedulingGates = []v1.PodSchedulingGate{{Name: "example.com/gate"}} }
func isHeldBy(p *v1.Pod)    { p.Finalizers = []string{hold} }
func runs(p *v1.Pod) {
	p.Status = v1.PodStatus{Phase: v1.PodRunning, Conditions: []v1.PodCondition{{Type: v1.PodReady, Status: v1.ConditionTrue}}}
}
func hasNoGrace(p *v1.Pod) { p.Spec.TerminationGracePeriodSeconds = new(int64) }

func (s *stand) bind(name, node string, uid types.UID) func() (any, error) {
	return func() (any, error) {
		b := &v1.Binding{ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: s.namespace, UID: uid}, Target: v1.ObjectReference{Kind: "Node", Name: node}}
		return nil, s.CoreV1().Pods(s.namespace).Bind(background, b, metav1.CreateOptions{})
	}
}

// patch is what the scheduler writes into the status of a pod.
func (s *stand) patch(name string, old, next v1.PodStatus) func() (any, error) {
	return func() (any, error) {
		return nil, util.PatchPodStatus(background, s.Interface, name, s.namespace, &old, &next)
	}
}

func (s *stand) rawPatch(name, patch string) func() (any, error) {
	return func() (any, error) {
		return s.CoreV1().Pods(s.namespace).Patch(background, name, types.StrategicMergePatchType, []byte(patch), metav1.PatchOptions{}, "status")
	}
}

func (s *stand) remove(name string, uid types.UID) func() (any, error) {
	return func() (any, error) {
		options := metav1.DeleteOptions{}
		if uid != "" {
			options.Preconditions = &metav1.Preconditions{UID: &uid}
		}
		return nil, s.CoreV1().Pods(s.namespace).Delete(background, name, options)
	}
}

func (s *stand) other(kind, name string, c change) func() (any, error) {
	return func() (any, error) { return nil, s.change(kind, name, c) }
}

// succeeds: a kubelet says that a pod has succeeded.
var succeeds = change{`{"status":{"phase":"Succeeded"}}`, "status", (*Store).FinishPod}

var release = change{`{"metadata":{"finalizers":null}}`, "", (*Store).TakeFinalizers}

func (s *stand) finish(name string) { s.set(s.change(podKind, name, succeeds)) }

func condition(status v1.ConditionStatus, message string) v1.PodStatus {
	reason := ""
	if status == v1.ConditionFalse {
		reason = v1.PodReasonUnschedulable
	}
	return v1.PodStatus{Conditions: []v1.PodCondition{{Type: v1.PodScheduled, Status: status, Reason: reason, Message: message}}}
}

var none = v1.PodStatus{}

func bindings(s *stand) {
	const call = "Binding"
	uid := s.make(pod("p", ""))
	s.call(call, "of a pending pod", s.bind("p", "n", uid))
	s.call(call, "of a pod that is already bound to this node", s.bind("p", "n", uid))
	s.call(call, "of a pod that is bound to another node", s.bind("p", "m", uid))
	s.set(s.change(podKind, "p", change{`{"metadata":{"labels":{"a":"b"}}}`, "", func(s *Store, name string) error {
		version := s.Pod(name).DeepCopy()
		version.Labels = map[string]string{"a": "b"}
		return s.UpdatePod(version)
	}}))
	_, err := s.remove("p", "")()
	s.set(err)
	s.call(call, "of a pod that is bound and terminating", s.bind("p", "n", uid))

	s.call(call, "of a nominated pod", s.bind("nominated", "n", s.make(pod("nominated", "", isNominated))))
	s.call(call, "of a pod with scheduling gates", s.bind("gated", "n", s.make(pod("gated", "", isGated))))
	uid = s.make(pod("held", "", isHeldBy))
	_, err = s.remove("held", "")()
	s.set(err)
	s.call(call, "of a pending pod that is terminating", s.bind("held", "n", uid))
	uid = s.make(pod("rejected", ""))
	_, err = s.patch("rejected", none, condition(v1.ConditionFalse, "no room"))()
	s.set(err)
	s.call(call, "of a pod that could not be scheduled before", s.bind("rejected", "n", uid))
	s.call(call, "of a pod that does not exist", s.bind("nobody", "n", "nobody"))
}

func bindingsByUID(s *stand) {
	const call = "Binding"
	uid := s.make(pod("p", ""))
	s.set(s.removePod("p"))
	s.call(call, "of a pod that is gone", s.bind("p", "n", uid))
	now := s.make(pod("p", ""))
	s.call(call, "by the UID of a pod that is gone; a new pod has its name", s.bind("p", "n", uid))
	s.call(call, "without a UID; an earlier pod had the same name", s.bind("p", "n", ""))
	s.call(call, "by the UID of a bound pod; an earlier pod had the same name", s.bind("p", "n", now))
}

func bindingsOfEndedPods(s *stand) {
	const call = "Binding"
	uid := s.make(pod("p", "n"))
	s.finish("p")
	s.call(call, "of a bound pod that has finished", s.bind("p", "n", uid))
	s.call("PATCH of a pod's status", "of a pod that has finished", s.patch("p", none, condition(v1.ConditionFalse, "no room")))
	s.call("DELETE of a pod", "that has finished", s.remove("p", ""))
	s.call("DELETE of a pod", "that had finished and is gone", s.remove("p", ""))
}

func statuses(s *stand) {
	const call = "PATCH of a pod's status"
	s.make(pod("p", ""))
	no, still := condition(v1.ConditionFalse, "no room"), condition(v1.ConditionFalse, "still no room")
	s.call(call, "a first condition", s.patch("p", none, no))
	s.call(call, "the same PATCH again", s.patch("p", none, no))
	s.call(call, "another message", s.patch("p", no, still))
	s.call(call, "a condition that is computed from an old object", s.patch("p", none, no))
	s.call(call, "a nomination", s.rawPatch("p", `{"status":{"nominatedNodeName":"n"}}`))
	s.call(call, "clears the nomination", s.rawPatch("p", `{"status":{"nominatedNodeName":null}}`))
	s.call(call, "clears a nomination that is not set", s.rawPatch("p", `{"status":{"nominatedNodeName":null}}`))
	s.call(call, "changes only spec, labels and finalizers", s.rawPatch("p", `{"metadata":{"labels":{"a":"b"},"finalizers":["example.com/hold"]},"spec":{"nodeName":"n"}}`))
	s.call(call, "of a pod that does not exist", s.patch("nobody", none, no))
	s.make(pod("gated", "", isGated))
	s.call(call, "of a pod with scheduling gates", s.patch("gated", none, no))
	s.make(pod("held", "", isHeldBy))
	_, err := s.remove("held", "")()
	s.set(err)
	s.call(call, "of a pending pod that is terminating", s.patch("held", none, no))
	s.call(call, "a nomination; the pod is pending and terminating", s.rawPatch("held", `{"status":{"nominatedNodeName":"n"}}`))
}

func statusesOfBoundPods(s *stand) {
	const call = "PATCH of a pod's status"
	no := condition(v1.ConditionFalse, "no room")
	s.make(pod("p", "n"))
	s.call(call, "the condition Unschedulable; the pod is bound", s.patch("p", none, no))
	s.call(call, "a nomination; the pod is bound", s.rawPatch("p", `{"status":{"nominatedNodeName":"m"}}`))
	s.call(call, "clears a nomination that is not set; the pod is bound", s.rawPatch("p", `{"status":{"nominatedNodeName":null}}`))
	target := v1.PodStatus{Conditions: []v1.PodCondition{{Type: v1.DisruptionTarget, Status: v1.ConditionTrue, Reason: v1.PodReasonPreemptionByScheduler}}}
	s.call(call, "the condition DisruptionTarget", s.patch("p", none, target))
	_, err := s.remove("p", "")()
	s.set(err)
	s.call(call, "the condition DisruptionTarget, which the terminating pod already has", s.patch("p", none, target))
	s.make(pod("q", "n"))
	_, err = s.remove("q", "")()
	s.set(err)
	s.call(call, "the condition DisruptionTarget; the pod is terminating", s.patch("q", none, target))
	s.set(s.removePod("q"))
	s.call(call, "the condition DisruptionTarget; the pod is gone", s.patch("q", none, target))
}

func patchesByUID(s *stand) {
	const call = "PATCH of a pod's status"
	uid := s.make(pod("p", ""))
	with := func(uid types.UID) string {
		return fmt.Sprintf(`{"metadata":{"uid":%q},"status":{"nominatedNodeName":"n"}}`, uid)
	}
	s.call(call, "with the pod's UID", s.rawPatch("p", with(uid)))
	s.set(s.removePod("p"))
	s.call(call, "with the UID of a pod that is gone", s.rawPatch("p", with(uid)))
	s.make(pod("p", ""))
	s.call(call, "with the UID of a pod that is gone; a new pod has its name", s.rawPatch("p", with(uid)))
	s.call(call, "without a UID; an earlier pod had the same name", s.patch("p", none, condition(v1.ConditionFalse, "no room")))
}

func deletions(s *stand) {
	const call = "DELETE of a pod"
	s.make(pod("p", ""))
	s.call(call, "that is pending", s.remove("p", ""))
	s.call(call, "that is gone", s.remove("p", ""))
	uid := s.make(pod("q", "", isNominated))
	s.call(call, "by the pod's UID", s.remove("q", uid))
	s.call(call, "by the UID of a pod that is gone", s.remove("q", uid))
	s.make(pod("q", ""))
	s.call(call, "by the UID of a pod that is gone; a new pod has its name", s.remove("q", uid))
	s.call(call, "without a UID; an earlier pod had the same name", s.remove("q", ""))
	s.make(pod("held", "", isHeldBy))
	s.call(call, "that is pending and has finalizers", s.remove("held", ""))
	s.call(call, "that is pending, has finalizers and is terminating", s.remove("held", ""))
	s.call("finalizers are removed", "from a pending pod that is terminating", s.other(podKind, "held", change{release.patch, "", (*Store).RemovePod}))
}

func deletionsOfBoundPods(s *stand) {
	const call, kubelet = "DELETE of a pod", "a kubelet's last DELETE"
	s.make(pod("p", "n"))
	s.call(call, "that is bound", s.remove("p", ""))
	s.call(call, "that is terminating", s.remove("p", ""))
	s.call(kubelet, "of a pod that is terminating", func() (any, error) { return nil, s.removePod("p") })
	s.call(kubelet, "of a pod that is gone", func() (any, error) { return nil, s.removePod("p") })
	s.make(pod("q", "n", hasNoGrace))
	s.call(call, "that is bound and has no grace period", s.remove("q", ""))
	s.make(pod("r", "n"))
	s.call(kubelet, "of a pod that nobody else has deleted", func() (any, error) { return nil, s.removePod("r") })
	s.make(pod("t", "n"))
	s.call("a pod succeeds", "on its node", s.other(podKind, "t", succeeds))
	s.make(pod("u", "n"))
	_, err := s.remove("u", "")()
	s.set(err)
	s.call("a pod succeeds", "that is terminating", s.other(podKind, "u", succeeds))
}

func finalizersOfPods(s *stand) {
	s.make(pod("p", "n", isHeldBy, hasNoGrace))
	s.call("DELETE of a pod", "that is bound and has finalizers, but no grace period", s.remove("p", ""))
	s.make(pod("q", "n", isHeldBy))
	_, err := s.remove("q", "")()
	s.set(err)
	s.call("finalizers are removed", "from a bound pod that is terminating", s.other(podKind, "q", release))
	s.make(pod("r", "n", isHeldBy))
	s.finish("r")
	s.call("DELETE of a pod", "that has finished and has finalizers", s.remove("r", ""))
	s.call("finalizers are removed", "from a pod that has finished and is terminating", s.other(podKind, "r", release))
	s.call("DELETE of a pod", "that had finished and is gone", s.remove("r", ""))
}

func reads(s *stand) {
	get := func(name string) func() (any, error) {
		return func() (any, error) {
			p, err := s.CoreV1().Pods(s.namespace).Get(background, name, metav1.GetOptions{})
			if err != nil {
				return nil, err
			}
			return p, nil
		}
	}
	s.make(pod("p", ""))
	s.call("GET of a pod", "that is there", get("p"))
	s.set(s.removePod("p"))
	s.call("GET of a pod", "that is gone", get("p"))
	s.make(pod("q", "n"))
	s.finish("q")
	s.call("GET of a pod", "that has finished", get("q"))
	for _, name := range []string{"c", "a", "b"} {
		s.make(pod(name, ""))
	}
	s.call("LIST of pods", "their order", func() (any, error) { return s.listed(), nil })
}

// sequences has several writes before anybody looks: each event is told of, as the object was at that time.
func sequences(s *stand) {
	no := condition(v1.ConditionFalse, "no room")
	s.call("WATCH of pods", "several writes of one pod", func() (any, error) {
		uid, err := s.create(pod("p", ""))
		if err != nil {
			return nil, err
		}
		for _, do := range []func() (any, error){
			s.patch("p", none, no), s.rawPatch("p", `{"status":{"nominatedNodeName":"n"}}`), s.bind("p", "n", uid), s.remove("p", uid),
			func() (any, error) { return nil, s.removePod("p") },
			func() (any, error) { _, err := s.create(pod("p", "")); return nil, err },
		} {
			if _, err := do(); err != nil {
				return nil, err
			}
		}
		return nil, nil
	})
	s.call("WATCH of pods", "writes of several pods", func() (any, error) {
		for _, name := range []string{"b", "a"} {
			if _, err := s.create(pod(name, "")); err != nil {
				return nil, err
			}
		}
		for _, name := range []string{"a", "b"} {
			if _, err := s.patch(name, none, no)(); err != nil {
				return nil, err
			}
		}
		return nil, s.removePod("b")
	})
}

func updates(s *stand) {
	const call = "UPDATE of a pod"
	s.make(pod("gated", "", isGated))
	s.call(call, "its scheduling gates are removed", s.other(podKind, "gated", change{`{"spec":{"schedulingGates":null}}`, "", (*Store).OpenGates}))
	s.make(pod("p", ""))
	s.call(call, "its labels", s.other(podKind, "p", change{`{"metadata":{"labels":{"a":"b"}}}`, "", func(s *Store, name string) error {
		version := s.Pod(name).DeepCopy()
		version.Labels = map[string]string{"a": "b"}
		return s.UpdatePod(version)
	}}))
	resize := change{`{"spec":{"containers":[{"name":"c","image":"i","resources":{"requests":{"cpu":"2"}}}]}}`, "resize", func(s *Store, name string) error {
		version := s.Pod(name).DeepCopy()
		version.Spec.Containers[0].Resources.Requests = amount("2")
		return s.UpdatePod(version)
	}}
	node := sample(nodeKind, "n"+s.suffix).(*v1.Node)
	node.Status.Allocatable = amount("4")
	s.make(node)
	s.make(pod("q", node.Name))
	s.call(call, "the requests of a pod that is bound (resize)", s.other(podKind, "q", resize))
	s.call(call, "the requests of a pending pod (resize)", s.other(podKind, "p", resize))
	s.call("a pod is created", "under the name of an existing pod", func() (any, error) { _, err := s.create(pod("p", "")); return nil, err })
	s.call(call, "of a pod that is gone", s.other(podKind, "nobody", change{`{"spec":{"schedulingGates":null}}`, "", (*Store).OpenGates}))
	s.call("a kubelet's PATCH", "marks a pod as ready", s.other(podKind, "q", change{`{"status":{"phase":"Running","conditions":[{"type":"Ready","status":"True"}]}}`, "status", func(s *Store, name string) error {
		_, err := s.Patch(name, types.StrategicMergePatchType, []byte(`{"status":{"phase":"Running","conditions":[{"type":"Ready","status":"True"}]}}`))
		return err
	}}))
}

func nodes(s *stand) {
	n := "n" + s.suffix
	get := func(name string) func() (any, error) {
		return func() (any, error) {
			found, err := s.CoreV1().Nodes().Get(background, name, metav1.GetOptions{})
			if err != nil {
				return nil, err
			}
			return found, nil
		}
	}
	update := func(patch string, is func(*v1.Node)) change {
		return change{patch, "", func(s *Store, name string) error {
			next := s.Node(name).DeepCopy()
			is(next)
			return s.UpdateNode(next)
		}}
	}
	s.call("a node is created", "", func() (any, error) {
		_, err := s.create(sample(nodeKind, n))
		return nil, err
	})
	s.call("GET of a node", "that is there", get(n))
	s.call("UPDATE of a node", "cordoned", s.other(nodeKind, n, update(`{"spec":{"unschedulable":true}}`, func(n *v1.Node) { n.Spec.Unschedulable = true })))
	s.call("UPDATE of a node", "a label", s.other(nodeKind, n, update(`{"metadata":{"labels":{"a":"b"}}}`, func(n *v1.Node) { n.Labels = map[string]string{"a": "b"} })))
	s.call("a node is deleted", "", func() (any, error) { return nil, s.deleteObject(nodeKind, n) })
	s.call("a node is deleted", "that is gone", func() (any, error) { return nil, s.deleteObject(nodeKind, n) })
	s.call("GET of a node", "that is gone", get(n))
}

func (s *stand) listed() string {
	list, err := s.list(metav1.ListOptions{})
	if err != nil {
		s.t.Fatal(err)
	}
	var names []string
	text, _ := json.Marshal(list)
	var read struct {
		Items []struct{ Metadata metav1.ObjectMeta }
	}
	_ = json.Unmarshal(text, &read)
	for _, item := range read.Items {
		if !strings.HasPrefix(item.Metadata.Name, marker) {
			names = append(names, item.Metadata.Name)
		}
	}
	return strings.Join(names, " ")
}

func web(p *v1.Pod) { p.Labels = map[string]string{"app": "web"} }

func webBudget() budget {
	least := intstr.FromInt32(1)
	return budget{
		ObjectMeta: named("b"), Spec: policyv1.PodDisruptionBudgetSpec{MinAvailable: &least, Selector: &metav1.LabelSelector{MatchLabels: map[string]string{"app": "web"}}},
		Status: policyv1.PodDisruptionBudgetStatus{DisruptionsAllowed: 1, CurrentHealthy: 2, DesiredHealthy: 1, ExpectedPods: 2, ObservedGeneration: 1},
	}
}
