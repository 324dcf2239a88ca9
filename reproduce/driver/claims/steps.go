package podrace

import (
	"fmt"
	"reflect"
	"strings"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
)

// How the steps about claims are forced.

func init() {
	for step, r := range claimRules() {
		rules[step] = r
	}
}

var (
	looksInFlight = points("Claims.GetPendingAllocation< C", "Claims.ClaimHasPendingAllocation< C")
	endsFlight    = points("Claims.MaybeRemoveClaimPendingAllocation< C", "Claims.RemoveClaimPendingAllocation< C")
	endsAnyFlight = points("Claims.MaybeRemoveClaimPendingAllocation<", "Claims.RemoveClaimPendingAllocation<")
	listsDevices  = points("Claims.GatherAllocatedState<", "Claims.ListAllAllocatedDevices<")
	delivers      = points("ClaimTracker> C")
)

func claimRules() map[string]rule {
	return map[string]rule{
		// DynamicResources, in the scheduling cycle.
		"dynamic_resources.get_claim":     {who: isScheduler, ends: points("Claims.Get< C", "Claims.List< C"), settle: rejected},
		"dynamic_resources.check_claim":   {do: checkClaim},
		"dynamic_resources.list_devices":  {do: listDevices},
		"dynamic_resources.add_in_flight": {do: addInFlight},
		"dynamic_resources.deallocate":    {who: isScheduler, ends: points("Claim.UpdateStatus< C"), via: points("Framework.RunPostFilterPlugins< P")},
		"dynamic_resources.reserve_claim": {who: isScheduler, ends: points("Claims.SignalClaimPendingAllocation< C"), via: points("Framework.RunReservePluginsReserve< P")},
		"dynamic_resources.lose_claim":    {who: isScheduler, ends: points("Claims.SignalClaimPendingAllocation< C"), via: points("Framework.RunReservePluginsReserve< P")},

		// In the binding cycle.
		"dynamic_resources.write_claim":   {do: writeClaim},
		"dynamic_resources.refresh_claim": {do: refreshClaim},
		"dynamic_resources.assume_claim":  {do: assumeClaim},
		"dynamic_resources.settle_claim":  {do: settleClaim},
		"dynamic_resources.fail_claim":    {do: failClaim},

		// Of the claim that the scheduler makes for extended resources.
		"dynamic_resources.create_claim":     {who: isBinding, ends: points("Claim.Create< C"), via: points("Framework.RunPreBindPlugins< P")},
		"dynamic_resources.lose_allocation":  {do: loseAllocation},
		"dynamic_resources.assume_unwritten": {do: func(p *player, s Step) error { return p.assumeSpecial(s) }},
		"dynamic_resources.lose_name":        {do: loseName},
		"dynamic_resources.tire_of_waiting":  {do: tireOfWaiting},
		"dynamic_resources.delete_stale":     {do: deleteSpecial(isScheduler)},
		"dynamic_resources.delete_claim":     {do: deleteSpecial(isUnreserving)},
		"dynamic_resources.lose_deletion":    {do: loseDeletion},

		// Unreserve.
		"dynamic_resources.unreserve_claim":   {who: isUnreserving, ends: endsFlight, via: bindingVia},
		"dynamic_resources.restore_claim":     {who: isUnreserving, ends: append(points("Claims.AssumedClaimRestore< C"), delivers...), gone: true},
		"dynamic_resources.end_restore":       {do: endRestore},
		"dynamic_resources.patch_reservation": {who: isUnreserving, ends: points("Claim.Patch< C")},
		"dynamic_resources.lose_patch":        {do: losePatch},

		// The assume cache.
		"claim_cache.deliver":      {do: deliverClaim},
		"claim_cache.tell_tracker": {who: isEmitting, ends: points("ClaimTracker< C")},
		"claim_cache.tell_queue":   {do: tellQueue},

		// Everybody else.
		"resource_claims.miss_update":      {do: missUpdate},
		"claim_controller.sync_claim":      {do: controlClaim},
		"claim_controller.reserve_for_pod": {do: controlClaim},
		"claim_controller.hear_of_end":     {do: func(*player, Step) error { return nil }},
		"claim_maker.make_claim":           {do: createClaim},
		"claim_maker.name_claims":          {do: nameClaims},
		"claim_deletions.create_claim":     {do: createClaim},
		"claim_deletions.delete_claim":     {do: func(p *player, s Step) error { return p.world.Store.DeleteClaim(s.arg("claim")) }},
		"claim_deletions.collect_claim":    {do: func(p *player, s Step) error { return p.world.Store.DeleteClaim(s.arg("claim")) }},
		"claim_deletions.release_claim":    {do: releaseClaim},
	}
}

// isEmitting is the one goroutine that delivers the events of the assume cache: the informer's, or one that assumes or restores a claim.
func isEmitting(*player, Step) func(*actor) bool {
	return func(a *actor) bool { return a.at.call == toldTracker || a.at.call == toldQueue || isAmid(a) }
}

