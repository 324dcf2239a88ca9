package podrace

import (
	"fmt"
	"strings"
	"time"
)

const farthest = 60 // points on the way of one step, at most

// player executes a case on a world.
type player struct {
	world *World
	model map[string]any // the model's state after the step that is being forced
	rest  []Step         // the steps that follow
	due   time.Time      // the moment of the step
	notes []string
}

func (p *player) note(format string, args ...any) {
	p.notes = append(p.notes, fmt.Sprintf(format, args...))
}

// expects is the value that the model has after the step, as text; "None" for none.
func (p *player) expects(format string, args ...any) string {
	v, ok := p.model[fmt.Sprintf(format, args...)]
	if !ok || v == nil {
		return ""
	}
	return fmt.Sprint(v)
}

// force has the real scheduler do a step of the model.
func (p *player) force(s Step) error {
	p.due = p.due.Add(moment + time.Duration(s.WaitMS)*time.Millisecond)
	time.Sleep(max(moment, time.Until(p.due))) // a step that takes time itself does not shift those after it
	settle()
	r, ok := rules[s.Step]
	if !ok {
		return fmt.Errorf("no rule says how to force %s", s.Step)
	}
	if r.do != nil {
		return r.do(p, s)
	}
	if err := p.advance(s, r); err != nil {
		return err
	}
	if r.settle != nil {
		return r.settle(p, s)
	}
	return nil
}

// advance lets an actor go from point to point until it stands where the step is over.
func (p *player) advance(s Step, r rule) error {
	is := r.who(p, s)
	for n := 0; n < farthest; n++ {
		a := p.world.Stage.Find(is)
		if a == nil {
			if r.gone {
				return nil
			}
			if n == 0 {
				return fmt.Errorf("whoever is to move stands nowhere: %s", p.world.Stage.Where())
			}
			return fmt.Errorf("%s ended or waits before it comes to %s: %s", s.Actor, describe(r.ends), p.world.Stage.Where())
		}
		if p.over(a.at, r.ends, s, n > 0) {
			return nil
		}
		if !a.at.after && !p.allowed(a.at, r, s) {
			return fmt.Errorf("%s is about to call %s, and not to come to %s", a, a.at, describe(r.ends))
		}
		p.world.Stage.Release(a)
	}
	return fmt.Errorf("%s does not come to %s", s.Actor, describe(r.ends))
}

// over says whether the actor stands at an end of the step. After a call it must have come there in this step, before a call it may have stood.
func (p *player) over(at *point, ends []pattern, s Step, moved bool) bool {
	for _, e := range ends {
		if e.ends(at, s, p.world.Case) && (moved || !e.after) {
			return true
		}
	}
	return false
}

func (p *player) allowed(at *point, r rule, s Step) bool {
	for _, list := range [][]pattern{r.ends, r.via} {
		for _, t := range list {
			if t.after && t.fits(at, s, p.world.Case) {
				return true
			}
		}
	}
	return isEvent(at)
}

func describe(ends []pattern) string {
	var r []string
	for _, e := range ends {
		mark := ">"
		if e.after {
			mark = "<"
		}
		r = append(r, e.call+mark)
	}
	return strings.Join(r, " or ")
}

// --- the scheduling cycle ----------------------------------------------------------------------------------------

// pop: the scheduler comes back to the queue, if it is not there yet, and takes the next pod.
func pop(p *player, s Step) error {
	r := rule{who: isScheduler, ends: points("NextPod>"), via: points("Queue.Done<")}
	if a := p.world.Stage.Find(isScheduler(p, s)); a != nil && a.at.after && a.at.call != "NextPod" {
		if err := p.advance(s, r); err != nil {
			return err
		}
	}
	drops := p.expects("scheduler.pod") == ""
	return p.advance(s, rule{who: isScheduler, ends: points("NextPod< P"), gone: drops})
}

// filter: each node is filtered in a goroutine of its own, which is let go to its end.
func filter(p *player, s Step) error {
	is := isWorkerOnNode(p, s)
	if a := p.world.Stage.Find(isScheduler(p, s)); a != nil {
		if !a.at.after {
			return fmt.Errorf("%s is about to call %s, and filters no node", a, a.at)
		}
		p.world.Stage.Release(a)
	}
	if p.world.Stage.Find(is) == nil {
		return fmt.Errorf("node %s is not filtered: %s", s.arg("node"), p.world.Stage.Where())
	}
	if after := p.winner(s); after != "" {
		p.world.answers.host[s.arg("pod")] = after
	}
	r := rule{who: isWorkerOnNode, ends: points("Framework.RunFilterPluginsWithNominatedPods< PN"), via: points("Queue.NominatedPodsForNode< N")}
	if err := p.advance(s, r); err != nil {
		return err
	}
	p.world.Stage.Release(p.world.Stage.Find(is))
	return nil
}

