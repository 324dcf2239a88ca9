package podrace

import (
	"context"
	"reflect"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/cache"
)

// claimPart is what claims/ fills in, which belongs to the driver of versions with resource.k8s.io/v1 only.
var claimPart struct {
	admit func(devices []runtime.Object) // what the API server makes of new ones
	gate  func(context.Context, *World, *gate) error
	see   func(*eye, *World)
}

// Events of the assume cache of claims are given to two handlers, one after the other: the tracker of allocated devices, and the scheduling queue.
const (
	toldTracker = "ClaimTracker"
	toldQueue   = "ClaimQueue"
)

// isOfClaims is whether a call is about a claim of devices.
func isOfClaims(call string) bool {
	return strings.HasPrefix(call, "Claim")
}

// isOfStorage is whether a call is about a volume, or a claim of one.
func isOfStorage(call string) bool {
	return strings.HasPrefix(call, "Storage.") || handlersOf[call] != ""
}

// isRead is whether a claim is read from the assume cache.
func isRead(p point) bool { return p.call == "Claims.Get" }

// passes is whether an actor is not to be held at a point. PreFilter reads claims, and PreBind while it waits for devices; PreEnqueue and hints do so as well, under the queue's lock.
func (c *cycle) passes(a *actor, p point) bool {
	waits := a.role == binding && c.awaits && !a.queues && a.owner.failing[a.pod] != a
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
