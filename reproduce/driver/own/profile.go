package podrace

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	schedulerapi "k8s.io/kubernetes/pkg/scheduler/apis/config"
	"k8s.io/kubernetes/pkg/scheduler/apis/config/latest"
	configscheme "k8s.io/kubernetes/pkg/scheduler/apis/config/scheme"
	frameworkplugins "k8s.io/kubernetes/pkg/scheduler/framework/plugins"
	frameworkruntime "k8s.io/kubernetes/pkg/scheduler/framework/runtime"
)

// ownScheduler is what the user adds to the scheduler: plugins, and a KubeSchedulerConfiguration.
type ownScheduler struct {
	registry      func() frameworkruntime.Registry // nil for upstream's own scheduler
	configuration string
}

// own is the scheduler that is run; a file that podrace writes into the module sets the registry.
var own = ownScheduler{configuration: os.Getenv("PODRACE_SCHEDULER")}

// plugins are the user's plugins.
func (o ownScheduler) plugins() frameworkruntime.Registry {
	if o.registry == nil {
		return frameworkruntime.Registry{}
	}
	return maps.Clone(o.registry())
}

// everMade are all plugins of the user's, so that none is ever collected: a finalizer may not touch what belongs to a bubble, and runs outside of it.
var everMade []plugin

// registryOf are the user's plugins for an instance: what they register on informers is held at no gate.
func (o ownScheduler) registryOf(i *instance) frameworkruntime.Registry {
	found := o.plugins()
	for name, factory := range found {
		found[name] = func(ctx context.Context, args runtime.Object, h handle) (plugin, error) {
			i.Informers.passing = true
			defer func() { i.Informers.passing = false }()
			made, err := factory(ctx, args, h)
			everMade = append(everMade, made)
			return made, err
		}
	}
	return found
}

// profile is the profile that schedules: the user's, or upstream's with all plugins of the user's.
func (o ownScheduler) profile() (*schedulerapi.KubeSchedulerProfile, error) {
	configuration, err := latest.Default()
	if err != nil {
		return nil, err
	}
	p := &configuration.Profiles[0]
	if o.configuration == "" {
		for _, name := range slices.Sorted(maps.Keys(o.plugins())) {
			p.Plugins.MultiPoint.Enabled = append(p.Plugins.MultiPoint.Enabled, schedulerapi.Plugin{Name: name, Weight: 1})
		}
		return p, nil
	}
	decoded, _, err := configscheme.Codecs.UniversalDecoder().Decode([]byte(o.configuration), nil, nil)
	if err != nil {
		return nil, err
	}
	written, is := decoded.(*schedulerapi.KubeSchedulerConfiguration)
	switch {
	case !is:
		return nil, fmt.Errorf("%T is no KubeSchedulerConfiguration", decoded)
	case len(written.Extenders) > 0:
		return nil, errors.New("extenders: describe them in the scenario")
	case written.PodInitialBackoffSeconds != configuration.PodInitialBackoffSeconds || written.PodMaxBackoffSeconds != configuration.PodMaxBackoffSeconds:
		return nil, errors.New("podInitialBackoffSeconds, podMaxBackoffSeconds: the model has the default ones: leave them out")
	}
	for n := range written.Profiles {
		if p := &written.Profiles[n]; len(written.Profiles) == 1 || p.SchedulerName == v1.DefaultSchedulerName {
			p.SchedulerName = v1.DefaultSchedulerName
			return p, nil
		}
	}
	return nil, fmt.Errorf("profiles: none of several is named %s: name one of them so", v1.DefaultSchedulerName)
}

// setScores has only the user's plugins score, and each of their points counts more than what the trace adds for the node that is to win.
func (o ownScheduler) setScores(p *schedulerapi.KubeSchedulerProfile) {
	mine, enabled := o.plugins(), p.Plugins.Score.Enabled
	p.Plugins.Score.Enabled = nil
	if len(mine) == 0 {
		p.Plugins.Score.Disabled = []schedulerapi.Plugin{{Name: "*"}}
		return
	}
	for name := range frameworkplugins.NewInTreeRegistry() {
		p.Plugins.Score.Disabled = append(p.Plugins.Score.Disabled, schedulerapi.Plugin{Name: name})
	}
	scaled := func(plugin schedulerapi.Plugin) schedulerapi.Plugin {
		plugin.Weight = max(plugin.Weight, 1) * scoreScale
		return plugin
	}
	for _, plugin := range enabled {
		if mine[plugin.Name] != nil {
			p.Plugins.Score.Enabled = append(p.Plugins.Score.Enabled, scaled(plugin))
		}
	}
	for n, plugin := range p.Plugins.MultiPoint.Enabled {
		if mine[plugin.Name] != nil {
			p.Plugins.MultiPoint.Enabled[n] = scaled(plugin)
		}
	}
}

// weights are those of the model's score plugins in the user's configuration; nil if there is none.
func (o ownScheduler) weights(p *schedulerapi.KubeSchedulerProfile) map[string]int32 {
	if o.configuration == "" {
		return nil
	}
	found := map[string]int32{}
	for _, plugin := range scored {
		found[plugin.Name] = 0
	}
	for _, plugin := range p.Plugins.MultiPoint.Enabled {
		found[plugin.Name] = max(plugin.Weight, 1)
	}
	for _, plugin := range p.Plugins.Score.Disabled {
		if plugin.Name == "*" {
			clear(found)
		}
		found[plugin.Name] = 0
	}
	for _, plugin := range p.Plugins.Score.Enabled {
		found[plugin.Name] = max(plugin.Weight, 1)
	}
	return found
}
