// Package own has plugins as users write them out of tree: one that passes, and one for each answer that the model does not know.
package own

import (
	"context"
	"strings"
	"time"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	fwk "k8s.io/kube-scheduler/framework"
	frameworkruntime "k8s.io/kubernetes/pkg/scheduler/framework/runtime"
)

// Registry has each plugin by its name.
func Registry() frameworkruntime.Registry {
	registry := frameworkruntime.Registry{}
	for _, name := range []string{"Pass", "NoNode", "NoReserve", "Hold", "NoPermit", "Prefer", "Names"} {
		registry[name] = func(context.Context, runtime.Object, fwk.Handle) (fwk.Plugin, error) { return made(name), nil }
	}
	return registry
}

func made(name string) fwk.Plugin {
	switch name {
	case "Prefer":
		return prefer{}
	case "Names":
		return names{}
	}
	return &plugin{name}
}

// plugin passes at all points but at the one that its name says.
type plugin struct{ name string }

func (p *plugin) Name() string { return p.name }

func (p *plugin) says(name string) *fwk.Status {
	if p.name != name {
		return nil
	}
	return fwk.NewStatus(fwk.Unschedulable, "the plugin says no")
}

func (p *plugin) Filter(_ context.Context, _ fwk.CycleState, _ *v1.Pod, node fwk.NodeInfo) *fwk.Status {
	return p.says("NoNode")
}

func (p *plugin) Reserve(context.Context, fwk.CycleState, *v1.Pod, string) *fwk.Status {
	return p.says("NoReserve")
}

func (p *plugin) Unreserve(context.Context, fwk.CycleState, *v1.Pod, string) {}

func (p *plugin) Permit(context.Context, fwk.CycleState, *v1.Pod, string) (*fwk.Status, time.Duration) {
	if p.name == "Hold" {
		return fwk.NewStatus(fwk.Wait), time.Hour
	}
	return p.says("NoPermit"), 0
}

func (p *plugin) PreBindPreFlight(context.Context, fwk.CycleState, *v1.Pod, string) (*fwk.PreBindPreFlightResult, *fwk.Status) {
	return nil, fwk.NewStatus(fwk.Skip)
}

func (p *plugin) PreBind(context.Context, fwk.CycleState, *v1.Pod, string) *fwk.Status { return nil }

// prefer scores nodes by their names.
type prefer struct{}

func (prefer) Name() string { return "Prefer" }

func (prefer) Score(_ context.Context, _ fwk.CycleState, _ *v1.Pod, node fwk.NodeInfo) (int64, *fwk.Status) {
	if strings.HasSuffix(node.Node().Name, "1") {
		return 100, nil
	}
	return 0, nil
}

func (prefer) ScoreExtensions() fwk.ScoreExtensions { return nil }

// names sorts the queue by the names of pods, the last one first.
type names struct{}

func (names) Name() string { return "Names" }

func (names) Less(a, b fwk.QueuedPodInfo) bool {
	return a.GetPodInfo().GetPod().Name > b.GetPodInfo().GetPod().Name
}