// winner is the node on which the trace assumes the pod next.
func (p *player) winner(s Step) string {
	for _, t := range p.rest {
		if t.Step == "scheduler.assume" && t.arg("pod") == s.arg("pod") {
			return t.arg("node")
		}
	}
	return ""
}

// launch lets the cycle go to its end and the binding goroutine come to where the model has it, if no plugin has work before that.
func launch(p *player, s Step) error {
	if p.expects("scheduler.phase") != "IDLE" {
		return nil
	}
	r := rule{
		who: isScheduler, ends: cycleEnds,
		via: points("Framework.RunReservePluginsReserve< P", "Framework.RunPermitPlugins< P", "Queue.DeleteNominatedPodIfExists< P"),
	}
	if err := p.advance(s, r); err != nil {
		return err
	}
	return p.bindingStands(s)
}

func reserve(p *player, s Step) error {
	p.world.answers.reserve[s.arg("pod")] = !s.says("ok")
	err := p.advance(s, rule{who: isScheduler, ends: points("Framework.RunReservePluginsReserve< P")})
	delete(p.world.answers.reserve, s.arg("pod"))
	if err != nil {
		return err
	}
	return launch(p, s)
}

func permit(p *player, s Step) error {
	p.world.answers.permit[s.arg("pod")] = s.arg("answer")
	r := rule{who: isScheduler, ends: points("Framework.RunPermitPlugins< P"), via: points("Framework.RunReservePluginsReserve< P")}
	if err := p.advance(s, r); err != nil {
		return err
	}
	return launch(p, s)
}

// reread: preemption begins. What it reads has no point of its own: it is over when the dry runs stand at their first point, or when
// preemption has ended.
func reread(p *player, s Step) error {
	a := p.world.Stage.Find(isScheduler(p, s))
	if a == nil || a.at.call != "Framework.RunPostFilterPlugins" || a.at.after {
		return fmt.Errorf("the scheduler is not about to preempt: %s", p.world.Stage.Where())
	}
	for _, t := range p.rest {
		if t.Step == "scheduler.choose_candidate" && t.arg("pod") == s.arg("pod") {
			p.world.answers.candidate[s.arg("pod")] = t.arg("node")
			break
		}
	}
	p.world.Stage.Release(a)
	settle()
	for _, node := range p.world.Case.Nodes {
		if p.expects("scheduler.verdict[%s]", node.Name) == "NO_CANDIDATE" {
			// The model knows already what comes of it, as on all other nodes for a preemptor that is bound by now.
			if err := tryNode(p, isTrying(node.Name)); err != nil {
				return err
			}
		}
	}
	return nil
}

// dryRun lets the goroutine that tries one node go to its end. A node without victims is not looked at.
func dryRun(p *player, s Step) error { return tryNode(p, isWorkerOnNode(p, s)) }

func tryNode(p *player, is func(*actor) bool) error {
	for n := 0; n < farthest; n++ {
		a := p.world.Stage.Find(is)
		if a == nil {
			return nil
		}
		if a.at.call != "Queue.NominatedPodsForNode" {
			return fmt.Errorf("%s is at %s, which is no dry run", a, a.at)
		}
		p.world.Stage.Release(a)
	}
	return fmt.Errorf("a dry run does not end: %s", p.world.Stage.Where())
}

func choose(p *player, s Step) error {
	pod, node := s.arg("pod"), s.arg("node")
	a := p.world.Stage.Find(isScheduler(p, s))
	if a == nil || a.at.call != "Extender.ProcessPreemption" || a.at.after {
		return fmt.Errorf("preemption has no candidates to choose from: %s", p.world.Stage.Where())
	}
	if !contains(p.world.answers.candidates, node) {
		return fmt.Errorf("%s is no candidate, but %v", node, p.world.answers.candidates)
	}
	p.world.answers.candidate[pod] = node
	p.world.Stage.Release(a)
	if a := p.world.Stage.Find(isScheduler(p, s)); a != nil && a.at.call == "Extender.ProcessPreemption" {
		p.world.Stage.Release(a)
	}
	return nil
}

// --- the binding cycle -------------------------------------------------------------------------------------------

// bindingStands lets the binding goroutine come to where the model has it after the step.
func (p *player) bindingStands(s Step) error {
	r := rule{who: isBinding, via: bindingVia}
	switch phase := p.expects("binding.phase[%s]", s.arg("pod")); phase {
	case "ANNOUNCE":
		r.ends = points("Framework.RunPreBindPreFlights> P")
	case "WAIT_ON_PERMIT":
		r.ends = points("Framework.WaitOnPermit> P")
	case "PRE_BIND", "PRE_BIND_CANCELLED":
		r.ends = points("Framework.RunPreBindPlugins> P")
	case "BIND":
		r.ends = points("Client.Bind> P")
	case "FORGET":
		r.ends = points("Cache.ForgetPod> P")
	case "NONE", "":
		return runOut(p, s)
	default:
		return nil
	}
	return p.advance(s, r)
}

