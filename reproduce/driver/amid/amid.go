package podrace

import (
	"errors"
	"fmt"
	"sync/atomic"

	"k8s.io/kubernetes/pkg/scheduler/backend/queue"
)

// Pop amid a move of parked pods, or amid a requeue: both are one call of the queue's, which takes and lets go activeQ's lock. The queue is built with a call amid each (reproduce/modules/held.py),
// and the goroutine that makes it stands there with the queue's lock.

// moving is the role of the queue's own timers, and of informers of other kinds, while they stand amid a move.
const moving role = "queue flush"

// armed is the process in which the goroutine that moves pods is held amid the move; nil for none.
var armed atomic.Pointer[instance]

func init() {
	rules["scheduler.pop_amid_move"] = rule{do: popAmidMove}
	rules["failure.requeue_too_soon"] = rule{do: requeueTooSoon}
	armAmid = arm
	queue.PodraceAmid = func() {
		if i := armed.Load(); i != nil && !i.isDead() {
			i.stage.arriveAmid(i)
		}
	}
}

// arriveAmid holds the goroutine that moves pods.
func (s *Stage) arriveAmid(i *instance) {
	id := goroutine()
	s.mu.Lock()
	if a := s.actors[id]; a == nil || a.role == nobody {
		s.actors[id] = &actor{role: moving, owner: i}
	}
	s.mu.Unlock()
	s.arrive(id, i, point{call: amid})
}

// arm has the step's move held if the trace has a Pop amid it.
func arm(p *player, s Step) {
	if p.mover != nil {
		return
	}
	armed.Store(nil)
	for _, pod := range p.world.Case.Pods {
		if s.Changes[justMoved(idOf(pod))] == true && p.popsAmid(idOf(pod)) {
			step := s
			p.mover = &step
			armed.Store(p.world.instance)
			return
		}
	}
}

func justMoved(pod string) string { return fmt.Sprintf("queue.just_moved[%s]", pod) }

// popsAmid says whether the trace pops a pod amid its last move.
func (p *player) popsAmid(pod string) bool {
	for _, t := range p.rest {
		if t.Step == "scheduler.pop_amid_move" && t.arg("pod") == pod {
			return true
		}
		if moved, changes := t.Changes[justMoved(pod)]; changes && moved == false {
			return false
		}
	}
	return false
}

// popAmidMove: Pop takes a pod while the goroutine that moved it is still in the move, which then ends.
func popAmidMove(p *player, s Step) error {
	mover := p.world.Stage.Find(isAmid)
	if p.mover == nil || mover == nil {
		return fmt.Errorf("nobody stands amid a move: %s", p.world.Stage.Where())
	}
	if err := pop(p, s); err != nil {
		return err
	}
	for _, pod := range p.world.Case.Pods {
		if p.expects("queue.just_moved[%s]", idOf(pod)) == "true" && p.popsAmid(idOf(pod)) {
			return nil
		}
	}
	return p.endMove(mover)
}

// endMove lets the goroutine that stands amid a move go on to the end of its own step.
func (p *player) endMove(mover *actor) error {
	armed.Store(nil)
	step := *p.mover
	p.mover = nil
	p.world.Stage.hear(nil) // it is not the one whose step it is
	if mover.role == moving {
		mover.role = nobody // from now on it passes everywhere
		p.world.Stage.Release(mover)
		return nil
	}
	return p.follow(step, rules[step.Step])
}

// requeueTooSoon: Pop comes amid the requeue, finds the pod in flight still, and drops it.
func requeueTooSoon(p *player, s Step) error {
	step := s
	p.mover = &step
	armed.Store(p.world.instance)
	defer func() { p.mover = nil }()
	defer armed.Store(nil)
	r := rule{who: isFailing, ends: points("Queue.AddUnschedulableIfNotPresent< S")}
	if err := p.advance(s, r); err == nil {
		return fmt.Errorf("nobody stands amid the requeue: %s", p.world.Stage.Where())
	} else if !errors.Is(err, errAmid) {
		return err
	}
	a := p.world.Stage.Find(isScheduler(p, s))
	if a == nil || a.at.call != "NextPod" || a.at.after {
		return fmt.Errorf("the scheduler is not about to pop: %s", p.world.Stage.Where())
	}
	p.world.Stage.hear(nil)
	p.world.Stage.Release(a)
	armed.Store(nil)
	p.mover = nil
	return p.advance(s, r)
}
