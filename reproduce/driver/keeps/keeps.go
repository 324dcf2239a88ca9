package podrace

import (
	"container/list"
	"encoding/json"
	"fmt"
	"hash/fnv"
	"os"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// What the scheduler's own packages keep in memory, whether or not the model has it: two binaries are compared by it, and two runs to one state.

const (
	keepsVariable = "PODRACE_KEEPS" // asks for it
	longest       = 120             // of a text that is given as it is, and not as a fingerprint
	unlooked      = "not looked into: "
)

// keeper says after each step what is kept, by kind: the fields on the way to it. Pointers count by what is behind them, where it is met first, and
// by that place where it is met again. Of a time it counts whether there is one, of a number that a counter of the process gave out its rank.
type keeper struct {
	last   map[string]string // as it was told
	met    map[spot]string
	count  map[string]int
	now    map[string][]any
	ranks  map[string][]int64 // numbers of one counter that are met
	shared int                // in so many structs that count by their contents wherever they are met
	later  []func()           // of a list that its elements make, where it goes on: they are in a map, too
}

// counted is a number that a counter gave out.
type counted struct {
	counter string
	number  int64
}

// newKeeper is nil if nobody asks.
func newKeeper() *keeper {
	if os.Getenv(keepsVariable) == "" {
		return nil
	}
	return &keeper{last: map[string]string{}}
}

// look is what has changed since the last look; empty for what is no longer there. Nobody may move meanwhile.
func (k *keeper) look(w *World) map[string]string {
	if k == nil || w.exited {
		return nil
	}
	k.begin()
	k.dig(reflect.ValueOf(w.RealCache), "cache")
	k.dig(reflect.ValueOf(w.RealQueue), "queue")
	k.dig(reflect.ValueOf(w.Sched), "scheduler")
	k.dig(reflect.ValueOf(w.Waiting), "framework")
	return k.news()
}

func (k *keeper) begin() {
	k.met, k.count, k.now, k.ranks = map[spot]string{}, map[string]int{}, map[string][]any{}, map[string][]int64{}
}

func (k *keeper) news() map[string]string {
	for ; len(k.later) > 0; k.later = k.later[1:] {
		k.later[0]()
	}
	for counter, numbers := range k.ranks {
		slices.Sort(numbers)
		k.ranks[counter] = slices.Compact(numbers)
	}
	news := map[string]string{}
	for kind := range k.last {
		if k.now[kind] == nil {
			news[kind] = ""
			delete(k.last, kind)
		}
	}
	for kind, values := range k.now {
		if text := k.told(values); k.last[kind] != text {
			k.last[kind], news[kind] = text, text
		}
	}
	return news
}

func (k *keeper) told(values []any) string {
	var all strings.Builder
	for _, value := range values {
		if c, is := value.(counted); is {
			value, _ = slices.BinarySearch(k.ranks[c.counter], c.number)
		}
		fmt.Fprintf(&all, "%v;", value)
	}
	if all.Len() <= longest {
		return all.String()
	}
	sum := fnv.New64a()
	fmt.Fprint(sum, all.String())
	return fmt.Sprintf("%x", sum.Sum64())
}

func (k *keeper) note(kind string, value any) { k.now[kind] = append(k.now[kind], value) }

func (k *keeper) noteCounted(kind, counter string, number int64) {
	k.ranks[counter] = append(k.ranks[counter], number)
	k.note(kind, counted{counter, number})
}

func (k *keeper) dig(v reflect.Value, kind string) {
	switch v.Kind() {
	case reflect.Pointer, reflect.Interface, reflect.Func:
		if v.IsNil() {
			k.note(kind, "nil")
			return
		}
		if v.Kind() == reflect.Interface {
			held := v.Elem().Type().String()
			k.note(kind, held)
			kind += "(" + held + ")"
		}
		if v.Kind() != reflect.Func {
			k.dig(v.Elem(), kind)
		}
	case reflect.Struct:
		k.digStruct(v, kind)
	case reflect.Map:
		if v.Type().Key().Kind() == reflect.Pointer { // their order is by chance
			k.now[unlooked+kind] = []any{"-"}
			return
		}
		entries := map[string]reflect.Value{}
		for each := reach(v).MapRange(); each.Next(); { // a key that can say what it is does: it may be an address
			entries[fmt.Sprint(each.Key())] = each.Value()
		}
		k.digEntries(entries, kind)
	case reflect.Slice, reflect.Array:
		k.note(kind, v.Len())
		for i := range v.Len() {
			k.dig(v.Index(i), kind+"[]")
		}
	case reflect.Chan:
		k.note(kind, v.Len())
	case reflect.UnsafePointer, reflect.Uintptr, reflect.Invalid:
	default:
		k.note(kind, v)
	}
}

func (k *keeper) digEntries(entries map[string]reflect.Value, kind string) {
	k.note(kind, len(entries))
	for _, key := range sorted(entries) {
		k.note(kind, key)
		k.dig(entries[key], kind+"[]")
	}
}

// digStruct goes into structs of the scheduler; of an object of the API it notes the contents.
func (k *keeper) digStruct(v reflect.Value, kind string) {
	of := v.Type()
	if _, is := of.FieldByName("ObjectMeta"); is {
		k.digObject(v, kind)
		return
	}
	if of.Name() == "PodInfo" { // nobody changes one that is shared
		k.shared++
		defer func() { k.shared-- }()
	}
	if v.CanAddr() && k.shared == 0 {
		here := spot{v.UnsafeAddr(), of}
		if place := k.met[here]; place != "" {
			k.note(kind, place)
			return
		}
		k.count[kind]++
		k.met[here] = kind + "#" + strconv.Itoa(k.count[kind])
		switch held := reach(v).Addr().Interface().(type) {
		case *list.List:
			k.note(kind, held.Len())
			for e := held.Front(); e != nil; e = e.Next() {
				k.dig(reflect.ValueOf(e), kind+"[]")
			}
			return
		case *list.Element: // the list says where it is
			k.dig(reflect.ValueOf(&held.Value).Elem(), kind+".Value")
			return
		case *sync.Map:
			entries := map[string]reflect.Value{}
			held.Range(func(key, value any) bool {
				entries[fmt.Sprint(key)] = reflect.ValueOf(value)
				return true
			})
			k.digEntries(entries, kind)
			return
		case *time.Time:
			k.note(kind, held.IsZero())
			return
		}
	}
	if name := of.String(); !keepsOf(of.PkgPath()) && name != "cache.cache" && name != "cache.threadSafeMap" { // an assume cache is in these
		k.now[unlooked+of.String()] = []any{"-"}
		return
	}
	for i := range of.NumField() {
		switch name := of.Field(i).Name; {
		case strings.EqualFold(name, "generation") && v.Field(i).CanInt():
			k.noteCounted(kind+"."+name, "generation", v.Field(i).Int())
		case of.Field(i).Type == reflect.PointerTo(of):
			k.later = append(k.later, func() { k.dig(v.Field(i), kind+"."+name) })
		default:
			k.dig(v.Field(i), kind+"."+name)
		}
	}
}

var (
	aTime    = regexp.MustCompile(`"\d{4}-\d\d-\d\dT[^"]*"`)
	aVersion = regexp.MustCompile(`"resourceVersion":"\d+"`)
)

func (k *keeper) digObject(v reflect.Value, kind string) {
	if !v.CanAddr() {
		k.now[unlooked+kind] = []any{"-"}
		return
	}
	o, is := reach(v).Addr().Interface().(metav1.Object)
	if !is {
		k.now[unlooked+kind] = []any{"-"}
		return
	}
	version, _ := strconv.ParseInt(o.GetResourceVersion(), 10, 64)
	part, _, _ := strings.Cut(kind, "[") // of one store
	k.noteCounted(kind+".resourceVersion", part+string(o.GetUID()), version)
	for i := range v.NumField() {
		text, _ := json.Marshal(reach(v.Field(i)).Interface())
		text = aVersion.ReplaceAll(aTime.ReplaceAll(text, []byte(`"a time"`)), nil)
		k.note(kind+"."+v.Type().Field(i).Name, string(text))
	}
}

// keepsOf is whether structs of a package say what the scheduler keeps. The driver's do not, nor what is configured once.
func keepsOf(from string) bool {
	switch from {
	case "", "container/list", "sync/atomic", "k8s.io/apimachinery/pkg/types":
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
