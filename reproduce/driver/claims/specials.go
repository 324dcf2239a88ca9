package podrace

import (
	"fmt"
	"time"

	v1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
)

// How the steps are forced that are about the claim which the scheduler makes for a pod's extended resources (extendeddynamicresources.go).

// extendedPatience is how long PreBind waits for the informer to deliver such a claim (AssumeExtendedResourceTimeoutDefaultSeconds).
const extendedPatience = 120 * time.Second

// assumeSpecial: the claim is named in the pod's status, and then assumed. Of one that the informer has not delivered, and will not,
// PreBind waits its time.
func (p *player) assumeSpecial(s Step) error {
	is, polls := isBinding(p, s), false
	for waited := time.Duration(0); waited <= extendedPatience+2*time.Second; {
		a := p.world.Stage.Find(is)
		switch {
		case a == nil && !polls && p.world.Stage.Find(isEmitting(p, s)) != nil:
			return p.quietly("somebody else delivers events, and its own then")
		case a == nil:
			time.Sleep(time.Second)
			waited += time.Second
		case a.at.call == "Claims.AssumeClaimAfterAPICall" && a.at.after && a.at.results[0] == nil, over(a.at, append(delivers, endsFlight...)):
			return p.quietly("the claim is assumed")
		default:
			polls = a.at.after && a.at.call == "Claims.AssumeClaimAfterAPICall" // in vain, so far
			p.world.Stage.Release(a)
		}
	}
	return fmt.Errorf("%s is not assumed: %s", s.arg("claim"), p.world.Stage.Where())
}

// over is whether somebody stands before one of these calls.
func over(at *point, calls []pattern) bool {
	for _, c := range calls {
		if c.call == at.call && !at.after {
			return true
		}
	}
	return false
}

// specialClaim is the name of the claim that a pod's status has for its extended resources; empty for none.
func specialClaim(pod *v1.Pod) string {
	if status := pod.Status.ExtendedResourceClaimStatus; status != nil {
		return status.ResourceClaimName
	}
	return ""
}

// tireOfWaiting: two minutes pass.
func tireOfWaiting(p *player, s Step) error { return p.assumeSpecial(s) }

// loseName: the PATCH fails, and the claim is assumed all the same. PreBind fails then.
func loseName(p *player, s Step) error {
	defer p.failing(true, s.arg("pod"), "Client.Patch")()
	return p.assumeSpecial(s)
}

// loseAllocation: the UPDATE of the finalizer is made, and that of the status fails.
func loseAllocation(p *player, s Step) error {
	defer p.failing(true, s.arg("claim"), "Claim.UpdateStatus")()
	return p.advance(s, rule{who: isBinding, ends: points("Claim.UpdateStatus< C"), via: points("Claim.Update< C")})
}

// deleteSpecial: the UPDATE that takes the finalizer away, once more after a conflict, and the DELETE. The claim may be gone.
func deleteSpecial(who func(*player, Step) func(*actor) bool) func(*player, Step) error {
	return func(p *player, s Step) error {
		via := append(points("Claim.Get< C", "Framework.RunPostFilterPlugins< P"), bindingVia...)
		ends := points("Claim.Update< C", "Claim.Get< C", "Claim.Delete< C")
		for range 10 {
			if err := p.advance(s, rule{who: who, ends: ends, via: via}); err != nil {
				return err
			}
			a := p.world.Stage.Find(who(p, s))
			err, failed := a.at.results[len(a.at.results)-1].(error)
			switch {
			case a.at.call == "Claim.Delete" || failed && !apierrors.IsConflict(err):
				return nil
			case failed:
				p.world.Stage.Release(a)
				for n := 0; n < 100 && p.world.Stage.Find(who(p, s)) == nil; n++ {
					time.Sleep(time.Millisecond)
				}
			}
		}
		return fmt.Errorf("%s is not deleted: %s", s.arg("claim"), p.world.Stage.Where())
	}
}

// loseDeletion: the first call of the deletion fails.
func loseDeletion(p *player, s Step) error {
	defer p.failing(true, s.arg("claim"), "Claim.Update")()
	return p.advance(s, rule{who: isUnreserving, ends: points("Claim.Update< C")})
}
