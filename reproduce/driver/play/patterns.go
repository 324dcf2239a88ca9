package podrace

import "strings"

// pattern is a point of a rule: the call, ">" before or "<" after it, and which argument of the step it is about: P the pod, N the node,
// V the victim, O the other pod, E the extender, S any pod of the pod's name,
// R the one that takes the name of another, C the claim, L the volume. "NextPod< P" is the point after NextPod has returned the step's pod.
type pattern struct {
	call  string
	after bool
	about string
}

func parse(text string) pattern {
	text, about, _ := strings.Cut(text, " ")
	return pattern{call: text[:len(text)-1], after: strings.HasSuffix(text, "<"), about: about}
}

// fits says whether a call, before or after it, is the pattern's in this step.
func (t pattern) fits(p *point, s Step, c *Case) bool {
	if t.call != p.call {
		return false
	}
	for _, letter := range t.about {
		asked := s.arg(map[rune]string{'P': "pod", 'S': "pod", 'R': "recreation", 'N': "node", 'V': "victim", 'O': "other"}[letter])
		is, found := p.pod, c.isAbout(p, asked)
		switch letter {
		case 'N':
			is, found = p.node, p.node == asked
		case 'E':
			asked = s.arg("extender")
			is, found = p.node, p.node == asked
		case 'C':
			asked = s.arg("claim")
			is, found = p.claim, p.claim == asked
		case 'L':
			asked = s.arg("volume")
			is, found = p.claim, p.claim == asked
		case 'S':
			found = c.names.of(p.pod) == c.names.of(asked)
		}
		if untold := is == "" && !p.after; !found && !untold { // NextPod tells only afterwards
			return false
		}
	}
	return true
}

func (t pattern) ends(p *point, s Step, c *Case) bool {
	return t.after == p.after && t.fits(p, s, c)
}

// rule says how a step of the model is forced: who moves, where the actor stands once the step is over, and which calls lie on its way.
// Whoever comes to another call is about to do something that the model does not have here.
type rule struct {
	who  func(p *player, s Step) func(*actor) bool
	ends []pattern
	via  []pattern
	// settle is what moves after that within the step, or what is checked.
	settle func(p *player, s Step) error
	// gone: the step is over as well when the actor is not held any more, because it ended or waits for others.
	gone bool
	// instead of all that
	do func(p *player, s Step) error
}

func points(texts ...string) (r []pattern) {
	for _, t := range texts {
		r = append(r, parse(t))
	}
	return r
}

func isScheduler(p *player, s Step) func(*actor) bool {
	return func(a *actor) bool { return a.role == scheduling }
}

// isBinding: an earlier binding cycle of the pod may still be handling its failure.
func isBinding(p *player, s Step) func(*actor) bool {
	return func(a *actor) bool {
		return a.role == binding && a.pod == s.arg("pod") && !a.failed && a.at.call != "FailureHandler"
	}
}

func isBindingThatFails(p *player, s Step) func(*actor) bool {
	return func(a *actor) bool { return a.role == binding && a.pod == s.arg("pod") && !a.failed }
}

// isUnreserving is the goroutine that undoes what was reserved for a pod: its binding cycle, or the scheduling cycle, where the pod did not come to one, or was placed on trial with its group.
// Both may be under way for one pod, and it is the model that knows which of them gives back.
func isUnreserving(p *player, s Step) func(*actor) bool {
	cycle := p.expects("scheduler.phase") == "FORGET" && p.expects("scheduler.pod") == s.arg("pod") || p.expects("pod_group_cycle.stage") == "REVERT"
	if phase := p.expects("binding.phase[%s]", s.arg("pod")); cycle && phase != "FORGET" {
		return isScheduler(p, s)
	}
	return isBinding(p, s)
}

func isPreempting(p *player, s Step) func(*actor) bool {
	return func(a *actor) bool { return a.role == preempting && a.pod == s.arg("pod") }
}

// isFailing: the failure handler runs in the goroutine whose attempt failed.
func isFailing(p *player, s Step) func(*actor) bool {
	return func(a *actor) bool { return a == p.world.failing[s.arg("pod")] }
}

// isWorkerOnNode: a goroutine that the scheduling cycle has started for one node.
func isWorkerOnNode(p *player, s Step) func(*actor) bool { return isTrying(s.arg("node")) }

func isTrying(node string) func(*actor) bool {
	return func(a *actor) bool {
		return a.role == worker && a.parent.role == scheduling && a.at.node == node
	}
}

func isEvicting(p *player, s Step) func(*actor) bool {
	inCycle := strings.HasPrefix(s.Step, "scheduler.")
	return func(a *actor) bool {
		mine := a.role == worker && a.parent.pod == s.arg("pod") && (a.parent.role == scheduling) == inCycle
		return mine && p.world.Case.isAbout(a.at, s.arg("victim"))
	}
}

// Since 1.35 one handler takes all events of pods, before the first was for assigned and the second for unassigned pods.
func isQueueHandler(p *player, s Step) func(*actor) bool {
	n := p.world.Informers.handlers[podEvent]
	return func(a *actor) bool { return a.role == podHandler && a.number == n }
}

func isCacheHandler(p *player, s Step) func(*actor) bool {
	return func(a *actor) bool { return a.role == podHandler && a.number == 1 }
}

func isNodeHandler(p *player, s Step) func(*actor) bool {
	return func(a *actor) bool { return a.role == nodeHandler && a.number == 1 }
}
