package podrace

import (
	"fmt"
	"strings"
	"time"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// How the steps about volumes and their claims are forced. What the model does claim after claim within one call of the binder's is forced with the last of them.

func init() {
	for step, r := range volumeRules() {
		rules[step] = r
	}
}

const volumesTimeout = 10 * time.Minute // VolumeBindingArgs.BindTimeoutSeconds, as it is by default

func volumeRules() map[string]rule {
	return map[string]rule{
		// VolumeBinding, in the scheduling cycle.
		"volume_binding.read_claim":    {do: readVolumeClaim},
		"volume_binding.list_volumes":  {do: listVolumes},
		"volume_binding.look_again":    {do: assumeVolumes},
		"volume_binding.assume_volume": {do: assumeVolumes},
		"volume_binding.assume_claim":  {do: assumeVolumes},

		// In the binding cycle, and Unreserve.
		"volume_binding.write_volume":   {do: writeVolume},
		"volume_binding.write_claim":    {do: writeVolume},
		"volume_binding.check_bindings": {do: checkBindings},
		"volume_binding.time_out":       {do: checkBindings},
		"volume_binding.restore":        {do: restoreVolumes},

		// The informers, the assume caches and the queue.
		"volume_cache.store_volumes":         {do: storeStorage(volumeKind, volumeEvent)},
		"volume_cache.store_claims":          {do: storeStorage(volumeClaimKind, volumeClaimEvent)},
		"volume_cache.tell_of_volumes":       {do: tellOfStorage(volumeKind, volumeEvent)},
		"volume_cache.tell_of_claim":         {do: tellOfStorage(volumeClaimKind, volumeClaimEvent)},
		"volume_cache.tell_ahead_of_volumes": {do: tellOfStorage(volumeKind, volumeEvent)},
		"volume_cache.tell_ahead_of_claim":   {do: tellOfStorage(volumeClaimKind, volumeClaimEvent)},

		// Everybody else.
		"pv_controller.hear":            {do: elsewhere},
		"pv_controller.reserve_volume":  {do: writeStorage},
		"pv_controller.bind_claim":      {do: writeStorage},
		"pv_controller.ask_provisioner": {do: writeStorage},
		"pv_controller.release_volume":  {do: writeStorage},
		"provisioner.begin":             {do: elsewhere},
		"provisioner.create":            {do: writeStorage},
		"provisioner.give_up":           {do: writeStorage},
		"provisioner.leave_node":        {do: writeStorage},
		"storage_users.create_claim":    {do: writeStorage},
		"storage_users.create_volume":   {do: writeStorage},
		"storage_users.delete_claim":    {do: writeStorage},
		"storage_users.delete_volume":   {do: writeStorage},
		"storage_users.release_claim":   {do: writeStorage},
	}
}

// unmoved is for a step that is forced with a later one, with which the call is over. It is an error where what the call of the binder's reads changes before.
func (p *player) unmoved(s Step, over func(Step) bool) error {
	for _, t := range p.rest {
		if t.arg("pod") == s.arg("pod") && over(t) {
			break
		}
		for variable := range t.Changes {
			if strings.HasPrefix(variable, "volume_cache.") && !strings.Contains(variable, "news") && !strings.HasPrefix(t.Step, "volume_binding.assume_") {
				return within("what the binder reads of a pod's claims and volumes it reads within one call, and nobody can be held between")(p, s)
			}
		}
	}
	return p.quietly("it is one call of the binder's for all claims and volumes")
}

// readVolumeClaim: PreFilter reads all claims of the pod, and lists the volumes, in one call of the binder's. Whether they are there VolumeRestrictions has asked before.
func readVolumeClaim(p *player, s Step) error {
	switch phase := p.expects("scheduler.phase"); {
	case phase == "READ_VOLUME_CLAIMS" || phase == "LIST_VOLUMES":
		return p.unmoved(s, func(t Step) bool {
			return t.Step == "volume_binding.list_volumes" || t.Step == "volume_binding.read_claim"
		})
	case p.isRejected():
		return p.advance(s, rule{
			who: isScheduler, ends: points("Framework.RunPostFilterPlugins> P", "FailureHandler> P"), via: points("Volumes.GetPodVolumeClaims< P"),
		})
	}
	return listVolumes(p, s)
}

// isRejected is whether PreFilter has said of every node that the pod cannot go there.
func (p *player) isRejected() bool {
	for _, node := range p.world.Case.Nodes {
		if p.expects("scheduler.verdict[%s]", node.Name) != "UNRESOLVABLE" {
			return false
		}
	}
	return true
}

func listVolumes(p *player, s Step) error {
	p.world.answers.volumes = nil
	for _, t := range p.rest {
		if t.Step == "scheduler.pop" {
			break
		}
		if t.Step == "volume_binding.assume_volume" && t.arg("pod") == s.arg("pod") {
			p.world.answers.volumes = append(p.world.answers.volumes, t.arg("volume"))
		}
	}
	return p.advance(s, rule{who: isScheduler, ends: points("Volumes.GetPodVolumeClaims< P")})
}

// assumeVolumes: Reserve looks whether all claims are bound by now, and assumes what it means to write, in one call of the binder's.
func assumeVolumes(p *player, s Step) error {
	if p.expects("scheduler.phase") == "RESERVE" && p.has(s.arg("pod"), "OPEN") {
		return p.unmoved(s, func(t Step) bool { return strings.HasPrefix(t.Step, "volume_binding.assume_") })
	}
	r := rule{who: isScheduler, ends: points("Volumes.AssumePodVolumes< P"), via: points("Framework.RunReservePluginsReserve< P", "Queue.DeleteNominatedPodIfExists< P")}
	return p.advance(s, r)
}

// has is whether the model has a claim of the pod in one of these stages.
func (p *player) has(pod string, stages ...string) bool {
	for variable, stage := range p.model {
		name, indices := parts(variable)
		if name == "volume_binding.stage" && strings.HasSuffix(indices[0], " of "+pod) && contains(stages, fmt.Sprint(stage)) {
			return true
		}
	}
	return false
}

// writeVolume: the UPDATE of a volume, or of a claim that a volume is to be made for. Where it fails, PreBind has failed.
func writeVolume(p *player, s Step) error {
	r := rule{
		who: isBinding, ends: points(updatesVolume+"< L", updatesClaim+"< C"),
		via: points("Framework.RunPreBindPlugins< P", "Volumes.BindPodVolumes< P", updatesVolume+"<"),
	}
	if s.Step == "volume_binding.write_claim" {
		r.ends = points(updatesClaim + "< C")
	}
	if err := p.advance(s, r); err != nil {
		return err
	}
	if p.expects("binding.phase[%s]", s.arg("pod")) == "FORGET" {
		return p.advance(s, rule{who: isBinding, ends: givesBack, via: points("Volumes.BindPodVolumes< P", "Framework.RunPreBindPlugins< P")})
	}
	return nil
}

// checkBindings: it looks once a second; the look that finds all claims bound, or that the binding has to be tried again, is the step. For the time-out ten minutes pass before it.
func checkBindings(p *player, s Step) error {
	is := isBinding(p, s)
	if a := p.world.Stage.Find(is); a != nil && a.at.after && (a.at.call == updatesVolume || a.at.call == updatesClaim) {
		p.world.Stage.Release(a)
	}
	for waited := time.Duration(0); waited < 2*time.Second && p.world.Stage.Find(is) == nil; waited += 10 * time.Millisecond {
		time.Sleep(10 * time.Millisecond)
		settle()
	}
	if s.Step == "volume_binding.time_out" { // held at a look, which is the last
		time.Sleep(volumesTimeout)
	}
	if err := p.advance(s, rule{who: isBinding, ends: points("Volumes.BindPodVolumes< P"), via: points(looks + "<")}); err != nil {
		return err
	}
	if p.expects("binding.phase[%s]", s.arg("pod")) == "FORGET" {
		return p.advance(s, rule{who: isBinding, ends: givesBack, via: points("Framework.RunPreBindPlugins< P")})
	}
	return nil
}

// restoreVolumes: Unreserve takes back what was assumed for all claims of the pod, in one call of the binder's.
func restoreVolumes(p *player, s Step) error {
	if p.has(s.arg("pod"), "ASSUMED", "WRITTEN", "REVERTED") {
		return p.unmoved(s, func(t Step) bool { return t.Step == "volume_binding.restore" })
	}
	via := append(points("Framework.RunReservePluginsReserve< P", "Volumes.AssumePodVolumes< P", "Framework.RunPermitPlugins< P"), bindingVia...)
	return p.advance(s, rule{who: isUnreserving, ends: points("Volumes.RevertAssumedPodVolumes<"), via: via})
}

// storeStorage: the informer's store gets all that was written, and so do the assume caches, which up to 1.34 are told by a handler of their own.
func storeStorage(kind, event string) func(*player, Step) error {
	return func(p *player, s Step) error {
		p.deliverAll(kind)
		p.world.told[kind] = p.world.Store.delivered(kind)
		return p.takeStorage(s, event, func(a *actor) bool { return a.number < p.world.Informers.handlers[event] }, "")
	}
}

// tellOfStorage: the queue's handler takes the events of which it has still to hear, also those that the assume cache has not been told; of a claim those that are next.
func tellOfStorage(kind, event string) func(*player, Step) error {
	return func(p *player, s Step) error {
		if strings.Contains(s.Step, "ahead") {
			p.deliverAll(kind)
		}
		queue := func(a *actor) bool { return a.number == p.world.Informers.handlers[event] }
		if p.world.Stage.Find(func(a *actor) bool { return a.role == handlersOf[event] && queue(a) }) == nil {
			return fmt.Errorf("the queue's handler has no event: %s", p.world.Stage.Where())
		}
		return p.takeStorage(s, event, queue, s.arg("claim"))
	}
}

// takeStorage lets a handler take all events that it has, or those about one object that are next.
func (p *player) takeStorage(s Step, event string, is func(*actor) bool, about string) error {
	who := func(*player, Step) func(*actor) bool {
		return func(a *actor) bool { return a.role == handlersOf[event] && is(a) }
	}
	for n := 0; n < farthest; n++ {
		a := p.world.Stage.Find(who(p, s))
		if a == nil {
			return p.quietly("the assume cache is told with the informer's store, or all events are taken")
		}
		if about != "" && a.at.claim != about && !isAmid(a) {
			if n == 0 {
				return fmt.Errorf("the handler's next event is about %s", a.at.claim)
			}
			return nil
		}
		if err := p.advance(s, rule{who: who, ends: points(event + "<"), via: movesOfPods}); err != nil {
			return err
		}
		p.world.Stage.Release(p.world.Stage.Find(who(p, s)))
	}
	return fmt.Errorf("the handler is not through with its events")
}

// deliverAll lets a watch deliver all that it has.
func (p *player) deliverAll(kind string) {
	for p.world.Store.DeliverOne(kind) {
	}
	settle()
}

func (s *Store) delivered(kind string) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.sent[kind]
}

