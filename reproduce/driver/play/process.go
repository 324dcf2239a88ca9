package podrace

import (
	"fmt"
	"runtime"
	"strconv"
	"strings"
	"time"

	"k8s.io/klog/v2"
)

// mayEnd has whoever ends the process of this world end only itself, and notes that it did.
func (w *World) mayEnd() {
	w.exited = false
	klog.OsExit = func(int) {
		w.exited = true
		runtime.Goexit()
	}
}

// survive ends the goroutine in which the scheduler panics as the trace has it, or after its time: of a real process nothing would be left.
func (g *gate) survive() {
	if !*g.panics && !g.owner.isDead() {
		return
	}
	if r := recover(); r != nil {
		klog.OsExit(2)
	}
}

// expire interrupts the watch of a kind. The list that follows is answered when the next event is due.
func expire(kind string) func(*player, Step) error {
	return func(p *player, s Step) error {
		about := strings.TrimSuffix(kind, "s")
		var names []string
		for n := range p.number(about + "_watch.log.length") {
			names = append(names, p.expects("%s_watch.log[%d].%s", about, n, about))
		}
		for _, name := range p.world.Case.namesOf(kind) {
			if !contains(names, name) {
				names = append(names, name)
			}
		}
		p.world.Store.Expire(kind, names)
		return nil
	}
}

// restart ends the process and starts another, which lists what the API server has.
func restart(p *player, s Step) error {
	p.world.Store.standBy(podKind, 0)
	p.world.Store.standBy(nodeKind, 0)
	return p.world.restart()
}

// land has the API server execute a Binding of an earlier leader, or refuse it: nobody hears what came of it.
func land(p *player, s Step) error {
	_ = p.world.Store.Bind(s.arg("pod"), s.arg("node"))
	return nil
}

// changeLeader ends the process and starts a standby, whose informers are as far as those of the old leader: its lists know the events that
// every handler was through with, and its watches deliver at once those that were in the old leader's store.
func changeLeader(p *player, s Step) error {
	pods, nodes := p.number("pod_watch.log.length"), p.number("node_watch.log.length")
	p.world.Store.standBy(podKind, pods)
	p.world.Store.standBy(nodeKind, nodes)
	p.world.Store.standBy(claimKind, p.number("resource_claims.events"+claimWatch+".length"))
	if err := p.world.restart(); err != nil {
		return err
	}
	for n := p.number("pod_watch.listed"); n > 0; n-- {
		p.world.Store.Deliver(podKind)
		settle()
	}
	for n := p.number("node_watch.listed"); n > 0; n-- {
		p.world.Store.Deliver(nodeKind)
		settle()
	}
	if err := p.catchUp(s); err != nil {
		return err
	}
	// Of two handlers one may have been further than the other: it takes the events that the old leader's had taken.
	for handler, who := range map[string]func(*player, Step) func(*actor) bool{"QUEUE": isQueueHandler, "CACHE": isCacheHandler} {
		if p.world.Informers.handlers[podEvent] < 2 {
			continue
		}
		for n := 0; n < min(p.number(fmt.Sprintf("pod_watch.next[%s]", handler)), p.number("pod_watch.listed")); n++ {
			for a := p.world.Stage.Find(who(p, s)); a != nil && isEvent(a.at) && !a.at.after && p.world.Store.IsBeyond(a.at.version); a = p.world.Stage.Find(who(p, s)) {
				p.passBy(who(p, s))
			}
			p.passOver(who(p, s))
		}
	}
	return nil
}

// catchUp: where one handler takes all events of pods, the old leader's may have been through with the half of an event that the cache hears
// of, and so is the standby's.
func (p *player) catchUp(s Step) error {
	next := p.number("pod_watch.next[QUEUE]")
	if p.world.Informers.handlers[podEvent] > 1 || p.number("pod_watch.next[CACHE]") <= next || p.expects("pod_watch.log[%d].for_cache", next) != "true" {
		return nil
	}
	if next >= p.number("pod_watch.log.length") {
		return nil
	}
	return p.advance(s, rule{
		who: isCacheHandler, ends: points("Queue.Delete>", "Queue.Add>", "PodEvent<"),
		via: append(points("Cache.AddPod<", "Cache.UpdatePod<", "Cache.RemovePod<"), movesOfPods...),
	})
}

// number is a number that the model has after the step.
func (p *player) number(variable string) int {
	n, _ := strconv.Atoi(p.expects("%s", variable))
	return n
}

// restart replaces the process, whose timers begin with the next second. What the old one has under way comes to nothing.
func (w *World) restart() error {
	w.end(w.instance)
	return w.start(time.Now().Truncate(time.Second).Add(time.Second))
}

// standBy has the next list of a kind know all events but the last so many of those that the model has.
func (s *Store) standBy(kind string, unhandled int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	end := len(s.log[kind])
	for ; end > 0 && (unhandled > 0 || s.log[kind][end-1].missed); end-- {
		switch e := s.log[kind][end-1]; {
		case e.expired:
			unhandled -= len(e.outcomes)
		case e.beyond == "" && !e.missed:
			unhandled--
		}
	}
	s.from[kind] = end
}
