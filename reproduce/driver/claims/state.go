package podrace

import (
	"fmt"
	"reflect"
	"sync"

	resourceapi "k8s.io/api/resource/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"
)

// How a claim is, in the model's numbers (model/environment/storage/claims.py).
const (
	isThere = iota
	isNotYet
	isDeleting
	isGone
)

// mostBehind: a copy that so many writes or more have made old is just old.
const mostBehind = 7

// claimWatch is the model's name of the watch of claims.
const claimWatch = "[claims]"

// claims are those of the API server and of the assume cache, and what is known of devices: in flight, and allocated as events have shown.
func (e *eye) claims(w *World) {
	tracker := w.tracker
	assumed := field(tracker, "cache")
	infos := field(assumed, "store").Interface().(interface{ List() []any })
	for _, o := range w.claims {
		claim := idOf(o.(metav1.Object))
		e.claim("resource_claims.object["+claim+"]", w.Store.Claim(claim), w.Store.lifeWithout(claim, true))
		info := infoOf(infos, claim)
		for table, name := range map[string]string{"latest": "latestObj", "stored": "apiObj"} {
			object := get[*resourceapi.ResourceClaim](reflect.ValueOf(info), name)
			e.claim("claim_cache."+table+"["+claim+"]", object, w.Store.lifeWithout(claim, false))
			e.see["claim_cache."+table+"_lag["+claim+"]"] = w.Store.behind(claim, object)
		}
		e.see["claim_tracker.in_flight["+claim+"]"] = nil
	}
	e.flights(field(tracker, "inFlightAllocations"), w)
	e.taken(w)
	e.devices(w)
	e.claimEvents(w, assumed)
}

// infoOf is what the assume cache has of a claim: one that the scheduler makes may have any name.
func infoOf(infos interface{ List() []any }, claim string) any {
	for _, info := range infos.List() {
		if object := get[*resourceapi.ResourceClaim](reflect.ValueOf(info), "latestObj"); object != nil && idOf(object) == claim {
			return info
		}
	}
	return nil
}

// flights are the allocations in flight: a map, or up to 1.35 a sync.Map, beside which nobody counts the pods that share one. Those of claims that are not written yet have a UID that was made up.
func (e *eye) flights(flights reflect.Value, w *World) {
	note := func(uid string, claim *resourceapi.ResourceClaim) string {
		if len(claim.OwnerReferences) == 1 {
			uid = w.specials.name(plainID(string(claim.OwnerReferences[0].UID)), uid)
		}
		e.see["claim_tracker.in_flight["+uid+"]"] = deviceOf(claim)
		return uid
	}
	if concurrent, is := as[*sync.Map](flights); is {
		concurrent.Range(func(uid, claim any) bool {
			note(string(uid.(types.UID)), claim.(*resourceapi.ResourceClaim))
			return true
		})
		return
	}
	for _, o := range w.claims {
		e.see["claim_tracker.sharers["+idOf(o.(metav1.Object))+"]"] = 0
	}
	for uid, flight := range values(flights) {
		claim := note(uid, get[*resourceapi.ResourceClaim](flight, "claim"))
		e.see["claim_tracker.sharers["+claim+"]"] = field(flight, "sharers").Int()
	}
}

// claim says of a table of claims what it has of one; `without` is how the claim is, if it has none.
func (e *eye) claim(table string, claim *resourceapi.ResourceClaim, without int) {
	reserved := reservedFor(claim)
	e.see[table+".device"] = deviceOf(claim)
	e.see[table+".readiness"] = readinessOf(claim)
	for _, pod := range e.pods {
		e.see[table+".reserved["+pod+"]"] = reserved[pod]
	}
	switch {
	case claim == nil:
		e.see[table+".life"] = without
	case claim.DeletionTimestamp != nil:
		e.see[table+".life"] = isDeleting
	default:
		e.see[table+".life"] = isThere
	}
}

// claimEvents are those of the watch that the informer has not been given, and how many the assume cache has still to deliver: of each that waits there are
// two functions, one for each handler, and one of the event that is given to the tracker.
func (e *eye) claimEvents(w *World, assumed reflect.Value) {
	at := "resource_claims.events" + claimWatch
	under := w.Store.underWay(claimKind)
	e.see[at+".length"] = len(under)
	for n, event := range under {
		claim, _ := event.Object.(*resourceapi.ResourceClaim)
		if event.Type == watch.Deleted {
			claim = nil
		}
		e.see[fmt.Sprintf("%s[%d].claim", at, n)] = event.name
		e.claim(fmt.Sprintf("%s[%d].object", at, n), claim, isGone)
	}
	if readable := find(field(assumed, "eventQueue").Addr(), "readable"); readable.IsValid() {
		told := w.Stage.anybody(func(a *actor) bool { return a.at.call == toldTracker && a.at.after })
		e.see["claim_cache.events"+claimWatch+".length"] = (readable.Int() + 1) / 2
		e.see["claim_cache.told"+claimWatch] = told
	}
}

// keyOf is by what informers and the assume cache know an object.
func (s *Store) keyOf(o any) string {
	m := o.(metav1.Object)
	return m.GetNamespace() + "/" + m.GetName()
}

// lifeWithout is how a claim is of which there is no object, now or as far as the watch has told.
func (s *Store) lifeWithout(claim string, now bool) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	told := s.log[claimKind]
	if !now {
		told = told[:s.sent[claimKind]]
	}
	for _, event := range told {
		if event.name == claim {
			return isGone
		}
	}
	return isNotYet
}

// behind is how many writes that the model has came after the version of an object. Where there is none, it is as the watch has told.
func (s *Store) behind(claim string, object *resourceapi.ResourceClaim) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	version, later := 0, 0
	if object != nil {
		_, _ = fmt.Sscan(object.ResourceVersion, &version)
	} else if n := s.sent[claimKind]; n > 0 {
		version = s.log[claimKind][n-1].version
	}
	for _, event := range s.log[claimKind] {
		if event.name == claim && event.version > version && event.beyond == "" {
			later++
		}
	}
	return min(later, mostBehind)
}