// finish: up to 1.35 the cache is told that a binding is over, whether it was made or failed.
func finish(p *player, s Step) error {
	if err := p.advance(s, rule{who: isBinding, ends: points("Cache.FinishBinding< P")}); err != nil {
		return err
	}
	if p.expects("binding.phase[%s]", s.arg("pod")) == "NONE" {
		return runOut(p, s)
	}
	return nil
}

// runOut lets a goroutine go to its end.
func runOut(p *player, s Step) error {
	for _, who := range []func(*player, Step) func(*actor) bool{isBinding, isPreempting} {
		if a := p.world.Stage.Find(who(p, s)); a != nil && a.at.after {
			if err := p.advance(s, rule{who: who, gone: true, via: points("Queue.Done< P", "Queue.Activate<")}); err != nil {
				return err
			}
		}
	}
	return nil
}

func announce(p *player, s Step) error {
	defer p.failing(s.Step == "binding.fail_to_announce", s.arg("pod"), "Client.Patch")()
	bindingVia := append(points("Client.Patch< P"), bindingVia...)
	r := rule{who: isBinding, via: bindingVia, ends: points("Framework.WaitOnPermit> P")}
	if err := p.advance(s, r); err != nil {
		return err
	}
	return p.bindingStands(s)
}

func failPreFlight(p *player, s Step) error {
	p.world.answers.preFlight[s.arg("pod")] = true
	defer delete(p.world.answers.preFlight, s.arg("pod"))
	return p.advance(s, rule{who: isBinding, ends: points("Cache.ForgetPod> P"), via: bindingVia})
}

func preBind(p *player, s Step) error {
	p.world.answers.preBind[s.arg("pod")] = !s.says("ok")
	defer delete(p.world.answers.preBind, s.arg("pod"))
	return p.bindingStands(s)
}

func bind(p *player, s Step) error {
	pod := s.arg("pod")
	switch s.arg("reply") {
	case "FAILED":
		p.world.Store.Fail("Client.Bind", pod, failed)
	case "LOST":
		p.world.Store.Fail("Client.Bind", pod, lost)
	case "TRANSIENT":
		p.world.Store.Fail("Client.Bind", pod, transient)
	}
	r := rule{who: isBinding, ends: points("Client.Bind< P"), via: points("Framework.RunPreBindPlugins< P")}
	if err := p.advance(s, r); err != nil {
		return err
	}
	if s.arg("reply") == "TRANSIENT" || p.expects("binding.phase[%s]", pod) == "NONE" {
		return p.bindingStands(s)
	}
	return nil
}

// --- the failure handler -----------------------------------------------------------------------------------------

// patch: the handler writes the condition, or finds that there is nothing to write, and its goroutine comes to what follows.
func patch(p *player, s Step) error {
	defer p.failing(s.Step == "failure.lose_patch", s.arg("pod"), "Client.Patch")()
	r := rule{
		who: isFailing, via: points("Client.Patch< P", "Queue.Done< P"), gone: true,
		ends: points("NextPod>", "Queue.MoveAllToActiveOrBackoffQueue>"),
	}
	return p.advance(s, r)
}

// --- the goroutine that evicts -----------------------------------------------------------------------------------

func failToClear(who func(*player, Step) func(*actor) bool, whose string) func(*player, Step) error {
	return func(p *player, s Step) error {
		pod := s.arg(whose)
		defer p.failing(true, pod, "Client.Patch")()
		end := pattern{call: "Client.Patch", after: true}
		if err := p.advance(s, rule{who: who, ends: []pattern{end}, via: points("Queue.NominatedPodsForNode<")}); err != nil {
			return err
		}
		return nil
	}
}

// evictionCalls are those of an eviction: the PATCH of the victim's condition, unless it is known to have it, and the DELETE.
var evictionCalls = []string{"Client.Patch", "Client.Delete"}

var evictVia = points("Handle.GetWaitingPod< V", "Client.Patch< V", "Client.Delete< V")

// evict: one of the victims that are evicted in parallel.
func evict(p *player, s Step) error {
	if a := p.world.Stage.Find(isPreempting(p, s)); a != nil && a.at.after {
		p.world.Stage.Release(a)
	}
	defer p.failing(!s.says("ok"), s.arg("victim"), evictionCalls...)()
	return p.advance(s, rule{who: isEvicting, ends: points("PreemptPod< V"), via: evictVia})
}

