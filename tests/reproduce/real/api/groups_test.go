package podrace

import (
	"encoding/json"
	"reflect"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/kubernetes/pkg/scheduler/util"
)

// Groups of pods, whose API has another version in each release: what the driver has of them is in the embedded clientset.

const groupKind = "podgroups"

// writesGroup is util.PatchPodGroupStatus, of whose parameters the types follow the API.
var writesGroup = reflect.ValueOf(util.PatchPodGroupStatus)

func called(f reflect.Value, arguments ...any) (any, error) {
	var in []reflect.Value
	for _, a := range arguments {
		in = append(in, reflect.ValueOf(a))
	}
	out := f.Call(in)
	err, _ := out[len(out)-1].Interface().(error)
	if err != nil || len(out) == 1 {
		return nil, err
	}
	return out[0].Interface(), nil
}

// onGroups calls a method of the client of groups that the scheduler writes with.
func onGroups(clients kubernetes.Interface, namespace, method string, arguments ...any) (any, error) {
	status := writesGroup.Type().In(4).Elem() // k8s.io/api/scheduling/VERSION
	for _, version := range []string{"V1alpha2", "V1alpha3", "V1beta1"} {
		if of := reflect.ValueOf(clients).MethodByName("Scheduling" + version); of.IsValid() {
			groups := of.Call(nil)[0].MethodByName("PodGroups")
			if groups.IsValid() && groups.Type().Out(0).Method(0).Type.Out(0).Elem().PkgPath() == status.PkgPath() {
				return called(groups.Call([]reflect.Value{reflect.ValueOf(namespace)})[0].MethodByName(method), arguments...)
			}
		}
	}
	panic("this version has no groups of pods")
}

// podGroup is one of the type that the client takes.
func podGroup(name string) runtime.Object {
	status := writesGroup.Type().In(4).Elem()
	for kind, of := range scheme.Scheme.AllKnownTypes() {
		if kind.Kind == "PodGroup" && of.PkgPath() == status.PkgPath() {
			made := reflect.New(of).Interface().(runtime.Object)
			_ = json.Unmarshal([]byte(`{"spec":{"schedulingPolicy":{"basic":{}}}}`), made)
			made.(metav1.Object).SetName(name)
			return made
		}
	}
	panic("this version has no groups of pods")
}

func makeGroup(clients kubernetes.Interface, namespace string, o runtime.Object) (types.UID, error) {
	_, err := onGroups(clients, namespace, "Create", background, o, metav1.CreateOptions{})
	return "", err
}

func conditionsOf(o runtime.Object) []metav1.Condition {
	found, _ := reflect.ValueOf(o).Elem().FieldByName("Status").FieldByName("Conditions").Interface().([]metav1.Condition)
	return found
}

// conditioned is a status of a group; with no message it has no condition.
func conditioned(message string) any {
	status := reflect.New(writesGroup.Type().In(4).Elem())
	if message != "" {
		at := metav1.NewTime(time.Unix(1_700_000_000, 0))
		status.Elem().FieldByName("Conditions").Set(reflect.ValueOf([]metav1.Condition{
			{Type: "PodGroupScheduled", Status: metav1.ConditionFalse, Reason: "Unschedulable", Message: message, LastTransitionTime: at},
		}))
	}
	return status.Interface()
}

func (s *stand) patchGroup(name, old, next string) func() (any, error) {
	return func() (any, error) {
		return called(writesGroup, background, s.Interface, name, s.namespace, conditioned(old), conditioned(next))
	}
}

func groups(s *stand) {
	const call = "PATCH of a group's status"
	s.make(podGroup("g"))
	s.call(call, "a first condition", s.patchGroup("g", "", "no room"))
	s.call(call, "the same PATCH again", s.patchGroup("g", "", "no room"))
	s.call(call, "another message", s.patchGroup("g", "no room", "still no room"))
	s.call(call, "of a group that does not exist", s.patchGroup("nobody", "", "no room"))
	s.call(call, "also changes the labels", func() (any, error) {
		return onGroups(s.Interface, s.namespace, "Patch", background, "g", types.StrategicMergePatchType, []byte(`{"metadata":{"labels":{"a":"b"}}}`), metav1.PatchOptions{}, "status")
	})
}
