package podrace

import (
	"fmt"
	"strings"
)

// foreseen gives what a move leads to, as far as the player has to know it: where the goroutine goes next. The moves that follow tell.
func foreseen(c *Case, n int) map[string]any {
	s, rest := c.Steps[n], c.Steps[n+1:]
	pod := s.arg("pod")
	f := map[string]any{}
	part, name, _ := strings.Cut(s.Step, ".")
	switch part {
	case "scheduler":
		f["scheduler.pod"] = pod
		f["scheduler.phase"] = "BUSY"
		if next := following(rest, "scheduler.", pod); name != "pop" && (next == "" || next == "scheduler.pop") {
			f["scheduler.phase"] = "IDLE"
		}
		f["binding.phase["+pod+"]"] = bindingPhase(c, s, rest)
	case "binding":
		f["binding.phase["+pod+"]"] = bindingPhase(c, s, rest)
	case "async_preemption":
		f["async_preemption.phase["+pod+"]"] = "EVICTED"
		if following(rest, "async_preemption.", pod) == "async_preemption.activate" {
			f["async_preemption.phase["+pod+"]"] = "ACTIVATE"
		}
	case "pod_watch", "node_watch":
		if name == "resume" {
			about := strings.TrimSuffix(part, "_watch")
			told := toldNext(rest, part, about)
			f[part+".log.length"] = len(told)
			for i, name := range told {
				f[fmt.Sprintf("%s.log[%d].%s", part, i, about)] = name
			}
		}
	case "handlers":
		for _, variable := range []string{"queue_busy", "queue_removal", "queue_waking", "cache_busy", "node_busy"} {
			f["handlers."+variable] = "NONE"
		}
		of := handlerOf[name]
		f["pod_updates.kind"] = nil
		f["handlers."+of+"_busy"] = true
		for _, t := range rest {
			if next, ok := strings.CutPrefix(t.Step, "handlers."); ok && handlerOf[next] == of {
				f["handlers."+of+"_busy"] = !begins[next]
				if next == "wake_for_member" {
					f["handlers.adding["+t.arg("pod")+"]"] = "MOVE"
				}
				if name == "wake_queue" && next == "wake_queue" {
					f["pod_updates.kind"] = "another"
				}
				break
			}
		}
	}
	return f
}

// toldNext are the objects of which an informer hears next, each once: in this order the list that follows an interrupted watch tells of them.
func toldNext(rest []Step, watched, about string) (names []string) {
	for _, t := range rest {
		if t.Step == watched+".resume" {
			break
		}
		if name := t.arg(about); t.Step == watched+".store" && !contains(names, name) {
			names = append(names, name)
		}
	}
	return names
}

// following is the next step of a part of the scheduler about a pod; empty if there is none.
func following(rest []Step, part, pod string) string {
	for _, t := range rest {
		if strings.HasPrefix(t.Step, part) && t.arg("pod") == pod {
			return t.Step
		}
	}
	return ""
}

// bindingPhase is where the binding cycle of a pod stands after a step: before what it does next in the test, or where it has to wait if
// the test says no more of it.
func bindingPhase(c *Case, s Step, rest []Step) string {
	pod := s.arg("pod")
	if next := following(rest, "binding.", pod); next != "" {
		return phases[next]
	}
	prepared := "BIND"
	if contains(c.Points[pod], "PRE_BIND") {
		prepared = "PRE_BIND"
	}
	switch s.Step {
	case "binding.finish", "binding.fail":
		return "NONE"
	case "binding.bind":
		if s.arg("reply") == "ANSWERED" {
			return "NONE"
		}
		return "FORGET"
	case "binding.pre_bind":
		if !s.says("ok") {
			return "FORGET"
		}
		return "BIND"
	case "binding.forget", "binding.wake_queue":
		return "ANYWHERE"
	case "binding.announce", "binding.wait_on_permit":
		return prepared
	}
	if contains(c.Points[pod], "PERMIT") {
		return "WAIT_ON_PERMIT"
	}
	return prepared
}

// phases says before which step a binding cycle stands.
var phases = map[string]string{
	"binding.announce": "ANNOUNCE", "binding.fail_to_announce": "ANNOUNCE", "binding.fail_pre_flight": "ANNOUNCE",
	"binding.wait_on_permit": "WAIT_ON_PERMIT", "binding.pre_bind": "PRE_BIND", "binding.stop_pre_bind": "PRE_BIND", "binding.bind": "BIND",
	"binding.forget": "FORGET", "binding.finish": "FINISH", "binding.wake_queue": "WAKE", "binding.fail": "FAIL",
}

// handlerOf says which handler takes a step.
var handlerOf = map[string]string{
	"handle_for_queue": "queue", "update_queue": "queue", "look_whether_assumed": "queue", "fetch_assumed": "queue", "reject_waiting": "queue",
	"forget_assumed":      "queue",
	"wake_queue_for_room": "queue", "handle_for_cache": "cache", "wake_queue": "cache", "handle_node": "node", "remove_node": "node",
	"wake_queue_for_node": "node", "add_member": "queue", "wake_for_member": "queue", "remove_member": "queue",
}

// begins are the steps with which a handler begins with an event.
var begins = map[string]bool{"handle_for_queue": true, "handle_for_cache": true, "handle_node": true}