// failing has these calls about a pod fail, until what it gives is called: a step that makes none of them leaves nothing to those that follow.
func (p *player) failing(fails bool, pod string, calls ...string) (end func()) {
	if !fails {
		return func() {}
	}
	for _, call := range calls {
		p.world.Store.Fail(call, pod, failed)
	}
	return func() {
		for _, call := range calls {
			p.world.Store.takeFault(call, pod)
		}
	}
}

// evictInCycle: the scheduling cycle itself waits until its victims are evicted, in parallel. Where one cannot be, the calls for the others
// are cancelled.
func evictInCycle(p *player, s Step) error {
	fails := s.Step == "scheduler.evict" && !s.says("ok")
	defer p.failing(fails, s.arg("victim"), evictionCalls...)()
	if nominee, known := p.model["scheduler.nominee"]; known && nominee == nil && s.Step == "scheduler.evict" {
		fails = true // the victim is gone, and that is an error
	}
	if p.world.Stage.Find(isEvicting(p, s)) == nil {
		return fmt.Errorf("nobody is about to evict %s: %s", s.arg("victim"), p.world.Stage.Where())
	}
	if err := p.advance(s, rule{who: isEvicting, gone: true, via: append(points("PreemptPod< V"), evictVia...)}); err != nil {
		return err
	}
	if fails {
		p.dismiss(func(a *actor) bool { return a.role == worker && a.parent.role == scheduling })
	}
	return nil
}

// dismiss lets workers go to their end whose calls are cancelled, or over.
func (p *player) dismiss(is func(*actor) bool) {
	for n := 0; n < farthest; n++ {
		a := p.world.Stage.Find(is)
		if a == nil {
			return
		}
		p.world.Stage.Release(a)
	}
}

// leave: those that evicted in parallel end, and the last victim is next.
func leave(p *player, s Step) error {
	p.dismiss(func(a *actor) bool {
		return a.role == worker && a.parent.role == preempting && a.parent.pod == s.arg("pod")
	})
	return p.advance(s, rule{who: isPreempting, ends: points("PreemptPod>", "Queue.Activate>"), gone: true})
}

func evictLast(p *player, s Step) error {
	defer p.failing(s.Step == "async_preemption.evict_last" && !s.says("ok"), s.arg("victim"), evictionCalls...)()
	if err := p.advance(s, rule{who: isPreempting, ends: points("PreemptPod< V"), via: evictVia}); err != nil {
		return err
	}
	if p.expects("async_preemption.phase[%s]", s.arg("pod")) == "EVICTED" {
		return nil
	}
	return p.advance(s, rule{who: isPreempting, ends: points("Queue.Activate> P"), gone: true})
}

// --- everybody else ----------------------------------------------------------------------------------------------

func createNode(p *player, s Step) error {
	for _, n := range p.world.Case.Nodes {
		if n.Name == s.arg("node") {
			p.world.Store.Create(n)
			return nil
		}
	}
	return fmt.Errorf("the case has no node %s", s.arg("node"))
}

// deliver: the informer's store receives the next event.
func deliver(kind, about string) func(*player, Step) error {
	return func(p *player, s Step) error {
		if p.world.Store.IsAhead(s.arg(about)) {
			return nil
		}
		name := p.world.Store.Deliver(kind)
		settle()
		if name != s.arg(about) {
			return fmt.Errorf("the watch's next event is about %q", name)
		}
		return nil
	}
}

// flush waits until the queue's timer has taken the pod out of a sub-queue.
func flush(from string) func(*player, Step) error {
	return func(p *player, s Step) error {
		if _, moves := s.Changes["queue.sub_queue["+s.arg("pod")+"]"]; s.WaitMS > 0 || !moves {
			return nil // the timer has fired while time passed
		}
		for waited := time.Duration(0); waited < 10*time.Minute; waited += 100 * time.Millisecond {
			if p.world.places()[s.arg("pod")] != from {
				return nil
			}
			time.Sleep(100 * time.Millisecond)
			settle()
		}
		return fmt.Errorf("the timer leaves %s in %s", s.arg("pod"), from)
	}
}

// decide: the Permit plugin decides on a pod that waits.
func decide(p *player, s Step) error {
	for _, q := range p.world.Case.Pods {
		if idOf(q) != s.arg("pod") {
			continue
		}
		waiting := p.world.Waiting.GetWaitingPod(q.UID)
		if waiting == nil {
			return fmt.Errorf("%s does not wait for permission", q.Name)
		}
		if s.Step == "waiting.permit" {
			waiting.Allow(pluginName)
		} else {
			waiting.Reject(pluginName, "the trace has the plugin refuse")
		}
	}
	settle()
	return nil
}
