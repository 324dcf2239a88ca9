package podrace

import (
	"errors"
	"maps"
	"time"

	v1 "k8s.io/api/core/v1"
	extenderv1 "k8s.io/kube-scheduler/extender/v1"
)

const pluginName = "podrace"

var errFault = errors.New("a fault of the trace")

// answers is what the trace has plugins say and decide. The player sets it before it lets an actor go on.
type answers struct {
	points     map[string][]string // where plugins have work for a pod
	host       map[string]string   // pod -> the node that is to win
	candidate  map[string]string   // preemptor -> the node that preemption is to choose
	rivals     map[string][]string // preemptor -> the nodes that it might choose as well
	reserve    map[string]bool     // pod -> an error
	permit     map[string]string   // pod -> ALLOW, WAIT, REJECT
	preBind    map[string]bool     // pod -> an error
	preFlight  map[string]bool     // pod -> an error
	devices    []string            // in the order in which the allocator is to try them
	volumes    []string            // as well, for VolumeBinding
	patience   time.Duration       // how long a pod waits for permission
	candidates []string            // what preemption found last
	victims    map[string]*extenderv1.Victims
}

func newAnswers(points map[string][]string) *answers {
	return &answers{
		points: points, host: map[string]string{}, candidate: map[string]string{}, rivals: map[string][]string{}, reserve: map[string]bool{}, permit: map[string]string{},
		preBind: map[string]bool{}, preFlight: map[string]bool{}, patience: 10000 * time.Hour,
	}
}

func (a *answers) has(pod *v1.Pod, point string) bool {
	for _, p := range a.points[idOf(pod)] {
		if p == point {
			return true
		}
	}
	return false
}

// casePlugin is the one plugin out of tree: it has work where the scenario says that plugins have, and it scores the node highest that the
// trace has win. Its methods are made from the version's interfaces.
type casePlugin struct{ answers *answers }

func (p *casePlugin) answer(method string, args ...any) []any {
	pod, node := subject(args)
	switch method {
	case "Name":
		return []any{pluginName}
	case "Reserve":
		if p.answers.reserve[idOf(pod)] {
			return []any{newStatus(failure, "the trace has Reserve fail")}
		}
	case "Permit":
		if !p.answers.has(pod, "PERMIT") {
			return nil
		}
		switch p.answers.permit[idOf(pod)] {
		case "WAIT":
			return []any{newStatus(wait), p.answers.patience}
		case "REJECT":
			return []any{newStatus(unschedulable, "the trace has Permit reject")}
		}
	case "PreBindPreFlight":
		if p.answers.preFlight[idOf(pod)] {
			return []any{newStatus(failure, "the trace has PreBindPreFlight fail")}
		}
		if !p.answers.has(pod, "PRE_BIND") {
			return []any{newStatus(skip)}
		}
	case "PreBind":
		if p.answers.preBind[idOf(pod)] {
			return []any{newStatus(failure, "the trace has PreBind fail")}
		}
		if err := contextOf(args).Err(); err != nil {
			return []any{newStatus(failure, err.Error())}
		}
	case "Score":
		if p.answers.host[idOf(pod)] == node {
			return []any{int64(100)}
		}
	}
	return nil
}

// permits are the answers that Permit can give now: for each pod that waits for it, what allows the pod.
func (w *World) permits() map[string]func() {
	found := map[string]func(){}
	for _, p := range w.Case.Pods {
		waiting := w.Waiting.GetWaitingPod(w.Store.uid(idOf(p)))
		if waiting != nil && contains(waiting.GetPendingPlugins(), pluginName) {
			found[idOf(p)] = func() { waiting.Allow(pluginName) }
		}
	}
	return found
}

// caseExtender has a say in preemption only: of the candidates that the chooser may take it keeps the one that the trace has chosen, and all
// that the chooser has to pass over. Its gate lies between the dry runs and the choice.
type caseExtender struct {
	answers *answers
	gate    *gate
}

func (e *caseExtender) answer(method string, args ...any) []any {
	switch method {
	case "Name":
		return []any{pluginName}
	case "IsInterested", "SupportsPreemption":
		return []any{true}
	case "Filter": // from 1.38 on the framework's extenders are asked in the cycle, too
		return []any{args[1]}
	case "Prioritize":
		return []any{&extenderv1.HostPriorityList{}}
	case "ProcessPreemption":
		pod, _ := subject(args)
		victims := args[1].(map[string]*extenderv1.Victims)
		e.answers.candidates, e.answers.victims = nil, victims
		for node := range victims {
			e.answers.candidates = append(e.answers.candidates, node)
		}
		c := e.gate.enter("Extender.ProcessPreemption", pod)
		defer c.leave()
		chosen := e.answers.candidate[idOf(pod)]
		if _, ok := victims[chosen]; !ok {
			return []any{victims}
		}
		left := maps.Clone(victims)
		for _, rival := range e.answers.rivals[idOf(pod)] {
			delete(left, rival)
		}
		return []any{left}
	}
	return nil
}

// pick gives the first of several values that is of a type; its zero if there is none.
func pick[T any](values []any) (zero T) {
	for _, v := range values {
		if t, ok := v.(T); ok {
			return t
		}
	}
	return zero
}
