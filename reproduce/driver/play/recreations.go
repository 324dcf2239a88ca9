package podrace

import "fmt"

// Pods that take the name of one that is gone. A list after an interruption of the watch shows the new pod under the name of the old one, and the
// informer tells that as an Update: a swap.

// recreate: a controller creates a pod under the name of one that is gone.
func recreate(p *player, s Step) error { return p.create(s.arg("recreation")) }

func (p *player) create(pod string) error {
	for _, q := range p.world.Case.Pods {
		if idOf(q) == pod {
			p.world.Store.Create(q)
			return nil
		}
	}
	return fmt.Errorf("the case has no pod %s", pod)
}

// swapInQueue: the queue's handler takes the Update from one pod to another of its name. That the new one is not assumed goes without saying: nobody
// has seen it before.
func swapInQueue(p *player, s Step) error {
	ends := points("Queue.Add<", "Queue.Update<", "Queue.Delete<")
	return takeEvent(isQueueHandler, podKind, ends, points("Cache.IsAssumedPod< R"))(p, s)
}

// swapInCache: the same for the cache's handler, whose process may end itself over it; another one is started then.
func swapInCache(p *player, s Step) error {
	if p.expects("handlers.ended[%s]", s.arg("recreation")) != "true" {
		return takeEvent(isCacheHandler, podKind, points("Cache.UpdatePod<", "Cache.RemovePod<"), nil)(p, s)
	}
	if err := takeEvent(isCacheHandler, podKind, points("Cache.UpdatePod>"), nil)(p, s); err != nil {
		return err
	}
	p.world.Stage.Release(p.world.Stage.Find(isCacheHandler(p, s)))
	if !p.world.exited {
		return fmt.Errorf("the process does not end: %s", p.world.Stage.Where())
	}
	p.world.exited = false
	return restart(p, s)
}

// whose is the pod that a step is about; none if it is not about one.
func (s Step) whose() string {
	if pod := s.arg("pod"); pod != "" {
		return pod
	}
	return s.arg("recreation")
}
