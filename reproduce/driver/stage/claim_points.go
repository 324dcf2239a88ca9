package podrace

import (
	"context"
	"reflect"
	"strings"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/cache"
)

// claimPart is what claims/ fills in, which belongs to the driver of versions with resource.k8s.io/v1 only.
var claimPart struct {
	admit func(devices []runtime.Object) // what the API server makes of new ones

	published func(*World, []runtime.Object) []runtime.Object // what a new process lists of devices
	gate      func(context.Context, *World, *gate) error
	see       func(*eye, *World)
	names     func(*v1.Pod) string // the special claim that its status names
}

// timesNamed is the annotation of a pod that tells the names of its special claim apart, of which the status has one after the other: as many letters as the model's number.
const timesNamed = "podrace.io/named"

// tellNames gives a pod that annotation, where its status names another claim than before.
func tellNames(old, new *v1.Pod) {
	if claimPart.names == nil || claimPart.names(old) == claimPart.names(new) {
		return
	}
	if new.Annotations == nil {
		new.Annotations = map[string]string{}
	}
	if new.Annotations[timesNamed] == "x" {
		new.Annotations[timesNamed] = "xx"
	} else {
		new.Annotations[timesNamed] = "x"
	}
}

// Events of the assume cache of claims are given to two handlers, one after the other: the tracker of allocated devices, and the scheduling queue.
const (
	toldTracker = "ClaimTracker"
	toldQueue   = "ClaimQueue"
)

// listsClaims is how PreFilter looks for a claim that is left of the pod's extended resources.
const listsClaims = "Claims.List"

// isOfClaims is whether a call is about a claim of devices.
func isOfClaims(call string) bool {
	return strings.HasPrefix(call, "Claim")
}

// isOfStorage is whether a call is about a volume, or a claim of one.
func isOfStorage(call string) bool {
	return strings.HasPrefix(call, "Storage.") || handlersOf[call] != ""
}

// specials are the claims that the scheduler makes itself for extended resources: pod -> claim. Before such a claim is written it has a made-up UID, and no name of
// its own, so that who asks tells which one it is.
type specials struct {
	of    map[string]string
	known map[string]bool // claims that go by the model's names
}

// learn finds these claims among all of a case.
func (s *specials) learn(claims []runtime.Object) {
	s.of, s.known = map[string]string{}, map[string]bool{}
	for _, o := range claims {
		m := o.(metav1.Object)
		s.known[idOf(m)] = true
		if owners := m.GetOwnerReferences(); m.GetAnnotations()[extendedResources] == "true" && len(owners) == 1 {
			s.of[plainID(string(owners[0].UID))] = idOf(m)
		}
	}
}

// claimOf is the claim that an actor's call is about, by the model's name.
func (i *instance) claimOf(a *actor, p point) string {
	if isOfClaims(p.call) {
		return i.specials.name(a.pod, p.claim)
	}
	return p.claim
}

// is says whether a claim is one of them.
func (s *specials) is(claim string) bool {
	for _, special := range s.of {
		if special == claim {
			return true
		}
	}
	return false
}

// name is the model's name of the claim that a pod's goroutine is at.
func (s *specials) name(pod, claim string) string {
	if special, has := s.of[pod]; has && !s.known[claim] {
		return special
	}
	return claim
}

// extendedResources is resourceapi.ExtendedResourceClaimAnnotation, which not every version has.
const extendedResources = "resource.kubernetes.io/extended-resource-claim"

// isRead is whether a claim is read from the assume cache.
func isRead(p point) bool { return p.call == "Claims.Get" }

// readsElsewhere is whether an actor reads claims where the model's does not, and is not to be held. PreFilter reads claims, and PreBind while it waits for devices; PreEnqueue and hints do so as well, under the queue's lock.
func (c *cycle) readsElsewhere(a *actor, p point) bool {
	waits := a.role == binding && c.awaits && !a.queues && a.owner.failing[a.pod] != a
	if p.call == listsClaims && p.claim == "" {
		return true
	}
	return isRead(p) && !waits && !(a.role == scheduling && c.reads)
}

// claimIn finds in the arguments of a call which claim it is about, whose name is its UID: the last that is there, as the namespace comes first.
func claimIn(args []any) (claim string) {
	for _, a := range args {
		switch t := a.(type) {
		case types.UID:
			claim = string(t)
		case string:
			claim = t
		case cache.DeletedFinalStateUnknown:
			claim = claimIn([]any{t.Obj})
		case metav1.Object:
			if !reflect.ValueOf(t).IsNil() {
				claim = idOf(t)
			}
		}
	}
	return claim
}
