package podrace

import (
	"context"
	"reflect"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/cache"
)

// held are the calls before and after which actors are held: those that change what others can see, or look at what others change.
// All other methods that are wrapped are passed.
var held = map[string]bool{
	"NextPod":        true,
	"FailureHandler": true,
	"PreemptPod":     true,

	podEvent:  true,
	nodeEvent: true,

	"Queue.Add":                           true,
	"Queue.Update":                        true,
	"Queue.Delete":                        true,
	"Queue.Done":                          true,
	"Queue.Activate":                      true,
	"Queue.AddUnschedulableIfNotPresent":  true,
	"Queue.MoveAllToActiveOrBackoffQueue": true,
	"Queue.AssignedPodAdded":              true,
	"Queue.AssignedPodUpdated":            true,
	"Queue.AddNominatedPod":               true,
	"Queue.DeleteNominatedPodIfExists":    true,
	"Queue.NominatedPodsForNode":          true,

	"Cache.AssumePod":      true,
	"Cache.FinishBinding":  true,
	"Cache.ForgetPod":      true,
	"Cache.AddPod":         true,
	"Cache.UpdatePod":      true,
	"Cache.RemovePod":      true,
	"Cache.IsAssumedPod":   true,
	"Cache.GetPod":         true,
	"Cache.AddNode":        true,
	"Cache.UpdateNode":     true,
	"Cache.RemoveNode":     true,
	"Cache.UpdateSnapshot": true,

	"Framework.RunFilterPluginsWithNominatedPods": true,
	"Framework.RunPostFilterPlugins":              true,
	"Framework.RunReservePluginsReserve":          true,
	"Framework.RunPermitPlugins":                  true,
	"Framework.RunPreBindPreFlights":              true,
	"Framework.WillWaitOnPermit":                  true,
	"Framework.WaitOnPermit":                      true,
	"Framework.RunPreBindPlugins":                 true,
	"Framework.RejectWaitingPod":                  true,
	unreserves:                                    true,

	"Extender.ProcessPreemption": true,
	"Extender.Filter":            true,
	"Extender.Prioritize":        true,
	"Extender.Preempt":           true,
	"Extender.Bind":              true,

	"Handle.GetWaitingPod": true,

	"Queue.PatchPodStatus": true,
	"Cache.BindPod":        true,
	"Dispatcher.Pop":       true,
	"Call.Execute":         true,

	"Cache.AddPodGroupMember":    true,
	"Cache.RemovePodGroupMember": true,
	"Cache.PodGroupStates":       true,
	"Queue.PopSpecificPod":       true,

	"Cache.AddPodGroup":                     true,
	"Queue.AddPodGroup":                     true,
	"Cache.AddGenericPodGroup":              true, // from 1.38 on
	"Queue.AddGenericPodGroup":              true,
	"Queue.AddAttemptedPodGroupIfNeeded":    true,
	"Framework.RunPlacementFeasiblePlugins": true,
	"Framework.RunPlacementGeneratePlugins": true,
	"Framework.RunPlacementScorePlugins":    true,

	"Client.Patch":   true,
	"Client.Bind":    true,
	"Client.Delete":  true,
	"Client.GetNode": true,
}

// ofGroups are those of them that are of interest where pods are in groups only: any pod is told to the cache's states of groups.
var ofGroups = map[string]bool{"Cache.AddPodGroupMember": true, "Cache.RemovePodGroupMember": true, unreserves: true}

// unreserves is where the plugins undo what they have reserved: of interest where the manager of groups is told of it.
const unreserves = "Framework.RunReservePluginsUnreserve"

// gate is where the calls of one scheduler process come past.
type gate struct {
	stage   *Stage
	owner   *instance
	grouped map[string]int    // of the pods that belong to groups, which one the cycle of its group tries first
	leaders map[string]string // of a pod in the entry of a group, the first one of it
	domains []string          // in which order the cycle of a group tries its placements
	best    string            // the one that scores best
	picked  []string          // in which order the results of the groups of a tree are submitted
	instead *identity         // the pod that PopSpecificPod takes next, whichever it is asked for
	managed bool              // and a manager of theirs, whom Unreserve tells
	claimed bool              // there are claims of devices
	panics  *bool             // the trace has the scheduler panic next
}

// isOfGroup is whether a call is about a pod that belongs to a group.
func (g *gate) isOfGroup(args []any) bool {
	_, is := g.grouped[about("", args).pod]
	return is
}

// call is one that is under way.
type call struct {
	by    int64 // the goroutine, since it takes time to ask for its number
	gate  *gate
	point point
	heard bool // nobody is held: what comes of it is noted
}

