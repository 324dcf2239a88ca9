package podrace

import (
	"reflect"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/tools/cache"
)

// storage is what the API server has of volumes and claims, what the assume caches of VolumeBinding have of them, and what is assumed there.
func (e *eye) storage(w *World) {
	informed := map[string]lister{
		volumeKind:      w.Informers.Core().V1().PersistentVolumes().Informer().GetStore(),
		volumeClaimKind: w.Informers.Core().V1().PersistentVolumeClaims().Informer().GetStore(),
	}
	for _, o := range w.storage {
		kind, word, none := storageKind(o)
		if kind == "" {
			continue
		}
		id := idOf(o.(metav1.Object))
		key, _ := cache.MetaNamespaceKeyFunc(o)
		now := w.Store.stored(kind, id)
		if now == nil {
			now = none
		}
		e.putStorage("storage."+word+"["+id+"]", now)
		cached, assumed := w.inAssumeCache(kind, key, informed[kind])
		there := cached != nil
		if !there {
			cached = none
		}
		e.putStorage("volume_cache."+word+"["+id+"]", cached)
		e.see["volume_cache."+word+"_lag["+id+"]"] = w.behindInStorage(kind, id, cached.(metav1.Object), there)
		e.see["volume_cache.assumed_"+word+"["+id+"]"] = assumed
	}
}

// storageKind is the kind of an object, the model's word for it, and what stands for none of it.
func storageKind(o runtime.Object) (kind, word string, none runtime.Object) {
	switch o.(type) {
	case *v1.PersistentVolume:
		return volumeKind, "volume", (*v1.PersistentVolume)(nil)
	case *v1.PersistentVolumeClaim:
		return volumeClaimKind, "claim", (*v1.PersistentVolumeClaim)(nil)
	}
	return "", "", nil
}

func (e *eye) putStorage(table string, o runtime.Object) {
	for field, value := range storageProjection(o) {
		e.see[table+"."+field] = value
	}
}

// inAssumeCache is the object that an assume cache has from the informer, nil for none, and what is assumed on top of it: for which claim a volume is to be reserved, or on which node
// a volume for a claim is to be made. From 1.35 on the cache reads the informer's store, and what is assumed counts while that has the same version.
func (w *World) inAssumeCache(kind, key string, informed lister) (cached runtime.Object, assumed any) {
	assumes := path(w.volumes.Interface(), map[string]string{volumeKind: "pvCache", volumeClaimKind: "pvcCache"}[kind])
	var over runtime.Object
	if kept := field(assumes, "assumed"); kept.IsValid() {
		if found, there, _ := informed.GetByKey(key); there {
			cached, _ = found.(runtime.Object)
		}
		entry := inside(kept).MapIndex(reflect.ValueOf(key))
		if object := field(entry, "object"); object.IsValid() { // from 1.38 on, beside whether it was written
			entry = object
		}
		over, _ = as[runtime.Object](entry)
		if over == nil || cached == nil || over.(metav1.Object).GetResourceVersion() != cached.(metav1.Object).GetResourceVersion() {
			return cached, nil
		}
	} else {
		info, there, _ := field(assumes, "store").Interface().(lister).GetByKey(key)
		if !there {
			return nil, nil
		}
		cached = get[runtime.Object](reflect.ValueOf(info), "apiObj")
		over = get[runtime.Object](reflect.ValueOf(info), "latestObj")
		if over == cached {
			return cached, nil
		}
	}
	switch t := over.(type) {
	case *v1.PersistentVolume:
		return cached, claimRefOf(t)
	case *v1.PersistentVolumeClaim:
		return cached, orNil(t.Annotations[selectedNode])
	}
	return cached, nil
}