func isClaimInformer(*player, Step) func(*actor) bool {
	return func(a *actor) bool { return a.role == claimInformer }
}

// checkClaim: nobody asks whether a claim is in flight that is allocated.
func checkClaim(p *player, s Step) error {
	if p.expects("dynamic_resources.copy[%s].device", s.arg("use")) != "" {
		return p.quietly("nobody asks whether an allocated claim is in flight")
	}
	if err := p.advance(s, rule{who: isScheduler, ends: looksInFlight}); err != nil {
		return err
	}
	return rejected(p, s)
}

// rejected: where PreFilter rejects the pod, that is what it says of every node. The scheduler comes to what follows.
func rejected(p *player, s Step) error {
	for _, node := range p.world.Case.Nodes {
		if p.expects("scheduler.verdict[%s]", node.Name) != "UNRESOLVABLE" {
			return nil
		}
	}
	return p.advance(s, rule{who: isScheduler, ends: points("Framework.RunPostFilterPlugins> P", "FailureHandler> P")})
}

// listDevices: one call lists the allocated devices and adds those in flight. So the scheduler stays before it, if that makes no difference. If it does, the allocated devices
// are kept as they are now, and the call is given them later, as if it had read them now and been held since: up to 1.34.3 it looks at them once, and nobody tells it that they have changed.
func listDevices(p *player, s Step) error {
	for _, t := range p.rest {
		if t.Step == "dynamic_resources.add_in_flight" && t.arg("pod") == s.arg("pod") {
			break
		}
		for variable := range t.Changes {
			if strings.HasPrefix(variable, "claim_tracker.allocated") || strings.HasPrefix(variable, "claim_tracker.in_flight") {
				if p.world.keepAllocated() {
					return p.quietly("the allocated devices are kept")
				}
				return within("what is allocated and what is in flight is read within one call, and nobody can be held between")(p, s)
			}
		}
	}
	return p.quietly("the call that lists both comes with the next step")
}

// addInFlight: the call itself, and the one that lists the slices, unless it begins anew. Which devices the allocator is to choose is said now, by the order in which it is given them.
func addInFlight(p *player, s Step) error {
	p.world.answers.devices = nil
	for _, t := range p.rest {
		if t.arg("pod") != s.arg("pod") {
			continue
		}
		if t.Step == "dynamic_resources.reserve_claim" {
			device, _, _ := strings.Cut(t.arg("device"), "/")
			p.world.answers.devices = append(p.world.answers.devices, strings.Split(device, "+")...)
		} else if t.Step == "scheduler.reserve" || t.Step == "scheduler.pop" {
			break
		}
	}
	giveUp := p.world.giveKept()
	err := p.advance(s, rule{who: isScheduler, ends: listsDevices})
	giveUp()
	if err != nil || p.expects("scheduler.phase") == "LIST_DEVICES" {
		return err
	}
	return p.advance(s, rule{who: isScheduler, ends: points(listsSlices + "<")})
}

// keepAllocated keeps the allocated devices as they are now for the call that is about to list them; false where that call would notice that they have changed since.
func (w *World) keepAllocated() bool {
	now := inside(field(w.tracker, "allocatedDevices"))
	if field(now, "revision").IsValid() {
		return false
	}
	kept := reflect.New(now.Type())
	kept.Elem().Set(now)
	ids := field(kept, "ids")
	copied := reflect.MakeMap(ids.Type())
	for each := ids.MapRange(); each.Next(); {
		copied.SetMapIndex(each.Key(), each.Value())
	}
	ids.Set(copied)
	w.kept = kept
	return true
}

// giveKept has the tracker of claims read what was kept, if something was, until what it gives is called.
func (w *World) giveKept() (end func()) {
	if !w.kept.IsValid() {
		return func() {}
	}
	at := field(w.tracker, "allocatedDevices")
	live := reflect.ValueOf(at.Interface())
	at.Set(w.kept)
	w.kept = reflect.Value{}
	return func() { at.Set(live) }
}

// writeClaim: the UPDATE of the finalizer, if it is not there, and that of the status. After a conflict there is no other.
func writeClaim(p *player, s Step) error {
	via := points("Framework.RunPreBindPlugins< P")
	r := rule{who: isBinding, ends: points("Claim.Update< C", "Claim.UpdateStatus< C"), via: via}
	if err := p.advance(s, r); err != nil {
		return err
	}
	a := p.world.Stage.Find(isBinding(p, s))
	if a == nil || a.at.call != "Claim.Update" || len(a.at.results) > 0 && a.at.results[0] != nil {
		return nil
	}
	return p.advance(s, rule{who: isBinding, ends: points("Claim.UpdateStatus< C")})
}