// writeStorage: somebody else writes the volume and the claim that the step is about, as the model has them then.
func writeStorage(p *player, s Step) error {
	for _, template := range p.world.storage {
		switch t := template.(type) {
		case *v1.PersistentVolume:
			if idOf(t) == s.arg("volume") {
				p.putVolume(t, s.arg("node"))
			}
		case *v1.PersistentVolumeClaim:
			if idOf(t) == s.arg("claim") {
				p.putVolumeClaim(t)
			}
		}
	}
	return nil
}

// putVolume writes a volume as the model has it. One that is made is tied to a node.
func (p *player) putVolume(template *v1.PersistentVolume, node string) {
	at, now := "storage.volume["+idOf(template)+"]", p.world.Store.Volume(idOf(template))
	if p.expects("%s.exists", at) != "true" {
		if now != nil {
			p.world.Store.write(volumeKind, now, nil)
		}
		return
	}
	next := template.DeepCopy()
	if now != nil {
		next = now.DeepCopy()
	} else {
		next.ResourceVersion = ""
	}
	next.Spec.ClaimRef = nil
	if claim := p.expects("%s.claim", at); claim != "" {
		for _, o := range p.world.storage {
			if c, is := o.(*v1.PersistentVolumeClaim); is && idOf(c) == claim {
				next.Spec.ClaimRef = &v1.ObjectReference{Kind: "PersistentVolumeClaim", APIVersion: "v1", Namespace: c.Namespace, Name: c.Name, UID: c.UID}
			}
		}
	}
	if p.expects("%s.node", at) != "" {
		for _, n := range p.world.Case.Nodes {
			if n.Name == node {
				tieTo(next, n)
			}
		}
	}
	if now == nil {
		p.world.Store.write(volumeKind, nil, next)
		return
	}
	p.world.Store.write(volumeKind, now, next)
}

