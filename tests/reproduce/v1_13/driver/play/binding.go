package podrace

// replies are what the model has become of a Binding, in the words of the cluster.
var replies = map[string]outcome{"ANSWERED": succeeds, "FAILED": fails, "LOST": isLost}

func bind(p *player, s Step) error {
	pod := s.arg("pod")
	what, known := replies[s.arg("reply")]
	if !known {
		return stuck("1.13.0 does not repeat a Binding: %s", s.arg("reply"))
	}
	if what != succeeds {
		p.cluster.order("Bind", pod, what)
	}
	return p.advance(goroutineOf(binding, pod), after(pod, "Client.Bind"))
}

func bindingCycle(call string) func(*player, Step) error {
	return func(p *player, s Step) error {
		return p.advanceWithin(goroutineOf(binding, s.arg("pod")), after(s.arg("pod"), call), nowhere)
	}
}

// handlerOf is whoever handles the failure of a pod: the scheduling cycle or the binding cycle.
func (p *player) handlerOf(pod string) whom {
	a := p.instance.failing[pod]
	return whom{"the failure handler of " + pod, func(b *actor) bool { return a == b }}
}

func checkNode(p *player, s Step) error {
	return p.advance(p.handlerOf(s.arg("pod")), after("", "Client.GetNode"))
}

func removeNode(p *player, s Step) error {
	return p.advance(p.handlerOf(s.arg("pod")), after("", "Cache.RemoveNode"))
}

func patch(what outcome) func(*player, Step) error {
	return func(p *player, s Step) error {
		pod := s.arg("pod")
		if what == fails {
			p.cluster.order("UpdateStatus", pod, fails)
		}
		return p.advance(p.handlerOf(pod), after(pod, "Condition.Update"))
	}
}

func requeue(call string) func(*player, Step) error {
	return func(p *player, s Step) error {
		return p.advance(goroutineOf(requeueing, s.arg("pod")), after(s.arg("pod"), call))
	}
}
