package podrace

import (
	"reflect"
	"time"

	"k8s.io/api/core/v1"
)

// The first handler for pods is that for the cache, the second that for the queue.
var (
	cacheHandler = handler(podHandler, 1)
	queueHandler = handler(podHandler, 2)
	nodesHandler = handler(nodeHandler, 1)
)

var wakes = []string{"Queue.MoveAllToActiveQueue", "Queue.AssignedPodAdded", "Queue.AssignedPodUpdated"}

func handleForQueue(p *player, s Step) error {
	return p.deliver(pods, queueHandler, after(s.arg("pod"), "Queue.Add", "Queue.Delete", "Cache.IsAssumedPod"))
}

func updateQueue(p *player, s Step) error {
	return p.advance(queueHandler, after(s.arg("pod"), "Queue.Update"))
}

func handleForCache(p *player, s Step) error {
	return p.deliver(pods, cacheHandler, after(s.arg("pod"), "Cache.AddPod", "Cache.UpdatePod", "Cache.RemovePod"))
}

func wakeQueue(p *player, _ Step) error {
	return p.advance(cacheHandler, after("", wakes...))
}

func handleNode(p *player, s Step) error {
	over := func(q point) bool {
		return after("", "Cache.AddNode", "Cache.UpdateNode", "Cache.RemoveNode")(q) && q.node == s.arg("node")
	}
	return p.deliver(nodes, nodesHandler, over)
}

func wakeQueueForNode(p *player, _ Step) error {
	return p.advance(nodesHandler, after("", wakes...))
}

// heartbeat is a status update that changes nothing, as the node's kubelet sends one every ten seconds, and all that comes of it.
func heartbeat(p *player, s Step) error {
	p.cluster.Heartbeat(s.arg("node"))
	return p.deliver(nodes, nodesHandler, after("", wakes...))
}

func deliverOne(k kind) func(*player, Step) error {
	return func(p *player, s Step) error {
		event, some := p.cluster.Deliver(k)
		for some && p.cluster.IsBeyond(versionOf(event.Object)) {
			event, some = p.cluster.Deliver(k)
		}
		settle()
		if name := s.arg("pod") + s.arg("node"); !p.seen.relisted && (!some || nameOf(event.Object) != name) {
			return stuck("the next event of the watch is not about %s", name)
		}
		return nil // the events that come of a list come all at once
	}
}

// expire has the deadline of an assumed pod come, and waits for the cache to look: it does so every second.
func expire(p *player, s Step) error {
	pod := p.podOf[s.arg("pod")]
	past := time.Now().Add(-time.Second)
	state := path(p.instance.cache, "podStates").MapIndex(reflect.ValueOf(string(pod.UID)))
	if !state.IsValid() {
		return stuck("the cache does not have %s", pod.Name)
	}
	field(state, "deadline").Set(reflect.ValueOf(&past))
	for begun := time.Now(); time.Since(begun) < patience; time.Sleep(20 * time.Millisecond) {
		if assumed, _ := p.instance.cache.IsAssumedPod(pod); !assumed {
			return nil
		}
	}
	return stuck("the cache does not give %s up", pod.Name)
}

func createPod(p *player, s Step) error {
	p.cluster.Create(pods, p.podOf[s.arg("pod")])
	return nil
}

func createNode(p *player, s Step) error {
	p.cluster.Create(nodes, p.nodeOf[s.arg("node")])
	return nil
}

func bindPod(p *player, s Step) error {
	b := &v1.Binding{}
	b.Name, b.Target.Name = s.arg("pod"), s.arg("node")
	return p.cluster.Bind(b)
}

func removePod(p *player, s Step) error { return p.cluster.Remove(pods, s.arg("pod")) }

// interrupt has the watch of pods lose its events. The informer lists as soon as an event is to be delivered.
func interrupt(p *player, _ Step) error {
	p.cluster.Interrupt(pods)
	p.seen.relisted = true
	return nil
}

// changeLeader ends the process and starts a standby, whose informers are as far as those of the old leader: its lists know the events that
// the handlers were through with, and those that were in the old leader's store are delivered at once.
func changeLeader(p *player, _ Step) error {
	pod, node := p.expects("pod_watch.log.length"), p.expects("node_watch.log.length")
	p.cluster.StandBy(pods, pod)
	p.cluster.StandBy(nodes, node)
	if err := p.restart(true); err != nil {
		return err
	}
	for n := p.expects("pod_watch.listed"); n > 0; n-- {
		p.cluster.Deliver(pods)
	}
	for n := p.expects("node_watch.listed"); n > 0; n-- {
		p.cluster.Deliver(nodes)
	}
	settle()
	return nil
}