// putVolumeClaim writes a claim as the model has it.
func (p *player) putVolumeClaim(template *v1.PersistentVolumeClaim) {
	at, now := "storage.claim["+idOf(template)+"]", p.world.Store.VolumeClaim(idOf(template))
	if p.expects("%s.exists", at) != "true" {
		if now != nil {
			p.world.Store.write(volumeClaimKind, now, nil)
		}
		return
	}
	next := template.DeepCopy()
	if now != nil {
		next = now.DeepCopy()
	}
	next.Spec.VolumeName = p.expects("%s.volume", at)
	annotate := func(name, value string) {
		delete(next.Annotations, name)
		if value != "" {
			metav1.SetMetaDataAnnotation(&next.ObjectMeta, name, value)
		}
	}
	yes := func(field string) string {
		if p.expects("%s.%s", at, field) == "true" {
			return "yes"
		}
		return ""
	}
	annotate(selectedNode, p.expects("%s.selected", at))
	annotate(bindCompleted, yes("completed"))
	annotate(boundByController, yes("completed"))
	annotate(askedProvisioner, yes("asked"))
	if yes("terminating") != "" && next.DeletionTimestamp == nil {
		moment := metav1.Now()
		next.DeletionTimestamp = &moment
	}
	if now == nil {
		p.world.Store.write(volumeClaimKind, nil, next)
		return
	}
	p.world.Store.write(volumeClaimKind, now, next)
}
