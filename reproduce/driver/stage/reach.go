package podrace

import (
	"reflect"
	"unsafe"
)

// reach opens a field of a struct that its package keeps to itself. Versions move fields, so callers look for them by name.
func reach(v reflect.Value) reflect.Value {
	if !v.IsValid() || v.CanInterface() || !v.CanAddr() {
		return v
	}
	return reflect.NewAt(v.Type(), unsafe.Pointer(v.UnsafeAddr())).Elem()
}

// inside follows pointers and interfaces down to what they hold.
func inside(v reflect.Value) reflect.Value {
	for v.IsValid() && (v.Kind() == reflect.Pointer || v.Kind() == reflect.Interface) {
		v = reach(v).Elem()
	}
	if v.IsValid() && v.Kind() == reflect.Struct && !v.CanAddr() && v.CanInterface() { // out of a map, or of an interface
		c := reflect.New(v.Type()).Elem()
		c.Set(v)
		return c
	}
	return v
}

// places are the fields of a struct that may be, or may hold, the one of a name: itself, or else those that are embedded.
type places struct {
	own      int // -1: none
	embedded []int
}

type named struct {
	of   reflect.Type
	name string
}

// placesOf has them by the struct's type: to look for a name took a third of the time of an observation.
var placesOf memo[named, *places]

func placesIn(n named) *places {
	found := &places{own: -1}
	for i := range n.of.NumField() {
		switch f := n.of.Field(i); {
		case f.Name == n.name:
			found.own = i
		case f.Anonymous:
			found.embedded = append(found.embedded, i)
		}
	}
	return found
}

// field finds a field by name, in a struct or in those that it embeds.
func field(v reflect.Value, name string) reflect.Value {
	v = inside(v)
	if !v.IsValid() || v.Kind() != reflect.Struct {
		return reflect.Value{}
	}
	found := placesOf.get(named{v.Type(), name}, placesIn)
	if found.own >= 0 {
		return reach(v.Field(found.own))
	}
	for _, i := range found.embedded {
		if f := field(reach(v.Field(i)), name); f.IsValid() {
			return f
		}
	}
	return reflect.Value{}
}

// path follows fields by name.
func path(o any, names ...string) reflect.Value {
	v := reflect.ValueOf(o)
	for _, name := range names {
		v = field(v, name)
	}
	return v
}

// around replaces a function by one that does something before and after it.
func around(f reflect.Value, before func([]any) func([]any)) reflect.Value {
	old := reflect.ValueOf(f.Interface())
	return reflect.MakeFunc(f.Type(), func(in []reflect.Value) []reflect.Value {
		after := before(plain(in))
		out := old.Call(in)
		after(plain(out))
		return out
	})
}

func plain(values []reflect.Value) []any {
	r := make([]any, len(values))
	for i, v := range values {
		r[i] = v.Interface()
	}
	return r
}
