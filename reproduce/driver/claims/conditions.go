package podrace

import (
	"fmt"
	"slices"
	"time"

	resourceapi "k8s.io/api/resource/v1"
	apimeta "k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	utilfeature "k8s.io/apiserver/pkg/util/feature"
)

// Devices with binding conditions: their driver says in the status of a claim that they are ready, or have failed, and PreBind waits for that.

const (
	isReady   = "podrace.io/ready"
	hasFailed = "podrace.io/failed"

	bindingTimeout = 10 * time.Minute // DynamicResourcesArgs.BindingTimeout, as it is by default
)

// How ready a claim's device is, in the model's numbers (model/environment/storage/claims.py).
const (
	pending = iota
	ready
	failing
)

func init() {
	for step, r := range conditionRules() {
		rules[step] = r
	}
}

func conditionRules() map[string]rule {
	return map[string]rule{
		"device_driver.report_ready":        {do: report(isReady)},
		"device_driver.report_failure":      {do: report(hasFailed)},
		"dynamic_resources.see_ready":       {do: seeDevices},
		"dynamic_resources.see_failure":     {do: seeDevices},
		"dynamic_resources.tire_of_devices": {do: seeDevices},
	}
}

// conditionsCount is whether the gates are on without which binding conditions are nothing.
func conditionsCount() bool {
	gates := utilfeature.DefaultFeatureGate
	return gates.Enabled("DRADeviceBindingConditions") && gates.Enabled("DRAResourceClaimDeviceStatus")
}

// dropConditions is what the API server does to new devices where they do not count (registry/resource/resourceslice/strategy.go).
func dropConditions(devices []runtime.Object) {
	if conditionsCount() {
		return
	}
	for _, o := range devices {
		if of, is := o.(*resourceapi.ResourceSlice); is {
			for n := range of.Spec.Devices {
				of.Spec.Devices[n].BindingConditions, of.Spec.Devices[n].BindingFailureConditions = nil, nil
			}
		}
	}
}

// statusOf is what a claim's status says of the device that it is allocated; nil for nothing.
func statusOf(claim *resourceapi.ResourceClaim) *resourceapi.AllocatedDeviceStatus {
	for n := range claim.Status.Devices {
		if isAllocated(claim, claim.Status.Devices[n]) {
			return &claim.Status.Devices[n]
		}
	}
	return nil
}

func isAllocated(claim *resourceapi.ResourceClaim, of resourceapi.AllocatedDeviceStatus) bool {
	return claim.Status.Allocation != nil && slices.ContainsFunc(claim.Status.Allocation.Devices.Results, func(r resourceapi.DeviceRequestAllocationResult) bool {
		return r.Driver == of.Driver && r.Pool == of.Pool && r.Device == of.Device
	})
}

// readinessOf is how ready the device of a claim is.
func readinessOf(claim *resourceapi.ResourceClaim) int {
	if claim == nil {
		return pending
	}
	switch status := statusOf(claim); {
	case status == nil:
		return pending
	case apimeta.IsStatusConditionTrue(status.Conditions, hasFailed):
		return failing
	case apimeta.IsStatusConditionTrue(status.Conditions, isReady):
		return ready
	}
	return pending
}

// report: the driver writes a condition of a claim's device.
func report(condition string) func(*player, Step) error {
	return func(p *player, s Step) error {
		now := p.world.Store.Claim(s.arg("claim"))
		if now == nil || now.Status.Allocation == nil {
			return fmt.Errorf("%s is not allocated", s.arg("claim"))
		}
		next := now.DeepCopy()
		if statusOf(next) == nil {
			of := next.Status.Allocation.Devices.Results[0]
			next.Status.Devices = append(next.Status.Devices, resourceapi.AllocatedDeviceStatus{Driver: of.Driver, Pool: of.Pool, Device: of.Device})
		}
		apimeta.SetStatusCondition(&statusOf(next).Conditions, metav1.Condition{Type: condition, Status: metav1.ConditionTrue, Reason: "Reported"})
		_, err := p.world.Store.UpdateClaimStatus(next)
		return err
	}
}

// seeDevices: PreBind reads the claims every five seconds. The look with which the wait is over is the step; for the time-out ten minutes pass before it.
func seeDevices(p *player, s Step) error {
	is := isBinding(p, s)
	for n := 0; n < farthest; n++ {
		a := p.world.Stage.Find(is)
		if a == nil || isRead(*a.at) && !a.at.after {
			break
		}
		if !a.at.after && a.at.call != "Framework.RunPreBindPlugins" {
			return fmt.Errorf("%s is about to call %s, and not to wait for devices", a, a.at)
		}
		p.world.Stage.Release(a)
	}
	for waited := time.Duration(0); waited < 6*time.Second && p.world.Stage.Find(is) == nil; waited += 10 * time.Millisecond {
		time.Sleep(10 * time.Millisecond)
	}
	if s.Step == "dynamic_resources.tire_of_devices" {
		time.Sleep(bindingTimeout)
	}
	if p.expects("binding.phase[%s]", s.arg("pod")) == "FORGET" {
		return p.advance(s, rule{who: isBinding, ends: givesBack, via: points("Claims.Get<", "Framework.RunPreBindPlugins< P")})
	}
	return p.advance(s, rule{who: isBinding, ends: points("Framework.RunPreBindPlugins< P"), via: points("Claims.Get<")})
}
