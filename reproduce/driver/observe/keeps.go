package podrace

import (
	"fmt"
	"hash/fnv"
	"os"
	"reflect"
	"slices"
	"strings"
)

// What the scheduler's own packages keep in memory, whether or not the model has it: two binaries are compared by it.

// keepsVariable asks for it.
const keepsVariable = "PODRACE_KEEPS"

// keeper adds to the fingerprints of a run, one for each kind of what is kept: the fields on the way to it. Pointers count by what is behind them,
// where it is met first; times, and the generations of NodeInfos, which all cases of a process count together, are left out.
type keeper struct {
	found map[string]string
	met   map[spot]bool
	now   map[string]*strings.Builder
}

// newKeeper is nil if nobody asks.
func newKeeper() *keeper {
	if os.Getenv(keepsVariable) == "" {
		return nil
	}
	return &keeper{found: map[string]string{}}
}

// look adds what is kept now. Nobody may move meanwhile.
func (k *keeper) look(w *World) {
	if k == nil || w.exited {
		return
	}
	k.met, k.now = map[spot]bool{}, map[string]*strings.Builder{}
	k.dig(reflect.ValueOf(w.RealCache), "cache")
	k.dig(reflect.ValueOf(w.RealQueue), "queue")
	k.dig(reflect.ValueOf(w.Sched), "scheduler")
	k.dig(reflect.ValueOf(w.Waiting), "framework")
	for kind, text := range k.now {
		sum := fnv.New64a()
		fmt.Fprint(sum, k.found[kind], text)
		k.found[kind] = fmt.Sprintf("%x", sum.Sum64())
	}
}

func (k *keeper) note(kind string, value any) {
	if k.now[kind] == nil {
		k.now[kind] = &strings.Builder{}
	}
	fmt.Fprintf(k.now[kind], "%v;", value)
}

func (k *keeper) dig(v reflect.Value, kind string) {
	switch v.Kind() {
	case reflect.Pointer, reflect.Interface:
		if !v.IsNil() {
			k.dig(v.Elem(), kind)
		}
	case reflect.Struct:
		k.digStruct(v, kind)
	case reflect.Map:
		k.note(kind, v.Len())
		keys := v.MapKeys()
		slices.SortFunc(keys, func(a, b reflect.Value) int { return strings.Compare(fmt.Sprint(a), fmt.Sprint(b)) })
		for _, key := range keys {
			if key.Kind() == reflect.Pointer || key.Kind() == reflect.Interface {
				return // their order is by chance
			}
			k.note(kind, key)
			k.dig(v.MapIndex(key), kind+"[]")
		}
	case reflect.Slice, reflect.Array:
		k.note(kind, v.Len())
		for i := range v.Len() {
			k.dig(v.Index(i), kind+"[]")
		}
	case reflect.Chan:
		k.note(kind, v.Len())
	case reflect.Func, reflect.UnsafePointer, reflect.Uintptr, reflect.Invalid:
	default:
		k.note(kind, v)
	}
}

// digStruct goes into structs of the scheduler; of an object of the API it notes which it is.
func (k *keeper) digStruct(v reflect.Value, kind string) {
	of := v.Type()
	if v.CanAddr() {
		here := spot{v.UnsafeAddr(), of}
		if k.met[here] {
			return
		}
		k.met[here] = true
	}
	if _, is := of.FieldByName("ObjectMeta"); is {
		k.note(kind+".UID", v.FieldByName("UID"))
		k.note(kind+".ResourceVersion", v.FieldByName("ResourceVersion"))
		return
	}
	if !keepsOf(of.PkgPath()) {
		return
	}
	for i := range of.NumField() {
		if name := of.Field(i).Name; name != "Generation" && name != "generation" {
			k.dig(v.Field(i), kind+"."+name)
		}
	}
}

// keepsOf is whether structs of a package say what the scheduler keeps. The driver's do not, nor what is configured once.
func keepsOf(from string) bool {
	switch from {
	case "", "container/list", "k8s.io/apimachinery/pkg/types":
		return true
	case reflect.TypeFor[keeper]().PkgPath():
		return false
	}
	for _, end := range []string{"/metrics", "/feature", "/apis/config"} {
		if strings.HasSuffix(from, end) {
			return false
		}
	}
	return strings.HasPrefix(from, "k8s.io/kubernetes/pkg/scheduler") || strings.HasPrefix(from, "k8s.io/kube-scheduler")
}
