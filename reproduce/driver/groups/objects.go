package podrace

import (
	"encoding/json"
	"fmt"
	"reflect"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	clientgotesting "k8s.io/client-go/testing"
	"k8s.io/client-go/tools/cache"
)

// Groups of pods at the API server: PodGroups from 1.36 on, Workloads in 1.35. They are the client's own; one that comes on the way comes to the
// client when the informer's store is to have it.

// podGroups are the groups of a case.
type podGroups struct {
	objects []runtime.Object
	created map[string]bool // by name
	shown   map[string]bool // those that the client has
}

// groupKinds are the kinds of such objects, whatever their versions.
var groupKinds = map[string]bool{"PodGroup": true, "CompositePodGroup": true, "Workload": true}

// newPodGroups takes of each group the first kind that this version knows.
func newPodGroups(c *Case) (*podGroups, error) {
	g := &podGroups{created: map[string]bool{}, shown: map[string]bool{}}
	for _, kinds := range c.Groups {
		objects, err := firstKnown(kinds)
		if err != nil {
			return nil, err
		}
		g.objects = append(g.objects, objects...)
		for _, o := range objects {
			there := !contains(c.AbsentGroups, nameOf(o))
			g.created[nameOf(o)], g.shown[nameOf(o)] = there, there
		}
	}
	return g, nil
}

func firstKnown(kinds []json.RawMessage) (objects []runtime.Object, err error) {
	for n := range kinds {
		if objects, err = decoded(kinds[n : n+1]); err == nil {
			return objects, nil
		}
	}
	return nil, fmt.Errorf("this version has no groups of pods: %w", err)
}

func nameOf(o runtime.Object) string { return o.(metav1.Object).GetName() }

// present are those that a process lists at its start.
func (g *podGroups) present() (objects []runtime.Object) {
	for _, o := range g.objects {
		if g.shown[nameOf(o)] {
			objects = append(objects, o)
		}
	}
	return objects
}

// show has the client have a group, and its watch tell of it.
func (g *podGroups) show(tracker clientgotesting.ObjectTracker, name string) error {
	for _, o := range g.objects {
		if nameOf(o) == name {
			g.shown[name] = true
			return tracker.Add(o)
		}
	}
	return fmt.Errorf("the case has no group %s", name)
}

// storesOf are the informers' stores that groups are read from, by kind.
func (g *podGroups) storesOf(f *gatedInformers) (map[string]cache.Store, error) {
	stores := map[string]cache.Store{}
	for _, o := range g.objects {
		kind := o.GetObjectKind().GroupVersionKind()
		plural, _ := meta.UnsafeGuessKindToResource(kind)
		informer, err := f.ForResource(plural)
		if err != nil {
			return nil, err
		}
		stores[kind.Kind] = informer.Informer().GetStore()
	}
	return stores, nil
}

// genericGroups are the types that stand for groups of all kinds from 1.38 on: an object, and what the cycle of a group has of it.
var genericGroups = map[string]bool{"GenericPodGroup": true, "PodGroupInfo": true}

// genericGroupIn is the name of the group in one of them; none of anything else.
func genericGroupIn(a any) string {
	if t := reflect.TypeOf(a); t == nil || t.Kind() != reflect.Pointer || !genericGroups[t.Elem().Name()] {
		return ""
	}
	return nameInGeneric(reflect.ValueOf(a))
}

// nameInGeneric is the name of the PodGroup or CompositePodGroup that is in there.
func nameInGeneric(v reflect.Value) string {
	if name := get[string](field(v, "PodGroup"), "Name"); name != "" {
		return name
	}
	return get[string](field(v, "CompositePodGroup"), "Name")
}

// groupIn is the name of an object that is a group of pods; none of any other.
func groupIn(o runtime.Object) string {
	if t := reflect.TypeOf(o); t.Kind() != reflect.Pointer || !groupKinds[t.Elem().Name()] {
		return ""
	}
	return nameOf(o)
}
