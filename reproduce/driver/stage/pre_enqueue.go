package podrace

import (
	"reflect"

	pluginnames "k8s.io/kubernetes/pkg/scheduler/framework/plugins/names"
)

// gatesFirst is a PreEnqueue plugin that says of a pod with scheduling gates nothing: from 1.33 on, which of several plugins is asked first is left to the order of a Go map, and only the
// first that holds the pod back is noted. Here SchedulingGates is asked first, as in the model (A-PRE-ENQUEUE).
type gatesFirst struct{ preEnqueuePlugin }

func (g *gatesFirst) answer(method string, args ...any) []any {
	if pod, _ := subject(args); pod != nil && len(pod.Spec.SchedulingGates) > 0 {
		return nil
	}
	var in []reflect.Value
	for _, a := range args {
		in = append(in, reflect.ValueOf(a))
	}
	return plain(reflect.ValueOf(g.preEnqueuePlugin).MethodByName(method).Call(in))
}

// askGatesFirst puts such plugins in the place of the others.
func (i *instance) askGatesFirst() {
	for each := path(i.RealQueue, "preEnqueuePluginMap").MapRange(); each.Next(); {
		plugins := each.Value()
		if plugins.Kind() != reflect.Map {
			return // a list, in the order of the configuration
		}
		for _, name := range plugins.MapKeys() {
			if plugin, is := plugins.MapIndex(name).Interface().(preEnqueuePlugin); is && name.String() != pluginnames.SchedulingGates {
				plugins.SetMapIndex(name, reflect.ValueOf(&gatesFirst{plugin}))
			}
		}
	}
}