// refreshClaim: after a conflict some milliseconds pass before the claim is read again. That it is gone the write itself has said.
func refreshClaim(p *player, s Step) error {
	a := p.world.Stage.Find(isBinding(p, s))
	if a == nil || !a.at.after {
		return fmt.Errorf("whoever is to read %s again has not written: %s", s.arg("claim"), p.world.Stage.Where())
	}
	if err, is := a.at.results[0].(error); is && apierrors.IsNotFound(err) {
		return p.quietly("the write has said that the claim is gone")
	}
	p.world.Stage.Release(a)
	for n := 0; n < 20 && p.world.Stage.Find(isBinding(p, s)) == nil; n++ {
		time.Sleep(time.Millisecond)
	}
	return p.advance(s, rule{who: isBinding, ends: points("Claim.Get< C")})
}

// assumeClaim: the call returns once its event is delivered, so that the goroutine delivers it, or waits for whoever does. Up to 1.34 there is no call for a
// claim that was merely reserved.
func assumeClaim(p *player, s Step) error {
	is := isBinding(p, s)
	a := p.world.Stage.Find(is)
	if a == nil || a.at.call != "Claim.UpdateStatus" || !a.at.after {
		return fmt.Errorf("%s is not written: %s", s.arg("claim"), p.world.Stage.Where())
	}
	p.foreseePreBind(s.arg("pod"))
	if p.world.specials.is(s.arg("claim")) {
		return p.assumeSpecial(s)
	}
	p.world.Stage.Release(a)
	if b := p.world.Stage.Find(is); b != nil && b.at.call == "Claims.AssumeClaimAfterAPICall" && !b.at.after {
		p.world.Stage.Release(b)
	}
	return nil
}

// settleClaim: allocations are in flight no longer, from 1.37 on those of all claims of the pod with the last of them. That of a claim that was merely reserved was not.
func settleClaim(p *player, s Step) error {
	ended := 0
	for variable := range s.Changes {
		if strings.HasPrefix(variable, "dynamic_resources.chosen[") {
			ended++
		}
	}
	if ended == 0 {
		return p.quietly("nothing was in flight")
	}
	for range ended {
		if err := p.advance(s, rule{who: isBinding, ends: endsAnyFlight, via: points("Claims.AssumeClaimAfterAPICall< C")}); err != nil {
			return err
		}
	}
	return nil
}

// failClaim: bindClaim returns an error, and gives back what was in flight where it was this pod that chose it. Unreserve follows.
func failClaim(p *player, s Step) error {
	if _, ended := s.Changes["dynamic_resources.chosen["+s.arg("use")+"]"]; ended {
		if err := p.advance(s, rule{who: isBinding, ends: endsFlight, via: points("Claims.AssumeClaimAfterAPICall< C")}); err != nil {
			return err
		}
	}
	return p.bindingStands(s)
}

// endRestore: the call has returned.
func endRestore(p *player, s Step) error {
	a := p.world.Stage.Find(isUnreserving(p, s))
	if a == nil || a.at.call != "Claims.AssumedClaimRestore" || !a.at.after {
		return fmt.Errorf("%s is not restored: %s", s.arg("claim"), p.world.Stage.Where())
	}
	return p.quietly("the call has returned")
}

func losePatch(p *player, s Step) error {
	defer p.failing(true, s.arg("claim"), "Claim.Patch")()
	return p.advance(s, rule{who: isUnreserving, ends: points("Claim.Patch< C")})
}

// deliverClaim: the informer's handler changes the assume cache, and begins to deliver what came of it, if something did. The events that the model does not
// have go before.
func deliverClaim(p *player, s Step) error {
	if name := p.world.Store.Deliver(claimKind); name != s.arg("claim") {
		return fmt.Errorf("the watch's next event is about %q", name)
	}
	r := rule{who: isClaimInformer, ends: append(points("ClaimEvent< C"), delivers...), via: movesOfPods}
	if err := p.advance(s, r); err != nil {
		return err
	}
	return p.returned(s)
}

// missUpdate: the watch loses a write. Nobody hears of that.
func missUpdate(p *player, s Step) error {
	if err := p.world.Store.MissClaim(s.arg("claim")); err != nil {
		return err
	}
	return p.quietly("the watch loses a write")
}

// tellQueue: then whoever has delivered the event goes on to the next, or is through.
func tellQueue(p *player, s Step) error {
	emitter := p.world.Stage.Find(isEmitting(p, s))
	if emitter == nil {
		return fmt.Errorf("nobody delivers an event: %s", p.world.Stage.Where())
	}
	who := func(*player, Step) func(*actor) bool { return func(a *actor) bool { return a == emitter } }
	if err := p.advance(s, rule{who: who, ends: points("ClaimQueue< C"), via: movesOfPods}); err != nil {
		return err
	}
	p.world.Stage.Release(emitter)
	return p.returned(s)
}

// returned lets the informer be through with an event.
func (p *player) returned(s Step) error {
	if a := p.world.Stage.Find(isClaimInformer(p, s)); a != nil && a.at.call == claimEvent && a.at.after {
		p.world.Stage.Release(a)
	}
	return nil
}
