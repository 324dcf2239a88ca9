package podrace

import (
	"fmt"
	"slices"

	schedulerapi "k8s.io/kubernetes/pkg/scheduler/apis/config"
)

// scoreScale: a score of the model counts so much more than what the trace adds for the node that is to win among equals.
const scoreScale = 1000

// scored are the score plugins that the model has, with the weights of the default profile. Those of resources it has where a strategy is said.
var scored = []schedulerapi.Plugin{
	{Name: "TaintToleration", Weight: 3}, {Name: "NodeAffinity", Weight: 2}, {Name: "PodTopologySpread", Weight: 2}, {Name: "InterPodAffinity", Weight: 2},
	{Name: "NodeResourcesFit", Weight: 1}, {Name: "NodeResourcesBalancedAllocation", Weight: 1},
}

var ofResources = []string{"NodeResourcesFit", "NodeResourcesBalancedAllocation"}

// setScores has the profile score as the case says. Without scores any feasible node may win, and the trace says which. With them those of the plugins that the model
// has decide, and the trace only between equals.
// Those of the user's own plugins always decide.
func (c *Case) setScores(p *schedulerapi.KubeSchedulerProfile) error {
	weights := own.weights(p)
	own.setScores(p)
	p.Plugins.Score.Enabled = append(p.Plugins.Score.Enabled, schedulerapi.Plugin{Name: pluginName, Weight: 1})
	if !c.Scored {
		return nil
	}
	said := c.Scores
	if said == nil {
		said = &scoresSpec{HardAffinity: 1}
	}
	for _, plugin := range scored {
		if weight, is := said.Weights[plugin.Name]; is {
			plugin.Weight = weight
		}
		if written, is := weights[plugin.Name]; is && written != plugin.Weight {
			return fmt.Errorf("%s scores with weight %d in the configuration and %d in the scenario", plugin.Name, written, plugin.Weight)
		}
		if plugin.Weight *= scoreScale; plugin.Weight > 0 && (said.Strategy != "" || !slices.Contains(ofResources, plugin.Name)) {
			p.Plugins.Score.Enabled = append(p.Plugins.Score.Enabled, plugin)
		}
	}
	for _, of := range p.PluginConfig {
		switch args := of.Args.(type) {
		case *schedulerapi.InterPodAffinityArgs:
			args.HardPodAffinityWeight, args.IgnorePreferredTermsOfExistingPods = said.HardAffinity, said.IgnorePreferred
		case *schedulerapi.NodeResourcesFitArgs:
			if said.Strategy != "" {
				args.ScoringStrategy.Type = schedulerapi.ScoringStrategyType(said.Strategy)
			}
		}
	}
	return nil
}
