package podrace

import "reflect"

// What the scheduler keeps to itself is read by reflection, and found by the names of its fields: from release to release fields move from
// struct to struct more often than they change their names.

// spot is where a struct lies: one that begins with another shares its address.
type spot struct {
	at   uintptr
	what reflect.Type
}

// find is the field of that name nearest to the root: its own, or one of a struct of the root's package that the root holds.
func find(root reflect.Value, name string) reflect.Value {
	root = inside(root)
	if !root.IsValid() || root.Kind() != reflect.Struct {
		return reflect.Value{}
	}
	level, seen := []reflect.Value{root}, map[spot]bool{}
	for len(level) > 0 {
		var next []reflect.Value
		for _, v := range level {
			if found := field(v, name); found.IsValid() {
				return found
			}
			for i := range v.NumField() {
				held := inside(reach(v.Field(i)))
				if !held.IsValid() || held.Kind() != reflect.Struct || held.Type().PkgPath() != root.Type().PkgPath() {
					continue
				}
				if at := (spot{held.UnsafeAddr(), held.Type()}); !seen[at] {
					seen[at] = true
					next = append(next, held)
				}
			}
		}
		level = next
	}
	return reflect.Value{}
}

// get is the content of a field as a T; the zero T if there is no such field.
func get[T any](v reflect.Value, name string) T {
	content, _ := as[T](field(v, name))
	return content
}

// as is a value as a T, and whether it is one.
func as[T any](v reflect.Value) (T, bool) {
	var none T
	if !v.IsValid() || !v.CanInterface() {
		return none, false
	}
	content, is := v.Interface().(T)
	return content, is
}

// keys are the keys of a map whose keys are strings of any type; a pod is called as the model does.
func keys(m reflect.Value) map[string]bool {
	found := map[string]bool{}
	if m = inside(m); m.IsValid() && m.Kind() == reflect.Map {
		for _, key := range m.MapKeys() {
			found[plainID(key.String())] = true
		}
	}
	return found
}

// values are the values of a map by their keys, which are strings of any type, as keys gives them.
func values(m reflect.Value) map[string]reflect.Value {
	found := map[string]reflect.Value{}
	if m = inside(m); m.IsValid() && m.Kind() == reflect.Map {
		for each := m.MapRange(); each.Next(); {
			found[plainID(each.Key().String())] = each.Value()
		}
	}
	return found
}
