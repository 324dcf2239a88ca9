package podrace

import "time"

// longestWait is how long a pod waits for permission at most, whatever plugins say (maxTimeout in framework/runtime/framework.go). In the model it may be any time.
const longestWait = 15 * time.Minute

// tires is whether some pod would be refused for want of a permission, if so much time passed.
func (r *recorder) tires(wait time.Duration) bool {
	tires := false
	for _, p := range r.world.Case.Pods {
		pod := idOf(p)
		if r.world.Waiting.GetWaitingPod(r.world.Store.uid(pod)) == nil {
			delete(r.waits, pod)
			continue
		}
		if _, known := r.waits[pod]; !known {
			r.waits[pod] = time.Now()
		}
		tires = tires || time.Since(r.waits[pod])+wait >= longestWait
	}
	return tires
}

// isBeingEvicted is whether preemption has said of a pod that it is a victim, and has still to delete it. The model's PATCH and DELETE are one step (A-DISRUPTION).
func (r *recorder) isBeingEvicted(pod string) bool {
	for _, a := range r.world.Stage.held() {
		if a.role == preempting && a.at.pod == pod && (a.at.call == "Client.Patch" && a.at.after || a.at.call == "Client.Delete" && !a.at.after) {
			return true
		}
	}
	return false
}
