package podrace

import (
	"sort"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
)

func contains(names []string, name string) bool {
	for _, n := range names {
		if n == name {
			return true
		}
	}
	return false
}

func sorted[T any](m map[string]T) []string {
	names := make([]string, 0, len(m))
	for name := range m {
		names = append(names, name)
	}
	sort.Strings(names)
	return names
}

func nameOf(o runtime.Object) string { return metaOf(o).GetName() }

func versionOf(o runtime.Object) string { return metaOf(o).GetResourceVersion() }

// metaOf is what objects have in common; nothing, if it is an error that the watch tells of.
func metaOf(o runtime.Object) metav1.Object {
	if meta, is := o.(metav1.Object); is {
		return meta
	}
	return &metav1.ObjectMeta{}
}
