package podrace

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"sort"

	resourceapi "k8s.io/api/resource/v1"
	"k8s.io/client-go/tools/cache"
)

func init() {
	claimPart.admit, claimPart.names = dropConditions, specialClaim
	claimPart.gate, claimPart.see = gateClaims, func(e *eye, w *World) { e.claims(w) }
	for _, call := range []string{
		claimEvent, toldTracker, toldQueue,
		"Claim.Get", "Claim.Create", "Claim.Update", "Claim.UpdateStatus", "Claim.Patch", "Claim.Delete", listsClaims,
		"Claims.Get", "Claims.GetPendingAllocation", "Claims.ClaimHasPendingAllocation",
		"Claims.GatherAllocatedState", "Claims.ListAllAllocatedDevices",
		"Claims.SignalClaimPendingAllocation", "Claims.MaybeRemoveClaimPendingAllocation", "Claims.RemoveClaimPendingAllocation",
		"Claims.AssumeClaimAfterAPICall", "Claims.AssumedClaimRestore",
		listsSlices,
	} {
		held[call] = true
	}
}

// gateClaims puts gates where DynamicResources calls the tracker of claims, and where the assume cache gives its events to its two handlers. Then it starts the
// informer of claims ahead of the others: what the queue is given first has its claims already.
func gateClaims(ctx context.Context, w *World, g *gate) error {
	manager := path(w.reservePlugin("DynamicResources"), "draManager")
	if !manager.IsValid() {
		return fmt.Errorf("DynamicResources has no field draManager")
	}
	real := manager.Interface().(draManager)
	w.tracker = reflect.ValueOf(real.ResourceClaims())
	w.shown = func() (map[string]bool, error) {
		all, err := real.ResourceSlices().ListWithDeviceTaintRules()
		tainted := map[string]bool{}
		for n, one := range all {
			if device := deviceAt(all, n); device != "" {
				tainted[device] = len(one.Spec.Devices[0].Taints) > 0
			}
		}
		return tainted, err
	}
	manager.Set(reflect.ValueOf(&gatedManager{real, &gatedClaims{real.ResourceClaims(), g}, w.answers}))
	w.cycle.awaits = conditionsCount() && slices.ContainsFunc(w.Case.Devices, func(text json.RawMessage) bool { return bytes.Contains(text, []byte(`"bindingConditions"`)) })
	handlers := field(field(w.tracker, "cache"), "eventHandlers")
	if lengthOf(handlers) != 2 {
		return fmt.Errorf("the assume cache of claims has %d event handlers, not two", lengthOf(handlers))
	}
	for n, name := range []string{toldTracker, toldQueue} {
		at := handlers.Index(n)
		delivered := field(w.tracker, "cache").Interface().(interface{ GetAPIObj(key string) (any, error) })
		at.Set(reflect.ValueOf(&claimHandler{at.Interface().(cache.ResourceEventHandler), name, g, w.Store, delivered.GetAPIObj}))
	}
	claims := w.Informers.SharedInformerFactory.Resource().V1().ResourceClaims().Informer()
	go claims.RunWithContext(ctx)
	cache.WaitForCacheSync(ctx.Done(), claims.HasSynced)
	settle()
	return nil
}

// gatedManager gives DynamicResources the gated tracker, and the slices in the order in which the allocator is to try them: each has one device, or counters. A pool is never incomplete (A-CLAIM-SLICES).
type gatedManager struct {
	draManager
	claims  *gatedClaims
	answers *answers
}

func (m *gatedManager) ResourceClaims() claimsInterface { return m.claims }

func (m *gatedManager) ResourceSlices() slicesInterface {
	return &orderedSlices{m.draManager.ResourceSlices(), m.claims.gate, m.answers}
}

type orderedSlices struct {
	slicesInterface
	gate    *gate
	answers *answers
}

// listsSlices is how PreFilter lists the slices.
const listsSlices = "Slices.List"

func (l *orderedSlices) ListWithDeviceTaintRules() (listedSlices, error) {
	c := l.gate.enter(listsSlices)
	defer c.leave()
	all, err := l.slicesInterface.ListWithDeviceTaintRules()
	var ordered listedSlices
	parts := map[any]int64{} // by driver, which is a string, and a UniqueString from 1.38 on
	for _, one := range all {
		ordered = append(ordered, one.DeepCopy())
		parts[one.Spec.Driver]++
	}
	place := func(n int) int {
		if n := slices.Index(l.answers.devices, deviceAt(ordered, n)); n >= 0 {
			return n
		}
		return len(l.answers.devices)
	}
	sort.SliceStable(ordered, func(a, b int) bool { return place(a) < place(b) })
	for n, one := range ordered {
		one.Name = fmt.Sprintf("%02d-%s", n, one.Name) // from 1.35 on they are tried in the order of their names
		one.Spec.Pool.ResourceSliceCount = parts[one.Spec.Driver]
	}
	return ordered, err
}

// deviceAt is the device of a listed slice: its name is a string, and a UniqueString from 1.38 on. Empty for a slice of counters.
func deviceAt(all listedSlices, n int) string {
	if devices := all[n].Spec.Devices; len(devices) == 1 {
		return fmt.Sprint(devices[0].Name)
	}
	return ""
}

// claimHandler is a handler of the assume cache's events, which stops before and after each; not where the model has no such event.
type claimHandler struct {
	handler cache.ResourceEventHandler
	name    string
	gate    *gate
	store   *Store
	// delivered is the informer's object.
	delivered func(key string) (any, error)
}

func (h *claimHandler) handle(o any, version string, do func()) {
	if h.store.IsBeyond(version) {
		do()
		return
	}
	c := h.gate.enter(h.name, o)
	do()
	c.leave()
}

func (h *claimHandler) OnAdd(o any, initial bool) {
	h.handle(o, "", func() { h.handler.OnAdd(o, initial) })
}

func (h *claimHandler) OnUpdate(old, o any) {
	version := versionOf(o)
	if before, is := old.(*resourceapi.ResourceClaim); is && claimProjection(before) != claimProjection(o.(*resourceapi.ResourceClaim)) {
		version = "" // what is assumed may say more than what was written in that version
	}
	if last, err := h.delivered(h.store.keyOf(o)); err == nil && last != o {
		version = "" // the model has each object that is assumed, also one that a write returned which it does not have
	}
	h.handle(o, version, func() { h.handler.OnUpdate(old, o) })
}

func (h *claimHandler) OnDelete(o any) {
	h.handle(o, "", func() { h.handler.OnDelete(o) })
}
