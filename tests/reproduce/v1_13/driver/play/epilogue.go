package podrace

import "time"

// moment is how long everything goes its own way after the last step: longer than the second after which the cache looks for assumed pods that
// have expired, and an informer lists again. There are no other timers in 1.13: what waits in the queue then waits for an event.
const moment = 1500 * time.Millisecond

// epilogue lets everything go its way, and says where the pods wait then, and after how many seconds the others were bound.
func (w *world) epilogue() map[string]any {
	w.cluster.Free()
	w.stage.Hold(false)
	begun, bound := time.Now(), map[string]any{}
	for time.Since(begun) < moment {
		time.Sleep(10 * time.Millisecond)
		for name, p := range w.podOf {
			now := w.cluster.Pod(name)
			if now != nil && now.Spec.NodeName != "" && p.Spec.NodeName == "" && bound[name] == nil {
				bound[name] = time.Since(begun).Seconds()
			}
		}
	}
	stir()
	settle()
	waiting := map[string]any{}
	s := sight{}
	w.seeQueue(s)
	for name := range w.podOf {
		if place := s["queue.sub_queue["+name+"]"]; place != "NONE" {
			waiting[name] = place
		}
	}
	return map[string]any{"1s": waiting, "bound": bound}
}
