package podrace

import (
	"fmt"
	"time"
)

// What comes from elsewhere: new nodes, events, timers, the decisions of a Permit plugin.

func createNode(p *player, s Step) error {
	name := p.expects("api.node_version[%s]", s.arg("node"))
	if version := p.world.Case.NodeVersions[name]; version != nil {
		p.world.Store.Create(version)
		return nil
	}
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
		if p.world.Store.IsAhead(kind, s.arg(about)) {
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
		waiting := p.world.Waiting.GetWaitingPod(p.world.Store.uid(idOf(q)))
		if waiting == nil {
			return fmt.Errorf("%s does not wait for permission", q.Name)
		}
		if s.Step == "waiting.permit" {
			waiting.Allow(pluginName)
		} else {
			waiting.Reject(waiting.GetPendingPlugins()[0], "the trace has the plugin refuse")
		}
	}
	settle()
	return nil
}
