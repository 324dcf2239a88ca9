package podrace

import (
	"reflect"

	"k8s.io/api/core/v1"
	"k8s.io/kubernetes/pkg/scheduler/algorithm"
	schedulerapi "k8s.io/kubernetes/pkg/scheduler/api"
	schedulercache "k8s.io/kubernetes/pkg/scheduler/cache"
)

// answers is what the trace decides where upstream has a choice: which of the nodes with the highest score wins, and which of the
// candidates of equal cost preemption takes. The player sets it before it lets an actor go on.
type answers struct {
	scored    bool              // the scores decide, not the trace
	host      map[string]string // pod -> the node that is to win
	candidate map[string]string // preemptor -> the node that preemption is to choose
}

func newAnswers(scored bool) *answers {
	return &answers{scored, map[string]string{}, map[string]string{}}
}

// join adds a priority that outweighs all others, and an extender that has a say in preemption only.
func (a *answers) join(scheduler algorithm.ScheduleAlgorithm, g *gate) {
	if !a.scored {
		priorities := path(scheduler, "prioritizers")
		mine := algorithm.PriorityConfig{Name: "podrace", Map: a.score, Weight: 1 << 20}
		priorities.Set(reflect.Append(priorities, reflect.ValueOf(mine)))
	}
	extenders := path(scheduler, "extenders")
	extenders.Set(reflect.Append(extenders, reflect.ValueOf(&gatedExtender{&extender{answers: a}, g})))
}

func (a *answers) score(pod *v1.Pod, _ any, node *schedulercache.NodeInfo) (schedulerapi.HostPriority, error) {
	host := schedulerapi.HostPriority{Host: node.Node().Name}
	if a.host[pod.Name] == host.Host {
		host.Score = schedulerapi.MaxPriority
	}
	return host, nil
}

// extender keeps the candidate that the trace has chosen. Its gate lies between the dry runs and the choice.
type extender struct {
	algorithm.SchedulerExtender
	answers *answers
}

func (e *extender) Name() string              { return "podrace" }
func (e *extender) IsBinder() bool            { return false }
func (e *extender) IsIgnorable() bool         { return false }
func (e *extender) IsInterested(*v1.Pod) bool { return true }
func (e *extender) SupportsPreemption() bool  { return true }

func (e *extender) Filter(_ *v1.Pod, nodes []*v1.Node, _ map[string]*schedulercache.NodeInfo) ([]*v1.Node, schedulerapi.FailedNodesMap, error) {
	return nodes, nil, nil
}

func (e *extender) Prioritize(*v1.Pod, []*v1.Node) (*schedulerapi.HostPriorityList, int, error) {
	return &schedulerapi.HostPriorityList{}, 0, nil
}

func (e *extender) ProcessPreemption(
	pod *v1.Pod, found map[*v1.Node]*schedulerapi.Victims, _ map[string]*schedulercache.NodeInfo,
) (map[*v1.Node]*schedulerapi.Victims, error) {
	for node, victims := range found {
		if node.Name == e.answers.candidate[pod.Name] {
			return map[*v1.Node]*schedulerapi.Victims{node: victims}, nil
		}
	}
	return found, nil
}
