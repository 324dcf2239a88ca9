package podrace

import "fmt"

// Kubelets decide which of their pods they run, where the scenario says so. The scheduler sees of it only that a rejected pod has finished.

// admit: the kubelet of its node runs the pod.
func admit(p *player, s Step) error {
	pod := p.world.Store.Pod(s.arg("pod"))
	if pod == nil || pod.Spec.NodeName == "" {
		return fmt.Errorf("%s is on no node", s.arg("pod"))
	}
	p.world.runs[s.arg("pod")] = pod.Spec.NodeName
	return nil
}

// reject: it does not, and the pod has failed.
func reject(p *player, s Step) error {
	p.world.rejected[s.arg("pod")] = true
	return p.world.Store.FinishPod(s.arg("pod"))
}

// refuse: the node is too small for what a pod asks for by now. The status says so, and from then on the pod counts as the version that was allocated.
func refuse(p *player, s Step) error {
	return p.world.toVersion(s.arg("version"), (*Store).RefuseResize)
}

// stop: it is done with a pod whose object is gone, or said so before.
func stop(p *player, s Step) error {
	delete(p.world.runs, s.arg("pod"))
	return nil
}

// end: it is done with the pod, and says so.
func end(write func(*Store, string) error) func(*player, Step) error {
	return func(p *player, s Step) error {
		delete(p.world.runs, s.arg("pod"))
		return write(p.world.Store, s.arg("pod"))
	}
}
