package podrace

import (
	"fmt"
	"reflect"
	"slices"
	"strings"

	resourceapi "k8s.io/api/resource/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/kubernetes/scheme"
)

// ResourceSlices that drivers publish and take back, and devices that are tainted: what the API server has, and when the scheduler's informers are shown it.

const brokenTaint = "podrace.io/broken"

var (
	slicesResource = schema.GroupVersionResource{Group: resourceapi.GroupName, Version: "v1", Resource: "resourceslices"}
	rulesResource  = schema.GroupVersionResource{Group: resourceapi.GroupName, Version: "v1", Resource: "devicetaintrules"}
)

func init() {
	for step, r := range sliceRules() {
		rules[step] = r
	}
	claimPart.published = published
}

func sliceRules() map[string]rule {
	return map[string]rule{
		"device_slices.publish":        {do: func(p *player, s Step) error { p.world.withdrawn[s.arg("of")] = false; return nil }},
		"device_slices.withdraw":       {do: withdraw},
		"device_slices.collect":        {do: withdraw},
		"device_taints.taint":          {do: func(p *player, s Step) error { p.world.tainted[s.arg("of")] = true; return nil }},
		"device_taints.age":            {do: func(*player, Step) error { return nil }},
		"device_taints.evict":          {do: func(p *player, s Step) error { return p.world.Store.DeletePod(s.arg("pod")) }},
		"slice_informer.deliver":       {do: showSlice},
		"slice_informer.deliver_taint": {do: showTaint},
	}
}

func withdraw(p *player, s Step) error {
	p.world.withdrawn[s.arg("of")] = true
	return nil
}

// published are the objects of devices that a new process lists: the slices that are published, and the taints that devices got.
func published(w *World, all []runtime.Object) (objects []runtime.Object) {
	for _, o := range all {
		name := deviceIn(o)
		if name == "" || !w.withdrawn[name] {
			objects = append(objects, o)
		}
		if of, is := o.(*resourceapi.ResourceSlice); is && name != "" && w.tainted[name] {
			if rule := taintRule(of); rule != nil {
				objects = append(objects, rule)
			} else {
				taint(of)
			}
		}
	}
	return objects
}

// deviceIn is the device of a slice: each has one of its own. Empty for any other object, such as a slice of counters.
func deviceIn(o runtime.Object) string {
	if of, is := o.(*resourceapi.ResourceSlice); is && len(of.Spec.Devices) == 1 {
		return of.Spec.Devices[0].Name
	}
	return ""
}

// sliceOf is the slice of a device as the case has it.
func (w *World) sliceOf(device string) (*resourceapi.ResourceSlice, error) {
	all, err := decoded(w.Case.Devices)
	claimPart.admit(all)
	for _, o := range all {
		if deviceIn(o) == device {
			return o.(*resourceapi.ResourceSlice), nil
		}
	}
	return nil, fmt.Errorf("the case has no device %s: %v", device, err)
}

// showSlice: the informer's watch tells of a slice that was published, or deleted. A driver that has no rule for a taint publishes the device without it, as long as the informer is not shown it.
func showSlice(p *player, s Step) error {
	of, err := p.world.sliceOf(s.arg("of"))
	if err != nil {
		return err
	}
	if p.world.withdrawn[s.arg("of")] {
		return p.world.others.Delete(slicesResource, "", of.Name)
	}
	if p.expects("slice_informer.tainted[%s]", s.arg("of")) == "true" && taintRule(of) == nil {
		taint(of)
	}
	return p.world.others.Create(slicesResource, of, "")
}

// showTaint: a DeviceTaintRule names the device, where the version has these; else its slice is updated.
func showTaint(p *player, s Step) error {
	of, err := p.world.sliceOf(s.arg("of"))
	if err != nil {
		return err
	}
	if rule := taintRule(of); rule != nil {
		return p.world.others.Create(rulesResource, rule, "")
	}
	if p.expects("slice_informer.shown[%s]", s.arg("of")) == "false" {
		return nil
	}
	taint(of)
	return p.world.others.Update(slicesResource, of, "")
}

func taint(of *resourceapi.ResourceSlice) {
	of.Spec.Devices[0].Taints = append(of.Spec.Devices[0].Taints, resourceapi.DeviceTaint{Key: brokenTaint, Effect: resourceapi.DeviceTaintEffectNoExecute})
}

// taintRule is an administrator's rule that taints the device of a slice; nil before 1.37, which has none in resource.k8s.io/v1.
func taintRule(of *resourceapi.ResourceSlice) runtime.Object {
	device := of.Spec.Devices[0].Name
	text := fmt.Sprintf(`{"apiVersion":"resource.k8s.io/v1","kind":"DeviceTaintRule","metadata":{"name":%q},"spec":{"deviceSelector":{"driver":%q,"pool":%q,"device":%q},"taint":{"key":%q,"effect":"NoExecute"}}}`,
		device, of.Spec.Driver, of.Spec.Pool.Name, device, brokenTaint)
	rule, _, err := scheme.Codecs.UniversalDeserializer().Decode([]byte(text), nil, nil)
	if err != nil {
		return nil
	}
	return rule
}

// devices are the slices that the informer has, and which of them are tainted; and what the API server has.
func (e *eye) devices(w *World) {
	tainted, err := w.shown()
	if err != nil {
		return
	}
	for variable := range w.Case.Initial {
		switch name, indices := parts(variable); name {
		case "device_slices.published":
			e.see[variable] = !w.withdrawn[indices[0]]
		case "slice_informer.shown":
			_, e.see[variable] = tainted[indices[0]]
		case "device_taints.tainted":
			of, err := w.sliceOf(indices[0])
			e.see[variable] = w.tainted[indices[0]] || err == nil && len(of.Spec.Devices[0].Taints) > 0
		case "slice_informer.tainted":
			if is, shown := tainted[indices[0]]; shown {
				e.see[variable] = is
			}
		}
	}
}

// taken is what the tracker has of devices that are allocated: those that a claim has alone, and the shares of others, as the model calls these.
func (e *eye) taken(w *World) {
	allocated := inside(field(w.tracker, "allocatedDevices"))
	alone, shares := idsIn(field(allocated, "ids")), idsIn(field(allocated, "shareIDs"))
	for variable := range w.Case.Initial {
		name, indices := parts(variable)
		switch {
		case name != "claim_tracker.allocated":
		case strings.Contains(indices[0], "/"):
			device, claim, _ := strings.Cut(indices[0], "/")
			e.see[variable] = slices.ContainsFunc(w.Store.sharesOf(claim), func(id string) bool { return shares[device+"/"+id] })
		case w.severalForOne():
			for _, part := range strings.Split(indices[0], "+") {
				e.see[takenDevices+"["+part+"]"] = alone[part]
			}
		default:
			e.see[variable] = alone[indices[0]]
		}
	}
}

// severalForOne is whether a claim may have several devices, which are one in the model.
func (w *World) severalForOne() bool {
	for variable := range w.Case.Initial {
		if strings.HasPrefix(variable, "claim_tracker.allocated[") && strings.Contains(variable, "+") {
			return true
		}
	}
	return false
}

// idsIn are the names of devices in a set of IDs of them, and, of shares, what these are called there.
func idsIn(set reflect.Value) map[string]bool {
	found := map[string]bool{}
	if set = inside(set); set.IsValid() {
		for _, id := range set.MapKeys() {
			_, name, _ := strings.Cut(strings.SplitN(fmt.Sprint(id.Interface()), "/", 2)[1], "/")
			found[name] = true
		}
	}
	return found
}