func (g *gate) enter(name string, args ...any) call {
	if name == "Framework.RunPreFilterPlugins" && g.claimed {
		return call{goroutine(), g, about(name, args), true}
	}
	if !held[name] || ofGroups[name] && !g.isOfGroup(args) || name == unreserves && !g.managed {
		return call{}
	}
	c := call{by: goroutine(), gate: g, point: about(name, args)}
	g.stage.arrive(c.by, g.owner, c.point)
	return c
}

func (c call) leave(results ...any) {
	if c.gate == nil {
		return
	}
	c.point.after, c.point.results = true, results
	c.gate.order(c.point.call, results)
	if c.point.pod == "" { // NextPod tells only now which pod it is about
		c.point.pod = c.gate.first(about(c.point.call, results).pod, results)
	}
	if c.heard {
		c.gate.stage.overhear(c.by, c.gate.owner, c.point)
		return
	}
	c.gate.stage.arrive(c.by, c.gate.owner, c.point)
}

// about finds in the arguments of a call which pod and which node it is about: the first of each kind that is there.
func about(name string, args []any) point {
	p := point{call: name}
	if isOfClaims(name) || isOfStorage(name) {
		p.claim = claimIn(args)
		return p
	}
	pod := func(q *v1.Pod) {
		if q != nil && p.pod == "" {
			p.pod, p.version = idOf(q), q.ResourceVersion
			if q.Spec.NodeName != "" && p.node == "" {
				p.node = q.Spec.NodeName
			}
		}
	}
	node := func(n *v1.Node) {
		if n != nil {
			p.node, p.version = n.Name, n.ResourceVersion
		}
	}
	for _, a := range args {
		switch t := a.(type) {
		case context.Context, nil:
		case *v1.Pod:
			pod(t)
		case *v1.Node:
			node(t)
		case cache.DeletedFinalStateUnknown:
			q, _ := t.Obj.(*v1.Pod)
			n, _ := t.Obj.(*v1.Node)
			pod(q)
			node(n)
		case types.UID:
			p.pod = plainID(string(t))
		case string:
			if p.node == "" {
				p.node = t
			}
		case map[string]*v1.Pod:
			for _, q := range t {
				pod(q)
			}
		case *v1.Binding:
			if t != nil {
				p.pod, p.node, p.byName = plainID(string(t.UID)), t.Target.Name, t.UID == ""
				if p.byName {
					p.pod = t.Name
				}
			}
		case interface{ GetPod() *v1.Pod }: // PodInfo, since 1.34
			if !reflect.ValueOf(t).IsNil() {
				pod(t.GetPod())
			}
		case runtime.Object:
			if group := groupIn(t); p.group == "" {
				p.group = group
			} else { // an old one and a new one: the status has changed, which nobody but a plugin without EnqueueExtensions asks for
				p.group = ""
			}
		case interface{ Node() *v1.Node }: // NodeInfo
			if !reflect.ValueOf(t).IsNil() {
				node(t.Node())
			}
		default:
			if group := genericGroupIn(a); group != "" {
				p.group = group
			} else {
				pod(embeddedPod(a))
			}
		}
	}
	return p
}

// podIn is the first pod among the arguments or results of a call; nil if there is none.
func podIn(values []any) *v1.Pod {
	for _, value := range values {
		if info, is := value.(interface{ GetPod() *v1.Pod }); is && !reflect.ValueOf(value).IsNil() {
			return info.GetPod()
		}
		if pod := embeddedPod(value); pod != nil {
			return pod
		}
	}
	return nil
}

// embeddedPod gives the pod of a QueuedPodInfo or PodInfo, whose types have moved from package to package; of the entry of a group its first member.
func embeddedPod(a any) *v1.Pod {
	if members := membersOf(reflect.ValueOf(a)); len(members) > 0 {
		a = members[0].Interface()
	}
	v := reflect.ValueOf(a)
	if v.Kind() != reflect.Pointer || v.IsNil() || v.Elem().Kind() != reflect.Struct {
		return nil
	}
	if info := v.Elem().FieldByName("PodInfo"); info.IsValid() && info.Kind() == reflect.Pointer && info.IsNil() {
		return nil
	}
	if _, ok := v.Elem().Type().FieldByName("Pod"); !ok {
		return nil
	}
	q, _ := v.Elem().FieldByName("Pod").Interface().(*v1.Pod)
	return q
}

// subject is the pod and the node that a plugin is asked about.
func subject(args []any) (*v1.Pod, string) {
	var pod *v1.Pod
	for _, a := range args {
		if q, ok := a.(*v1.Pod); ok && pod == nil {
			pod = q
		}
	}
	return pod, about("", args).node
}

func contextOf(args []any) context.Context {
	for _, a := range args {
		if c, ok := a.(context.Context); ok {
			return c
		}
	}
	return context.Background()
}
